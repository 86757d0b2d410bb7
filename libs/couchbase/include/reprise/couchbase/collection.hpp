#pragma once

#include <chrono>
#include <concepts>
#include <expected>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <reprise/couchbase/codec.hpp>
#include <reprise/couchbase/detail/document_call.hpp>
#include <reprise/couchbase/error.hpp>
#include <reprise/couchbase/operation_options.hpp>
#include <reprise/couchbase/results.hpp>
#include <reprise/couchbase/subdocument_results.hpp>
#include <reprise/couchbase/subdocument_specs.hpp>

namespace reprise::couchbase {

// A value with a codec, or anything that is text.
template <class T>
concept storable = encodable<T> || std::convertible_to<const T&, std::string_view>;

// The documents of one collection. A handle: cheap to copy, usable from any thread, keeps the
// client alive.
//
// Every operation has two forms. `get` blocks until it is done; from inside the client's own loop
// that would never end and is refused as client_errc::blocking_call_in_loop. `async_get` completes
// through any token of Boost.Asio with `void(std::expected<get_result, error>)`: a callback,
// use_future, use_awaitable, deferred, ...; include <reprise/couchbase/asio.hpp> for it. Its
// handler runs on its associated executor; without one on the thread of the client, where it must
// not block and must not throw. A connected cancellation slot cancels the operation.
//
// Each operation ends exactly once, at the latest at its timeout, also when the client is closed or
// destroyed (then with errc::request_canceled).
//
// No order is promised between operations that are under way at the same time, not even on one key:
// a retry may overtake. Operation Y sees what X wrote only if X had completed before Y was started,
// and survives the loss of a node only if X asked for sufficient durability.
class collection {
public:
    // Made by `bucket` and `scope`.
    explicit collection(detail::call_target target) noexcept : target_(std::move(target)) {}

    // Reads. errc::document_not_found if it is not there.
    [[nodiscard]] std::expected<get_result, error> get(
        std::string_view key, const get_options& options = {}) const;
    // Reads and sets a new expiry.
    [[nodiscard]] std::expected<get_result, error> get_and_touch(
        std::string_view key, couchbase::expiry expiry,
        const get_and_touch_options& options = {}) const;
    // Reads and locks for `lock_time` (1 to 30 s; the server's default for other values). A locked
    // document is waited for until the timeout.
    [[nodiscard]] std::expected<get_result, error> get_and_lock(
        std::string_view key, std::chrono::seconds lock_time,
        const get_and_lock_options& options = {}) const;
    // Reads the active copy and all replicas at once; the first one that can be read is the result,
    // the others are canceled. For reads that must go on while a node is away: what a replica gives
    // may be old. errc::document_unretrievable if no copy could be read, with what each of them
    // met; an error that all copies share (a timeout, refused credentials) is given itself.
    [[nodiscard]] std::expected<get_replica_result, error> get_any_replica(
        std::string_view key, const get_replica_options& options = {}) const;
    // As get_any_replica, but waits for all copies. Those that could not be read are left out,
    // unless that is all of them. The active copy comes first, then replicas by their number.
    [[nodiscard]] std::expected<std::vector<get_replica_result>, error> get_all_replicas(
        std::string_view key, const get_replica_options& options = {}) const;
    // Whether the document is there.
    [[nodiscard]] std::expected<exists_result, error> exists(
        std::string_view key, const exists_options& options = {}) const;
    // Ends the lock that `lock` names. errc::cas_mismatch if it is another one,
    // errc::document_not_locked if there is none.
    [[nodiscard]] std::expected<void, error> unlock(
        std::string_view key, cas lock, const unlock_options& options = {}) const;
    // Sets a new expiry.
    [[nodiscard]] std::expected<mutation_result, error> touch(
        std::string_view key, couchbase::expiry expiry, const touch_options& options = {}) const;

    // Stores, whether or not the document is there.
    template <storable T>
    [[nodiscard]] std::expected<mutation_result, error> upsert(
        std::string_view key, const T& value, const upsert_options& options = {}) const {
        return store(detail::make_call(detail::call_kind::upsert, key, options), encode(value));
    }
    // Stores a new document; errc::document_exists if it is there.
    template <storable T>
    [[nodiscard]] std::expected<mutation_result, error> insert(
        std::string_view key, const T& value, const insert_options& options = {}) const {
        return store(detail::make_call(detail::call_kind::insert, key, options), encode(value));
    }
    // Stores over a document; errc::document_not_found if it is not there.
    template <storable T>
    [[nodiscard]] std::expected<mutation_result, error> replace(
        std::string_view key, const T& value, const replace_options& options = {}) const {
        return store(detail::make_call(detail::call_kind::replace, key, options), encode(value));
    }
    [[nodiscard]] std::expected<mutation_result, error> remove(
        std::string_view key, const remove_options& options = {}) const;

