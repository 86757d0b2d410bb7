#include <reprise/sandbox/service_audit.hpp>

#include <algorithm>
#include <map>

#include <reprise/sandbox/fault_rule.hpp>

namespace reprise::sandbox {

namespace {

bool fits_service_filter(const service_audit_entry& entry, const service_audit_filter& filter) {
    return entry.number >= filter.number_min &&
           (!filter.service || *filter.service == entry.service) &&
           (!filter.node || *filter.node == entry.node) &&
           (!filter.status || *filter.status == entry.status) &&
           (!filter.is_applied || *filter.is_applied == entry.is_applied) &&
           (filter.context_id.empty() || filter.context_id == entry.context_id) &&
           (filter.path_pattern.empty() || matches_glob(filter.path_pattern, entry.path)) &&
           (filter.statement_pattern.empty() ||
            matches_glob(filter.statement_pattern, entry.statement_start));
}

}  // namespace

service_audit_log::service_audit_log(std::size_t entry_count_max)
    : entry_count_max_(std::max<std::size_t>(entry_count_max, 1)) {}

void service_audit_log::record(service_audit_entry entry) {
    entry.number = number_next_++;
    if (observer_) {
        observer_(entry);
    }
    if (ring_.size() < entry_count_max_) {
        ring_.push_back(std::move(entry));
        return;
    }
    ring_[oldest_] = std::move(entry);
    oldest_ = (oldest_ + 1) % ring_.size();
}

std::vector<service_audit_entry> service_audit_log::entries(
    const service_audit_filter& filter, std::size_t count_max) const {
    std::vector<service_audit_entry> found;
    for (std::size_t age = 0; age < ring_.size() && found.size() < count_max; ++age) {
        const auto& entry = ring_[(oldest_ + ring_.size() - 1 - age) % ring_.size()];
        if (fits_service_filter(entry, filter)) {
            found.push_back(entry);
        }
    }
    std::ranges::reverse(found);
    return found;
}

std::size_t service_audit_log::count(const service_audit_filter& filter) const {
    return static_cast<std::size_t>(std::ranges::count_if(
        ring_, [&filter](const auto& entry) { return fits_service_filter(entry, filter); }));
}

std::vector<service_context_count> service_audit_log::contexts(
    std::uint64_t request_count_min) const {
    std::map<std::string, service_context_count> by_id;
    for (const service_audit_entry& entry : ring_) {
        if (!entry.context_id.empty()) {
            service_context_count& counted = by_id[entry.context_id];
            ++counted.request_count;
            counted.applied_count += entry.is_applied ? 1 : 0;
        }
    }
    std::vector<service_context_count> found;
    for (auto& [id, counted] : by_id) {
        if (counted.request_count >= request_count_min) {
            counted.context_id = id;
            found.push_back(std::move(counted));
        }
    }
    return found;
}

void service_audit_log::compact() {
    ring_ = std::vector(ring_);
}

void service_audit_log::clear() noexcept {
    ring_.clear();
    oldest_ = 0;
}

}  // namespace reprise::sandbox
