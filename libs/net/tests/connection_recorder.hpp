#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <boost/asio/io_context.hpp>

#include "connection.hpp"
#include "connection_owner.hpp"
#include "name_resolver.hpp"

namespace reprise::net::testing {

// An owner of one connection that records its events. It fails the test if an event arrives from
// inside a call or after the end.
class connection_recorder final : public connection_owner,
                                  public std::enable_shared_from_this<connection_recorder> {
public:
    // The target of the connection and what it uses.
    struct setup {
        std::string host = "127.0.0.1";
        std::uint16_t port = 0;
        std::string name_servers = "127.0.0.1:1";  // no server answers there
        duration connect_timeout = std::chrono::seconds{20};
        std::optional<boost::asio::ssl::context> tls{};  // if set, the connection uses TLS
        std::string server_name = "host.example";
    };

    static std::shared_ptr<connection_recorder> make(boost::asio::io_context& loop, setup with) {
        std::shared_ptr<connection_recorder> made(new connection_recorder(loop, std::move(with)));
        made->connection_ = std::make_shared<connection>(
            *made, engine::connect_action{
                       .connection = engine::connection_id{7},
                       .host = made->with_.host,
                       .port = made->with_.port,
                       .transport = made->with_.tls ? wire::transport::tls : wire::transport::plain,
                       .server_name = made->with_.server_name});
        return made;
    }

    void open() {
        call([this] { at().open(); });
    }
    void close() {
        call([this] { at().close(); });
    }
    void flush() {
        call([this] { at().flush(); });
    }
    // Appends bytes and writes them. Do not call it while a write is outstanding: it would move the
    // bytes.
    void write(std::string_view bytes) {
        outgoing.append(bytes);
        flush();
    }
    // The same, after the bytes that have arrived.
    void write_when_read(std::string_view bytes) {
        outgoing.append(bytes);
        call([this] { at().flush_when_read(); });
    }
    connection& at() { return *connection_; }
    void drop_connection() { connection_.reset(); }

    [[nodiscard]] bool is_open() const noexcept { return connected_count == 1; }
    [[nodiscard]] bool is_ended() const noexcept { return failure || closed; }

    int connected_count = 0;
    std::optional<engine::connect_failure> failure;
    std::string failure_text;
    std::optional<engine::close_reason> closed;
    std::size_t unwritten_size = 0;
    std::string received;
    std::size_t written_size = 0;
    std::string outgoing;                     // not yet written
    std::size_t part_size = std::size_t(-1);  // of the places that a write is gathered from
    int socket_count = 0;                     // sockets that got their options
    base::block_ref place;                    // for the next read after a large one
    std::size_t placed_size = 0;              // bytes that were received there
    bool closes_at_bytes = false;
    std::string written_at_bytes;              // appended and written when the first bytes arrive
    std::optional<std::string> read_at_write;  // what had been received when the first write began

    std::shared_ptr<connection_owner> hold() override { return shared_from_this(); }
    const serial_executor& executor() const noexcept override { return executor_; }
    name_resolver& resolver() noexcept override { return *resolver_; }
    boost::asio::ssl::context& tls_context() noexcept override { return *with_.tls; }
    bool is_tls_verified() const noexcept override { return true; }
    duration connect_timeout() const noexcept override { return with_.connect_timeout; }
    void set_socket_options(stream_socket&) noexcept override { ++socket_count; }

    void on_connected(connection&) override {
        check_event();
        ++connected_count;
    }
    void on_connect_failed(
        connection&, engine::connect_failure why, std::string_view text) override {
        check_event();
        EXPECT_EQ(connected_count, 0);
        failure = why;
        failure_text = text;
    }
    engine::read_place place_to_read(connection&) override {
        return {place, place ? place.bytes() : base::mutable_byte_view()};
    }
    void on_bytes(connection& from, const base::block_ref& owner, base::byte_view bytes) override {
        check_event();
        if (place && bytes.data() == place.bytes().data()) {
            EXPECT_EQ(owner.bytes().data(), bytes.data());
            placed_size += bytes.size();
            place.reset();
        }
        received.append(base::as_text(bytes));
        if (closes_at_bytes) {
            from.close();
        }
        if (!written_at_bytes.empty()) {
            outgoing.append(std::exchange(written_at_bytes, {}));
            from.flush_when_read();
        }
    }
    void on_written(connection&, std::size_t size) override {
        EXPECT_FALSE(is_ended()) << "an event after the end";
        written_size += size;
        outgoing_begin_ += size;
        if (outgoing_begin_ == outgoing.size()) {  // until then the bytes stay where they are
            outgoing.clear();
            outgoing_begin_ = 0;
        }
    }
    void on_closed(connection&, engine::close_reason reason, std::size_t unwritten) override {
        check_event();
        EXPECT_EQ(connected_count, 1);
        closed = reason;
        unwritten_size = unwritten;
    }
    base::byte_views begin_write(connection&) override {
        if (!outgoing.empty() && !read_at_write) {
            read_at_write = received;
        }
        parts_.clear();
        auto rest = base::as_bytes(outgoing).subspan(outgoing_begin_);
        while (!rest.empty()) {
            parts_.push_back(rest.first(std::min(part_size, rest.size())));
            rest = rest.subspan(parts_.back().size());
        }
        return parts_;
    }

private:
    connection_recorder(boost::asio::io_context& loop, setup with)
        : with_(std::move(with)), executor_(serial_executor::on(loop.get_executor())) {
        resolver_ = name_resolver::make(
                        executor_, {.force_ipv4 = true, .dns_servers = with_.name_servers}, 1)
                        .value();
    }

    template <class Call>
    void call(Call made) {
        is_inside_call_ = true;
        made();
        is_inside_call_ = false;
    }
    void check_event() const {
        EXPECT_FALSE(is_inside_call_) << "an event from inside open, flush or close";
        EXPECT_FALSE(is_ended()) << "an event after the end";
    }

    setup with_;
    serial_executor executor_;
    std::unique_ptr<name_resolver> resolver_;
    std::shared_ptr<connection> connection_;
    bool is_inside_call_ = false;
    std::size_t outgoing_begin_ = 0;  // of what was not written
    std::vector<base::byte_view> parts_;
};

}  // namespace reprise::net::testing
