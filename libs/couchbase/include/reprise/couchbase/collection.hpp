#pragma once

#include <chrono>
#include <concepts>
#include <expected>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <reprise/couchbase/codec.hpp>
#include <reprise/couchbase/detail/calls.hpp>
#include <reprise/couchbase/error.hpp>
#include <reprise/couchbase/options.hpp>
#include <reprise/couchbase/results.hpp>
#include <reprise/couchbase/streams.hpp>
#include <reprise/couchbase/subdocument_specs.hpp>

namespace reprise::couchbase {

class bucket;
class query_index_manager;
class scope;

/// A value with a codec. Plain text also satisfies the concept, so that the compiler can name what
/// to write instead.
template <class T>
concept storable = encodable<T> || std::convertible_to<const T&, std::string_view>;

/// The documents of one collection. This is a handle: it is cheap to copy, any thread may use it,
/// and it keeps the client alive.
///
/// Every operation has two forms. `get` blocks until the operation has completed. On the client's
/// own loop it would never return, so it fails with errc::blocking_call_in_loop there.
///
/// `async_get` takes the same arguments and a completion token of Boost.Asio with the signature
/// `void(std::expected<get_result, error>)`: a callback, use_future, use_awaitable, ... Options and
/// token may be left out. The default token is boost::asio::deferred, so a coroutine simply awaits
/// the call:
/// ```
///     auto airline = co_await airlines.async_get("airline_10");
/// ```
/// Include <reprise/couchbase/asio.hpp> for these functions. The handler runs on its associated
/// executor. Without one it runs on a thread of the client, where it must not block or throw. A
/// connected cancellation slot cancels the operation. Keys, documents and options are copied by the
/// call; they need not outlive it.
///
/// Each operation completes exactly once, no later than at its timeout. When the client is closed
/// or destroyed, it completes with errc::request_canceled.
///
/// Operations that run at the same time have no order, not even on one key: a retry may overtake
/// another operation. Operation Y sees what X wrote only if X had completed before Y started. The
/// write survives the loss of a node only if X asked for sufficient durability.
class collection {
public:
    /// Reads a document, or some paths of it. Fails with errc::document_not_found if it does not
    /// exist, and with errc::document_not_json if it has no paths.
    [[nodiscard]] std::expected<get_result, error> get(std::string_view key) const;
    [[nodiscard]] std::expected<get_result, error> get(
        std::string_view key, const get_options& options) const;
    /// Reads a document and sets a new expiry.
    [[nodiscard]] std::expected<get_result, error> get_and_touch(
        std::string_view key, couchbase::expiry expiry,
        const get_and_touch_options& options = {}) const;
    /// Reads a document and locks it for `lock_time` (1 to 30 s; the server uses its default for
    /// other values). If the document is locked already, the operation is retried until the
    /// timeout.
    [[nodiscard]] std::expected<get_result, error> get_and_lock(
        std::string_view key, std::chrono::seconds lock_time,
        const get_and_lock_options& options = {}) const;
    /// Reads the active copy and all replicas at once and returns the first one that can be read;
    /// the other reads are canceled. Use it if reads must go on while a node is down; a replica may
    /// return an old version. Fails with errc::document_unretrievable, which lists the error of
    /// each copy, or with the common error if all copies fail alike (a timeout, refused
    /// credentials).
    [[nodiscard]] std::expected<get_replica_result, error> get_any_replica(
        std::string_view key, const get_replica_options& options = {}) const;
    /// Reads all copies as get_any_replica does and waits for all of them. The active copy comes
    /// first, then the replicas by their number. Copies that cannot be read are left out; if no
    /// copy can be read, the operation fails.
    [[nodiscard]] std::expected<std::vector<get_replica_result>, error> get_all_replicas(
        std::string_view key, const get_replica_options& options = {}) const;
    /// Returns whether a document exists. A missing document is no error.
    [[nodiscard]] std::expected<exists_result, error> exists(
        std::string_view key, const exists_options& options = {}) const;
    /// Releases the lock that `lock` names. Fails with errc::cas_mismatch if another lock holds,
    /// and with errc::document_not_locked if none does.
    [[nodiscard]] std::expected<void, error> unlock(
        std::string_view key, cas lock, const unlock_options& options = {}) const;
    /// Sets a new expiry.
    [[nodiscard]] std::expected<mutation_result, error> touch(
        std::string_view key, couchbase::expiry expiry, const touch_options& options = {}) const;

