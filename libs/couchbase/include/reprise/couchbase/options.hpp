#pragma once

/// Options of operations and of requests to the HTTP services. They are plain structs for
/// designated initialisers:
/// ```
///     auto replaced = airlines.replace(
///         "airline_10", airline{"Reprise Air"}, {.timeout = 500ms, .cas = seen, .expiry = 24h});
/// ```
/// Every options struct of the client has the four fields of
/// common_options, and fields with the same name always mean the same and come in the same order.
/// The concept operation_options checks it.
///
/// The timeout of a request to an HTTP service runs until the last row has arrived. A field that
/// you leave out is not sent, and the server decides.

#include <any>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <reprise/couchbase/codec.hpp>
#include <reprise/couchbase/results.hpp>
#include <reprise/couchbase/retry_strategy.hpp>
#include <reprise/couchbase_types/document_request.hpp>
#include <reprise/couchbase_types/services.hpp>
#include <reprise/retry/call_options.hpp>
#include <reprise/retry/driver/admission.hpp>
#include <reprise/retry/time.hpp>

namespace reprise::couchbase {

/// The options that every operation has. Operations without further options use it as it is.
struct common_options {
    /// The operation ends after this time, whatever happens. Absent: the cluster's timeout for this
    /// kind of operation.
    std::optional<duration> timeout{};
    /// Replaces the cluster's retry strategy for this operation. Null: the cluster's.
    std::shared_ptr<driver::retry_strategy> strategy{};
    /// Passed to the strategy with every question (`question.at.user_data_as<T>()`).
    std::shared_ptr<const std::any> user_data{};
    /// The allowance of an enclosing reprise::retry, from which retries of this operation are
    /// taken: `borrowed(outer.allowance)`. It must live until the operation has completed.
    driver::borrowed_pointer<driver::retry_allowance> outer_allowance{};
};

namespace detail {

/// The fields of mutations stand between `timeout` and `strategy`, in this order: cas, expiry,
/// preserve_expiry, durability. GCC refuses designators in another order than the fields; Clang
/// only warns, so this check is GCC's.
template <class Options>
concept orders_mutation_fields =
    (!requires(Options with) { with.cas; } ||
     requires { Options{.timeout = {}, .cas = {}, .durability = {}, .strategy = {}}; }) &&
    (!requires(Options with) { with.cas, with.expiry; } ||
     requires { Options{.cas = {}, .expiry = {}}; }) &&
    (!requires(Options with) { with.expiry; } ||
     requires { Options{.timeout = {}, .expiry = {}, .durability = {}, .strategy = {}}; }) &&
    (!requires(Options with) { with.expiry, with.preserve_expiry; } ||
     requires { Options{.expiry = {}, .preserve_expiry = {}, .durability = {}}; });

}  // namespace detail

/// An options struct of the client: an aggregate that has the fields of common_options, with these
/// types and in this order. `timeout` comes first; the fields of the operation itself stand between
/// `timeout` and `strategy`.
template <class Options>
concept operation_options =
    std::is_aggregate_v<Options> && std::default_initializable<Options> && requires(Options with) {
        { with.timeout } -> std::same_as<std::optional<duration>&>;
        { with.strategy } -> std::same_as<std::shared_ptr<driver::retry_strategy>&>;
        { with.user_data } -> std::same_as<std::shared_ptr<const std::any>&>;
        requires std::convertible_to<
            driver::borrowed_pointer<driver::retry_allowance>, decltype(with.outer_allowance)>;
        Options{.timeout = {}, .strategy = {}, .user_data = {}, .outer_allowance = {}};
    } && detail::orders_mutation_fields<Options>;

/// When a document expires: never (the default), after a time, or at a point in time. A duration
/// counts from the call and may be of any length; zero means never. Time points in 1970 or after
/// 2106 and negative durations fail with errc::invalid_argument.
class expiry {
public:
    constexpr expiry() noexcept = default;
    /// Converts from any duration of whole seconds: `.expiry = 10min`.
    template <class Rep, class Period>
        requires std::convertible_to<std::chrono::duration<Rep, Period>, std::chrono::seconds>
    constexpr expiry(std::chrono::duration<Rep, Period> after) noexcept
        : when_(std::chrono::seconds{after}) {}
    constexpr expiry(std::chrono::system_clock::time_point at) noexcept
        : when_(std::chrono::floor<std::chrono::seconds>(at)) {}

