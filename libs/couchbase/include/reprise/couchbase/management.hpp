#pragma once

/// Manages buckets, scopes, collections and query indexes. Calls that only read are safe to retry.
/// Any other call is retried only if the first attempt certainly did nothing.
///
/// The calls have asynchronous forms with the signature `void(std::expected<Result, error>)`;
/// include <reprise/couchbase/asio.hpp> to use them.

#include <chrono>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <reprise/couchbase/detail/calls.hpp>
#include <reprise/couchbase/error.hpp>
#include <reprise/couchbase/options.hpp>
#include <reprise/couchbase/results.hpp>

namespace reprise::couchbase {

/// A change that was made.
struct change_result {
    operation_trace trace{};
};

/// One bucket.
struct bucket_result {
    bucket_settings bucket{};
    operation_trace trace{};
};

/// All buckets.
struct bucket_list_result {
    std::vector<bucket_settings> buckets{};
    operation_trace trace{};
};

namespace detail {

enum class bucket_change : std::uint8_t { create, update };
[[nodiscard]] service_work make_bucket_work(
    const std::shared_ptr<session>& client, bucket_change change, const bucket_settings& bucket,
    const management_options& options);
[[nodiscard]] service_work make_drop_bucket_work(
    const std::shared_ptr<session>& client, std::string_view name,
    const management_options& options);
[[nodiscard]] service_work make_flush_bucket_work(
    const std::shared_ptr<session>& client, std::string_view name,
    const management_options& options);
[[nodiscard]] service_work make_get_bucket_work(
    const std::shared_ptr<session>& client, std::string_view name,
    const management_options& options);
[[nodiscard]] service_work make_list_buckets_work(
    const std::shared_ptr<session>& client, const management_options& options);

}  // namespace detail

/// Manages buckets. This is a handle: it is cheap to copy, any thread may use it, and it keeps the
/// client alive.
class bucket_manager {
public:
    /// Returns when the server has started to create the bucket; bucket::wait_until_ready waits
    /// until it can be used. Fails with errc::bucket_exists if it exists.
    [[nodiscard]] std::expected<change_result, error> create(
        const bucket_settings& bucket, const management_options& options = {}) const;
    /// Sets everything that may change later. Fails with errc::bucket_not_found if there is no such
    /// bucket.
    [[nodiscard]] std::expected<change_result, error> update(
        const bucket_settings& bucket, const management_options& options = {}) const;
    /// Removes the bucket with all documents. Fails with errc::bucket_not_found if there is no such
    /// bucket.
    [[nodiscard]] std::expected<change_result, error> drop(
        std::string_view name, const management_options& options = {}) const;
    /// Removes all documents. Fails with errc::bucket_not_flushable unless the bucket allows it.
    [[nodiscard]] std::expected<change_result, error> flush(
        std::string_view name, const management_options& options = {}) const;
    /// Returns one bucket. Fails with errc::bucket_not_found if there is no such bucket.
    [[nodiscard]] std::expected<bucket_result, error> get(
        std::string_view name, const management_options& options = {}) const;
    /// Returns all buckets that the user may see.
    [[nodiscard]] std::expected<bucket_list_result, error> list(
        const management_options& options = {}) const;

