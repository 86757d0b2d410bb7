#include "cluster_state.hpp"

#include <algorithm>
#include <utility>

#include <reprise/base/byte_writer.hpp>
#include <reprise/base/hex.hpp>
#include <reprise/wire/expiry.hpp>
#include <reprise/wire/framing_extras.hpp>

#include "key_value/session.hpp"

namespace reprise::sandbox::detail {

namespace {

// The longest lifetime of documents in a collection; 0: unlimited.
std::uint32_t ttl_max(const bucket_record& bucket, std::uint32_t collection) noexcept {
    const auto found = bucket.collections.find(collection);
    const std::int32_t own = found == bucket.collections.end() ? 0 : found->second;
    if (own == 0) {
        return static_cast<std::uint32_t>(bucket.options.settings.max_ttl.count());
    }
    return own < 0 ? 0u : static_cast<std::uint32_t>(own);
}

// The ports that are announced until a front sets the real ones. They must differ between nodes.
wire::cluster_node make_endpoints(const std::string& hostname, std::size_t number) {
    wire::cluster_node endpoints;
    endpoints.hostname = hostname;
    endpoints.ports.set(
        wire::service::key_value, wire::transport::plain,
        static_cast<std::uint16_t>(11210 + 2 * number));
    endpoints.ports.set(
        wire::service::management, wire::transport::plain,
        static_cast<std::uint16_t>(8091 + 2 * number));
    return endpoints;
}

}  // namespace

std::uint32_t bucket_record::absolute_expiry(
    std::uint32_t collection, std::uint32_t field, time_point now) const noexcept {
    const auto when = wire::decode_expiry(field, std::chrono::floor<std::chrono::seconds>(now));
    const auto seconds = when ? static_cast<std::uint32_t>(
                                    std::max<std::int64_t>(when->time_since_epoch().count(), 1))
                              : 0u;
    const std::uint32_t limit = ttl_max(*this, collection);
    if (limit == 0) {
        return seconds;
    }
    const std::uint32_t latest = seconds_of(now) + limit;
    return seconds == 0 ? latest : std::min(seconds, latest);
}

cluster_state::cluster_state(cluster_options given)
    : options(std::move(given)),
      random(options.seed),
      faults(options.seed ^ 0xfa017u),
      audit(options.audit_entry_count_max),
      error_codes(options.error_map ? *options.error_map : wire::default_error_map()) {
    cluster_uuid = random_hex(32);
    scram_secret = random_hex(32);
    wire::response_frame_infos infos;
    infos.server_duration = options.server_duration;
    base::byte_writer field(server_duration_field);
    (void)wire::encode_response_frame_infos(field, infos);
    for (std::size_t i = 0; i < options.node_count; ++i) {
        add_node();
    }
    for (const user_options& user : options.users) {
        accounts.put_user(user);
    }
    for (const bucket_options& bucket : options.buckets) {
        add_bucket(bucket);
    }
    publish_all();
}

node_record& cluster_state::add_node() {
    auto node = std::make_unique<node_record>();
    node->id = node_id{static_cast<std::uint32_t>(nodes.size())};
    node->endpoints = make_endpoints(options.hostname, nodes.size());
    return *nodes.emplace_back(std::move(node));
}

node_record* cluster_state::find_node(node_id id) noexcept {
    if (id.value >= nodes.size() || !nodes[id.value]->is_configured()) {
        return nullptr;
    }
    return nodes[id.value].get();
}

bucket_record* cluster_state::find_bucket(std::string_view name) noexcept {
    const auto it = buckets.find(name);
    return it == buckets.end() ? nullptr : it->second.get();
}

const bucket_record* cluster_state::find_bucket(std::string_view name) const noexcept {
    const auto it = buckets.find(name);
    return it == buckets.end() ? nullptr : it->second.get();
}

node_bucket* cluster_state::find_local(node_record& node, std::string_view bucket) noexcept {
    const auto it = node.buckets.find(bucket);
    return it == node.buckets.end() ? nullptr : &it->second;
}

node_bucket* cluster_state::find_present(node_record& node, std::string_view bucket) noexcept {
    node_bucket* found = find_local(node, bucket);
    return found != nullptr && found->presence != bucket_presence::absent ? found : nullptr;
}

bool cluster_state::is_up(std::int16_t node) const noexcept {
    return node >= 0 && static_cast<std::size_t>(node) < nodes.size() &&
           nodes[static_cast<std::size_t>(node)]->state == node_state::up;
}

std::string cluster_state::random_hex(std::size_t digit_count) {
    std::string text;
    text.reserve(digit_count);
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < digit_count; ++i) {
        bits = i % 16 == 0 ? random.next() : bits >> 4;
        text += base::to_hex_digit(bits);
    }
    return text;
}

std::string with_dashes(std::string digits) {
    for (const std::size_t at : {20u, 16u, 12u, 8u}) {
        digits.insert(at, 1, '-');
    }
    return digits;
}

std::string cluster_state::random_reference() {
    return with_dashes(random_hex(32));
}

identity cluster_state::identity_of(const user_options& user) const {
    return {
        user.name, rights_of(*this, user), user.can_access_system_xattrs, accounts.generation()};
}

