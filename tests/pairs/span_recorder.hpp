#pragma once

/// A tracer that records its spans, and what must hold about them.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <reprise/retry/retry_observer.hpp>

namespace reprise::feature_pairs {

/// One span, as its loop described it.
struct recorded_span {
    const recorded_span* call = nullptr;  ///< Null for the span of a call.
    std::int64_t number = 0;              ///< Of an attempt; of a call: how many it made.
    bool is_hedge = false;
    bool is_lost = false;  ///< Canceled because another attempt was better.
    bool has_error_type = false;
    bool has_refusal = false;
    bool is_error = false;
    std::uint32_t ends = 0;
};

using reporter = std::function<void(const std::string& violation)>;

class span_recorder final : public retry_tracer {
public:
    using reporter = std::function<void(const std::string& violation)>;

    /// `untraced`: of so many spans the last is null; 0: none is.
    span_recorder(std::uint32_t untraced, reporter report)
        : untraced_(untraced), report_(std::move(report)) {}

    [[nodiscard]] std::unique_ptr<span> start_span(
        std::string_view name, span* parent) noexcept override;

    /// What the model knows of the calls of a loop.
    struct totals {
        std::size_t calls = 0;
        std::size_t failed_calls = 0;
        std::size_t attempts = 0;
        std::size_t failed_attempts = 0;
        bool is_hedged = false;
        bool is_abandoned = false;  ///< Attempts may end after their call.
    };
    void verify(const totals& known) const;
    [[nodiscard]] std::size_t count() const { return spans_.size(); }

private:
    class handle;

    void verify_each() const;

    std::uint32_t untraced_;
    reporter report_;
    std::uint32_t asked_ = 0;
    std::deque<recorded_span> spans_;  // Handles refer to them.
};

}  // namespace reprise::feature_pairs