    /// The same calls through completion tokens. What is passed by reference is copied at once.
    template <
        class Token = detail::default_token,
        detail::options_argument<bucket_settings> Bucket = bucket_settings,
        detail::options_argument<management_options> Options = management_options>
    [[nodiscard]] auto async_create(Bucket&& bucket, Options&& options, Token&& token = {}) const {
        return detail::initiate_work<change_result>(
            detail::given<Options, Bucket>{},
            detail::make_bucket_work(client_, detail::bucket_change::create, bucket, options),
            token);
    }
    template <
        class Token = detail::default_token,
        detail::options_argument<bucket_settings> Bucket = bucket_settings>
    [[nodiscard]] auto async_create(
        Bucket&& bucket, detail::no_options = {}, Token&& token = {}) const {
        const management_options options{};
        return async_create(std::forward<Bucket>(bucket), options, token);
    }
    template <
        class Token = detail::default_token,
        detail::options_argument<bucket_settings> Bucket = bucket_settings,
        detail::options_argument<management_options> Options = management_options>
    [[nodiscard]] auto async_update(Bucket&& bucket, Options&& options, Token&& token = {}) const {
        return detail::initiate_work<change_result>(
            detail::given<Options, Bucket>{},
            detail::make_bucket_work(client_, detail::bucket_change::update, bucket, options),
            token);
    }
    template <
        class Token = detail::default_token,
        detail::options_argument<bucket_settings> Bucket = bucket_settings>
    [[nodiscard]] auto async_update(
        Bucket&& bucket, detail::no_options = {}, Token&& token = {}) const {
        const management_options options{};
        return async_update(std::forward<Bucket>(bucket), options, token);
    }
    template <
        class Token = detail::default_token,
        detail::options_argument<management_options> Options = management_options>
    [[nodiscard]] auto async_drop(
        std::string_view name, Options&& options, Token&& token = {}) const {
        return detail::initiate_work<change_result>(
            detail::given<Options>{}, detail::make_drop_bucket_work(client_, name, options), token);
    }
    template <class Token = detail::default_token>
    [[nodiscard]] auto async_drop(
        std::string_view name, detail::no_options = {}, Token&& token = {}) const {
        const management_options options{};
        return async_drop(name, options, token);
    }
    template <
        class Token = detail::default_token,
        detail::options_argument<management_options> Options = management_options>
    [[nodiscard]] auto async_flush(
        std::string_view name, Options&& options, Token&& token = {}) const {
        return detail::initiate_work<change_result>(
            detail::given<Options>{}, detail::make_flush_bucket_work(client_, name, options),
            token);
    }
    template <class Token = detail::default_token>
    [[nodiscard]] auto async_flush(
        std::string_view name, detail::no_options = {}, Token&& token = {}) const {
        const management_options options{};
        return async_flush(name, options, token);
    }
    template <
        class Token = detail::default_token,
        detail::options_argument<management_options> Options = management_options>
    [[nodiscard]] auto async_get(
        std::string_view name, Options&& options, Token&& token = {}) const {
        return detail::initiate_work<bucket_result>(
            detail::given<Options>{}, detail::make_get_bucket_work(client_, name, options), token);
    }
    template <class Token = detail::default_token>
    [[nodiscard]] auto async_get(
        std::string_view name, detail::no_options = {}, Token&& token = {}) const {
        const management_options options{};
        return async_get(name, options, token);
    }
    template <
        class Token = detail::default_token,
        detail::options_argument<management_options> Options = management_options>
    [[nodiscard]] auto async_list(Options&& options, Token&& token = {}) const {
        return detail::initiate_work<bucket_list_result>(
            detail::given<Options>{}, detail::make_list_buckets_work(client_, options), token);
    }
    template <class Token = detail::default_token>
    [[nodiscard]] auto async_list(detail::no_options = {}, Token&& token = {}) const {
        const management_options options{};
        return async_list(options, token);
    }

private:
    friend class cluster;

    explicit bucket_manager(std::shared_ptr<detail::session> client) noexcept
        : client_(std::move(client)) {}

    std::shared_ptr<detail::session> client_;
};

/// All scopes of a bucket.
struct scope_list_result {
    std::vector<scope_settings> scopes{};
    operation_trace trace{};
};

namespace detail {

[[nodiscard]] service_work make_create_scope_work(
    const std::shared_ptr<session>& client, std::string_view bucket, std::string_view name,
    const management_options& options);
[[nodiscard]] service_work make_drop_scope_work(
    const std::shared_ptr<session>& client, std::string_view bucket, std::string_view name,
    const management_options& options);
[[nodiscard]] service_work make_create_collection_work(
    const std::shared_ptr<session>& client, std::string_view bucket,
    const collection_settings& collection, const management_options& options);
[[nodiscard]] service_work make_drop_collection_work(
    const std::shared_ptr<session>& client, std::string_view bucket, std::string_view scope,
    std::string_view name, const management_options& options);
[[nodiscard]] service_work make_list_scopes_work(
    const std::shared_ptr<session>& client, std::string_view bucket,
    const management_options& options);

}  // namespace detail

/// Manages the scopes and collections of one bucket. A handle, as bucket_manager.
class collection_manager {
public:
    /// Creates a scope. Fails with errc::scope_exists if it exists.
    [[nodiscard]] std::expected<change_result, error> create_scope(
        std::string_view name, const management_options& options = {}) const;
    /// Removes a scope with all its collections. Fails with errc::scope_not_found if there is no
    /// such scope.
    [[nodiscard]] std::expected<change_result, error> drop_scope(
        std::string_view name, const management_options& options = {}) const;
    /// Creates a collection. Fails with errc::scope_not_found or errc::collection_exists.
    [[nodiscard]] std::expected<change_result, error> create_collection(
        const collection_settings& collection, const management_options& options = {}) const;
    /// Removes a collection with all documents. Fails with errc::scope_not_found or
    /// errc::collection_not_found.
    [[nodiscard]] std::expected<change_result, error> drop_collection(
        std::string_view scope, std::string_view name,
        const management_options& options = {}) const;
    /// Returns all scopes with their collections.
    [[nodiscard]] std::expected<scope_list_result, error> list(
        const management_options& options = {}) const;

