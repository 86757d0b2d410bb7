#include <algorithm>
#include <utility>

#include <reprise/http/message.hpp>
#include <reprise/sandbox/fault_rule.hpp>

namespace reprise::sandbox {

namespace {

bool fits(const std::string& pattern, std::string_view text) noexcept {
    return pattern.empty() || matches_glob(pattern, text);
}

}  // namespace

bool fault_rule::matches(const fault_subject& request) const noexcept {
    return (ops.empty() || std::ranges::find(ops, request.op) != ops.end()) &&
           (!node || *node == request.node) && (bucket.empty() || bucket == request.bucket) &&
           fits(key_pattern, request.key);
}

bool service_fault_rule::matches(const service_fault_subject& request) const noexcept {
    return (!service || *service == request.service) && (!node || *node == request.node) &&
           (method.empty() || method == request.method) && fits(path_pattern, request.path) &&
           fits(statement_pattern, request.statement) && fits(context_pattern, request.context_id);
}

template <class Rule>
std::uint64_t fault_rule_list<Rule>::add(Rule rule) {
    rule.when.every = std::max<std::uint64_t>(rule.when.every, 1);
    entries_.push_back({id_next_, std::move(rule), 0, 0});
    return id_next_++;
}

template <class Rule>
bool fault_rule_list<Rule>::remove(std::uint64_t id) {
    return std::erase_if(entries_, [id](const entry& each) { return each.id == id; }) != 0;
}

template <class Rule>
const fault_rule_list<Rule>::entry* fault_rule_list<Rule>::decide(const Rule::subject& request) {
    for (entry& each : entries_) {
        const auto& limit = each.rule.when.limit;
        const bool is_used_up = limit && each.effect_count >= *limit;
        if (!is_used_up && each.rule.matches(request) && takes_next(each)) {
            return &each;
        }
    }
    return nullptr;
}

template <class Rule>
bool fault_rule_list<Rule>::takes_next(entry& which) {
    const fault_cadence& when = which.rule.when;
    const std::uint64_t position = which.match_count++;
    if (position < when.skip || (position - when.skip) % when.every != 0) {
        return false;
    }
    // The generator is used only for rules with a probability, so that other rules do not change
    // the random sequence.
    if (when.probability < 1.0 &&
        static_cast<double>(random_.next() >> 11) * 0x1.0p-53 >= when.probability) {
        return false;
    }
    ++which.effect_count;
    return true;
}

template <class Rule>
std::vector<std::byte> fault_rule_list<Rule>::make_garbage(std::size_t size) {
    std::vector<std::byte> bytes(std::clamp(size, std::size_t{1}, fault_garbage::size_max_bytes));
    for (std::byte& byte : bytes) {
        byte = static_cast<std::byte>(random_.next() >> 56);
    }
    // No magic has these bits.
    bytes.front() |= std::byte{0x60};
    return bytes;
}

template class fault_rule_list<fault_rule>;
template class fault_rule_list<service_fault_rule>;

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
           !std::holds_alternative<fault_close_before>(effect) &&
           !std::holds_alternative<service_fault_redirect>(effect);
}

bool matches_glob(std::string_view pattern, std::string_view text) noexcept {
    std::size_t p = 0;
    std::size_t t = 0;
    std::size_t star = std::string_view::npos;
    std::size_t star_text = 0;
    while (t < text.size()) {
        if (p < pattern.size() && pattern[p] == '*') {
            star = p++;
            star_text = t;
        } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
            ++p;
            ++t;
        } else if (star != std::string_view::npos) {
            // Let the last star match one more byte and try the rest again.
            p = star + 1;
            t = ++star_text;
        } else {
            return false;
        }
    }
    while (p < pattern.size() && pattern[p] == '*') {
        ++p;
    }
    return p == pattern.size();
}

}  // namespace reprise::sandbox
