#pragma once

#include <cstddef>
#include <list>
#include <string>
#include <string_view>
#include <unordered_map>

namespace reprise::engine {

// What the query service knows a prepared statement by.
struct prepared_statement {
    std::string name;
    // Legacy servers want the plan sent along; empty with enhanced prepared statements.
    std::string encoded_plan;

    // It has a plan.
    bool is_legacy() const noexcept { return !encoded_plan.empty(); }
    friend bool operator==(const prepared_statement&, const prepared_statement&) = default;
};

// Statements of a cluster that were prepared, the most recently used ones up to a bound. A plan
// belongs to a statement in a query context: the same text means another thing in another scope.
// Not synchronised: its owner decides who may use it.
class prepared_cache {
public:
    static constexpr std::size_t capacity_default = 5000;  // entries

    // At least 1 (asserted). Entries.
    explicit prepared_cache(std::size_t capacity = capacity_default);
    prepared_cache(const prepared_cache&) = delete;
    prepared_cache& operator=(const prepared_cache&) = delete;

    // Null if it is not there; otherwise it becomes the most recently used. The pointer lives until
    // the next call that changes the cache.
    const prepared_statement* find(std::string_view statement, std::string_view query_context = {});

    // Adds or replaces; the least recently used entry goes if there is no room.
    void put(
        std::string_view statement, std::string_view query_context, prepared_statement prepared);

    // Forgets the entry, but only while it still has the name that failed: another request may have
    // prepared the statement again meanwhile. True if something was forgotten.
    bool erase(
        std::string_view statement, std::string_view query_context, std::string_view failed_name);

    // Forgets all entries with a plan: the cluster can do better now. How many there were.
    std::size_t erase_legacy();

    // Entries.
    std::size_t size() const noexcept { return entries_.size(); }
    std::size_t capacity() const noexcept { return capacity_; }

private:
    struct entry {
        std::string key;
        prepared_statement prepared;
    };
    using entry_list = std::list<entry>;

    // Most recently used first; keys are views into the entries, whose addresses do not change.
    entry_list entries_;
    std::unordered_map<std::string_view, entry_list::iterator> by_key_;
    std::size_t capacity_;
};

}  // namespace reprise::engine