    /// The same calls through completion tokens. What is passed by reference is copied at once.
    template <
        class Token = detail::default_token,
        detail::options_argument<management_options> Options = management_options>
    [[nodiscard]] auto async_create_scope(
        std::string_view name, Options&& options, Token&& token = {}) const {
        return detail::initiate_work<change_result>(
            detail::given<Options>{},
            detail::make_create_scope_work(client_, bucket_, name, options), token);
    }
    template <class Token = detail::default_token>
    [[nodiscard]] auto async_create_scope(
        std::string_view name, detail::no_options = {}, Token&& token = {}) const {
        const management_options options{};
        return async_create_scope(name, options, token);
    }
    template <
        class Token = detail::default_token,
        detail::options_argument<management_options> Options = management_options>
    [[nodiscard]] auto async_drop_scope(
        std::string_view name, Options&& options, Token&& token = {}) const {
        return detail::initiate_work<change_result>(
            detail::given<Options>{}, detail::make_drop_scope_work(client_, bucket_, name, options),
            token);
    }
    template <class Token = detail::default_token>
    [[nodiscard]] auto async_drop_scope(
        std::string_view name, detail::no_options = {}, Token&& token = {}) const {
        const management_options options{};
        return async_drop_scope(name, options, token);
    }
    template <
        class Token = detail::default_token,
        detail::options_argument<collection_settings> Collection = collection_settings,
        detail::options_argument<management_options> Options = management_options>
    [[nodiscard]] auto async_create_collection(
        Collection&& collection, Options&& options, Token&& token = {}) const {
        return detail::initiate_work<change_result>(
            detail::given<Options, Collection>{},
            detail::make_create_collection_work(client_, bucket_, collection, options), token);
    }
    template <
        class Token = detail::default_token,
        detail::options_argument<collection_settings> Collection = collection_settings>
    [[nodiscard]] auto async_create_collection(
        Collection&& collection, detail::no_options = {}, Token&& token = {}) const {
        const management_options options{};
        return async_create_collection(std::forward<Collection>(collection), options, token);
    }
    template <
        class Token = detail::default_token,
        detail::options_argument<management_options> Options = management_options>
    [[nodiscard]] auto async_drop_collection(
        std::string_view scope, std::string_view name, Options&& options,
        Token&& token = {}) const {
        return detail::initiate_work<change_result>(
            detail::given<Options>{},
            detail::make_drop_collection_work(client_, bucket_, scope, name, options), token);
    }
    template <class Token = detail::default_token>
    [[nodiscard]] auto async_drop_collection(
        std::string_view scope, std::string_view name, detail::no_options = {},
        Token&& token = {}) const {
        const management_options options{};
        return async_drop_collection(scope, name, options, token);
    }
    template <
        class Token = detail::default_token,
        detail::options_argument<management_options> Options = management_options>
    [[nodiscard]] auto async_list(Options&& options, Token&& token = {}) const {
        return detail::initiate_work<scope_list_result>(
            detail::given<Options>{}, detail::make_list_scopes_work(client_, bucket_, options),
            token);
    }
    template <class Token = detail::default_token>
    [[nodiscard]] auto async_list(detail::no_options = {}, Token&& token = {}) const {
        const management_options options{};
        return async_list(options, token);
    }

private:
    friend class bucket;

    collection_manager(std::shared_ptr<detail::session> client, std::string bucket) noexcept
        : client_(std::move(client)), bucket_(std::move(bucket)) {}

