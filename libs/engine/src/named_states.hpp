#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace reprise::engine {

// Objects that all loops of a client share, by the name of a node ("host:port") or a bucket. One is
// kept as long as a loop uses the node or the bucket.
template <class State>
class named_states {
public:
    // The object of this name. If no loop has it, makes one from `arguments`.
    template <class... Arguments>
    [[nodiscard]] std::shared_ptr<State> find(std::string_view name, Arguments&&... arguments) {
        const std::lock_guard lock(mutex_);
        const auto known = by_name_.find(std::string(name));
        if (known != by_name_.end()) {
            if (auto state = known->second.lock()) {
                return state;
            }
        }
        // Servers name nodes, so names that no loop uses any more must not pile up. Looking for
        // them only when the map has doubled keeps the cost of a new name constant on average.
        if (by_name_.size() >= sweep_size_) {
            std::erase_if(by_name_, [](const auto& each) { return each.second.expired(); });
            sweep_size_ = std::max(sweep_size_min, 2 * by_name_.size());
        }
        auto made = std::make_shared<State>(std::forward<Arguments>(arguments)...);
        by_name_.insert_or_assign(std::string(name), made);
        return made;
    }

private:
    static constexpr std::size_t sweep_size_min = 64;
    std::mutex mutex_;
    std::unordered_map<std::string, std::weak_ptr<State>> by_name_;
    std::size_t sweep_size_ = sweep_size_min;  // look for unused names at this size
};

}  // namespace reprise::engine
