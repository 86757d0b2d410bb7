#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <string_view>

#include <reprise/couchbase/collection.hpp>
#include <reprise/couchbase/detail/calls.hpp>
#include <reprise/couchbase/diagnostics.hpp>
#include <reprise/couchbase/error.hpp>
#include <reprise/couchbase/management.hpp>
#include <reprise/couchbase/options.hpp>
#include <reprise/couchbase/results.hpp>
#include <reprise/couchbase/streams.hpp>
#include <reprise/couchbase_types/cluster_options.hpp>

namespace reprise::couchbase {

namespace detail {
struct cluster_access;
}

/// The calls that a cluster and its scopes have in common. In a scope, unqualified names in a
/// statement mean collections of this scope, and a search uses an index of this scope.
class row_calls {
public:
    /// Calls of the HTTP services. Each goes to a node that has the service, a retry to another one
    /// if possible, under the same retry strategies as key-value operations. `query` blocks and
    /// returns all rows; `async_query` is its asynchronous form, with default options and token as
    /// described for `collection`. `query_stream` returns at once; its stream reads the rows one by
    /// one in constant memory and reports errors.
    [[nodiscard]] std::expected<query_result, error> query(
        std::string_view statement, const query_options& options = {}) const;
    [[nodiscard]] std::expected<couchbase::query_stream, error> query_stream(
        std::string_view statement, const query_options& options = {}) const;
    [[nodiscard]] std::expected<analytics_result, error> analytics_query(
        std::string_view statement, const analytics_options& options = {}) const;
    [[nodiscard]] std::expected<couchbase::analytics_stream, error> analytics_stream(
        std::string_view statement, const analytics_options& options = {}) const;
    /// Returns hits as rows. A partial result is a success; see search_metadata::is_partial.
    [[nodiscard]] std::expected<search_result, error> search(
        std::string_view index, const search_query& query,
        const search_options& options = {}) const;
    [[nodiscard]] std::expected<couchbase::search_stream, error> search_stream(
        std::string_view index, const search_query& query,
        const search_options& options = {}) const;
    template <
        class Token = detail::default_token,
        detail::options_argument<query_options> Options = query_options>
    [[nodiscard]] auto async_query(
        std::string_view statement, Options&& options, Token&& token = {}) const {
        return detail::initiate_work<query_result>(
            detail::given<Options>{},
            detail::make_query_work(
                client_, {bucket_, scope_}, statement, options, detail::row_mode::kept),
            token);
    }
    template <class Token = detail::default_token>
    [[nodiscard]] auto async_query(
        std::string_view statement, detail::no_options = {}, Token&& token = {}) const {
        const query_options options{};
        return async_query(statement, options, token);
    }
    template <
        class Token = detail::default_token,
        detail::options_argument<analytics_options> Options = analytics_options>
    [[nodiscard]] auto async_analytics_query(
        std::string_view statement, Options&& options, Token&& token = {}) const {
        return detail::initiate_work<analytics_result>(
            detail::given<Options>{},
            detail::make_analytics_work(
                client_, {bucket_, scope_}, statement, options, detail::row_mode::kept),
            token);
    }
    template <class Token = detail::default_token>
    [[nodiscard]] auto async_analytics_query(
        std::string_view statement, detail::no_options = {}, Token&& token = {}) const {
        const analytics_options options{};
        return async_analytics_query(statement, options, token);
    }
    template <
        class Token = detail::default_token,
        detail::options_argument<search_options> Options = search_options>
    [[nodiscard]] auto async_search(
        std::string_view index, const search_query& query, Options&& options,
        Token&& token = {}) const {
        return detail::initiate_work<search_result>(
            detail::given<Options>{},
            detail::make_search_work(
                client_, {bucket_, scope_}, index, query, options, detail::row_mode::kept),
            token);
    }
    template <class Token = detail::default_token>
    [[nodiscard]] auto async_search(
        std::string_view index, const search_query& query, detail::no_options = {},
        Token&& token = {}) const {
        const search_options options{};
        return async_search(index, query, options, token);
    }

protected:
    // A cluster names neither a bucket nor a scope.
    row_calls(
        std::shared_ptr<detail::session> client, std::string bucket, std::string scope) noexcept
        : client_(std::move(client)), bucket_(std::move(bucket)), scope_(std::move(scope)) {}