    std::shared_ptr<detail::session> client_;
    std::string bucket_;
};

/// All indexes of a target.
struct query_index_list_result {
    std::vector<query_index> indexes{};
    operation_trace trace{};
};

namespace detail {

[[nodiscard]] service_work make_create_index_work(
    const std::shared_ptr<session>& client, const index_target& on, const query_index& index,
    const query_options& options);
[[nodiscard]] service_work make_drop_index_work(
    const std::shared_ptr<session>& client, const index_target& on, std::string_view name,
    const query_options& options);
[[nodiscard]] service_work make_build_indexes_work(
    const std::shared_ptr<session>& client, const index_target& on,
    const std::vector<std::string>& names, const query_options& options);
[[nodiscard]] service_work make_list_indexes_work(
    const std::shared_ptr<session>& client, const index_target& on, const query_options& options);

// Lists the indexes, then builds those that are deferred.
struct build_deferred_start {
    std::shared_ptr<session> client;
    index_target on;
    query_options options;
    void operator()(
        const result_receiver<change_result>& receiver,
        const step_cancellation& cancellation) const;
};

// Lists the indexes until those that are named are online.
struct watch_start {
    std::shared_ptr<session> client;
    index_target on;
    std::vector<std::string> names;
    duration timeout;
    query_options options;
    void operator()(
        const result_receiver<query_index_list_result>& receiver,
        const step_cancellation& cancellation) const;
};

}  // namespace detail

/// Manages the query indexes of one collection by statements. It quotes names, and sends
/// expressions and conditions as they are. A handle, as bucket_manager.
///
/// A `client_context_id` names the first request of a call; the next ones of build_deferred and
/// watch are ID/2, ID/3, ...
class query_index_manager {
public:
    /// Creates an index; `index.on` is ignored. Fails with errc::index_exists if it exists.
    [[nodiscard]] std::expected<change_result, error> create(
        const query_index& index, const query_options& options = {}) const;
    [[nodiscard]] std::expected<change_result, error> create_primary(
        const query_options& options = {}) const;
    /// Removes an index. Fails with errc::index_not_found if there is no such index.
    [[nodiscard]] std::expected<change_result, error> drop(
        std::string_view name, const query_options& options = {}) const;
    [[nodiscard]] std::expected<change_result, error> drop_primary(
        const query_options& options = {}) const;
    /// Starts to build these deferred indexes.
    [[nodiscard]] std::expected<change_result, error> build(
        const std::vector<std::string>& names, const query_options& options = {}) const;
    /// Starts to build all deferred indexes. Without any, it succeeds.
    [[nodiscard]] std::expected<change_result, error> build_deferred(
        const query_options& options = {}) const;
    /// Waits until these indexes are online, and returns all indexes as they are then. It asks
    /// again and again, first after 50 ms, later every second. An empty name means the primary
    /// index. Fails with errc::index_not_found if one of them does not exist, with
    /// errc::unambiguous_timeout after `timeout` (the error names the index), and with
    /// errc::request_canceled as soon as the client is closed.
    [[nodiscard]] std::expected<query_index_list_result, error> watch(
        const std::vector<std::string>& names, duration timeout,
        const query_options& options = {}) const;
    /// Returns all indexes, primary ones first, then by name.
    [[nodiscard]] std::expected<query_index_list_result, error> list(
        const query_options& options = {}) const;

