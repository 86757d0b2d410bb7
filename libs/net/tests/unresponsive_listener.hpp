#pragma once

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include "loop.hpp"

namespace reprise::net::testing {

// A listener whose queue is full: it neither accepts nor refuses.
class unresponsive_listener {
public:
    explicit unresponsive_listener(boost::asio::io_context& loop) : acceptor_(loop) {
        acceptor_.open(boost::asio::ip::tcp::v4());
        acceptor_.bind(any_loopback_port());
        acceptor_.listen(0);
        for (int each = 0; each < 4; ++each) {
            auto& socket = queued_.emplace_back(loop);
            socket.async_connect(
                acceptor_.local_endpoint(),
                [this](const boost::system::error_code& ec) { connected_count_ += ec ? 0 : 1; });
        }
        EXPECT_TRUE(run_until(loop, [this] { return connected_count_ > 0; }));
    }
    std::uint16_t port() const { return acceptor_.local_endpoint().port(); }

private:
    boost::asio::ip::tcp::acceptor acceptor_;
    std::vector<boost::asio::ip::tcp::socket> queued_;
    int connected_count_ = 0;
};

}  // namespace reprise::net::testing
