#pragma once

#include <memory>

#include <reprise/engine/request_strategy.hpp>
#include <reprise/retry/strategy.hpp>

// Needs the standard library and reprise::retry only; part of the vocabulary that users see.

namespace reprise::engine {

// Any strategy of the retry library as the strategy of a client or of single calls:
//
//     auto shared = std::make_shared<virtual_strategy<standard_strategy>>();
//     options.strategy = std::make_shared<library_strategy>(shared);
//
// The inner strategy sees one token for each request. `begin` is called with the first failure, or
// with the success if there was none; an initial delay is therefore not waited for, and a refusal
// means no retries. `refresh` decides on each failure that a strategy is asked about; reasons that
// are always retried pass it by and do not count as its attempts. `succeed` is called once, so that
// budgets get back what the request had paid.
//
// What the inner strategy is told of a failure: safe to repeat if the server did nothing, otherwise
// repeatable as the operation is idempotent; never safe for the five terminal reasons, which end
// the request with their own error. A refusal ends it with the operation's own error. The failure
// itself is in `retry_question::failure`, as a request_snapshot.
class library_strategy final : public request_strategy {
public:
    // `inner` must not be null; it may serve loops outside of the client at the same time.
    explicit library_strategy(std::shared_ptr<strategy_interface> inner);
    void retry_after(
        const request_snapshot& request, retry_reason reason, retry_sink& sink) override;
    void on_success(const request_snapshot& request) noexcept override;

private:
    std::shared_ptr<strategy_interface> inner_;
};

}  // namespace reprise::engine
