#include "topology/endpoint_table.hpp"

#include <utility>

#include <reprise/wire/cluster_node.hpp>

namespace reprise::engine {

void endpoint_record::offer_error_map(const std::shared_ptr<const wire::error_map>& map) {
    const auto rank = [](const wire::error_map& of) {
        return std::pair(of.version(), of.revision());
    };
    const bool is_better = !error_map || rank(*error_map) < rank(*map);
    if (is_better) {
        error_map = map;
    }
}

void endpoint_record::release_error_map() noexcept {
    REPRISE_ASSERT(error_map_shares > 0);
    if (--error_map_shares == 0) {
        error_map.reset();
    }
}

// Servers name endpoints, so the table must not grow without limit. A very old history may show the
// new name of a reused record.
endpoint_record& endpoint_table::new_record() {
    if (records_.size() >= count_max) {
        // Continues behind the last record that was reused, so that a table full of used records
        // costs one round for each round of reuse.
        for (std::size_t step = 0; step < records_.size(); ++step) {
            endpoint_record& candidate = *records_[reuse_next_++ % records_.size()];
            if (!candidate.is_in_use()) {
                return candidate;
            }
        }
    }
    records_.push_back(std::make_unique<endpoint_record>());
    records_.back()->number = static_cast<std::uint32_t>(records_.size() - 1);
    return *records_.back();
}

endpoint_record& endpoint_table::at(std::string_view host, std::uint16_t port) {
    if (endpoint_record* known = find(host, port)) {
        return *known;
    }
    endpoint_record& record = new_record();
    by_name_.erase(record.name);
    record.host = host;
    record.port = port;
    record.name = wire::to_host_port(host, port);
    record.logins = context_.client.logins.find(record.name);
    record.srv_name.clear();
    record.terminal = context_.client.terminal.of_node(record.name);
    by_name_.emplace(record.name, &record);
    if (context_.options.circuit_breaker) {
        context_.wheel.disarm(record);
        record.breaker =
            context_.client.breakers.find(record.name, *context_.options.circuit_breaker);
    }
    return record;
}

endpoint_record* endpoint_table::find(std::string_view host, std::uint16_t port) const {
    return find(wire::to_host_port(host, port));
}

endpoint_record* endpoint_table::find(const std::string& name) const {
    const auto known = by_name_.find(name);
    return known == by_name_.end() ? nullptr : known->second;
}

void endpoint_table::allow_new_logins() noexcept {
    for (const auto& record : records_) {
        record->logins->on_new_credentials();
    }
}

void endpoint_table::disarm_all() noexcept {
    for (const auto& record : records_) {
        context_.wheel.disarm(*record);
    }
}

}  // namespace reprise::engine
