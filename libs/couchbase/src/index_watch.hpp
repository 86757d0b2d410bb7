#pragma once

#include <expected>
#include <optional>
#include <string>
#include <vector>

#include <reprise/couchbase/management.hpp>
#include <reprise/retry/driver/retry_session.hpp>
#include <reprise/retry/simple_strategy.hpp>

namespace reprise::couchbase::detail {

// Waits until query indexes can be used: decides after each list of them whether the watch has
// ended, and when to list again. Does no I/O.
//
//     [list] -> on_listed -+- a result: the end of the watch
//        ^                 +- nothing: wait for delay()
//        +------------------------------------+
class index_watch {
public:
    using result = std::expected<query_index_list_result, error>;

    // An empty name means the primary index.
    index_watch(
        std::vector<std::string> names, duration timeout, const driver::decision_context& at);

    // Ends when every index is online, one is missing, listing failed or the time is over.
    [[nodiscard]] std::optional<result> on_listed(
        result&& listed, const driver::decision_context& at);
    // Before the next list; zero before the first.
    [[nodiscard]] duration delay() const noexcept { return delay_; }
    [[nodiscard]] time_point deadline() const noexcept { return session_.deadline(); }

private:
    using strategy = decltype(unlimited_attempts());

    const std::vector<std::string> names_;
    strategy strategy_;
    const call_options options_{};
    driver::retry_session<strategy, true> session_;
    duration delay_{};
};

}  // namespace reprise::couchbase::detail
