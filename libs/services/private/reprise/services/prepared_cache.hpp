#pragma once

#include <cstddef>
#include <list>
#include <string>
#include <string_view>
#include <unordered_map>

namespace reprise::services {

// The identity of a prepared statement in the query service.
struct prepared_statement {
    std::string name;
    // Legacy servers need the plan in each request. Empty with enhanced prepared statements.
    std::string encoded_plan;

    // Whether it has a plan.
    bool is_legacy() const noexcept { return !encoded_plan.empty(); }
    friend bool operator==(const prepared_statement&, const prepared_statement&) = default;
};

// The most recently used prepared statements of a cluster, up to a bound. A plan belongs to a
// statement in a query context, because the same text has another meaning in another scope. Not
// synchronised: the owner controls access.
class prepared_cache {
public:
    static constexpr std::size_t capacity_default = 5000;  // entries

    // `capacity` is the number of entries and at least 1 (asserted).
    explicit prepared_cache(std::size_t capacity = capacity_default);
    prepared_cache(const prepared_cache&) = delete;
    prepared_cache& operator=(const prepared_cache&) = delete;

    // Returns the statement and makes it the most recently used. Null if it is missing. The pointer
    // is valid until the next call that changes the cache.
    const prepared_statement* find(std::string_view statement, std::string_view query_context = {});

    // Adds or replaces an entry. Drops the least recently used entry if the cache is full.
    void put(
        std::string_view statement, std::string_view query_context, prepared_statement prepared);

    // Removes the entry only if it still has the name that failed, because another request may have
    // prepared the statement again. Returns true if an entry was removed.
    bool erase(
        std::string_view statement, std::string_view query_context, std::string_view failed_name);

    // Number of entries.
    std::size_t size() const noexcept { return entries_.size(); }
    std::size_t capacity() const noexcept { return capacity_; }

private:
    struct entry {
        std::string key;
        prepared_statement prepared;
    };
    using entry_list = std::list<entry>;

    // Most recently used first. Keys are views into the entries, whose addresses are stable.
    entry_list entries_;
    std::unordered_map<std::string_view, entry_list::iterator> by_key_;
    std::size_t capacity_;
};

}  // namespace reprise::services
