#pragma once

#include <any>
#include <chrono>
#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <variant>

#include <reprise/couchbase/results.hpp>
#include <reprise/couchbase/retry_strategy.hpp>
#include <reprise/retry/allowance.hpp>
#include <reprise/retry/time.hpp>

// What can be set for one call. Plain structs for designated initialisers:
//
//     planes.replace("airline_10", doc, {.timeout = 500ms, .cas = seen, .expiry = 24h});
//
// Four fields stand in each of them: `timeout` ends the call whatever happens (absent: the
// cluster's), `strategy` replaces the cluster's for this call, `user_data` is shown to the
// strategy, `outer_allowance` is the allowance of an enclosing reprise::retry: retries here take
// from it. The allowance must live until the call has completed.

namespace reprise::couchbase {

// How many copies must have a write before it is acknowledged.
enum class durability_level : std::uint8_t {
    none = 0,
    majority = 1,                        // a majority has it in memory
    majority_and_persist_to_active = 2,  // as majority, and the active copy is on disk
    persist_to_majority = 3              // a majority has it on disk
};

// When a document disappears: never, after a time, or at a point in time. A duration is counted
// from the call and may be of any length; zero means never. Time points in 1970 and after 2106, and
// negative durations, are refused as errc::invalid_argument.
class expiry {
public:
    constexpr expiry() noexcept = default;
    // Converts from any duration that is whole seconds or coarser: `.expiry = 10min`.
    template <class Rep, class Period>
        requires std::convertible_to<std::chrono::duration<Rep, Period>, std::chrono::seconds>
    constexpr expiry(std::chrono::duration<Rep, Period> after) noexcept
        : when_(std::chrono::seconds{after}) {}
    constexpr expiry(std::chrono::system_clock::time_point at) noexcept
        : when_(std::chrono::floor<std::chrono::seconds>(at)) {}

    using value_type = std::variant<std::chrono::seconds, std::chrono::sys_seconds>;
    [[nodiscard]] constexpr const value_type& value() const noexcept { return when_; }

private:
    value_type when_ = std::chrono::seconds{0};
};

// get, get_any_replica, get_all_replicas, exists, get_and_touch, get_and_lock, unlock, touch.
struct common_options {
    std::optional<duration> timeout{};
    std::shared_ptr<retry_strategy> strategy{};
    std::shared_ptr<const std::any> user_data{};
    retry_allowance* outer_allowance = nullptr;
};

using get_options = common_options;
using get_replica_options = common_options;
using exists_options = common_options;
using get_and_touch_options = common_options;
using get_and_lock_options = common_options;
using unlock_options = common_options;
using touch_options = common_options;

struct upsert_options {
    std::optional<duration> timeout{};
    couchbase::expiry expiry{};
    // Keeps the expiry of the document that is replaced; `expiry` then counts for new ones only.
    bool preserve_expiry = false;
    durability_level durability = durability_level::none;
    std::shared_ptr<retry_strategy> strategy{};
    std::shared_ptr<const std::any> user_data{};
    retry_allowance* outer_allowance = nullptr;
};

struct insert_options {
    std::optional<duration> timeout{};
    couchbase::expiry expiry{};
    durability_level durability = durability_level::none;
    std::shared_ptr<retry_strategy> strategy{};
    std::shared_ptr<const std::any> user_data{};
    retry_allowance* outer_allowance = nullptr;
};

struct replace_options {
    std::optional<duration> timeout{};
    // Only this version is replaced, otherwise errc::cas_mismatch. Zero: any.
    couchbase::cas cas{};
    couchbase::expiry expiry{};
    bool preserve_expiry = false;  // not together with `expiry`
    durability_level durability = durability_level::none;
    std::shared_ptr<retry_strategy> strategy{};
    std::shared_ptr<const std::any> user_data{};
    retry_allowance* outer_allowance = nullptr;
};

// remove, append, prepend.
struct change_options {
    std::optional<duration> timeout{};
    // Only this version is changed, otherwise errc::cas_mismatch. Zero: any.
    couchbase::cas cas{};
    durability_level durability = durability_level::none;
    std::shared_ptr<retry_strategy> strategy{};
    std::shared_ptr<const std::any> user_data{};
    retry_allowance* outer_allowance = nullptr;
};

using remove_options = change_options;
using append_options = change_options;
using prepend_options = change_options;

// increment, decrement.
struct counter_options {
    std::optional<duration> timeout{};
    std::uint64_t delta = 1;
    // A counter that is not there is made with this value (`delta` not added). Absent: it is
    // errc::document_not_found.
    std::optional<std::uint64_t> initial{};
    couchbase::expiry expiry{};  // of a counter that is made
    durability_level durability = durability_level::none;
    std::shared_ptr<retry_strategy> strategy{};
    std::shared_ptr<const std::any> user_data{};
    retry_allowance* outer_allowance = nullptr;
};

struct lookup_in_options {
    std::optional<duration> timeout{};
    // Also reads a document that was removed, as long as the server remembers it.
    bool access_deleted = false;
    std::shared_ptr<retry_strategy> strategy{};
    std::shared_ptr<const std::any> user_data{};
    retry_allowance* outer_allowance = nullptr;
};

// What mutate_in does about a document that is, or is not, there.
enum class store_semantics : std::uint8_t {
    replace,  // it must be there; errc::document_not_found
    upsert,   // it is made if it is not there
    insert    // it must not be there; errc::document_exists
};

struct mutate_in_options {
    std::optional<duration> timeout{};
    store_semantics store = store_semantics::replace;
    // Only this version is changed, otherwise errc::cas_mismatch. Zero: any. Not with `insert`.
    couchbase::cas cas{};
    couchbase::expiry expiry{};
    bool preserve_expiry = false;  // not together with `expiry`
    durability_level durability = durability_level::none;
    // Also changes attributes of a document that was removed.
    bool access_deleted = false;
    std::shared_ptr<retry_strategy> strategy{};
    std::shared_ptr<const std::any> user_data{};
    retry_allowance* outer_allowance = nullptr;
};

}  // namespace reprise::couchbase
