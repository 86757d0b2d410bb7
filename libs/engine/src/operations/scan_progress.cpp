#include "operations/scan_progress.hpp"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

namespace reprise::engine {
namespace {

// The largest item: a document of 21 MiB with its key and metadata.
constexpr std::size_t item_size_max_bytes = std::size_t{21} * 1024 * 1024 + 512;

}  // namespace

wire::range_scan_create_request scan_progress::make_create(
    wire::collection_id collection, std::uint32_t wait_ms) const {
    wire::range_scan_create_request request;
    request.collection = collection;
    request.is_key_only = terms_.is_key_only;
    request.what = terms_.what;
    if (auto* range = std::get_if<wire::scan_range>(&request.what); range != nullptr) {
        if (row_count_ != 0) {
            range->start = {last_key_, true};
        }
    }
    request.snapshot = terms_.snapshot;
    if (request.snapshot) {
        request.snapshot->timeout_ms = wait_ms;
    }
    return request;
}

wire::range_scan_continue_request scan_progress::make_continue(std::uint32_t time_ms) const {
    return {*id_, terms_.item_limit, time_ms, terms_.byte_limit};
}

void scan_progress::on_created(const wire::scan_id& id) noexcept {
    id_ = id;
    has_restarted_ = row_count_ != 0;
    if (has_restarted_) {
        restart_key_ = last_key_;
    }
    answer_count_ = 0;
    answer_size_bytes_ = 0;
}

bool scan_progress::can_begin_again() const noexcept {
    return row_count_ == 0 || std::holds_alternative<wire::scan_range>(terms_.what);
}

bool scan_progress::is_repeated(std::string_view key) const noexcept {
    return has_restarted_ && key <= restart_key_;
}

std::expected<void, std::string> scan_progress::take_frame(const wire::frame_view& frame) {
    const auto answer = wire::range_scan_continue_response::decode(frame);
    if (!answer) {
        return std::unexpected(std::string(wire::to_string(answer.error())));
    }
    const auto asked =
        terms_.is_key_only ? wire::scan_content::keys : wire::scan_content::documents;
    if (answer->content != asked && !answer->items.empty()) {
        return std::unexpected("rows of another kind than the scan's");
    }
    answer_size_bytes_ += answer->items.size();
    if (answer_size_bytes_ > terms_.byte_limit + item_size_max_bytes) {
        return std::unexpected("more bytes than the limit of one answer");
    }
    std::vector<std::string_view> arrived;
    wire::scan_item_reader reader(answer->content, answer->items);
    for (;;) {
        const auto item = reader.next();
        if (!item) {
            return std::unexpected(std::string(wire::to_string(item.error())));
        }
        if (!*item) {
            break;
        }
        if (++answer_count_ > terms_.item_limit) {
            return std::unexpected("more rows than the limit of one answer");
        }
        if (!is_repeated((*item)->key)) {
            arrived.push_back(base::as_text((*item)->encoded));
            last_key_ = (*item)->key;
        }
    }
    if (!arrived.empty()) {
        rows_.append(arrived, base::as_text(answer->items), nullptr);
        row_count_ += arrived.size();
    }
    if (frame.status() != wire::status::success) {
        answer_count_ = 0;
        answer_size_bytes_ = 0;
    }
    return {};
}

void scan_progress::take_rows(row_batch& out) noexcept {
    out.clear();
    out.swap(rows_);
}

}  // namespace reprise::engine
