#include "operations/scan_progress.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include <reprise/wire/document_key.hpp>

namespace reprise::engine {
namespace {

// The largest item: a document of 21 MiB with its key and metadata.
constexpr std::size_t item_size_max_bytes = std::size_t{21} * 1024 * 1024 + 512;

// Keys are UTF-8, in which this byte does not occur: it is behind all of them.
constexpr std::string_view behind_all = "\xff";
// Before all of them, because no key is empty.
constexpr std::string_view before_all{"\0", 1};

wire::scan_bound to_bound(const couchbase::scan_term& term, std::string_view without) {
    return term.key.empty() ? wire::scan_bound{std::string(without), false}
                            : wire::scan_bound{term.key, term.is_exclusive};
}

}  // namespace

const char* why_invalid(const scan_request& asked) noexcept {
    constexpr std::size_t size_max = wire::key_size_max_default_collection;
    const couchbase::scan_options& options = asked.options;
    if (options.batch_item_limit == 0 || options.batch_byte_limit == 0) {
        return "batch_item_limit and batch_byte_limit must be at least 1";
    }
    if (options.concurrency == 0) {
        return "concurrency must be at least 1";
    }
    const auto* range = std::get_if<couchbase::range_scan>(&asked.what);
    const auto* prefix = std::get_if<couchbase::prefix_scan>(&asked.what);
    const auto* sampling = std::get_if<couchbase::sampling_scan>(&asked.what);
    if (sampling != nullptr && sampling->limit == 0) {
        return "the limit of a sample must be at least 1";
    }
    // An end may be one byte longer than any key, for example a prefix and 0xff.
    if ((range != nullptr &&
         std::max(range->from.key.size(), range->to.key.size()) > size_max + 1) ||
        (prefix != nullptr && prefix->prefix.size() > size_max)) {
        return "a bound of the range is longer than any key";
    }
    return nullptr;
}

std::variant<wire::scan_range, wire::scan_sampling> to_wire(const couchbase::scan_kind& what) {
    if (const auto* range = std::get_if<couchbase::range_scan>(&what)) {
        return wire::scan_range{to_bound(range->from, before_all), to_bound(range->to, behind_all)};
    }
    if (const auto* prefix = std::get_if<couchbase::prefix_scan>(&what)) {
        return wire::scan_range{
            to_bound({prefix->prefix}, before_all), {prefix->prefix + std::string(behind_all)}};
    }
    const auto& sampling = std::get<couchbase::sampling_scan>(what);
    return wire::scan_sampling{sampling.limit, sampling.seed.value_or(0)};
}

std::optional<wire::scan_snapshot> snapshot_for(
    const couchbase::mutation_state& state, std::string_view bucket, wire::vbucket_id vbucket) {
    std::optional<wire::scan_snapshot> newest;
    for (const couchbase::mutation_token& token : state.tokens) {
        const bool is_of_it = token.bucket == bucket && token.vbucket == vbucket.value;
        if (is_of_it && (!newest || newest->seqno < token.seqno)) {
            newest = wire::scan_snapshot{token.vbucket_uuid, token.seqno, 0};
        }
    }
    return newest;
}

scan_progress::scan_progress(
    const scan_request& asked, wire::vbucket_id vbucket, std::string_view bucket)
    : asked_(asked), snapshot_(snapshot_for(asked.options.consistent_with, bucket, vbucket)) {}

wire::range_scan_create_request scan_progress::make_create(
    wire::collection_id collection, std::uint32_t wait_ms) const {
    wire::range_scan_create_request request;
    request.collection = collection;
    request.is_key_only = options().keys_only;
    request.what = to_wire(asked_.what);
    if (auto* range = std::get_if<wire::scan_range>(&request.what); range != nullptr) {
        if (row_count_ != 0) {
            range->start = {last_key_, true};
        }
    }
    request.snapshot = snapshot_;
    if (request.snapshot) {
        request.snapshot->timeout_ms = wait_ms;
    }
    return request;
}

wire::range_scan_continue_request scan_progress::make_continue(std::uint32_t time_ms) const {
    return {*id_, options().batch_item_limit, time_ms, options().batch_byte_limit};
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
    return row_count_ == 0 || !std::holds_alternative<couchbase::sampling_scan>(asked_.what);
}

bool scan_progress::is_repeated(std::string_view key) const noexcept {
    return has_restarted_ && key <= restart_key_;
}

std::expected<void, std::string> scan_progress::take_frame(const wire::frame_view& frame) {
    const auto answer = wire::range_scan_continue_response::decode(frame);
    if (!answer) {
        return std::unexpected(std::string(wire::to_string(answer.error())));
    }
    const auto expected =
        options().keys_only ? wire::scan_content::keys : wire::scan_content::documents;
    if (answer->content != expected && !answer->items.empty()) {
        return std::unexpected("rows of another kind than the scan's");
    }
    answer_size_bytes_ += answer->items.size();
    if (answer_size_bytes_ > options().batch_byte_limit + item_size_max_bytes) {
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
        if (++answer_count_ > options().batch_item_limit) {
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
