#include "connection_table.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <boost/asio/ip/tcp.hpp>

#include "driver.hpp"
#include "loop.hpp"

// driver_test.cpp tests the life of connections together with the driver.

namespace reprise::net::connection_table_test {

namespace asio = boost::asio;
using tcp = asio::ip::tcp;
using namespace std::chrono_literals;

struct unconnected {
    unconnected() {
        options.seeds = {{"127.0.0.1", 1}};
        options.tcp_keepalive_time = 7s;
    }
    asio::io_context loop;
    engine::engine_options options;
    std::shared_ptr<driver> owner = driver::make(loop.get_executor(), options).value();
    connection_table table{*owner, options, {}, nullptr};
};

TEST(connection_table, sockets_are_closed_in_child_processes_and_send_at_once) {
    unconnected of;
    stream_socket socket(of.table.executor(), tcp::v4());
    of.table.set_socket_options(socket);
    EXPECT_NE(::fcntl(socket.native_handle(), F_GETFD) & FD_CLOEXEC, 0);
    tcp::no_delay no_delay;
    socket.get_option(no_delay);
    EXPECT_TRUE(no_delay.value());
    asio::socket_base::keep_alive keep_alive;
    socket.get_option(keep_alive);
    EXPECT_TRUE(keep_alive.value());
}

TEST(connection_table, a_connection_that_does_not_exist_has_no_address) {
    unconnected of;
    EXPECT_EQ(of.table.find(engine::connection_id{7}), nullptr);
    EXPECT_EQ(of.table.local_address(engine::connection_id{7}), "");
}

TEST(connection_table, holding_it_keeps_its_driver_alive) {
    unconnected of;
    const std::weak_ptr<driver> watched = of.owner;
    auto held = of.table.hold();
    of.owner.reset();
    EXPECT_FALSE(watched.expired());
    held.reset();
    EXPECT_TRUE(watched.expired());
}

}  // namespace reprise::net::connection_table_test
