#pragma once

#include <chrono>
#include <concepts>
#include <expected>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <reprise/couchbase/codec.hpp>
#include <reprise/couchbase/detail/async_arguments.hpp>
#include <reprise/couchbase/detail/document_call.hpp>
#include <reprise/couchbase/error.hpp>
#include <reprise/couchbase/operation_options.hpp>
#include <reprise/couchbase/results.hpp>
#include <reprise/couchbase/subdocument_results.hpp>
#include <reprise/couchbase/subdocument_specs.hpp>

namespace reprise::couchbase {

// A value with a codec. Bare text gets as far as a message that names the spellings that work.
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

    // Stores, whether or not the document is there. Bare text does not compile: json_text{...}
    // stores a document that is JSON already, plain_text{...} one that is not.
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
    template <class Token, detail::options_argument<get_options> Options = get_options>
    auto async_get(std::string key, Options&& options, Token&& token) const;
    template <class Token>
    auto async_get(std::string key, detail::no_options, Token&& token) const {
        const get_options options{};
        return async_get(std::move(key), options, token);
    }
    template <
        class Token,
        detail::options_argument<get_and_touch_options> Options = get_and_touch_options>
    auto async_get_and_touch(
        std::string key, couchbase::expiry expiry, Options&& options, Token&& token) const;
    template <class Token>
    auto async_get_and_touch(
        std::string key, couchbase::expiry expiry, detail::no_options, Token&& token) const {
        const get_and_touch_options options{};
        return async_get_and_touch(std::move(key), expiry, options, token);
    }
    template <
        class Token, detail::options_argument<get_and_lock_options> Options = get_and_lock_options>
    auto async_get_and_lock(
        std::string key, std::chrono::seconds lock_time, Options&& options, Token&& token) const;
    template <class Token>
    auto async_get_and_lock(
        std::string key, std::chrono::seconds lock_time, detail::no_options, Token&& token) const {
        const get_and_lock_options options{};
        return async_get_and_lock(std::move(key), lock_time, options, token);
    }
    template <
        class Token, detail::options_argument<get_replica_options> Options = get_replica_options>
    auto async_get_any_replica(std::string key, Options&& options, Token&& token) const;
    template <class Token>
    auto async_get_any_replica(std::string key, detail::no_options, Token&& token) const {
        const get_replica_options options{};
        return async_get_any_replica(std::move(key), options, token);
    }
    template <
        class Token, detail::options_argument<get_replica_options> Options = get_replica_options>
    auto async_get_all_replicas(std::string key, Options&& options, Token&& token) const;
    template <class Token>
    auto async_get_all_replicas(std::string key, detail::no_options, Token&& token) const {
        const get_replica_options options{};
        return async_get_all_replicas(std::move(key), options, token);
    }
    template <class Token, detail::options_argument<exists_options> Options = exists_options>
    auto async_exists(std::string key, Options&& options, Token&& token) const;
    template <class Token>
    auto async_exists(std::string key, detail::no_options, Token&& token) const {
        const exists_options options{};
        return async_exists(std::move(key), options, token);
    }
    template <class Token, detail::options_argument<unlock_options> Options = unlock_options>
    auto async_unlock(std::string key, cas lock, Options&& options, Token&& token) const;
    template <class Token>
    auto async_unlock(std::string key, cas lock, detail::no_options, Token&& token) const {
        const unlock_options options{};
        return async_unlock(std::move(key), lock, options, token);
    }
    template <class Token, detail::options_argument<touch_options> Options = touch_options>
    auto async_touch(
        std::string key, couchbase::expiry expiry, Options&& options, Token&& token) const;
    template <class Token>
    auto async_touch(
        std::string key, couchbase::expiry expiry, detail::no_options, Token&& token) const {
        const touch_options options{};
        return async_touch(std::move(key), expiry, options, token);
    }
    template <
        class T, class Token, detail::options_argument<upsert_options> Options = upsert_options>
        requires storable<std::remove_cvref_t<T>>
    auto async_upsert(std::string key, T&& value, Options&& options, Token&& token) const;
    template <class T, class Token>
        requires storable<std::remove_cvref_t<T>>
    auto async_upsert(std::string key, T&& value, detail::no_options, Token&& token) const {
        const upsert_options options{};
        return async_upsert(std::move(key), std::forward<T>(value), options, token);
    }
    template <
        class T, class Token, detail::options_argument<insert_options> Options = insert_options>
        requires storable<std::remove_cvref_t<T>>
    auto async_insert(std::string key, T&& value, Options&& options, Token&& token) const;
    template <class T, class Token>
        requires storable<std::remove_cvref_t<T>>
    auto async_insert(std::string key, T&& value, detail::no_options, Token&& token) const {
        const insert_options options{};
        return async_insert(std::move(key), std::forward<T>(value), options, token);
    }
    template <
        class T, class Token, detail::options_argument<replace_options> Options = replace_options>
        requires storable<std::remove_cvref_t<T>>
    auto async_replace(std::string key, T&& value, Options&& options, Token&& token) const;
    template <class T, class Token>
        requires storable<std::remove_cvref_t<T>>
    auto async_replace(std::string key, T&& value, detail::no_options, Token&& token) const {
        const replace_options options{};
        return async_replace(std::move(key), std::forward<T>(value), options, token);
    }
    template <class Token, detail::options_argument<remove_options> Options = remove_options>
    auto async_remove(std::string key, Options&& options, Token&& token) const;
    template <class Token>
    auto async_remove(std::string key, detail::no_options, Token&& token) const {
        const remove_options options{};
        return async_remove(std::move(key), options, token);
    }
    template <class Token, detail::options_argument<append_options> Options = append_options>
    auto async_append(
        std::string key, std::span<const std::byte> bytes, Options&& options, Token&& token) const;
    template <class Token>
    auto async_append(
        std::string key, std::span<const std::byte> bytes, detail::no_options,
        Token&& token) const {
        const append_options options{};
        return async_append(std::move(key), bytes, options, token);
    }
    template <class Token, detail::options_argument<prepend_options> Options = prepend_options>
    auto async_prepend(
        std::string key, std::span<const std::byte> bytes, Options&& options, Token&& token) const;
    template <class Token>
    auto async_prepend(
        std::string key, std::span<const std::byte> bytes, detail::no_options,
        Token&& token) const {
        const prepend_options options{};
        return async_prepend(std::move(key), bytes, options, token);
    }
    template <class Token, detail::options_argument<counter_options> Options = counter_options>
    auto async_increment(std::string key, Options&& options, Token&& token) const;
    template <class Token>
    auto async_increment(std::string key, detail::no_options, Token&& token) const {
        const counter_options options{};
        return async_increment(std::move(key), options, token);
    }
    template <class Token, detail::options_argument<counter_options> Options = counter_options>
    auto async_decrement(std::string key, Options&& options, Token&& token) const;
    template <class Token>
    auto async_decrement(std::string key, detail::no_options, Token&& token) const {
        const counter_options options{};
        return async_decrement(std::move(key), options, token);
    }
    template <class Token, detail::options_argument<lookup_in_options> Options = lookup_in_options>
    auto async_lookup_in(
        std::string key, std::vector<lookup_spec> specs, Options&& options, Token&& token) const;
    template <class Token>
    auto async_lookup_in(
        std::string key, std::vector<lookup_spec> specs, detail::no_options, Token&& token) const {
        const lookup_in_options options{};
        return async_lookup_in(std::move(key), std::move(specs), options, token);
    }
    template <class Token, detail::options_argument<mutate_in_options> Options = mutate_in_options>
    auto async_mutate_in(
        std::string key, std::vector<mutate_spec> specs, Options&& options, Token&& token) const;
    template <class Token>
    auto async_mutate_in(
        std::string key, std::vector<mutate_spec> specs, detail::no_options, Token&& token) const {
        const mutate_in_options options{};
        return async_mutate_in(std::move(key), std::move(specs), options, token);
    }

private:
    template <class T>
    [[nodiscard]] static encoded_value encode(const T& value) {
        static_assert(
            encodable<T>,
            "is this text JSON? store json_text{...} if it is, plain_text{...} if it is not");
        return codec<T>::encode(value);
    }
    [[nodiscard]] std::expected<mutation_result, error> store(
        detail::document_call call, const encoded_value& value) const;

    detail::call_target target_;
};

}  // namespace reprise::couchbase