    using value_type = std::variant<std::chrono::seconds, std::chrono::sys_seconds>;
    [[nodiscard]] constexpr const value_type& value() const noexcept { return when_; }
    [[nodiscard]] constexpr bool is_never() const noexcept {
        const auto* const after = std::get_if<std::chrono::seconds>(&when_);
        return after != nullptr && *after == std::chrono::seconds::zero();
    }

private:
    value_type when_ = std::chrono::seconds{0};
};

using exists_options = common_options;         ///< Options of collection::exists.
using get_and_touch_options = common_options;  ///< Options of collection::get_and_touch.
using get_and_lock_options = common_options;   ///< Options of collection::get_and_lock.
using unlock_options = common_options;         ///< Options of collection::unlock.
using touch_options = common_options;          ///< Options of collection::touch.

/// Options of collection::get.
struct get_options {
    std::optional<duration> timeout{};
    /// Also reads when the document expires: get_result::expiry().
    bool with_expiry = false;
    /// Reads only these paths, written as in lookup_spec. The result has the members that the paths
    /// lead to and those around them; paths that the document lacks are left out, and of an array
    /// only the elements that are named remain. Empty: the whole document.
    std::vector<std::string> project{};
    std::shared_ptr<driver::retry_strategy> strategy{};
    std::shared_ptr<const std::any> user_data{};
    driver::borrowed_pointer<driver::retry_allowance> outer_allowance{};
};

/// Options of the gets from replicas.
struct get_replica_options {
    std::optional<duration> timeout{};
    read_preference preference = read_preference::no_preference;
    std::shared_ptr<driver::retry_strategy> strategy{};
    std::shared_ptr<const std::any> user_data{};
    driver::borrowed_pointer<driver::retry_allowance> outer_allowance{};
};

/// Options of collection::upsert.
struct upsert_options {
    std::optional<duration> timeout{};
    couchbase::expiry expiry{};
    /// Keeps the expiry of an existing document; `expiry` then applies to a new one only.
    bool preserve_expiry = false;
    durability_level durability = durability_level::none;
    std::shared_ptr<driver::retry_strategy> strategy{};
    std::shared_ptr<const std::any> user_data{};
    driver::borrowed_pointer<driver::retry_allowance> outer_allowance{};
};

/// Options of collection::insert.
struct insert_options {
    std::optional<duration> timeout{};
    couchbase::expiry expiry{};
    durability_level durability = durability_level::none;
    std::shared_ptr<driver::retry_strategy> strategy{};
    std::shared_ptr<const std::any> user_data{};
    driver::borrowed_pointer<driver::retry_allowance> outer_allowance{};
};

/// Options of collection::replace.
struct replace_options {
    std::optional<duration> timeout{};
    /// Replaces only this version; another one fails with errc::cas_mismatch. Zero: any version.
    couchbase::cas cas{};
    couchbase::expiry expiry{};
    /// Keeps the expiry of the document. It cannot be combined with `expiry`.
    bool preserve_expiry = false;
    durability_level durability = durability_level::none;
    std::shared_ptr<driver::retry_strategy> strategy{};
    std::shared_ptr<const std::any> user_data{};
    driver::borrowed_pointer<driver::retry_allowance> outer_allowance{};
};

/// Options of collection::remove, append and prepend.
struct change_options {
    std::optional<duration> timeout{};
    /// Changes only this version; another one fails with errc::cas_mismatch. Zero: any version.
    couchbase::cas cas{};
    durability_level durability = durability_level::none;
    std::shared_ptr<driver::retry_strategy> strategy{};
    std::shared_ptr<const std::any> user_data{};
    driver::borrowed_pointer<driver::retry_allowance> outer_allowance{};
};

using remove_options = change_options;   ///< Options of collection::remove.
using append_options = change_options;   ///< Options of collection::append.
using prepend_options = change_options;  ///< Options of collection::prepend.

/// Options of collection::increment and decrement.
struct counter_options {
    std::optional<duration> timeout{};
    /// The amount that is added or subtracted.
    std::uint64_t delta = 1;
    /// A counter that does not exist is created with this value, without `delta`. Absent: the
    /// operation fails with errc::document_not_found.
    std::optional<std::uint64_t> initial{};
    /// Applies to a counter that is created.
    couchbase::expiry expiry{};
    durability_level durability = durability_level::none;
    std::shared_ptr<driver::retry_strategy> strategy{};
    std::shared_ptr<const std::any> user_data{};
    driver::borrowed_pointer<driver::retry_allowance> outer_allowance{};
};

/// Options of collection::lookup_in.
struct lookup_in_options {
    std::optional<duration> timeout{};
    /// Also reads a removed document, as long as the server keeps it.
    bool access_deleted = false;
    std::shared_ptr<driver::retry_strategy> strategy{};
    std::shared_ptr<const std::any> user_data{};
    driver::borrowed_pointer<driver::retry_allowance> outer_allowance{};
};

using lookup_in_replica_options = get_replica_options;  ///< Options of the lookups from replicas.

/// Options of collection::mutate_in.
struct mutate_in_options {
    std::optional<duration> timeout{};
    store_semantics store = store_semantics::replace;
    /// Changes only this version; another one fails with errc::cas_mismatch. Zero: any version. It
    /// cannot be combined with store_semantics::insert.
    couchbase::cas cas{};
    couchbase::expiry expiry{};
    /// Keeps the expiry of the document. It cannot be combined with `expiry`.
    bool preserve_expiry = false;
    durability_level durability = durability_level::none;
    /// Also changes attributes of a removed document.
    bool access_deleted = false;
    std::shared_ptr<driver::retry_strategy> strategy{};
    std::shared_ptr<const std::any> user_data{};
    driver::borrowed_pointer<driver::retry_allowance> outer_allowance{};
};

static_assert(operation_options<common_options>);
static_assert(operation_options<get_options>);
static_assert(operation_options<get_replica_options>);
static_assert(operation_options<upsert_options>);
static_assert(operation_options<insert_options>);
static_assert(operation_options<replace_options>);
static_assert(operation_options<change_options>);
static_assert(operation_options<counter_options>);
static_assert(operation_options<lookup_in_options>);
static_assert(operation_options<mutate_in_options>);
static_assert(operation_options<scan_options>);

/// Options of bucket_manager, collection_manager and cluster::management_request.
using management_options = common_options;

static_assert(operation_options<query_options>);
static_assert(operation_options<analytics_options>);
static_assert(operation_options<search_options>);
static_assert(operation_options<view_options>);

}  // namespace reprise::couchbase
