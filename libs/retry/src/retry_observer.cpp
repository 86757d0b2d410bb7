#include <map>
#include <memory>
#include <mutex>
#include <ostream>
#include <string>

#include <reprise/retry/detail/compiler.hpp>
#include <reprise/retry/retry_observer.hpp>

namespace reprise {

retry_observer::~retry_observer() = default;
void retry_observer::on_decision(const decision_event&) noexcept {}
void retry_observer::on_completion(const call_summary&) noexcept {}

namespace {

template <class Function, class Event>
void call_if_set(const Function& function, const Event& event) noexcept {
    if (function) {
        static_cast<void>(detail::result_or(false, [&] {
            function(event);
            return true;
        }));
    }
}

class observer_pair final : public retry_observer {
public:
    observer_pair(std::shared_ptr<retry_observer> first, std::shared_ptr<retry_observer> second)
        : first_(std::move(first)), second_(std::move(second)) {}

    void on_decision(const decision_event& event) noexcept override {
        first_->on_decision(event);
        second_->on_decision(event);
    }
    void on_completion(const call_summary& summary) noexcept override {
        first_->on_completion(summary);
        second_->on_completion(summary);
    }

private:
    std::shared_ptr<retry_observer> first_;
    std::shared_ptr<retry_observer> second_;
};

}  // namespace

void detail::observing_functions::on_decision(const decision_event& event) noexcept {
    call_if_set(decision, event);
}

void detail::observing_functions::on_completion(const call_summary& summary) noexcept {
    call_if_set(completion, summary);
}

std::shared_ptr<retry_observer> log_to(std::function<void(std::string_view line)> write) {
    auto logger = std::make_shared<detail::observing_functions>();
    logger->decision = [write = std::move(write)](const decision_event& event) {
        write(to_string(event));
    };
    return logger;
}

namespace {

/// All loggers of a stream share its mutex. Those of different streams do not, because a stream may
/// itself make calls that are logged elsewhere.
[[nodiscard]] std::shared_ptr<std::mutex> mutex_of_stream(const std::ostream& out) {
    struct streams {
        std::mutex mutex;
        std::map<const std::ostream*, std::weak_ptr<std::mutex>> mutexes;
    };
    static auto* const all = new streams;  // never destroyed: objects with static lifetime log, too
    const std::lock_guard lock(all->mutex);
    std::erase_if(all->mutexes, [](const auto& each) { return each.second.expired(); });
    std::weak_ptr<std::mutex>& known = all->mutexes[&out];
    std::shared_ptr<std::mutex> mutex = known.lock();
    if (mutex == nullptr) {
        known = mutex = std::make_shared<std::mutex>();
    }
    return mutex;
}

}  // namespace

std::shared_ptr<retry_observer> log_to(std::ostream& out) {
    return log_to([&out, mutex = mutex_of_stream(out)](std::string_view line) {
        const std::string whole_line = std::string(line) + '\n';
        const std::lock_guard lock(*mutex);
        out << whole_line;
        out.flush();
    });
}

std::shared_ptr<retry_observer> detail::both_observers(
    std::shared_ptr<retry_observer> first, std::shared_ptr<retry_observer> second) {
    if (first == nullptr || second == nullptr) {
        return first == nullptr ? second : first;
    }
    return std::make_shared<observer_pair>(std::move(first), std::move(second));
}

}  // namespace reprise
