#include <algorithm>

#include <reprise/base/enum_table.hpp>
#include <reprise/sandbox/audit_log.hpp>
#include <reprise/sandbox/fault_rule.hpp>

namespace reprise::sandbox {

namespace {

bool fits_filter(const audit_entry& entry, const audit_filter& filter) {
    return entry.number >= filter.number_min && (!filter.op || *filter.op == entry.op) &&
           (!filter.node || *filter.node == entry.node) &&
           (!filter.status || *filter.status == entry.status) &&
           (!filter.is_applied || *filter.is_applied == entry.is_applied) &&
           (!filter.client_connection_id ||
            filter.client_connection_id == entry.client_connection_id) &&
           (!filter.opaque || *filter.opaque == entry.opaque) &&
           (filter.bucket.empty() || filter.bucket == entry.bucket) &&
           (filter.key_pattern.empty() || matches_glob(filter.key_pattern, entry.key));
}

// Clears an entry but keeps the capacity of its strings.
void reset(audit_entry& entry) {
    std::string bucket = std::move(entry.bucket);
    std::string key = std::move(entry.key);
    std::string value_start = std::move(entry.value_start);
    entry = audit_entry{};
    entry.bucket = std::move(bucket);
    entry.key = std::move(key);
    entry.value_start = std::move(value_start);
    entry.bucket.clear();
    entry.key.clear();
    entry.value_start.clear();
}

}  // namespace

std::string_view to_string(answer_fate fate) noexcept {
    return base::name_of(fate);
}

audit_log::audit_log(std::size_t entry_count_max)
    : entry_count_max_(std::max<std::size_t>(entry_count_max, 1)) {}

audit_entry& audit_log::begin() {
    audit_entry* entry = nullptr;
    if (ring_.size() < entry_count_max_) {
        entry = &ring_.emplace_back();
    } else {
        entry = &ring_[oldest_];
        oldest_ = oldest_ + 1 == ring_.size() ? 0 : oldest_ + 1;
        reset(*entry);
    }
    entry->number = number_next_++;
    return *entry;
}

void audit_log::commit(const audit_entry& entry) {
    auto& of_opcode = counters_[static_cast<std::size_t>(entry.op)];
    auto it = std::ranges::find(of_opcode, entry.status, &audit_counter::status);
    if (it == of_opcode.end()) {
        of_opcode.push_back({entry.op, entry.status, 0, 0});
        it = of_opcode.end() - 1;
    }
    ++it->count;
    it->applied_count += entry.is_applied ? 1 : 0;
    if (observer_) {
        observer_(entry);
    }
}

template <class Visit>
void audit_log::visit_newest_first(const audit_filter& filter, Visit visit) const {
    for (std::size_t age = 0; age < ring_.size(); ++age) {
        const std::size_t at = (oldest_ + ring_.size() - 1 - age) % ring_.size();
        if (fits_filter(ring_[at], filter) && !visit(ring_[at])) {
            return;
        }
    }
}

std::vector<audit_entry> audit_log::entries(
    const audit_filter& filter, std::size_t count_max) const {
    std::vector<audit_entry> found;
    if (count_max == 0) {
        return found;
    }
    visit_newest_first(filter, [&found, count_max](const audit_entry& entry) {
        found.push_back(entry);
        return found.size() < count_max;
    });
    std::ranges::reverse(found);
    return found;
}

std::size_t audit_log::count(const audit_filter& filter) const {
    std::size_t found = 0;
    visit_newest_first(filter, [&found](const audit_entry&) {
        ++found;
        return true;
    });
    return found;
}

std::vector<audit_counter> audit_log::counters() const {
    std::vector<audit_counter> all;
    for (const auto& of_opcode : counters_) {
        all.insert(all.end(), of_opcode.begin(), of_opcode.end());
    }
    std::ranges::sort(all, [](const audit_counter& left, const audit_counter& right) {
        return std::pair(left.op, left.status) < std::pair(right.op, right.status);
    });
    return all;
}

void audit_log::compact() {
    ring_ = std::vector(ring_);
}

void audit_log::clear() noexcept {
    ring_.clear();
    oldest_ = 0;
    for (auto& of_opcode : counters_) {
        of_opcode.clear();
    }
}

}  // namespace reprise::sandbox