    std::shared_ptr<detail::session> client_;
    std::string bucket_;
    std::string scope_;
};

/// A scope of a bucket. This is a handle: it is cheap to copy, any thread may use it, and it keeps
/// the client alive.
class scope : public row_calls {
public:
    [[nodiscard]] couchbase::collection collection(std::string_view name) const;
    [[nodiscard]] const std::string& name() const noexcept { return scope_; }

private:
    friend class bucket;
    scope(std::shared_ptr<detail::session> client, std::string bucket, std::string name)
        : row_calls(std::move(client), std::move(bucket), std::move(name)) {}
};

/// A bucket, as a handle like scope. Creating the handle starts to connect; wait_until_ready, or
/// the first operation, reports whether the bucket exists.
class bucket {
public:
    [[nodiscard]] couchbase::collection default_collection() const;
    [[nodiscard]] couchbase::collection collection(std::string_view name) const;
    [[nodiscard]] couchbase::scope scope(std::string_view name) const;
    [[nodiscard]] const std::string& name() const noexcept { return name_; }

    /// Returns the rows of a view, in the view's order. To read page by page, ask for one row more
    /// than a page has and start the next page with its key and id (start_key, start_key_doc_id).
    [[nodiscard]] std::expected<view_result, error> view_query(
        std::string_view design_document, std::string_view view,
        const view_options& options = {}) const;
    [[nodiscard]] std::expected<couchbase::view_stream, error> view_stream(
        std::string_view design_document, std::string_view view,
        const view_options& options = {}) const;
    template <
        class Token = detail::default_token,
        detail::options_argument<view_options> Options = view_options>
    [[nodiscard]] auto async_view_query(
        std::string_view design_document, std::string_view view, Options&& options,
        Token&& token = {}) const {
        return detail::initiate_work<view_result>(
            detail::given<Options>{},
            detail::make_view_work(
                client_, name_, design_document, view, options, detail::row_mode::kept),
            token);
    }
    template <class Token = detail::default_token>
    [[nodiscard]] auto async_view_query(
        std::string_view design_document, std::string_view view, detail::no_options = {},
        Token&& token = {}) const {
        const view_options options{};
        return async_view_query(design_document, view, options, token);
    }
    /// Asks each node of each service whether it answers; for key-value, the nodes of this bucket.
    /// A node that does not answer is part of the report, not an error.
    [[nodiscard]] std::expected<ping_report, error> ping(const ping_options& options = {}) const;
    template <
        class Token = detail::default_token,
        detail::options_argument<ping_options> Options = ping_options>
    [[nodiscard]] auto async_ping(Options&& options, Token&& token = {}) const {
        return detail::initiate<ping_report>(
            detail::given<Options>{}, client_, detail::ping_start{client_, name_, options}, token);
    }
    template <class Token = detail::default_token>
    [[nodiscard]] auto async_ping(detail::no_options = {}, Token&& token = {}) const {
        const ping_options options{};
        return async_ping(options, token);
    }
    /// Creates, drops and lists scopes and collections.
    [[nodiscard]] collection_manager collections() const;

    /// Blocks until an operation of this bucket can be sent and answered. Fails with what prevents
    /// it: with a terminal error at once, with any other error at the timeout.
    [[nodiscard]] std::expected<void, error> wait_until_ready(duration timeout) const;
    template <class Token = detail::default_token>
    [[nodiscard]] auto async_wait_until_ready(duration timeout, Token&& token = {}) const {
        return detail::initiate_call<void>(
            detail::given<>{}, detail::make_target(client_, name_), detail::make_ping(timeout),
            token);
    }

private:
    friend class cluster;
    bucket(std::shared_ptr<detail::session> client, std::string name)
        : client_(std::move(client)), name_(std::move(name)) {}

    std::shared_ptr<detail::session> client_;
    std::string name_;
};

/// A client of one cluster. This is a handle: copies share the client, and any thread may use them.
/// The client ends with its last handle; buckets, scopes and collections count. You may drop the
/// last handle at any time and on any thread: that stops the client's threads, and every running
/// operation completes with errc::request_canceled.
///
/// A forked process must not use its parent's client. Blocking calls fail there with
/// errc::used_after_fork, and destroying the handles does nothing: memory and sockets stay
/// until the process ends or runs another program. The parent is not affected.
class cluster : public row_calls {
public:
    /// Checks its arguments and starts the client. The client connects in the background, and
    /// operations wait for it within their timeouts. Fails with errc::connection_string_invalid,
    /// option_invalid, certificate_unreadable or no_resources. wait_until_ready, or the first
    /// operation, reports whether the cluster can be reached.
    [[nodiscard]] static std::expected<cluster, error> connect(
        std::string_view connection_string, const cluster_options& options = {});

