#include <reprise/services/prepared_cache.hpp>

#include <utility>

#include <reprise/base/assert.hpp>

namespace reprise::services {

namespace {

// The size prefix keeps two contexts apart, whatever characters they contain.
std::string make_prepared_key(std::string_view statement, std::string_view query_context) {
    std::string key = std::to_string(query_context.size());
    key.reserve(key.size() + 1 + query_context.size() + statement.size());
    key += ':';
    key += query_context;
    key += statement;
    return key;
}

}  // namespace

prepared_cache::prepared_cache(std::size_t capacity) : capacity_(capacity) {
    REPRISE_ASSERT(capacity > 0);
}

const prepared_statement* prepared_cache::find(
    std::string_view statement, std::string_view query_context) {
    const auto found = by_key_.find(make_prepared_key(statement, query_context));
    if (found == by_key_.end()) {
        return nullptr;
    }
    entries_.splice(entries_.begin(), entries_, found->second);
    return &entries_.front().prepared;
}

void prepared_cache::put(
    std::string_view statement, std::string_view query_context, prepared_statement prepared) {
    std::string key = make_prepared_key(statement, query_context);
    if (const auto found = by_key_.find(key); found != by_key_.end()) {
        found->second->prepared = std::move(prepared);
        entries_.splice(entries_.begin(), entries_, found->second);
        return;
    }
    if (entries_.size() == capacity_) {
        by_key_.erase(entries_.back().key);
        entries_.pop_back();
    }
    entries_.push_front({std::move(key), std::move(prepared)});
    by_key_.emplace(entries_.front().key, entries_.begin());
}

bool prepared_cache::erase(
    std::string_view statement, std::string_view query_context, std::string_view failed_name) {
    const auto found = by_key_.find(make_prepared_key(statement, query_context));
    if (found == by_key_.end() || found->second->prepared.name != failed_name) {
        return false;
    }
    const auto at = found->second;
    by_key_.erase(found);
    entries_.erase(at);
    return true;
}

}  // namespace reprise::services
