#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/json/parse.hpp>
#include <reprise/json/value.hpp>

namespace reprise::json::detail {

inline constexpr std::size_t duplicate_report_max = 1000;

// Builds a tree from the events of a parser, in document order. It does not depend on a particular
// parser. It checks objects for duplicate members when they end, so that a hostile object costs n
// log n and not n squared.
class tree_builder {
public:
    explicit tree_builder(duplicate_policy policy) noexcept : policy_(policy) {}

    void begin_array() { frames_.push_back({}); }
    void end_array();
    void begin_object();
    // Returns false if a duplicate must be rejected.
    bool end_object();
    void key(std::string name);
    void add(value content);

    document& result() noexcept { return document_; }
    // Valid after end_object has returned false.
    const duplicate_member& refused() const noexcept { return refused_; }

private:
    struct frame {
        bool is_object = false;
        array elements;
        std::vector<member> members;
    };

    bool merge_duplicates(std::vector<member>& members);
    bool on_duplicate(std::string_view name, std::size_t count);

    duplicate_policy policy_;
    std::vector<frame> frames_;
    document document_;
    duplicate_member refused_;
};

}  // namespace reprise::json::detail
