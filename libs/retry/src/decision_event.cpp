#include <ostream>

#include <reprise/retry/retry_history.hpp>
#include <reprise/retry/retry_observer.hpp>

#include "failure_line.hpp"

namespace reprise {

std::string decision_event::failure_text() const {
    std::string text(reason.name());
    if (text.empty()) {
        text = detail::result_or(
            std::string(), [&] { return detail::text_of_failure(failure, facts); });
    }
    return detail::failure_line(text, retry_history::text_size_max);
}

std::string to_string(const decision_event& event) {
    const retry_history::entry& entry = event.entry;
    std::string text = detail::one_line(event.call);
    text += ": attempt " + std::to_string(entry.attempt());
    if (entry.is_hedge()) {
        text += " still running";
    } else {
        text += entry.is_attempt() ? " failed" : " not made";
        detail::append_failure_text(
            text, event.failure_text(),
            entry.code() == 0 ? std::string()
                              : detail::code_text(entry.code(), event.facts.category != nullptr));
        text += entry.is_timeout() ? ", timeout" : "";
        text += entry.is_throttling() ? ", throttled" : "";
    }
    detail::append_decision(text, entry, true);
    return text;
}

std::ostream& operator<<(std::ostream& out, const decision_event& event) {
    return out << to_string(event);
}

}  // namespace reprise
