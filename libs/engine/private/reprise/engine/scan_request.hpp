#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include <reprise/couchbase_types/document_request.hpp>
#include <reprise/engine/row_batch.hpp>
#include <reprise/wire/ids.hpp>
#include <reprise/wire/range_scan_messages.hpp>

namespace reprise::engine {

using couchbase::detail::scan_request;

// Why a scan cannot be sent; null if it can.
[[nodiscard]] const char* why_invalid(const scan_request& asked) noexcept;

// The part of a range scan that reads one vbucket. One operation scans it, from the scan's creation
// on the server to its end:
//
//     create -> continue -> continue ... -> complete
//        ^          | failed: the server's scan is lost
//        +----------+ a new one begins after the last row
//
// Its rows are those of take_rows: each is a wire::scan_item as it was sent. Rows that have arrived
// are delivered, whatever happens afterwards, and none of them twice. A broken sample cannot be
// resumed: once it has a row, it fails.
struct vbucket_scan {
    std::shared_ptr<const scan_request> asked{};  // range_scan only
    wire::vbucket_id vbucket{};
    // Called from drain_completions when rows become available.
    std::function<void()> on_rows{};

    wire::scan_id canceled{};  // range_scan_cancel only
};

// Owns a vbucket_scan, or nothing. One pointer, because every parked operation has one; copies
// are deep.
class scan_box {
public:
    scan_box() noexcept = default;
    scan_box(vbucket_scan scan) : scan_(std::make_unique<vbucket_scan>(std::move(scan))) {}
    scan_box(const scan_box& other)
        : scan_(other ? std::make_unique<vbucket_scan>(*other) : nullptr) {}
    scan_box(scan_box&&) noexcept = default;
    scan_box& operator=(scan_box other) noexcept {
        scan_.swap(other.scan_);
        return *this;
    }
    ~scan_box() = default;

    [[nodiscard]] explicit operator bool() const noexcept { return scan_ != nullptr; }
    [[nodiscard]] const vbucket_scan& operator*() const noexcept { return *scan_; }
    [[nodiscard]] const vbucket_scan* operator->() const noexcept { return scan_.get(); }

private:
    std::unique_ptr<vbucket_scan> scan_;
};

// The scan's part of an operation_result.
struct scan_result {
    row_batch rows{};             // the rows that were not taken
    std::uint64_t row_count = 0;  // taken or not
};

}  // namespace reprise::engine
