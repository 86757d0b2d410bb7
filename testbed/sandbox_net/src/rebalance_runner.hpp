#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <reprise/sandbox/cluster.hpp>

namespace reprise::sandbox::detail {

class server_core;

// Rebalances that proceed automatically, one step per interval, and the functions to call at their
// end.
class rebalance_runner {
public:
    using on_end = std::function<void(const rebalance_progress&)>;

    rebalance_runner(boost::asio::io_context& io, server_core& core) : core_(core), timer_(io) {}

    // Steps the rebalance that is running, if there is one.
    void run(std::chrono::milliseconds interval);
    void when_ended(on_end ended);
    // Calls these functions if no rebalance is running.
    void notify();
    // There is no callback after it.
    void stop() noexcept;

private:
    void arm();
    void on_due();

    server_core& core_;
    boost::asio::steady_timer timer_;
    time_point due_{};
    std::chrono::milliseconds interval_{0};
    std::uint64_t number_ = 0;  // the rebalance that is stepped by time
    std::vector<on_end> waiters_;
};

}  // namespace reprise::sandbox::detail
