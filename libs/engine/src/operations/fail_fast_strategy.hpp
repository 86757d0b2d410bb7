#pragma once

#include <reprise/retry/retry_strategy.hpp>

namespace reprise::engine {

// For the client's own requests: a configuration poll that fails is not repeated, since the next
// one asks another node anyway. Not offered to users, who write their own in as many lines.
class fail_fast_strategy final : public retry_strategy {
public:
    void retry_after(const retry_question&, retry_sink& sink) override {
        sink.answer(retry_action::no());
    }
};

}  // namespace reprise::engine
