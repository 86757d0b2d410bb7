#pragma once

#include <array>
#include <cstdint>
#include <future>
#include <list>
#include <memory>
#include <thread>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>

namespace live {

// Forwards bytes between a client and one port of a server, on its own thread, until the test
// breaks the connections.
class relay {
public:
    using tcp = boost::asio::ip::tcp;

    explicit relay(std::uint16_t server_port)
        : acceptor_(context_, {boost::asio::ip::address_v4::loopback(), 0}),
          server_(boost::asio::ip::address_v4::loopback(), server_port),
          thread_([this] {
              accept();
              context_.run();
          }) {}
    ~relay() {
        context_.stop();
        thread_.join();
    }

    std::uint16_t port() const { return acceptor_.local_endpoint().port(); }
    int accepted_count() const { return accepted_; }

    // Every client first sees the end of the stream, then a reset, so that its next write meets a
    // peer that is closed in both directions. Returns when both have been sent.
    void break_all() {
        std::promise<void> done;
        boost::asio::post(context_, [&] {
            for (const auto& each : pairs_) {
                boost::system::error_code ignored;
                each->client.shutdown(tcp::socket::shutdown_send, ignored);
                each->client.set_option(boost::asio::socket_base::linger(true, 0), ignored);
                each->client.close(ignored);
                each->server.close(ignored);
            }
            pairs_.clear();
            done.set_value();
        });
        done.get_future().wait();
    }

private:
    struct pair {
        explicit pair(tcp::socket from) : client(std::move(from)), server(client.get_executor()) {}
        tcp::socket client;
        tcp::socket server;
        std::array<char, 16384> up;
        std::array<char, 16384> down;
    };

    void accept() {
        acceptor_.async_accept([this](const boost::system::error_code& ec, tcp::socket socket) {
            if (ec) {
                return;
            }
            ++accepted_;
            auto made = pairs_.emplace_back(std::make_shared<pair>(std::move(socket)));
            boost::system::error_code failed;
            made->server.connect(server_, failed);
            if (!failed) {
                pump(made, made->client, made->server, made->up);
                pump(made, made->server, made->client, made->down);
            }
            accept();
        });
    }
    void pump(
        const std::shared_ptr<pair>& held, tcp::socket& from, tcp::socket& to,
        std::array<char, 16384>& space) {
        from.async_read_some(
            boost::asio::buffer(space), [this, held, &from, &to, &space](
                                            const boost::system::error_code& ec, std::size_t size) {
                boost::system::error_code failed = ec;
                if (!failed) {
                    boost::asio::write(to, boost::asio::buffer(space, size), failed);
                }
                if (!failed) {
                    pump(held, from, to, space);
                } else {
                    boost::system::error_code ignored;
                    to.shutdown(tcp::socket::shutdown_send, ignored);
                }
            });
    }

    boost::asio::io_context context_;
    tcp::acceptor acceptor_;
    tcp::endpoint server_;
    std::list<std::shared_ptr<pair>> pairs_;
    std::atomic<int> accepted_ = 0;
    std::thread thread_;
};

}  // namespace live
