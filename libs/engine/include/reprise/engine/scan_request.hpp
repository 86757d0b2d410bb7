#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <variant>

#include <reprise/engine/row_batch.hpp>
#include <reprise/wire/ids.hpp>
#include <reprise/wire/range_scan_messages.hpp>

namespace reprise::engine {

// What a range scan reads. One operation scans one vbucket, from its creation on the server to its
// end:
//
//     create -> continue -> continue ... -> complete
//        ^          | failed: the server's scan is lost
//        +----------+ a new one begins after the last row
//
// Its rows are those of take_rows: each is a wire::scan_item as it was sent. Rows that have arrived
// are delivered, whatever happens afterwards, and none of them twice. A broken sample cannot be
// resumed: once it has a row, it fails.
struct scan_terms {
    wire::vbucket_id vbucket{};
    bool is_key_only = false;
    std::variant<wire::scan_range, wire::scan_sampling> what{};
    // What the vbucket must have on disk. `timeout_ms` is set by the engine.
    std::optional<wire::scan_snapshot> snapshot{};
    // Bounds of one answer. Both must be set. An answer has at least one row, whatever its size.
    std::uint32_t item_limit = 50;
    std::uint32_t byte_limit = 15'000;
    // No further rows are requested while more than this waits to be taken.
    std::size_t rows_size_max_bytes = 15'000;
    // Called from drain_completions when rows become available.
    std::function<void()> on_rows{};

    // range_scan_cancel only: the scan to cancel.
    wire::scan_id canceled{};
};

// Owns the terms of a scan, or nothing. One pointer, because every parked operation has one; copies
// are deep.
class scan_box {
public:
    scan_box() noexcept = default;
    scan_box(scan_terms terms) : terms_(std::make_unique<scan_terms>(std::move(terms))) {}
    scan_box(const scan_box& other)
        : terms_(other ? std::make_unique<scan_terms>(*other) : nullptr) {}
    scan_box(scan_box&&) noexcept = default;
    scan_box& operator=(scan_box other) noexcept {
        terms_.swap(other.terms_);
        return *this;
    }
    ~scan_box() = default;

    [[nodiscard]] explicit operator bool() const noexcept { return terms_ != nullptr; }
    [[nodiscard]] const scan_terms& operator*() const noexcept { return *terms_; }
    [[nodiscard]] const scan_terms* operator->() const noexcept { return terms_.get(); }

private:
    std::unique_ptr<scan_terms> terms_;
};

// The scan's part of an operation_result.
struct scan_result {
    row_batch rows{};             // the rows that were not taken
    std::uint64_t row_count = 0;  // taken or not
};

}  // namespace reprise::engine
