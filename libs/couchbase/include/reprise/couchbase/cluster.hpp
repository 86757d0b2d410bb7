#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <string_view>

#include <reprise/couchbase/cluster_options.hpp>
#include <reprise/couchbase/collection.hpp>
#include <reprise/couchbase/detail/async_arguments.hpp>
#include <reprise/couchbase/diagnostics.hpp>
#include <reprise/couchbase/error.hpp>
#include <reprise/couchbase/management.hpp>
#include <reprise/couchbase/row_stream.hpp>
#include <reprise/couchbase/service_options.hpp>
#include <reprise/couchbase/service_results.hpp>

namespace reprise::couchbase {

namespace detail {
struct cluster_access;
}

// Numbers of a running client; a snapshot.
struct cluster_statistics {
    std::size_t operations_open = 0;     // started and not yet completed
    std::size_t operations_parked = 0;   // waiting for a retry, a connection or a name
    std::size_t operations_on_wire = 0;  // sent, no answer yet
    std::size_t connections_open = 0;    // ready for operations
    std::uint64_t retries = 0;           // all retries ever scheduled
    std::uint64_t orphans = 0;           // answers nobody waited for any more
};

// A scope of a bucket. A handle, as all of these.
class scope {
public:
    [[nodiscard]] couchbase::collection collection(std::string_view name) const;
    [[nodiscard]] const std::string& name() const noexcept { return name_; }

    // As of the cluster; unqualified names in the statement mean collections of this scope, and
    // the index is one of this scope's.
    [[nodiscard]] std::expected<query_result, error> query(
        std::string_view statement, const query_options& options = {}) const;
    [[nodiscard]] std::expected<couchbase::query_stream, error> query_stream(
        std::string_view statement, const query_options& options = {}) const;
    [[nodiscard]] std::expected<analytics_result, error> analytics_query(
        std::string_view statement, const analytics_options& options = {}) const;
    [[nodiscard]] std::expected<couchbase::analytics_stream, error> analytics_stream(
        std::string_view statement, const analytics_options& options = {}) const;
    [[nodiscard]] std::expected<search_result, error> search(
        std::string_view index, const search_query& query,
        const search_options& options = {}) const;
    [[nodiscard]] std::expected<couchbase::search_stream, error> search_stream(
        std::string_view index, const search_query& query,
        const search_options& options = {}) const;
    template <class Token, detail::options_argument<query_options> Options = query_options>
    auto async_query(std::string_view statement, Options&& options, Token&& token) const;
    template <class Token>
    auto async_query(std::string_view statement, detail::no_options, Token&& token) const {
        const query_options options{};
        return async_query(statement, options, token);
    }
    template <class Token, detail::options_argument<analytics_options> Options = analytics_options>
    auto async_analytics_query(std::string_view statement, Options&& options, Token&& token) const;
    template <class Token>
    auto async_analytics_query(
        std::string_view statement, detail::no_options, Token&& token) const {
        const analytics_options options{};
        return async_analytics_query(statement, options, token);
    }
    template <class Token, detail::options_argument<search_options> Options = search_options>
    auto async_search(
        std::string_view index, const search_query& query, Options&& options, Token&& token) const;
    template <class Token>
    auto async_search(
        std::string_view index, const search_query& query, detail::no_options,
        Token&& token) const {
        const search_options options{};
        return async_search(index, query, options, token);
    }

private:
    friend class bucket;
    scope(std::shared_ptr<detail::session> client, std::string bucket, std::string name)
        : client_(std::move(client)), bucket_(std::move(bucket)), name_(std::move(name)) {}

    std::shared_ptr<detail::session> client_;
    std::string bucket_;
    std::string name_;
};

// A bucket. Naming one begins to connect to it; that it exists shows with the first operation.
class bucket {
public:
    [[nodiscard]] couchbase::collection default_collection() const;
    [[nodiscard]] couchbase::collection collection(std::string_view name) const;
    [[nodiscard]] couchbase::scope scope(std::string_view name) const;
    [[nodiscard]] const std::string& name() const noexcept { return name_; }

    // The rows of a view, in the view's order. Reading page by page: ask for one row more than a
    // page has and begin the next page with its key and id (start_key, start_key_doc_id).
    [[nodiscard]] std::expected<view_result, error> view_query(
        std::string_view design_document, std::string_view view,
        const view_options& options = {}) const;
    [[nodiscard]] std::expected<couchbase::view_stream, error> view_stream(
        std::string_view design_document, std::string_view view,
        const view_options& options = {}) const;
    template <class Token, detail::options_argument<view_options> Options = view_options>
    auto async_view_query(
        std::string_view design_document, std::string_view view, Options&& options,
        Token&& token) const;
    template <class Token>
    auto async_view_query(
        std::string_view design_document, std::string_view view, detail::no_options,
        Token&& token) const {
        const view_options options{};
        return async_view_query(design_document, view, options, token);
    }
    // Scopes and collections: create, drop, list.
    [[nodiscard]] collection_manager collections() const;

    // Blocks until an operation of this bucket could be sent and answered. Fails with what stands
    // in the way: the terminal errors at once, everything else at the timeout.
    [[nodiscard]] std::expected<void, error> wait_until_ready(duration timeout) const;

private:
    friend class cluster;
    bucket(std::shared_ptr<detail::session> client, std::string name)
        : client_(std::move(client)), name_(std::move(name)) {}