    /// Stores a document, whether or not it exists. A plain string does not compile: json_text{...}
    /// stores text that is JSON, plain_text{...} stores text that is not.
    template <storable T>
    [[nodiscard]] std::expected<mutation_result, error> upsert(
        std::string_view key, const T& value, const upsert_options& options = {}) const {
        return store(
            detail::make_call(detail::operation_kind::upsert, key, options), encode(value));
    }
    /// Stores a new document. Fails with errc::document_exists if it exists.
    template <storable T>
    [[nodiscard]] std::expected<mutation_result, error> insert(
        std::string_view key, const T& value, const insert_options& options = {}) const {
        return store(
            detail::make_call(detail::operation_kind::insert, key, options), encode(value));
    }
    /// Replaces a document. Fails with errc::document_not_found if it does not exist.
    template <storable T>
    [[nodiscard]] std::expected<mutation_result, error> replace(
        std::string_view key, const T& value, const replace_options& options = {}) const {
        return store(
            detail::make_call(detail::operation_kind::replace, key, options), encode(value));
    }
    /// Removes a document. Fails with errc::document_not_found if it does not exist.
    [[nodiscard]] std::expected<mutation_result, error> remove(
        std::string_view key, const remove_options& options = {}) const;

    /// Adds bytes at the end (append) or at the start (prepend) of a document, which keeps its
    /// format. Fails with errc::document_not_found if it does not exist.
    [[nodiscard]] std::expected<mutation_result, error> append(
        std::string_view key, std::span<const std::byte> bytes,
        const append_options& options = {}) const;
    [[nodiscard]] std::expected<mutation_result, error> prepend(
        std::string_view key, std::span<const std::byte> bytes,
        const prepend_options& options = {}) const;
    /// Changes a counter: a decimal number of 64 bits. Increment wraps around, decrement stops at
    /// zero. Fails with errc::delta_invalid if the document is not a number.
    [[nodiscard]] std::expected<counter_result, error> increment(
        std::string_view key, const counter_options& options = {}) const;
    [[nodiscard]] std::expected<counter_result, error> decrement(
        std::string_view key, const counter_options& options = {}) const;

    /// Reads 1 to 16 paths of a JSON document at once. If a path cannot be read, the call still
    /// succeeds; lookup_in_result::content of that path is the error.
    [[nodiscard]] std::expected<lookup_in_result, error> lookup_in(
        std::string_view key, std::vector<lookup_spec> specs,
        const lookup_in_options& options = {}) const;
    /// The same for any copy of the document and for all copies, as get_any_replica and
    /// get_all_replicas do. They fail with errc::feature_not_available if the bucket has no lookups
    /// in replicas (before 7.6).
    [[nodiscard]] std::expected<lookup_in_replica_result, error> lookup_in_any_replica(
        std::string_view key, std::vector<lookup_spec> specs,
        const lookup_in_replica_options& options = {}) const;
    [[nodiscard]] std::expected<std::vector<lookup_in_replica_result>, error>
    lookup_in_all_replicas(
        std::string_view key, std::vector<lookup_spec> specs,
        const lookup_in_replica_options& options = {}) const;
    /// Makes 1 to 16 changes to a JSON document, all or none. The call fails with the error of the
    /// first path that fails; error::info().failed_path is its index.
    [[nodiscard]] std::expected<mutate_in_result, error> mutate_in(
        std::string_view key, std::vector<mutate_spec> specs,
        const mutate_in_options& options = {}) const;

