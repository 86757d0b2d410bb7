#pragma once

#include <atomic>

#include <boost/asio/cancellation_signal.hpp>

#include <reprise/couchbase.hpp>

namespace live {

// Cancels a call when one of its requests has ended and the next one has not started. The client's
// loop puts the cancellation into its queue and takes it from there before it completes the
// request.
class canceling_observer final : public reprise::couchbase::operation_observer {
public:
    void on_end(const reprise::couchbase::operation_end&) noexcept override {
        if (is_armed.exchange(false)) {
            signal.emit(boost::asio::cancellation_type::terminal);
        }
    }

    boost::asio::cancellation_signal signal;
    std::atomic<bool> is_armed{false};
};

}  // namespace live
