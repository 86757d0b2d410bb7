#include <array>
#include <set>

#include <fmt/format.h>

#include "config_fetch.hpp"
#include "verify/checks.hpp"

namespace reprise::app {

namespace {

using couchbase::errc;
using couchbase::lookup_spec;
using couchbase::read_preference;
using namespace std::chrono_literals;

// Times are given as points in time, which servers return unchanged, whatever the time on their
// clocks.
check_outcome check_get_with_expiry(verify_session& session) {
    const std::string key = session.key("with-expiry");
    const auto& documents = session.documents();
    const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
    const std::chrono::system_clock::time_point tomorrow = now + 24h;
    const std::chrono::system_clock::time_point later = now + 48h;
    need(documents.upsert(key, couchbase::plain_text{"one"}, {.expiry = tomorrow}));
    const auto first = need(documents.get(key, {.with_expiry = true}));
    need(documents.touch(key, later));
    const auto second = need(documents.get(key, {.with_expiry = true}));
    return first.expiry() == tomorrow && second.expiry() == later
               ? passed()
               : failed("returned another expiry");
}

check_outcome check_projection(verify_session& session) {
    const std::string key = session.key("projection");
    const couchbase::json_text document{R"({"name":"one","at":{"city":"x","zip":1},"more":true})"};
    need(session.documents().upsert(key, document));
    const auto read =
        need(session.documents().get(key, {.project = {"name", "at.city", "nothing"}}));
    return read.text() == R"({"name":"one","at":{"city":"x"}})"
               ? passed()
               : failed("read " + std::string(read.text()));
}

check_outcome check_replica_reads(verify_session& session) {
    const std::string key = session.key("replica");
    const auto& documents = session.documents();
    need(documents.upsert(key, couchbase::plain_text{"one"}));
    const auto any = need(documents.get_any_replica(key));
    const auto all = need(documents.get_all_replicas(key));
    return any.text() == "one" ? passed(fmt::format("{} copies", all.size()))
                               : failed("read a different value");
}

check_outcome check_replica_lookups(verify_session& session) {
    const std::string key = session.key("replica-paths");
    const auto& documents = session.documents();
    need(documents.upsert(key, couchbase::json_text{R"({"name":"one"})"}));
    const auto any = need(documents.lookup_in_any_replica(key, {lookup_spec::get("name")}));
    const auto all = need(documents.lookup_in_all_replicas(key, {lookup_spec::get("name")}));
    const auto name = any.content_as<std::string>(0);
    return name && *name == "one" ? passed(fmt::format("{} copies", all.size()))
                                  : failed("read a different value");
}

// The group is that of the first node. Every document can be read with a preference, and one that
// has no copy in the group is reported as such if the group is required.
check_outcome check_preferred_group(verify_session& session) {
    const auto configuration = fetch_configuration(session.access());
    const auto& nodes = configuration->nodes();
    if (nodes.empty() || nodes.front().server_group.empty()) {
        return skipped("the nodes have no server groups");
    }
    const std::string key = session.key("group");
    need(session.documents().upsert(key, couchbase::plain_text{"one"}));
    couchbase::cluster_options options = session.access().client;
    options.preferred_server_group = nodes.front().server_group;
    const auto near = need(couchbase::cluster::connect(session.access().connection, options));
    const auto documents = session.documents_of(near);
    const auto preferred = need(documents.get_any_replica(
        key, {.preference = read_preference::selected_server_group_or_all_available}));
    const auto required =
        documents.get_any_replica(key, {.preference = read_preference::selected_server_group});
    if (!required && required.error().code() != make_error_code(errc::document_unretrievable)) {
        return judge(required.error());
    }
    return preferred.text() == "one" ? passed(nodes.front().server_group)
                                     : failed("read a different value");
}

struct scanned {
    std::set<std::string> keys;
    std::size_t count = 0;
};

[[nodiscard]] std::expected<scanned, couchbase::error> scan(
    const verify_session& session, const couchbase::scan_kind& what,
    const couchbase::mutation_state& seen, bool keys_only) {
    auto stream = session.documents().scan(
        what, {.timeout = 30s, .keys_only = keys_only, .consistent_with = seen, .concurrency = 8});
    if (!stream) {
        return std::unexpected(stream.error());
    }
    scanned found;
    for (const auto& document : *stream) {
        if (!document) {
            return std::unexpected(document.error());
        }
        found.keys.insert(document->key);
        ++found.count;
        if (!keys_only && document->text() != "one") {
            found.keys.insert("a different value");
        }
    }
    return found;
}

check_outcome check_scans(verify_session& session) {
    std::set<std::string> stored_keys;
    couchbase::mutation_state seen;
    for (const char letter : {'a', 'b', 'c', 'd'}) {
        const std::string key = session.key(fmt::format("scan-{}", letter));
        const auto stored = need(session.documents().upsert(key, couchbase::plain_text{"one"}));
        seen.add(stored.token);
        stored_keys.insert(key);
    }
    const std::string prefix = session.prefix() + "scan-";
    const auto by_prefix = need(scan(session, couchbase::prefix_scan{prefix}, seen, false));
    const couchbase::range_scan range{
        .from = {prefix + "b"}, .to = {.key = prefix + "d", .is_exclusive = true}};
    const auto by_range = need(scan(session, range, seen, true));
    const auto sample = need(scan(session, couchbase::sampling_scan{.limit = 3}, seen, true));
    if (by_prefix.keys != stored_keys || by_prefix.count != stored_keys.size()) {
        return failed(fmt::format("a prefix scan found {} of 4 documents", by_prefix.count));
    }
    if (by_range.keys != std::set{prefix + "b", prefix + "c"} || by_range.count != 2) {
        return failed(fmt::format("a range scan found {} of 2 documents", by_range.count));
    }
    return sample.count == 3 ? passed("prefix, range, sample")
                             : failed(fmt::format("a sample of 3 has {}", sample.count));
}

constexpr std::array read_check_rows{
    verify_check{"get with expiry", check_get_with_expiry},
    verify_check{"projection", check_projection},
    verify_check{"replica reads", check_replica_reads},
    verify_check{"replica lookups", check_replica_lookups},
    verify_check{"reads in a preferred server group", check_preferred_group},
    verify_check{"range scans", check_scans},
};

}  // namespace

std::span<const verify_check> read_checks() noexcept {
    return read_check_rows;
}

}  // namespace reprise::app