    // Adds bytes after or before what is there; the document keeps its format.
    // errc::document_not_found if there is none.
    [[nodiscard]] std::expected<mutation_result, error> append(
        std::string_view key, std::span<const std::byte> bytes,
        const append_options& options = {}) const;
    [[nodiscard]] std::expected<mutation_result, error> prepend(
        std::string_view key, std::span<const std::byte> bytes,
        const prepend_options& options = {}) const;
    // Counters are decimal numbers of 64 bits: increment wraps, decrement stops at zero.
    // errc::delta_invalid if the document is no number.
    [[nodiscard]] std::expected<counter_result, error> increment(
        std::string_view key, const counter_options& options = {}) const;
    [[nodiscard]] std::expected<counter_result, error> decrement(
        std::string_view key, const counter_options& options = {}) const;

    // Reads 1 to 16 paths of a JSON document in one go. A path that cannot be read is no error of
    // the call: it shows where that path's content is asked for.
    [[nodiscard]] std::expected<lookup_in_result, error> lookup_in(
        std::string_view key, std::vector<lookup_spec> specs,
        const lookup_in_options& options = {}) const;
    // Makes 1 to 16 changes to a JSON document, all or none. The first path that fails is the
    // error, and its place is error::info().failed_path.
    [[nodiscard]] std::expected<mutate_in_result, error> mutate_in(
        std::string_view key, std::vector<mutate_spec> specs,
        const mutate_in_options& options = {}) const;

    // The same with completion tokens. Defined in <reprise/couchbase/asio.hpp>.
    template <class Token>
    auto async_get(std::string key, const get_options& options, Token&& token) const;
    template <class Token>
    auto async_get_and_touch(
        std::string key, couchbase::expiry expiry, const get_and_touch_options& options,
        Token&& token) const;
    template <class Token>
    auto async_get_and_lock(
        std::string key, std::chrono::seconds lock_time, const get_and_lock_options& options,
        Token&& token) const;
    template <class Token>
    auto async_get_any_replica(
        std::string key, const get_replica_options& options, Token&& token) const;
    template <class Token>
    auto async_get_all_replicas(
        std::string key, const get_replica_options& options, Token&& token) const;
    template <class Token>
    auto async_exists(std::string key, const exists_options& options, Token&& token) const;
    template <class Token>
    auto async_unlock(
        std::string key, cas lock, const unlock_options& options, Token&& token) const;
    template <class Token>
    auto async_touch(
        std::string key, couchbase::expiry expiry, const touch_options& options,
        Token&& token) const;
    template <storable T, class Token>
    auto async_upsert(
        std::string key, const T& value, const upsert_options& options, Token&& token) const;
    template <storable T, class Token>
    auto async_insert(
        std::string key, const T& value, const insert_options& options, Token&& token) const;
    template <storable T, class Token>
    auto async_replace(
        std::string key, const T& value, const replace_options& options, Token&& token) const;
    template <class Token>
    auto async_remove(std::string key, const remove_options& options, Token&& token) const;
    template <class Token>
    auto async_append(
        std::string key, std::span<const std::byte> bytes, const append_options& options,
        Token&& token) const;
    template <class Token>
    auto async_prepend(
        std::string key, std::span<const std::byte> bytes, const prepend_options& options,
        Token&& token) const;
    template <class Token>
    auto async_increment(std::string key, const counter_options& options, Token&& token) const;
    template <class Token>
    auto async_decrement(std::string key, const counter_options& options, Token&& token) const;
    template <class Token>
    auto async_lookup_in(
        std::string key, std::vector<lookup_spec> specs, const lookup_in_options& options,
        Token&& token) const;
    template <class Token>
    auto async_mutate_in(
        std::string key, std::vector<mutate_spec> specs, const mutate_in_options& options,
        Token&& token) const;

private:
    template <class T>
    [[nodiscard]] static encoded_value encode(const T& value) {
        if constexpr (encodable<T>) {
            return codec<T>::encode(value);
        } else {
            return codec<std::string_view>::encode(value);
        }
    }
    [[nodiscard]] std::expected<mutation_result, error> store(
        detail::document_call call, const encoded_value& value) const;

    detail::call_target target_;
};

}  // namespace reprise::couchbase
