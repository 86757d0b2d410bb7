#include "tree_builder.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace reprise::json::detail {

void tree_builder::begin_object() {
    frames_.push_back({});
    frames_.back().is_object = true;
}

// Pops the frame first, because its container belongs to the frame below or is the root.
void tree_builder::end_array() {
    value content(std::move(frames_.back().elements));
    frames_.pop_back();
    add(std::move(content));
}

bool tree_builder::end_object() {
    std::vector<member> members = std::move(frames_.back().members);
    frames_.pop_back();
    if (!merge_duplicates(members)) {
        return false;
    }
    add(value(object::from_unique(std::move(members))));
    return true;
}

void tree_builder::key(std::string name) {
    frames_.back().members.push_back({std::move(name), value{}});
}

// The innermost open container determines where a finished value belongs.
void tree_builder::add(value content) {
    if (frames_.empty()) {
        document_.root = std::move(content);
    } else if (frames_.back().is_object) {
        frames_.back().members.back().content = std::move(content);
    } else {
        frames_.back().elements.push_back(std::move(content));
    }
}

// Keeps one member per name: the last value in the first place. Returns false if a duplicate must
// be rejected.
bool tree_builder::merge_duplicates(std::vector<member>& members) {
    // Sorts indexes instead of members, to keep the order of the document.
    std::vector<std::size_t> order(members.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
        const int names = members[a].name.compare(members[b].name);
        return names != 0 ? names < 0 : a < b;
    });
    std::vector<bool> is_surplus(members.size(), false);
    bool found = false;
    for (std::size_t first = 0; first < order.size();) {
        std::size_t next = first + 1;
        while (next < order.size() && members[order[next]].name == members[order[first]].name) {
            is_surplus[order[next]] = true;
            ++next;
        }
        if (next - first > 1) {
            found = true;
            if (!on_duplicate(members[order[first]].name, next - first)) {
                return false;
            }
            members[order[first]].content = std::move(members[order[next - 1]].content);
        }
        first = next;
    }
    if (found) {
        std::size_t kept = 0;
        for (std::size_t index = 0; index < members.size(); ++index) {
            if (!is_surplus[index]) {
                if (kept != index) {
                    members[kept] = std::move(members[index]);
                }
                ++kept;
            }
        }
        members.resize(kept);
    }
    return true;
}

bool tree_builder::on_duplicate(std::string_view name, std::size_t count) {
    if (policy_ == duplicate_policy::last_wins ||
        document_.duplicates.size() >= duplicate_report_max) {
        return true;
    }
    // Each open container has its current name or its next index.
    duplicate_member found;
    found.count = count;
    for (const frame& outer : frames_) {
        found.path.push_back(
            outer.is_object ? outer.members.back().name : std::to_string(outer.elements.size()));
    }
    found.path.emplace_back(name);
    if (policy_ == duplicate_policy::refuse) {
        refused_ = std::move(found);
        return false;
    }
    document_.duplicates.push_back(std::move(found));
    return true;
}

}  // namespace reprise::json::detail
