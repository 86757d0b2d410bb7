#include <reprise/sandbox/service_fault.hpp>

#include <algorithm>
#include <utility>

#include <reprise/http/message.hpp>
#include <reprise/sandbox/fault_rule.hpp>

#include "faults/fault_cadence.hpp"

namespace reprise::sandbox {

namespace {

bool fits_pattern(const std::string& pattern, std::string_view text) {
    return pattern.empty() || matches_glob(pattern, text);
}

bool fits_service_rule(const service_fault_rule& rule, const service_fault_subject& subject) {
    return (!rule.service || *rule.service == subject.service) &&
           (!rule.node || *rule.node == subject.node) &&
           (rule.method.empty() || rule.method == subject.method) &&
           fits_pattern(rule.path_pattern, subject.path) &&
           fits_pattern(rule.statement_pattern, subject.statement) &&
           fits_pattern(rule.context_pattern, subject.context_id);
}

}  // namespace

std::optional<std::string_view> find_header(
    const service_header_list& headers, std::string_view name) noexcept {
    for (const service_header& each : headers) {
        if (http::equal_ignoring_case(each.name, name)) {
            return each.value;
        }
    }
    return std::nullopt;
}

bool is_applied_under(const service_fault_effect& effect) noexcept {
    const auto* answer = std::get_if<service_fault_answer>(&effect);
    return (answer == nullptr || answer->is_applied) &&
           !std::holds_alternative<service_fault_close_before>(effect) &&
           !std::holds_alternative<service_fault_redirect>(effect);
}

std::uint64_t service_fault_list::add(service_fault_rule rule) {
    rule.every = std::max<std::uint64_t>(rule.every, 1);
    entries_.push_back(service_fault_entry{id_next_, std::move(rule), 0, 0});
    return id_next_++;
}

bool service_fault_list::remove(std::uint64_t id) {
    return std::erase_if(entries_, [id](const auto& entry) { return entry.id == id; }) != 0;
}

const service_fault_entry* service_fault_list::decide(const service_fault_subject& subject) {
    for (service_fault_entry& entry : entries_) {
        if (!detail::is_resting(entry) && fits_service_rule(entry.rule, subject) &&
            detail::takes_next(entry, rng_)) {
            return &entry;
        }
    }
    return nullptr;
}

}  // namespace reprise::sandbox
