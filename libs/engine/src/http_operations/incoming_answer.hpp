#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <reprise/base/block_pool.hpp>
#include <reprise/engine/http_operation.hpp>
#include <reprise/http/message.hpp>
#include <reprise/services/row_splitter.hpp>

namespace reprise::engine {

// The answer to one request of an HTTP operation while it comes in: its status and its body, or its
// rows as they come, within the bounds of the request.
//
//     restart -> on_head -> on_body ... -> on_end -> body, row_count
//                              |
//                              +-> take_rows, at any time
//
// A step that returns a text has found an answer that cannot be used.
class incoming_answer {
public:
    using problem = std::optional<std::string>;

    // Forgets the answer, but not that rows were taken.
    void restart() noexcept;
    [[nodiscard]] problem on_head(
        const http::response_head& head, const service_call& call, const http_request& request);
    // `owner` of the bytes: rows that are streamed may stay in it.
    [[nodiscard]] problem on_body(
        base::byte_view piece, const base::block_ref* owner, const http_request& request);
    [[nodiscard]] problem on_end();

    // True once for rows that wait to be taken and that nobody was notified of.
    [[nodiscard]] bool take_notice() noexcept;
    void take_rows(row_batch& out) noexcept;
    // Whether a reader should take rows before there are more. Kept rows have no reader.
    [[nodiscard]] bool is_full(const http_request& request) const noexcept {
        return is_streamed_ && !rows_.empty() && rows_.size_bytes() >= request.rows_size_max_bytes;
    }
    // Of any answer to the operation.
    [[nodiscard]] bool has_taken_rows() const noexcept { return rows_taken_ != 0; }

    [[nodiscard]] int status() const noexcept { return status_; }  // 0: there is no answer
    [[nodiscard]] std::string_view body() const noexcept { return body_; }
    [[nodiscard]] std::uint64_t row_count() const noexcept { return rows_seen_; }
    // Moves what there is into the result of the operation.
    void move_to(http_result& result) noexcept;

private:
    [[nodiscard]] problem on_rows(
        base::byte_view piece, const base::block_ref* owner, const http_request& request);

    std::unique_ptr<services::row_splitter> splitter_;  // of answers with rows
    std::string body_;
    row_batch rows_;
    std::uint64_t rows_seen_ = 0;
    std::uint64_t rows_taken_ = 0;
    bool is_streamed_ = false;
    bool is_notified_ = false;
    int status_ = 0;
};

}  // namespace reprise::engine
