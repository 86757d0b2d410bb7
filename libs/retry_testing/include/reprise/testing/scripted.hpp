#pragma once

/// Operations and randomness that follow a script.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <initializer_list>
#include <vector>

#include <reprise/retry/call_options.hpp>
#include <reprise/retry/failure_facts.hpp>
#include <reprise/retry/time.hpp>
#include <reprise/testing/virtual_clock.hpp>

namespace reprise::testing {

/// A failure that may be repeated safely.
[[nodiscard]] inline failure_facts transient() {
    return {.safety = retry_safety::yes, .fault = failure_fault::server};
}
/// No answer in time: the service may have acted.
[[nodiscard]] inline failure_facts timed_out() {
    return {.safety = retry_safety::maybe, .timeout = true, .fault = failure_fault::server};
}
/// Too many requests; the service may ask for a pause.
[[nodiscard]] inline failure_facts throttled(duration minimum_wait = {}) {
    failure_facts facts{.safety = retry_safety::yes, .throttling = true};
    if (minimum_wait > duration::zero()) {
        facts.minimum_wait = minimum_wait;
    }
    return facts;
}
/// A permanent failure: no retry helps.
[[nodiscard]] inline failure_facts permanent() {
    return {.safety = retry_safety::no, .fault = failure_fault::client};
}

/// The error of a scripted operation: which step of the script failed, and its facts.
struct scripted_error {
    std::size_t step = 0;
    failure_facts facts{};
};
/// The facts that the script gives this failure.
[[nodiscard]] inline failure_facts retry_facts(const scripted_error& error) {
    return error.facts;
}

/// Shaped like `std::expected<int, scripted_error>`, for C++20 programs that have none.
class scripted_result {
public:
    scripted_result(int value) : value_(value), ok_(true) {}  // NOLINT: implicit by design
    scripted_result(scripted_error error) : error_(error) {}  // NOLINT: implicit by design
    [[nodiscard]] bool has_value() const noexcept { return ok_; }
    [[nodiscard]] int value() const noexcept { return value_; }
    [[nodiscard]] const scripted_error& error() const noexcept { return error_; }

private:
    int value_ = 0;
    bool ok_ = false;
    scripted_error error_{};
};

/// Fails as scripted, then always succeeds (or, with `fail_forever`, repeats the last failure).
/// Records what the loop passed to each attempt.
class scripted_operation {
public:
    scripted_operation(std::initializer_list<failure_facts> failures)
        : failures_(failures.begin(), failures.end()) {}

    /// The last failure of the script repeats without end.
    scripted_operation& fail_forever() {
        forever_ = true;
        return *this;
    }
    /// Each attempt takes this long on `clock`.
    scripted_operation& taking(duration time, virtual_clock& clock) {
        time_ = time;
        clock_ = &clock;
        return *this;
    }

    scripted_result operator()(const attempt& current) {
        attempts_.push_back(current);
        if (clock_ != nullptr) {
            clock_->advance(time_);
        }
        const std::size_t step = attempts_.size() - 1;
        if (step < failures_.size()) {
            return scripted_error{step, failures_[step]};
        }
        if (forever_ && !failures_.empty()) {
            return scripted_error{step, failures_.back()};
        }
        return static_cast<int>(attempts_.size());
    }

    /// The number of calls.
    [[nodiscard]] std::size_t calls() const noexcept { return attempts_.size(); }
    [[nodiscard]] const std::vector<attempt>& attempts() const noexcept { return attempts_; }

private:
    std::vector<failure_facts> failures_;
    std::vector<attempt> attempts_;
    bool forever_ = false;
    duration time_{};
    virtual_clock* clock_ = nullptr;
};

/// Randomness from a list, which repeats its last value; without values, `half`. `half` is the
/// middle of every range.
class scripted_random final : public driver::random_source {
public:
    scripted_random(std::initializer_list<std::uint64_t> values)
        : values_(values.begin(), values.end()) {
        if (values_.empty()) {
            values_.push_back(half);
        }
    }

    static constexpr std::uint64_t lowest = 0;
    static constexpr std::uint64_t half = std::uint64_t{1} << 63U;
    /// The longest delay. Jitter draws from [0, limit), so it is one nanosecond below the limit.
    static constexpr std::uint64_t highest = ~std::uint64_t{0};

    [[nodiscard]] std::uint64_t next() noexcept override {
        const std::uint64_t value = values_.front();
        if (values_.size() > 1) {
            values_.pop_front();
        }
        ++number_count_;
        return value;
    }
    [[nodiscard]] std::size_t number_count() const noexcept { return number_count_; }

private:
    std::deque<std::uint64_t> values_;
    std::size_t number_count_ = 0;
};

}  // namespace reprise::testing
