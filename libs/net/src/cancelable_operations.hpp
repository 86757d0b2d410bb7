#pragma once

#include <map>
#include <memory>
#include <optional>
#include <utility>

#include <reprise/engine/completion.hpp>
#include <reprise/engine/ids.hpp>
#include <reprise/engine/operation_result.hpp>
#include <reprise/net/client.hpp>

namespace reprise::net {

// The operations that have a ticket and have not ended. Several may share one. Must outlive the
// engine, because their completions remove them.
class cancelable_operations {
public:
    // Calls `begin` with the completion to start the operation with; it returns the operation's id.
    template <class Begin>
    void begin(ticket name, engine::completion&& done, Begin begin) {
        const auto place = open_.emplace(name, engine::operation_id{});
        // NOLINTNEXTLINE(clang-analyzer-cplusplus.NewDeleteLeaks): freed by the completion
        auto forget = [this, place, kept = std::make_unique<engine::completion>(std::move(done))](
                          engine::operation_result&& result) {
            open_.erase(place);
            (*kept)(std::move(result));
        };
        place->second = begin(engine::completion(std::move(forget)));
    }
    // Calls `look` with each operation of the ticket. No operation may end meanwhile.
    template <class Look>
    void visit(ticket name, Look look) const {
        const auto [first, last] = open_.equal_range(name);
        for (auto each = first; each != last; ++each) {
            look(each->second);
        }
    }
    // One operation of the ticket.
    [[nodiscard]] std::optional<engine::operation_id> find(ticket name) const {
        const auto found = open_.find(name);
        return found == open_.end() ? std::nullopt : std::optional(found->second);
    }

private:
    std::multimap<ticket, engine::operation_id> open_;
};

}  // namespace reprise::net
