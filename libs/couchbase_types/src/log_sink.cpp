#include <array>
#include <cstdio>

#include <reprise/base/enum_table.hpp>
#include <reprise/base/printable.hpp>
#include <reprise/couchbase_types/operation_observer.hpp>

namespace reprise::couchbase {

log_sink::~log_sink() = default;

std::string_view to_string(log_level level) noexcept {
    return base::name_of(level);
}

std::string to_string(const decision_record& record) {
    std::string text(record.operation);
    if (!record.key.empty()) {
        text += " ";
        text += base::printable(record.key);
    }
    if (record.is_retried) {
        std::array<char, 48> delay{};
        std::snprintf(
            delay.data(), delay.size(),
            " retried in %.6g ms: ", static_cast<double>(record.delay.count()) / 1e6);
        text += delay.data();
    } else {
        text += " not retried (";
        text += to_string(record.error);
        text += "): ";
    }
    text += to_string(record.reason);
    text += " (attempt " + std::to_string(record.attempt);
    if (!record.endpoint.empty()) {
        text += ", ";
        text += base::printable(record.endpoint);
    }
    return text + ")";
}

}  // namespace reprise::couchbase
