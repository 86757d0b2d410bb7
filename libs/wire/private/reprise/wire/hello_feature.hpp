#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>

namespace reprise::wire {

/// The features that client and server negotiate in HELLO. The names are the server's.
enum class hello_feature : std::uint16_t {
    retired_datatype = 0x01,                ///< ignored
    tls = 0x02,                             ///< never implemented
    tcp_no_delay = 0x03,                    ///< informational
    mutation_seqno = 0x04,                  ///< mutation tokens in mutation responses
    tcp_delay = 0x05,                       ///< never acknowledged
    xattr = 0x06,                           ///< extended attributes
    xerror = 0x07,                          ///< extended status codes
    select_bucket = 0x08,                   ///< select bucket is available
    retired_collections = 0x09,             ///< ignored
    snappy = 0x0a,                          ///< compressed documents
    json = 0x0b,                            ///< JSON bit on documents and error bodies
    duplex = 0x0c,                          ///< the server may send requests
    clustermap_change_notification = 0x0d,  ///< pushes the whole cluster map
    unordered_execution = 0x0e,             ///< the server may answer out of order
    tracing = 0x0f,                         ///< server duration in responses
    alt_request_support = 0x10,             ///< requests with framing extras
    sync_replication = 0x11,                ///< durability requirements
    collections = 0x12,                     ///< keys are prefixed by the collection id
    snappy_everywhere = 0x13,               ///< any response may be compressed
    preserve_ttl = 0x14,                    ///< mutations may keep the expiry
    vattr = 0x15,                           ///< virtual attributes
    retired_point_in_time = 0x16,           ///< ignored
    subdoc_create_as_deleted = 0x17,        ///< doc flag 0x08
    subdoc_document_macro_support = 0x18,   ///< macros of the virtual document attribute
    subdoc_replace_body_with_xattr = 0x19,  ///< opcode 0xd3
    report_unit_usage = 0x1a,             ///< units used in responses; serverless deployments only
    non_blocking_throttling_mode = 0x1b,  ///< an error instead of a delay when throttled
    subdoc_replica_read = 0x1c,           ///< doc flag 0x20
    get_cluster_config_with_known_version = 0x1d,  ///< get cluster config takes the known revision
    dedupe_not_my_vbucket_clustermap = 0x1e,       ///< not-my-vbucket without a map the client has
    clustermap_change_notification_brief = 0x1f,   ///< pushes the revision only
    subdoc_allows_access_on_multiple_xattr_keys = 0x20,  ///< several attributes in one command
    subdoc_binary_xattr = 0x21,                          ///< path flag 0x20
    range_scan_include_xattr = 0x22,                     ///< range scans with attributes
    subdoc_allow_replica_read_on_deleted_docs = 0x23,    ///< replica reads of tombstones
    get_random_key_include_xattr = 0x24,                 ///< random keys with attributes
    mutate_with_meta = 0x25,                             ///< the opcode of that name
    dcp_skip_deletes_in_initial_backfill = 0x26,         ///< DCP only
};

/// A set of features in one 64-bit word. Codes of 64 and above are unknown and never in the set.
class hello_feature_set {
public:
    static constexpr std::uint16_t code_max = 63;

    constexpr hello_feature_set() noexcept = default;
    constexpr hello_feature_set(std::initializer_list<hello_feature> features) noexcept {
        for (const hello_feature feature : features) {
            insert(feature);
        }
    }

    constexpr void insert(hello_feature feature) noexcept { bits_ |= bit_of(feature); }
    constexpr void erase(hello_feature feature) noexcept { bits_ &= ~bit_of(feature); }
    constexpr bool contains(hello_feature feature) const noexcept {
        return (bits_ & bit_of(feature)) != 0;
    }
    constexpr bool contains_all(hello_feature_set other) const noexcept {
        return (bits_ & other.bits_) == other.bits_;
    }
    constexpr std::size_t size() const noexcept {
        return static_cast<std::size_t>(std::popcount(bits_));
    }
    constexpr bool empty() const noexcept { return bits_ == 0; }
    /// Bit n is set if the set contains code n.
    constexpr std::uint64_t bits() const noexcept { return bits_; }

    friend constexpr hello_feature_set operator&(
        hello_feature_set left, hello_feature_set right) noexcept {
        left.bits_ &= right.bits_;
        return left;
    }
    friend constexpr bool operator==(hello_feature_set, hello_feature_set) noexcept = default;

private:
    static constexpr std::uint64_t bit_of(hello_feature feature) noexcept {
        const auto code = static_cast<std::uint16_t>(feature);
        return code > code_max ? 0 : std::uint64_t{1} << code;
    }

    std::uint64_t bits_ = 0;
};

struct hello_feature_facts {
    hello_feature feature{};
    std::string_view name = "unknown";
    bool is_known = false;
    /// False for codes that servers ignore or never acknowledge: retired codes, tls and tcp_delay.
    bool is_acknowledged = false;
    /// The same HELLO must contain these features; otherwise the server rejects it with 0x04.
    hello_feature_set prerequisites;
    std::string_view effect;
};

/// Never fails. Returns `is_known == false` for an unknown code.
const hello_feature_facts& hello_feature_info(hello_feature feature) noexcept;
/// All features in the table, in ascending order of code.
std::span<const hello_feature_facts> all_hello_features() noexcept;
std::string_view to_string(hello_feature feature) noexcept;

struct missing_prerequisite {
    hello_feature feature{};
    hello_feature prerequisite{};
};
/// Returns the first feature (by code) whose prerequisites are not in the set, or nothing if none
/// is missing.
std::optional<missing_prerequisite> find_missing_prerequisite(hello_feature_set asked) noexcept;

}  // namespace reprise::wire