const wire::scram_credential& cluster_state::credential_of(
    account_list::account& user, wire::sasl_mechanism mechanism) {
    auto it = user.scram.find(mechanism);
    if (it == user.scram.end()) {
        it = user.scram
                 .emplace(
                     mechanism,
                     wire::make_scram_credential(
                         mechanism, user.options.password,
                         random_hex(wire::scram_digest_size(mechanism)), options.scram_iterations))
                 .first;
    }
    return it->second;
}

void cluster_state::add_bucket(const bucket_options& wanted) {
    auto bucket = std::make_unique<bucket_record>();
    bucket->options = wanted;
    bucket->uuid = random_hex(32);
    bucket->replica_count = wanted.replica_count.value_or(options.replica_count);
    bucket->manifest = wire::make_default_manifest();
    bucket->collections.emplace(0, 0);
    for (const scope_options& scope : wanted.scopes) {
        wire::manifest_scope added{scope.name, bucket->scope_id_next++, {}};
        for (const std::string& name : scope.collections) {
            const std::uint32_t id = bucket->collection_id_next++;
            added.collections.push_back({name, id, std::nullopt, std::nullopt});
            bucket->collections.emplace(id, 0);
            bucket->created_uids.emplace(id, bucket->manifest.uid + 1);
        }
        bucket->manifest.scopes.push_back(std::move(added));
        ++bucket->manifest.uid;
    }
    std::vector<node_record*> members;
    for (const auto& node : nodes) {
        if (node->is_member()) {
            members.push_back(node.get());
            node->buckets[wanted.name].vbuckets.resize(options.vbucket_count);
        }
    }
    // Neighbouring vbuckets share their active node; replicas are on the nodes that follow it.
    for (std::size_t number = 0; number < options.vbucket_count; ++number) {
        std::vector<std::int16_t> row(1 + bucket->replica_count, -1);
        const std::size_t first = number * members.size() / options.vbucket_count;
        std::vector<failover_entry> history{{random_uuid(), 0}};
        for (std::size_t k = 0; k < row.size() && k < members.size(); ++k) {
            node_record& node = *members[(first + k) % members.size()];
            auto copy = std::make_unique<vbucket>();
            copy->state = k == 0 ? vbucket_state::active : vbucket_state::replica;
            copy->failover_log = history;
            node.buckets[wanted.name].vbuckets[number] = std::move(copy);
            row[k] = static_cast<std::int16_t>(node.id.value);
        }
        bucket->rows.push_back(std::move(row));
    }
    buckets.emplace(wanted.name, std::move(bucket));
}

vbucket* cluster_state::find_copy(
    std::int16_t node, std::string_view bucket, std::size_t number) noexcept {
    if (node < 0 || static_cast<std::size_t>(node) >= nodes.size()) {
        return nullptr;
    }
    node_bucket* local = find_local(*nodes[static_cast<std::size_t>(node)], bucket);
    if (local == nullptr || number >= local->vbuckets.size()) {
        return nullptr;
    }
    return local->vbuckets[number].get();
}

void cluster_state::after_change(
    const bucket_record& bucket, std::size_t number, vbucket& active, const key_view& key,
    const document& content) {
    if (!is_persistence_held) {
        active.seqno_persisted = active.seqno_high;
    }
    if (is_replication_held) {
        return;
    }
    const auto& row = bucket.rows[number];
    for (std::size_t k = 1; k < row.size(); ++k) {
        vbucket* copy = is_up(row[k]) ? find_copy(row[k], bucket.options.name, number) : nullptr;
        if (copy == nullptr) {
            continue;
        }
        copy->replicate(key, content);
        if (!is_persistence_held) {
            copy->seqno_persisted = copy->seqno_high;
        }
    }
}

void cluster_state::catch_up_replicas() {
    for (const auto& [name, bucket] : buckets) {
        for (std::size_t number = 0; number < bucket->rows.size(); ++number) {
            const auto& row = bucket->rows[number];
            const vbucket* active = is_up(row[0]) ? find_copy(row[0], name, number) : nullptr;
            if (active == nullptr) {
                continue;
            }
            for (std::size_t k = 1; k < row.size(); ++k) {
                vbucket* copy = is_up(row[k]) ? find_copy(row[k], name, number) : nullptr;
                if (copy != nullptr) {
                    copy->catch_up(*active);
                    copy->seqno_persisted =
                        is_persistence_held ? copy->seqno_persisted : copy->seqno_high;
                }
            }
        }
    }
}

void cluster_state::close_sessions(const node_record& node) {
    for (const auto& [number, which] : sessions) {
        if (which->node() == node.id) {
            which->close_from_cluster();
        }
    }
}

void cluster_state::close_sessions(std::string_view bucket) {
    for (const auto& [number, which] : sessions) {
        if (which->bucket_name() == bucket) {
            which->close_from_cluster();
        }
    }
}

void cluster_state::wake(session& which) {
    if (which.mark_woken()) {
        wakeups.push_back(which.id());
    }
}

}  // namespace reprise::sandbox::detail
