#include "scan_terms.hpp"

#include <utility>

#include <reprise/wire/compression.hpp>
#include <reprise/wire/document_key.hpp>

#include "session.hpp"

namespace reprise::couchbase::detail {
namespace {

constexpr std::size_t value_size_max_bytes = std::size_t{21} * 1024 * 1024;

// Keys are UTF-8, in which this byte does not occur: it is behind all of them.
constexpr std::string_view behind_all = "\xff";
// Before all of them, because no key is empty.
constexpr std::string_view before_all{"\0", 1};

std::unexpected<error> refuse(std::string why) {
    return std::unexpected(error(errc::invalid_argument, std::move(why)));
}

wire::scan_bound to_bound(const scan_term& term, std::string_view without) {
    return term.key.empty() ? wire::scan_bound{std::string(without), false}
                            : wire::scan_bound{term.key, term.is_exclusive};
}

std::unexpected<error> unreadable(std::string_view why) {
    return std::unexpected(error(errc::decoding_failure, std::string(why)));
}

}  // namespace

std::expected<engine::scan_terms, error> make_scan_terms(
    const scan_kind& what, const scan_options& options, std::uint32_t random_seed) {
    if (options.batch_item_limit == 0 || options.batch_byte_limit == 0) {
        return refuse("batch_item_limit and batch_byte_limit must be at least 1");
    }
    if (options.concurrency == 0) {
        return refuse("concurrency must be at least 1");
    }
    engine::scan_terms terms;
    terms.is_key_only = options.keys_only;
    terms.item_limit = options.batch_item_limit;
    terms.byte_limit = options.batch_byte_limit;
    terms.rows_size_max_bytes = options.batch_byte_limit;
    if (const auto* range = std::get_if<range_scan>(&what)) {
        terms.what =
            wire::scan_range{to_bound(range->from, before_all), to_bound(range->to, behind_all)};
    } else if (const auto* prefix = std::get_if<prefix_scan>(&what)) {
        terms.what = wire::scan_range{
            {prefix->prefix.empty() ? std::string(before_all) : prefix->prefix, false},
            {prefix->prefix + std::string(behind_all), false}};
    } else {
        const auto& sampling = std::get<sampling_scan>(what);
        if (sampling.limit == 0) {
            return refuse("the limit of a sample must be at least 1");
        }
        terms.what = wire::scan_sampling{sampling.limit, sampling.seed.value_or(random_seed)};
    }
    if (const auto* range = std::get_if<wire::scan_range>(&terms.what)) {
        constexpr std::size_t size_max = wire::key_size_max_default_collection + 1;
        if (range->start.key.size() > size_max || range->end.key.size() > size_max) {
            return refuse("a bound of the range is longer than any key");
        }
    }
    return terms;
}

std::optional<wire::scan_snapshot> snapshot_for(
    const mutation_state& state, std::string_view bucket, std::uint16_t vbucket) {
    std::optional<wire::scan_snapshot> newest;
    for (const mutation_token& token : state.tokens) {
        const bool is_of_it = token.bucket == bucket && token.vbucket == vbucket;
        if (is_of_it && (!newest || newest->seqno < token.seqno)) {
            newest = wire::scan_snapshot{token.vbucket_uuid, token.seqno, 0};
        }
    }
    return newest;
}

std::expected<scanned_document, error> to_document(std::string_view row, bool is_key_only) {
    wire::scan_item_reader reader(
        is_key_only ? wire::scan_content::keys : wire::scan_content::documents,
        base::as_bytes(row));
    const auto item = reader.next();
    if (!item || !*item) {
        return unreadable("a row of a scan");
    }
    const wire::scan_item& found = **item;
    scanned_document document;
    document.key = found.key;
    document.flags = found.flags;
    document.cas = cas{found.cas};
    document.expiry_seconds = found.expiry;
    if (is_key_only) {
        return document;
    }
    if (!wire::has(found.datatype, wire::datatype::snappy)) {
        document.content = document_bytes_access::make(base::slice::copy_of(found.value));
        return document;
    }
    const auto inflated = wire::inflate(found.value, value_size_max_bytes);
    if (!inflated) {
        return unreadable(wire::to_string(inflated.error()));
    }
    document.content = document_bytes_access::make(base::slice::copy_of(*inflated));
    return document;
}

}  // namespace reprise::couchbase::detail
