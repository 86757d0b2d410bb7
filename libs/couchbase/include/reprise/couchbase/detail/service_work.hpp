#pragma once

#include <cstddef>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <reprise/couchbase/detail/document_call.hpp>
#include <reprise/couchbase/error.hpp>
#include <reprise/couchbase/service_options.hpp>
#include <reprise/couchbase/service_results.hpp>

// Shared by the blocking, the token and the streaming forms of an HTTP service's call.
// Not for users.

namespace reprise::couchbase::detail {

struct unsent_request;
class row_source;

// A request made ready, or why it cannot be sent. It is sent once: copies share it.
struct service_work {
    std::shared_ptr<session> client;
    std::shared_ptr<unsent_request> request;
};

// Where names of a statement or an index are looked up; both empty: in the cluster.
struct service_scope {
    std::string_view bucket{};
    std::string_view scope{};
};

// How rows are delivered.
enum class row_mode : std::uint8_t { kept, streamed };

[[nodiscard]] service_work make_query_work(
    const std::shared_ptr<session>& client, service_scope in, std::string_view statement,
    const query_options& options, row_mode mode);
[[nodiscard]] service_work make_analytics_work(
    const std::shared_ptr<session>& client, service_scope in, std::string_view statement,
    const analytics_options& options, row_mode mode);
[[nodiscard]] service_work make_search_work(
    const std::shared_ptr<session>& client, service_scope in, std::string_view index,
    const search_query& query, const search_options& options, row_mode mode);
[[nodiscard]] service_work make_view_work(
    const std::shared_ptr<session>& client, std::string_view bucket, std::string_view design,
    std::string_view view, const view_options& options, row_mode mode);
[[nodiscard]] service_work make_management_work(
    const std::shared_ptr<session>& client, const management_request& request,
    const management_options& options);

// Blocks. Defined for query_result, search_result, view_result, management_response and the results
// of the managers.
template <class Result>
[[nodiscard]] std::expected<Result, error> run_work(const service_work& work);
// Does not block.
template <class Result>
void start_work(const service_work& work, result_receiver<Result>* receiver, call_ticket ticket);
// The token form.
template <class Result, class Token, class... Given>
[[nodiscard]] auto initiate_work(given<Given...> arguments, service_work&& work, Token& token) {
    return initiation<Token>::template work<Result>(arguments, std::move(work), token);
}

// The rows that are here and were not read yet, for a reader that makes no call for them.
struct row_cursor {
    const std::string_view* next = nullptr;
    const std::string_view* end = nullptr;

    [[nodiscard]] bool has_row() const noexcept { return next != end; }
    [[nodiscard]] row_view take_row() noexcept { return row_view(*next++); }
};

// A request under way whose rows are read one by one.
struct row_handle {
    std::shared_ptr<session> client;
    std::shared_ptr<row_source> source;
    row_cursor* cursor = nullptr;  // in the source
};

// Starts it; the rows, or what went wrong, are read from the handle.
[[nodiscard]] std::expected<row_handle, error> open_rows(const service_work& work);
[[nodiscard]] std::expected<std::optional<row_view>, error> next_row(const row_handle& rows);
void start_next_row(const row_handle& rows, result_receiver<std::optional<row_view>>* receiver);
void cancel_rows(const row_handle& rows) noexcept;
[[nodiscard]] call_ticket ticket_of(const row_handle& rows) noexcept;
[[nodiscard]] std::size_t buffered_size_peak(const row_handle& rows) noexcept;
[[nodiscard]] const operation_trace& trace_of(const row_handle& rows) noexcept;
// The metadata, or the error that ended the rows or refused the last attempt to read one. Defined
// for query_metadata, search_metadata and view_metadata.
template <class Metadata>
[[nodiscard]] std::expected<Metadata, error> finish_rows(const row_handle& rows);

}  // namespace reprise::couchbase::detail
