#pragma once

/// What an operation on a document is asked to do. The public calls fill a document_call, and the
/// engine builds its request from it; nothing is described a second time on the way.

#include <any>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <reprise/couchbase_types/errc.hpp>
#include <reprise/couchbase_types/error_info.hpp>
#include <reprise/retry/driver/admission.hpp>
#include <reprise/retry/driver/retry_strategy.hpp>
#include <reprise/retry/time.hpp>

namespace reprise::couchbase {

/// How many copies of a document must have a write before the server acknowledges it.
enum class durability_level : std::uint8_t {
    none = 0,                            ///< The active copy has it in memory.
    majority = 1,                        ///< A majority has it in memory.
    majority_and_persist_to_active = 2,  ///< As majority, and the active copy has it on disk.
    persist_to_majority = 3              ///< A majority has it on disk.
};

/// Which copies a read of any or all copies may ask. A server group is a place of the cluster, for
/// example a zone; cluster_options::preferred_server_group names the one of this program.
enum class read_preference : std::uint8_t {
    no_preference,  ///< All copies.
    /// Only copies in the preferred group; without any, errc::document_unretrievable.
    selected_server_group,
    /// Copies in the preferred group; without any, all copies.
    selected_server_group_or_all_available
};

/// Whether mutate_in needs an existing document or creates one.
enum class store_semantics : std::uint8_t {
    replace,  ///< The document must exist; otherwise errc::document_not_found.
    upsert,   ///< The document is created if it does not exist.
    insert    ///< The document must not exist; otherwise errc::document_exists.
};

// What follows is shared by the client's parts. Not for users.
namespace detail {

enum class operation_kind : std::uint8_t {
    get,
    get_and_touch,
    get_and_lock,
    unlock,  // needs `cas`, which identifies the lock
    touch,
    exists,  // a tombstone counts as missing
    upsert,
    insert,
    replace,
    remove,
    append,
    prepend,
    increment,
    decrement,
    lookup_in,          // sub-document reads, 1..16 specs
    mutate_in,          // sub-document writes, 1..16 specs, all or nothing
    get_replica,        // reads one of the copies
    lookup_in_replica,  // the same for sub-document reads
    noop,               // to any node of the bucket, or to the one that it names
    range_scan,         // no key
    range_scan_cancel,  // sent by the engine itself
};

enum class path_verb : std::uint8_t {
    get,
    exists,
    count,
    get_document,
    insert,
    upsert,
    replace,
    remove,
    array_append,
    array_prepend,
    array_insert,
    array_add_unique,
    counter
};

// One path of a lookup or a mutation, as lookup_spec and mutate_spec hold it.
struct path_spec {
    path_verb verb = path_verb::get;
    bool create_path = false;
    bool is_xattr = false;
    bool is_macro = false;
    std::string path{};
    std::string value{};
    // Non-empty: the call is refused with these words and this code.
    std::string problem{};
    errc problem_code = errc::invalid_argument;
};

// The fields that are plain bytes. They stand together so that a request is moved by copying them
// as one block; small fields come first to save memory, because a million operations may wait.
struct request_numbers {
    operation_kind kind = operation_kind::get;
    durability_level durability = durability_level::none;
    store_semantics store = store_semantics::replace;             // mutate_in
    read_preference preference = read_preference::no_preference;  // reads of several copies
    bool preserve_expiry = false;
    bool access_deleted = false;  // sub-document operations
    bool is_json = false;         // the value
    bool creates = false;         // counters; false: they must exist
    std::uint32_t flags = 0;      // stored by the server
    std::uint32_t expiry = 0;     // in the server's format; 0: never
    std::uint32_t lock_seconds = 15;
    std::uint64_t cas = 0;      // 0: any
    std::uint64_t delta = 1;    // counters
    std::uint64_t initial = 0;  // counters that are created

    // Time from the start to the end of the operation. Empty: the client's default for the kind.
    std::optional<duration> timeout{};
    // Ends the operation, too; the earlier of the two applies.
    time_point deadline = driver::no_deadline;
    // The allowance of an enclosing retry loop. It must outlive the operation. Reasons that the
    // client always retries do not use it up.
    driver::retry_allowance* outer_allowance = nullptr;
};

static_assert(std::is_trivially_copyable_v<request_numbers>);

// Fields that the kind does not use are ignored.
struct document_request : request_numbers {
    std::vector<path_spec> specs{};
    // Null: the client's.
    std::shared_ptr<driver::retry_strategy> strategy{};
    // Passed to the strategy.
    std::shared_ptr<const std::any> user_data{};
};

// A request with its key and its value, which it borrows until it is started.
struct document_call : document_request {
    std::string_view key{};
    std::span<const std::byte> value{};
    // Not null: an argument cannot be used, for this reason, and the call is refused.
    std::shared_ptr<const error_info> problem{};
};

}  // namespace detail
}  // namespace reprise::couchbase