    std::shared_ptr<detail::session> client_;
    std::string name_;
};

// A client of one cluster. A handle: copies share the client, which ends with its last handle
// (collections and buckets count). The end may come at any time and on any thread: it stops the
// client's thread, and every operation under way completes with errc::request_canceled.
//
// A process forked from the one that made the client must not use it: blocking calls fail there as
// client_errc::used_after_fork, and destroying the handles does nothing (memory and sockets are
// kept until the process ends or becomes another program). The parent goes on undisturbed.
class cluster {
public:
    // Checks its arguments and starts; connecting goes on in the background, and operations wait
    // for it within their timeouts. Errors: connection_string_invalid, option_invalid,
    // certificate_unreadable. Whether the cluster can be reached is told by wait_until_ready, or by
    // the first operation.
    [[nodiscard]] static std::expected<cluster, error> connect(
        std::string_view connection_string, const cluster_options& options = {});

    [[nodiscard]] couchbase::bucket bucket(std::string_view name) const;
    // The bucket named in the connection string; empty if there is none.
    [[nodiscard]] const std::string& bucket_name() const noexcept;

    // HTTP services. Each call asks a node that has the service, another one on a retry, and goes
    // through the same retry strategies as key-value. `query` keeps all rows and blocks;
    // `query_stream` gives them one by one in constant memory and returns at once, what goes wrong
    // is told by the stream; `async_query` is `query` through a token.
    [[nodiscard]] std::expected<query_result, error> query(
        std::string_view statement, const query_options& options = {}) const;
    [[nodiscard]] std::expected<couchbase::query_stream, error> query_stream(
        std::string_view statement, const query_options& options = {}) const;
    [[nodiscard]] std::expected<analytics_result, error> analytics_query(
        std::string_view statement, const analytics_options& options = {}) const;
    [[nodiscard]] std::expected<couchbase::analytics_stream, error> analytics_stream(
        std::string_view statement, const analytics_options& options = {}) const;
    // Rows are hits. A partial result is a success: see search_metadata::is_partial.
    [[nodiscard]] std::expected<search_result, error> search(
        std::string_view index, const search_query& query,
        const search_options& options = {}) const;
    [[nodiscard]] std::expected<couchbase::search_stream, error> search_stream(
        std::string_view index, const search_query& query,
        const search_options& options = {}) const;
    // Any request to any HTTP service; every status but 2xx is an error.
    [[nodiscard]] std::expected<couchbase::management_response, error> management_request(
        const couchbase::management_request& request, const management_options& options = {}) const;
    // Buckets and query indexes: create, drop, list.
    [[nodiscard]] bucket_manager buckets() const;
    [[nodiscard]] query_index_manager query_indexes() const;

    template <class Token, detail::options_argument<query_options> Options = query_options>
    auto async_query(std::string_view statement, Options&& options, Token&& token) const;
    template <class Token>
    auto async_query(std::string_view statement, detail::no_options, Token&& token) const {
        const query_options options{};
        return async_query(statement, options, token);
    }
    template <class Token, detail::options_argument<analytics_options> Options = analytics_options>
    auto async_analytics_query(std::string_view statement, Options&& options, Token&& token) const;
    template <class Token>
    auto async_analytics_query(
        std::string_view statement, detail::no_options, Token&& token) const {
        const analytics_options options{};
        return async_analytics_query(statement, options, token);
    }
    template <class Token, detail::options_argument<search_options> Options = search_options>
    auto async_search(
        std::string_view index, const search_query& query, Options&& options, Token&& token) const;
    template <class Token>
    auto async_search(
        std::string_view index, const search_query& query, detail::no_options,
        Token&& token) const {
        const search_options options{};
        return async_search(index, query, options, token);
    }
    template <
        class Token,
        detail::options_argument<couchbase::management_request> Request =
            couchbase::management_request,
        detail::options_argument<management_options> Options = management_options>
    auto async_management_request(Request&& request, Options&& options, Token&& token) const;
    template <
        class Token, detail::options_argument<couchbase::management_request> Request =
                         couchbase::management_request>
    auto async_management_request(Request&& request, detail::no_options, Token&& token) const {
        const management_options options{};
        return async_management_request(std::forward<Request>(request), options, token);
    }

    // As of a bucket, for the cluster as such.
    [[nodiscard]] std::expected<void, error> wait_until_ready(duration timeout) const;
    // Says who the client is from now on, for instance before a password or a token ends.
    // Connections that are open stay open; every later authentication uses the new ones, so a
    // client that was refused with the old ones recovers. Any thread; does not wait.
    // client_errc::option_invalid if they name nobody, or both a user and a token, or if the client
    // shows a certificate instead.
    [[nodiscard]] std::expected<void, error> replace_credentials(const credentials& identity) const;

    // Ends every operation with errc::request_canceled, also those started later, and closes all
    // connections. Does not wait for them. Idempotent.
    void close() const;
    // thread_mode::caller_drives: moves bytes for so long, or until `close` is complete. In the
    // other modes client_errc::option_invalid.
    [[nodiscard]] std::expected<void, error> drive(duration time) const;

    // Blocks for the client's thread to answer.
    [[nodiscard]] std::expected<cluster_statistics, error> statistics() const;
    // Every connection as it is now and every one that is missing. Asks nobody but the client
    // itself: use it beside a failure, or for a health page. Blocks as above.
    [[nodiscard]] std::expected<diagnostics_report, error> diagnostics() const;

private:
    friend struct detail::cluster_access;
    explicit cluster(std::shared_ptr<detail::session> client) noexcept
        : client_(std::move(client)) {}

    std::shared_ptr<detail::session> client_;
};

}  // namespace reprise::couchbase
