#include "operations/decision_log.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace reprise::engine {
namespace {

constexpr duration log_window = std::chrono::seconds{1};

}  // namespace

decision_log::decision_log(std::shared_ptr<log_sink> sink, std::size_t per_second_max) noexcept
    : sink_(std::move(sink)), per_second_max_(per_second_max) {}

void decision_log::on_decision(const decision_record& record, time_point now) {
    if (!sink_) {
        return;
    }
    summary ended{record.reason, {}};
    bool is_passed_on = true;
    {
        const std::lock_guard lock(mutex_);
        window& of = windows_[static_cast<std::size_t>(record.reason) % windows_.size()];
        if (of.seen == 0 || now - of.start >= log_window) {
            ended.of = std::exchange(of, {});
            of.start = now;
        }
        ++of.seen;
        if (per_second_max_ != 0 && of.seen > per_second_max_) {
            is_passed_on = false;
            ++of.held_back;
            of.refused += record.is_retried ? 0U : 1U;
            const time_point end = driver::add_saturated(of.start, log_window);
            due_ = due_ ? std::min(*due_, end) : end;
        }
    }
    report(ended);
    if (is_passed_on) {
        sink_->on_decision(record.is_retried ? log_level::debug : log_level::warn, record);
    }
}

void decision_log::on_time(time_point now) {
    std::vector<summary> ended;
    {
        const std::lock_guard lock(mutex_);
        due_.reset();
        for (std::size_t index = 0; index < windows_.size(); ++index) {
            window& of = windows_[index];
            if (of.held_back == 0) {
                continue;
            }
            const time_point end = driver::add_saturated(of.start, log_window);
            if (now >= end) {
                ended.push_back({static_cast<retry_reason>(index), std::exchange(of, {})});
            } else {
                due_ = due_ ? std::min(*due_, end) : end;
            }
        }
    }
    std::ranges::for_each(ended, [this](const summary& each) { report(each); });
}

void decision_log::flush() {
    std::vector<summary> ended;
    {
        const std::lock_guard lock(mutex_);
        for (std::size_t index = 0; index < windows_.size(); ++index) {
            ended.push_back({static_cast<retry_reason>(index), std::exchange(windows_[index], {})});
        }
        due_.reset();
    }
    std::ranges::for_each(ended, [this](const summary& each) { report(each); });
}

// Writes one line instead of many, at the highest of their levels.
void decision_log::report(const summary& ended) {
    const window& of = ended.of;
    if (of.held_back == 0) {
        return;
    }
    std::string text(to_string(ended.reason));
    text += ": " + std::to_string(of.held_back) + " more decisions in 1 s";
    if (of.refused != 0) {
        text += ", " + std::to_string(of.refused) + " not retried";
    }
    sink_->on_message(of.refused == 0 ? log_level::debug : log_level::warn, text);
}

}  // namespace reprise::engine
