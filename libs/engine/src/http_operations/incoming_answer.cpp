#include "http_operations/incoming_answer.hpp"

#include <utility>

#include <reprise/base/bytes.hpp>

namespace reprise::engine {

void incoming_answer::restart() noexcept {
    splitter_.reset();
    body_.clear();
    rows_.clear();
    rows_seen_ = 0;
    is_notified_ = false;
    status_ = 0;
}

incoming_answer::problem incoming_answer::on_head(
    const http::response_head& head, const service_call& call, const http_request& request) {
    status_ = head.status;
    is_streamed_ = static_cast<bool>(request.on_rows);
    if (http::find_content_encoding(head.headers)) {
        return "the answer is compressed although the client did not accept it";
    }
    // Error bodies are JSON objects, too. Those that arrive without rows are small, so they are
    // kept whole.
    if (!call.rows_member.empty() && head.status == 200) {
        services::row_splitter_options limits;
        limits.row_size_max_bytes = request.row_size_max_bytes;
        splitter_ = std::make_unique<services::row_splitter>(call.rows_member, limits);
    }
    return std::nullopt;
}

incoming_answer::problem incoming_answer::on_body(
    base::byte_view piece, const base::block_ref* owner, const http_request& request) {
    if (splitter_) {
        return on_rows(piece, owner, request);
    }
    if (body_.size() + piece.size() > request.body_size_max_bytes) {
        return "the answer is larger than body_size_max_bytes";
    }
    body_.append(base::as_text(piece));
    return std::nullopt;
}

incoming_answer::problem incoming_answer::on_rows(
    base::byte_view piece, const base::block_ref* owner, const http_request& request) {
    splitter_->feed(piece);
    while (true) {
        const auto event = splitter_->next_rows();
        if (!event) {
            return "the answer is not a valid result: " + to_string(event.error());
        }
        if (*event != services::row_event::row) {
            return std::nullopt;
        }
        // Rows that the client collects may be kept for long, so they must not keep the received
        // block alive.
        rows_.append(splitter_->rows(), base::as_text(piece), is_streamed_ ? owner : nullptr);
        rows_seen_ += splitter_->rows().size();
        if (!is_streamed_ && rows_.size_bytes() > request.rows_size_max_bytes) {
            return "all rows together are larger than rows_size_max_bytes";
        }
    }
}

incoming_answer::problem incoming_answer::on_end() {
    if (splitter_) {
        if (const auto whole = splitter_->finish(); !whole) {
            return "the answer is not a valid result: " + to_string(whole.error());
        }
        body_ = splitter_->trailer();
    }
    return std::nullopt;
}

bool incoming_answer::take_notice() noexcept {
    const bool is_new = is_streamed_ && !rows_.empty() && !is_notified_;
    is_notified_ = is_notified_ || is_new;
    return is_new;
}

void incoming_answer::take_rows(row_batch& out) noexcept {
    std::swap(out, rows_);
    rows_taken_ += out.size();
    is_notified_ = false;
}

void incoming_answer::move_to(http_result& result) noexcept {
    result.status = status_;
    result.body = std::move(body_);
    result.rows = std::move(rows_);
    result.row_count = rows_seen_;
}

}  // namespace reprise::engine