    [[nodiscard]] couchbase::bucket bucket(std::string_view name) const;
    /// The bucket that the connection string names; empty if it names none.
    [[nodiscard]] const std::string& bucket_name() const noexcept;

    /// Sends any request to any HTTP service. Every status except 2xx is an error.
    [[nodiscard]] std::expected<couchbase::management_response, error> management_request(
        const couchbase::management_request& request, const management_options& options = {}) const;
    /// Creates, drops and lists buckets.
    [[nodiscard]] bucket_manager buckets() const;
    /// Creates, drops and lists the query indexes of one keyspace; as collection::query_indexes.
    [[nodiscard]] query_index_manager query_indexes(index_target on) const;

    template <
        class Token = detail::default_token,
        detail::options_argument<couchbase::management_request> Request =
            couchbase::management_request,
        detail::options_argument<management_options> Options = management_options>
    [[nodiscard]] auto async_management_request(
        Request&& request, Options&& options, Token&& token = {}) const {
        return detail::initiate_work<management_response>(
            detail::given<Options, Request>{},
            detail::make_management_work(client_, request, options), token);
    }
    template <
        class Token = detail::default_token, detail::options_argument<couchbase::management_request>
                                                 Request = couchbase::management_request>
    [[nodiscard]] auto async_management_request(
        Request&& request, detail::no_options = {}, Token&& token = {}) const {
        const management_options options{};
        return async_management_request(std::forward<Request>(request), options, token);
    }

    /// As bucket::wait_until_ready, for the cluster itself.
    [[nodiscard]] std::expected<void, error> wait_until_ready(duration timeout) const;
    template <class Token = detail::default_token>
    [[nodiscard]] auto async_wait_until_ready(duration timeout, Token&& token = {}) const {
        return detail::initiate_call<void>(
            detail::given<>{}, detail::make_target(client_, {}), detail::make_ping(timeout), token);
    }
    /// Changes the credentials, for example before a password or a token expires. Open connections
    /// stay open; every later authentication uses the new credentials, so a client whose old ones
    /// were refused recovers. Returns at once and may be called from any thread. Fails with
    /// errc::option_invalid if the credentials are empty or name both a user and a token, or
    /// if the client uses a certificate instead.
    [[nodiscard]] std::expected<void, error> replace_credentials(const credentials& identity) const;

    /// Completes every operation with errc::request_canceled, also those that are started later,
    /// and closes all connections. Returns without waiting for that. You may call it more than
    /// once.
    void close() const;
    /// Runs the client's I/O on this thread for `time`, or until it is closed. Only for
    /// thread_mode::caller_drives; fails with errc::option_invalid in the other modes.
    [[nodiscard]] std::expected<void, error> drive(duration time) const;

    /// Returns the client's figures. Blocks until the client's threads answer; if there are several
    /// (`io_threads`), it fails on each of them with errc::blocking_call_in_loop.
    [[nodiscard]] std::expected<cluster_statistics, error> statistics() const;
    template <class Token = detail::default_token>
    [[nodiscard]] auto async_statistics(Token&& token = {}) const {
        return detail::initiate<cluster_statistics>(
            detail::given<>{}, client_, detail::statistics_start{client_}, token);
    }
    /// Returns the state of every connection, missing ones included. It sends nothing: use it when
    /// an operation has failed, or for a health page. Blocks like `statistics`.
    [[nodiscard]] std::expected<diagnostics_report, error> diagnostics() const;
    template <class Token = detail::default_token>
    [[nodiscard]] auto async_diagnostics(Token&& token = {}) const {
        return detail::initiate<diagnostics_report>(
            detail::given<>{}, client_, detail::diagnostics_start{client_}, token);
    }
    /// As bucket::ping, for the cluster itself.
    [[nodiscard]] std::expected<ping_report, error> ping(const ping_options& options = {}) const;
    template <
        class Token = detail::default_token,
        detail::options_argument<ping_options> Options = ping_options>
    [[nodiscard]] auto async_ping(Options&& options, Token&& token = {}) const {
        return detail::initiate<ping_report>(
            detail::given<Options>{}, client_, detail::ping_start{client_, {}, options}, token);
    }
    template <class Token = detail::default_token>
    [[nodiscard]] auto async_ping(detail::no_options = {}, Token&& token = {}) const {
        const ping_options options{};
        return async_ping(options, token);
    }

private:
    friend struct detail::cluster_access;
    explicit cluster(std::shared_ptr<detail::session> client) noexcept
        : row_calls(std::move(client), {}, {}) {}
};

}  // namespace reprise::couchbase