    /// The same calls through completion tokens. What is passed by reference is copied at once.
    template <
        class Token = detail::default_token,
        detail::options_argument<query_index> Index = query_index,
        detail::options_argument<query_options> Options = query_options>
    [[nodiscard]] auto async_create(Index&& index, Options&& options, Token&& token = {}) const {
        return detail::initiate_work<change_result>(
            detail::given<Options, Index>{},
            detail::make_create_index_work(client_, on_, index, options), token);
    }
    template <
        class Token = detail::default_token,
        detail::options_argument<query_index> Index = query_index>
    [[nodiscard]] auto async_create(
        Index&& index, detail::no_options = {}, Token&& token = {}) const {
        const query_options options{};
        return async_create(std::forward<Index>(index), options, token);
    }
    template <
        class Token = detail::default_token,
        detail::options_argument<query_options> Options = query_options>
    [[nodiscard]] auto async_create_primary(Options&& options, Token&& token = {}) const {
        return detail::initiate_work<change_result>(
            detail::given<Options>{},
            detail::make_create_index_work(client_, on_, {.is_primary = true}, options), token);
    }
    template <class Token = detail::default_token>
    [[nodiscard]] auto async_create_primary(detail::no_options = {}, Token&& token = {}) const {
        const query_options options{};
        return async_create_primary(options, token);
    }
    template <
        class Token = detail::default_token,
        detail::options_argument<query_options> Options = query_options>
    [[nodiscard]] auto async_drop(
        std::string_view name, Options&& options, Token&& token = {}) const {
        return detail::initiate_work<change_result>(
            detail::given<Options>{}, detail::make_drop_index_work(client_, on_, name, options),
            token);
    }
    template <class Token = detail::default_token>
    [[nodiscard]] auto async_drop(
        std::string_view name, detail::no_options = {}, Token&& token = {}) const {
        const query_options options{};
        return async_drop(name, options, token);
    }
    template <
        class Token = detail::default_token,
        detail::options_argument<query_options> Options = query_options>
    [[nodiscard]] auto async_drop_primary(Options&& options, Token&& token = {}) const {
        return detail::initiate_work<change_result>(
            detail::given<Options>{}, detail::make_drop_index_work(client_, on_, {}, options),
            token);
    }
    template <class Token = detail::default_token>
    [[nodiscard]] auto async_drop_primary(detail::no_options = {}, Token&& token = {}) const {
        const query_options options{};
        return async_drop_primary(options, token);
    }
    template <
        class Token = detail::default_token,
        detail::options_argument<query_options> Options = query_options>
    [[nodiscard]] auto async_build(
        const std::vector<std::string>& names, Options&& options, Token&& token = {}) const {
        return detail::initiate_work<change_result>(
            detail::given<Options>{}, detail::make_build_indexes_work(client_, on_, names, options),
            token);
    }
    template <class Token = detail::default_token>
    [[nodiscard]] auto async_build(
        const std::vector<std::string>& names, detail::no_options = {}, Token&& token = {}) const {
        const query_options options{};
        return async_build(names, options, token);
    }
    template <
        class Token = detail::default_token,
        detail::options_argument<query_options> Options = query_options>
    [[nodiscard]] auto async_build_deferred(Options&& options, Token&& token = {}) const {
        return detail::initiate<change_result>(
            detail::given<Options>{}, client_, detail::build_deferred_start{client_, on_, options},
            token);
    }
    template <class Token = detail::default_token>
    [[nodiscard]] auto async_build_deferred(detail::no_options = {}, Token&& token = {}) const {
        const query_options options{};
        return async_build_deferred(options, token);
    }
    template <
        class Token = detail::default_token,
        detail::options_argument<query_options> Options = query_options>
    [[nodiscard]] auto async_watch(
        const std::vector<std::string>& names, duration timeout, Options&& options,
        Token&& token = {}) const {
        return detail::initiate<query_index_list_result>(
            detail::given<Options>{}, client_,
            detail::watch_start{client_, on_, names, timeout, options}, token);
    }
    template <class Token = detail::default_token>
    [[nodiscard]] auto async_watch(
        const std::vector<std::string>& names, duration timeout, detail::no_options = {},
        Token&& token = {}) const {
        const query_options options{};
        return async_watch(names, timeout, options, token);
    }
    template <
        class Token = detail::default_token,
        detail::options_argument<query_options> Options = query_options>
    [[nodiscard]] auto async_list(Options&& options, Token&& token = {}) const {
        return detail::initiate_work<query_index_list_result>(
            detail::given<Options>{}, detail::make_list_indexes_work(client_, on_, options), token);
    }
    template <class Token = detail::default_token>
    [[nodiscard]] auto async_list(detail::no_options = {}, Token&& token = {}) const {
        const query_options options{};
        return async_list(options, token);
    }

private:
    friend class cluster;
    friend class collection;

    query_index_manager(std::shared_ptr<detail::session> client, index_target on) noexcept
        : client_(std::move(client)), on_(std::move(on)) {}

    std::shared_ptr<detail::session> client_;
    index_target on_;
};

}  // namespace reprise::couchbase
