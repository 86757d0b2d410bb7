#pragma once

#include <reprise/retry/driver/retry_strategy.hpp>

namespace reprise::engine {

// The strategy of the client's own requests. A failed configuration poll is not repeated, since the
// next poll asks another node anyway. Users who need such a strategy can write one in as many
// lines.
class fail_fast_strategy final : public driver::retry_strategy {
public:
    void retry_after(const driver::retry_question&, driver::retry_sink& sink) override {
        sink.answer(driver::retry_action::no());
    }
};

}  // namespace reprise::engine
