#pragma once

#include <algorithm>
#include <cstddef>
#include <tuple>
#include <vector>

#include <reprise/lab/model.hpp>

#include "event_queue.hpp"

namespace reprise::lab::detail {

/// The moment at which a trouble starts or ends.
struct trouble_edge {
    ticks at = 0;
    std::size_t trouble = 0;  ///< Index in the model.
    bool is_start = false;
};

/// When the troubles of a model start and end, and which of them are active.
class trouble_schedule {
public:
    explicit trouble_schedule(const std::vector<trouble>& troubles)
        : active_(troubles.size(), false) {
        for (std::size_t i = 0; i < troubles.size(); ++i) {
            const trouble& each = troubles[i];
            edges_.push_back({each.start.count(), i, true});
            edges_.push_back({(each.start + each.length).count(), i, false});
            first_start_ = std::min(first_start_, each.start.count());
        }
        // At one moment they stay in the order of the model, in which a start precedes its end. No
        // stable_sort, which Clang refuses here.
        std::ranges::sort(edges_, {}, [](const trouble_edge& each) {
            return std::tuple(each.at, each.trouble, !each.is_start);
        });
    }

    /// The time of the next edge, or `never`.
    [[nodiscard]] ticks next() const noexcept {
        return next_ < edges_.size() ? edges_[next_].at : never;
    }
    /// Passes the next edge, which must exist.
    trouble_edge advance() {
        const trouble_edge passed = edges_[next_++];
        active_[passed.trouble] = passed.is_start;
        return passed;
    }
    [[nodiscard]] bool is_active(std::size_t index) const { return active_[index]; }
    [[nodiscard]] ticks first_start() const noexcept { return first_start_; }

private:
    std::vector<trouble_edge> edges_;
    std::size_t next_ = 0;
    std::vector<bool> active_;  ///< By trouble.
    ticks first_start_ = never;
};

}  // namespace reprise::lab::detail