    /// Reads documents by their keys: a range, a prefix or a sample. Returns at once; the documents
    /// are read from the stream, which also has the asynchronous form. It is made for exports and
    /// repairs, not for requests that users wait for: a query with an index is faster.
    /// ```
    ///     auto found = airlines.scan(couchbase::prefix_scan{"airline_1"});
    /// ```
    /// Fails with errc::invalid_argument for a limit of zero. Its stream fails with
    /// errc::feature_not_available if the bucket has no range scans (before 7.5, or in memory
    /// only).
    [[nodiscard]] std::expected<scan_stream, error> scan(
        const scan_kind& what, const scan_options& options = {}) const;

    /// Creates, drops, lists and awaits the query indexes of this collection: see management.hpp.
    [[nodiscard]] query_index_manager query_indexes() const;

    /// The asynchronous forms; see the class. They need <reprise/couchbase/asio.hpp>.
    template <
        class Token = detail::default_token,
        detail::options_argument<get_options> Options = get_options>
    [[nodiscard]] auto async_get(
        std::string_view key, Options&& options, Token&& token = {}) const {
        return detail::initiate_call<get_result, &detail::start_get>(
            detail::given<Options>{}, target_, detail::make_get(key, options), token);
    }
    template <class Token = detail::default_token>
    [[nodiscard]] auto async_get(
        std::string_view key, detail::no_options = {}, Token&& token = {}) const {
        return async_plain_get(key, token);
    }
    template <
        class Token = detail::default_token,
        detail::options_argument<get_and_touch_options> Options = get_and_touch_options>
    [[nodiscard]] auto async_get_and_touch(
        std::string_view key, couchbase::expiry expiry, Options&& options,
        Token&& token = {}) const {
        auto call = detail::make_call(detail::operation_kind::get_and_touch, key, options);
        detail::set_expiry(call, expiry);
        return detail::initiate_call<get_result>(
            detail::given<Options>{}, target_, std::move(call), token);
    }
    template <class Token = detail::default_token>
    [[nodiscard]] auto async_get_and_touch(
        std::string_view key, couchbase::expiry expiry, detail::no_options = {},
        Token&& token = {}) const {
        const get_and_touch_options options{};
        return async_get_and_touch(key, expiry, options, token);
    }
    template <
        class Token = detail::default_token,
        detail::options_argument<get_and_lock_options> Options = get_and_lock_options>
    [[nodiscard]] auto async_get_and_lock(
        std::string_view key, std::chrono::seconds lock_time, Options&& options,
        Token&& token = {}) const {
        auto call = detail::make_call(detail::operation_kind::get_and_lock, key, options);
        detail::set_lock_time(call, lock_time);
        return detail::initiate_call<get_result>(
            detail::given<Options>{}, target_, std::move(call), token);
    }
    template <class Token = detail::default_token>
    [[nodiscard]] auto async_get_and_lock(
        std::string_view key, std::chrono::seconds lock_time, detail::no_options = {},
        Token&& token = {}) const {
        const get_and_lock_options options{};
        return async_get_and_lock(key, lock_time, options, token);
    }
    template <
        class Token = detail::default_token,
        detail::options_argument<get_replica_options> Options = get_replica_options>
    [[nodiscard]] auto async_get_any_replica(
        std::string_view key, Options&& options, Token&& token = {}) const {
        return detail::initiate_call<get_replica_result>(
            detail::given<Options>{}, target_,
            detail::make_call(detail::operation_kind::get, key, options), token);
    }
    template <class Token = detail::default_token>
    [[nodiscard]] auto async_get_any_replica(
        std::string_view key, detail::no_options = {}, Token&& token = {}) const {
        const get_replica_options options{};
        return async_get_any_replica(key, options, token);
    }
    template <
        class Token = detail::default_token,
        detail::options_argument<get_replica_options> Options = get_replica_options>
    [[nodiscard]] auto async_get_all_replicas(
        std::string_view key, Options&& options, Token&& token = {}) const {
        return detail::initiate_call<detail::replica_list>(
            detail::given<Options>{}, target_,
            detail::make_call(detail::operation_kind::get, key, options), token);
    }
    template <class Token = detail::default_token>
    [[nodiscard]] auto async_get_all_replicas(
        std::string_view key, detail::no_options = {}, Token&& token = {}) const {
        const get_replica_options options{};
        return async_get_all_replicas(key, options, token);
    }
    template <
        class Token = detail::default_token,
        detail::options_argument<exists_options> Options = exists_options>
    [[nodiscard]] auto async_exists(
        std::string_view key, Options&& options, Token&& token = {}) const {
        return detail::initiate_call<exists_result>(
            detail::given<Options>{}, target_,
            detail::make_call(detail::operation_kind::exists, key, options), token);
    }
    template <class Token = detail::default_token>
    [[nodiscard]] auto async_exists(
        std::string_view key, detail::no_options = {}, Token&& token = {}) const {
        const exists_options options{};
        return async_exists(key, options, token);
    }
    template <
        class Token = detail::default_token,
        detail::options_argument<unlock_options> Options = unlock_options>
    [[nodiscard]] auto async_unlock(
        std::string_view key, cas lock, Options&& options, Token&& token = {}) const {
        auto call = detail::make_call(detail::operation_kind::unlock, key, options);
        call.cas = lock.value;
        return detail::initiate_call<void>(
            detail::given<Options>{}, target_, std::move(call), token);
    }
    template <class Token = detail::default_token>
    [[nodiscard]] auto async_unlock(
        std::string_view key, cas lock, detail::no_options = {}, Token&& token = {}) const {
        const unlock_options options{};
        return async_unlock(key, lock, options, token);
    }
    template <
        class Token = detail::default_token,
        detail::options_argument<touch_options> Options = touch_options>
    [[nodiscard]] auto async_touch(
        std::string_view key, couchbase::expiry expiry, Options&& options,
        Token&& token = {}) const {
        auto call = detail::make_call(detail::operation_kind::touch, key, options);
        detail::set_expiry(call, expiry);
        return detail::initiate_call<mutation_result>(
            detail::given<Options>{}, target_, std::move(call), token);
    }
    template <class Token = detail::default_token>
    [[nodiscard]] auto async_touch(
        std::string_view key, couchbase::expiry expiry, detail::no_options = {},
        Token&& token = {}) const {
        const touch_options options{};
        return async_touch(key, expiry, options, token);
    }
    template <
        class T, class Token = detail::default_token,
        detail::options_argument<upsert_options> Options = upsert_options>
        requires storable<std::remove_cvref_t<T>>
    [[nodiscard]] auto async_upsert(
        std::string_view key, T&& value, Options&& options, Token&& token = {}) const {
        const encoded_value encoded = encode(value);
        auto call = detail::make_call(detail::operation_kind::upsert, key, options);
        detail::set_value(call, encoded);
        return detail::initiate_call<mutation_result>(
            detail::given<Options, detail::document_argument<T>>{}, target_, std::move(call),
            token);
    }
    template <class T, class Token = detail::default_token>
        requires storable<std::remove_cvref_t<T>>
    [[nodiscard]] auto async_upsert(
        std::string_view key, T&& value, detail::no_options = {}, Token&& token = {}) const {
        const upsert_options options{};
        return async_upsert(key, std::forward<T>(value), options, token);
    }
    template <
        class T, class Token = detail::default_token,
        detail::options_argument<insert_options> Options = insert_options>
        requires storable<std::remove_cvref_t<T>>
    [[nodiscard]] auto async_insert(
        std::string_view key, T&& value, Options&& options, Token&& token = {}) const {
        const encoded_value encoded = encode(value);
        auto call = detail::make_call(detail::operation_kind::insert, key, options);
        detail::set_value(call, encoded);
        return detail::initiate_call<mutation_result>(
            detail::given<Options, detail::document_argument<T>>{}, target_, std::move(call),
            token);
    }
    template <class T, class Token = detail::default_token>
        requires storable<std::remove_cvref_t<T>>
    [[nodiscard]] auto async_insert(
        std::string_view key, T&& value, detail::no_options = {}, Token&& token = {}) const {
        const insert_options options{};
        return async_insert(key, std::forward<T>(value), options, token);
    }
    template <
        class T, class Token = detail::default_token,
        detail::options_argument<replace_options> Options = replace_options>
        requires storable<std::remove_cvref_t<T>>
    [[nodiscard]] auto async_replace(
        std::string_view key, T&& value, Options&& options, Token&& token = {}) const {
        const encoded_value encoded = encode(value);
        auto call = detail::make_call(detail::operation_kind::replace, key, options);
        detail::set_value(call, encoded);
        return detail::initiate_call<mutation_result>(
            detail::given<Options, detail::document_argument<T>>{}, target_, std::move(call),
            token);
    }
    template <class T, class Token = detail::default_token>
        requires storable<std::remove_cvref_t<T>>
    [[nodiscard]] auto async_replace(
        std::string_view key, T&& value, detail::no_options = {}, Token&& token = {}) const {
        const replace_options options{};
        return async_replace(key, std::forward<T>(value), options, token);
    }
    template <
        class Token = detail::default_token,
        detail::options_argument<remove_options> Options = remove_options>
    [[nodiscard]] auto async_remove(
        std::string_view key, Options&& options, Token&& token = {}) const {
        return detail::initiate_call<mutation_result>(
            detail::given<Options>{}, target_,
            detail::make_call(detail::operation_kind::remove, key, options), token);
    }
    template <class Token = detail::default_token>
    [[nodiscard]] auto async_remove(
        std::string_view key, detail::no_options = {}, Token&& token = {}) const {
        const remove_options options{};
        return async_remove(key, options, token);
    }
    template <
        class Token = detail::default_token,
        detail::options_argument<append_options> Options = append_options>
    [[nodiscard]] auto async_append(
        std::string_view key, std::span<const std::byte> bytes, Options&& options,
        Token&& token = {}) const {
        auto call = detail::make_call(detail::operation_kind::append, key, options);
        call.value = bytes;
        return detail::initiate_call<mutation_result>(
            detail::given<Options>{}, target_, std::move(call), token);
    }
    template <class Token = detail::default_token>
    [[nodiscard]] auto async_append(
        std::string_view key, std::span<const std::byte> bytes, detail::no_options = {},
        Token&& token = {}) const {
        const append_options options{};
        return async_append(key, bytes, options, token);
    }
    template <
        class Token = detail::default_token,
        detail::options_argument<prepend_options> Options = prepend_options>
    [[nodiscard]] auto async_prepend(
        std::string_view key, std::span<const std::byte> bytes, Options&& options,
        Token&& token = {}) const {
        auto call = detail::make_call(detail::operation_kind::prepend, key, options);
        call.value = bytes;
        return detail::initiate_call<mutation_result>(
            detail::given<Options>{}, target_, std::move(call), token);
    }
    template <class Token = detail::default_token>
    [[nodiscard]] auto async_prepend(
        std::string_view key, std::span<const std::byte> bytes, detail::no_options = {},
        Token&& token = {}) const {
        const prepend_options options{};
        return async_prepend(key, bytes, options, token);
    }
    template <
        class Token = detail::default_token,
        detail::options_argument<counter_options> Options = counter_options>
    [[nodiscard]] auto async_increment(
        std::string_view key, Options&& options, Token&& token = {}) const {
        return detail::initiate_call<counter_result>(
            detail::given<Options>{}, target_,
            detail::make_call(detail::operation_kind::increment, key, options), token);
    }
    template <class Token = detail::default_token>
    [[nodiscard]] auto async_increment(
        std::string_view key, detail::no_options = {}, Token&& token = {}) const {
        const counter_options options{};
        return async_increment(key, options, token);
    }
    template <
        class Token = detail::default_token,
        detail::options_argument<counter_options> Options = counter_options>
    [[nodiscard]] auto async_decrement(
        std::string_view key, Options&& options, Token&& token = {}) const {
        return detail::initiate_call<counter_result>(
            detail::given<Options>{}, target_,
            detail::make_call(detail::operation_kind::decrement, key, options), token);
    }
    template <class Token = detail::default_token>
    [[nodiscard]] auto async_decrement(
        std::string_view key, detail::no_options = {}, Token&& token = {}) const {
        const counter_options options{};
        return async_decrement(key, options, token);
    }
    template <
        class Token = detail::default_token,
        detail::options_argument<lookup_in_options> Options = lookup_in_options>
    [[nodiscard]] auto async_lookup_in(
        std::string_view key, std::vector<lookup_spec> specs, Options&& options,
        Token&& token = {}) const {
        return detail::initiate_call<lookup_in_result>(
            detail::given<Options>{}, target_,
            detail::make_call(detail::operation_kind::lookup_in, key, options, std::move(specs)),
            token);
    }
    template <class Token = detail::default_token>
    [[nodiscard]] auto async_lookup_in(
        std::string_view key, std::vector<lookup_spec> specs, detail::no_options = {},
        Token&& token = {}) const {
        const lookup_in_options options{};
        return async_lookup_in(key, std::move(specs), options, token);
    }
    template <
        class Token = detail::default_token,
        detail::options_argument<lookup_in_replica_options> Options = lookup_in_replica_options>
    [[nodiscard]] auto async_lookup_in_any_replica(
        std::string_view key, std::vector<lookup_spec> specs, Options&& options,
        Token&& token = {}) const {
        return detail::initiate_call<lookup_in_replica_result>(
            detail::given<Options>{}, target_,
            detail::make_call(detail::operation_kind::lookup_in, key, options, std::move(specs)),
            token);
    }
    template <class Token = detail::default_token>
    [[nodiscard]] auto async_lookup_in_any_replica(
        std::string_view key, std::vector<lookup_spec> specs, detail::no_options = {},
        Token&& token = {}) const {
        const lookup_in_replica_options options{};
        return async_lookup_in_any_replica(key, std::move(specs), options, token);
    }
    template <
        class Token = detail::default_token,
        detail::options_argument<lookup_in_replica_options> Options = lookup_in_replica_options>
    [[nodiscard]] auto async_lookup_in_all_replicas(
        std::string_view key, std::vector<lookup_spec> specs, Options&& options,
        Token&& token = {}) const {
        return detail::initiate_call<detail::lookup_replica_list>(
            detail::given<Options>{}, target_,
            detail::make_call(detail::operation_kind::lookup_in, key, options, std::move(specs)),
            token);
    }
    template <class Token = detail::default_token>
    [[nodiscard]] auto async_lookup_in_all_replicas(
        std::string_view key, std::vector<lookup_spec> specs, detail::no_options = {},
        Token&& token = {}) const {
        const lookup_in_replica_options options{};
        return async_lookup_in_all_replicas(key, std::move(specs), options, token);
    }
    template <
        class Token = detail::default_token,
        detail::options_argument<mutate_in_options> Options = mutate_in_options>
    [[nodiscard]] auto async_mutate_in(
        std::string_view key, std::vector<mutate_spec> specs, Options&& options,
        Token&& token = {}) const {
        return detail::initiate_call<mutate_in_result>(
            detail::given<Options>{}, target_,
            detail::make_call(detail::operation_kind::mutate_in, key, options, std::move(specs)),
            token);
    }
    template <class Token = detail::default_token>
    [[nodiscard]] auto async_mutate_in(
        std::string_view key, std::vector<mutate_spec> specs, detail::no_options = {},
        Token&& token = {}) const {
        const mutate_in_options options{};
        return async_mutate_in(key, std::move(specs), options, token);
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

    // async_get without options, as in most reads, so it has fewer steps.
    template <class Token>
    [[nodiscard]] auto async_plain_get(std::string_view key, Token& token) const {
        return detail::initiate_call<get_result>(
            detail::given<>{}, target_,
            detail::make_call(detail::operation_kind::get, key, common_options{}), token);
    }

    friend class bucket;
    friend class scope;
    explicit collection(detail::call_target target) noexcept : target_(std::move(target)) {}

    detail::call_target target_;
};

}  // namespace reprise::couchbase
