#pragma once

#include <array>
#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/udp.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace reprise::net::testing {

// A name server on loopback that resolves the names a test adds. For others it answers "no such
// name", or nothing at all.
class fake_name_server {
public:
    struct srv_record {
        std::uint16_t priority = 0;
        std::uint16_t weight = 0;
        std::uint16_t port = 0;
        std::string target;
    };

    fake_name_server()
        : socket_(context_, {boost::asio::ip::address_v4::loopback(), 0}),
          port_(socket_.local_endpoint().port()) {}
    ~fake_name_server() {
        context_.stop();
        if (thread_.joinable()) {
            thread_.join();
        }
    }
    fake_name_server(const fake_name_server&) = delete;
    fake_name_server& operator=(const fake_name_server&) = delete;

    void add_address(std::string name, std::array<std::uint8_t, 4> address) {
        addresses_[std::move(name)].push_back(address);
    }
    void add_srv(std::string name, srv_record record) {
        services_[std::move(name)].push_back(std::move(record));
    }
    void be_silent() { is_silent_ = true; }
    // Starts to answer. Call it after all names are added.
    void begin() {
        receive();
        thread_ = std::thread([this] { context_.run(); });
    }

    std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
    int question_count() const { return questions_; }

private:
    static constexpr std::uint16_t type_a = 1;
    static constexpr std::uint16_t type_srv = 33;

    static void put_u16(std::string& to, std::size_t value) {
        to.push_back(static_cast<char>(value >> 8 & 0xff));
        to.push_back(static_cast<char>(value & 0xff));
    }
    static void put_name(std::string& to, std::string_view name) {
        while (!name.empty()) {
            const auto label = name.substr(0, name.find('.'));
            to.push_back(static_cast<char>(label.size()));
            to.append(label);
            name.remove_prefix(std::min(label.size() + 1, name.size()));
        }
        to.push_back('\0');
    }
    static void put_record(std::string& to, std::uint16_t type, const std::string& data) {
        put_u16(to, 0xc00c);  // the name in the question
        put_u16(to, type);
        put_u16(to, 1);  // internet
        put_u16(to, 0);
        put_u16(to, 60);  // time to live in seconds
        put_u16(to, data.size());
        to.append(data);
    }

    void receive() {
        socket_.async_receive_from(
            boost::asio::buffer(buffer_), from_,
            [this](const boost::system::error_code& ec, std::size_t size) {
                if (ec) {
                    return;
                }
                ++questions_;
                if (const auto reply = answer({buffer_.data(), size});
                    !reply.empty() && !is_silent_) {
                    boost::system::error_code ignored;
                    socket_.send_to(boost::asio::buffer(reply), from_, 0, ignored);
                }
                receive();
            });
    }

    std::string answer(std::string_view question) const {
        std::string name;
        std::size_t at = 12;
        while (at < question.size() && question[at] != '\0') {
            const auto size = static_cast<std::size_t>(question[at]);
            name.append(name.empty() ? "" : ".").append(question.substr(at + 1, size));
            at += 1 + size;
        }
        if (at + 5 > question.size()) {
            return {};
        }
        const auto type = static_cast<std::uint16_t>(
            static_cast<unsigned char>(question[at + 1]) << 8 |
            static_cast<unsigned char>(question[at + 2]));
        std::string records;
        std::size_t count = 0;
        if (const auto found = addresses_.find(name); type == type_a && found != addresses_.end()) {
            for (const auto& each : found->second) {
                put_record(records, type, std::string(each.begin(), each.end()));
                ++count;
            }
        }
        if (const auto found = services_.find(name); type == type_srv && found != services_.end()) {
            for (const auto& each : found->second) {
                std::string data;
                put_u16(data, each.priority);
                put_u16(data, each.weight);
                put_u16(data, each.port);
                put_name(data, each.target);
                put_record(records, type, data);
                ++count;
            }
        }
        const bool is_known = addresses_.contains(name) || services_.contains(name);
        std::string reply(question.substr(0, 2));
        put_u16(reply, is_known ? 0x8580 : 0x8583);
        put_u16(reply, 1);
        put_u16(reply, count);
        put_u16(reply, 0);
        put_u16(reply, 0);
        reply.append(question.substr(12, at + 5 - 12));
        return reply + records;
    }

    boost::asio::io_context context_;
    boost::asio::ip::udp::socket socket_;
    boost::asio::ip::udp::endpoint from_;
    std::array<char, 1024> buffer_{};
    std::uint16_t port_;
    std::map<std::string, std::vector<std::array<std::uint8_t, 4>>> addresses_;
    std::map<std::string, std::vector<srv_record>> services_;
    std::atomic<bool> is_silent_ = false;
    std::atomic<int> questions_ = 0;
    std::thread thread_;
};

}  // namespace reprise::net::testing
