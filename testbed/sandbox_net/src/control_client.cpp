#include <reprise/sandbox_net/control_client.hpp>

#include <array>
#include <charconv>
#include <optional>
#include <string_view>
#include <vector>

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>

#include <reprise/http/encode.hpp>
#include <reprise/http/response_parser.hpp>
#include <reprise/json/parse.hpp>
#include <reprise/json/write.hpp>

namespace reprise::sandbox {

namespace {

namespace asio = boost::asio;
using tcp = asio::ip::tcp;

constexpr std::size_t answer_size_max = std::size_t{256} * 1024 * 1024;

struct control_address {
    tcp::endpoint endpoint;
    std::string host;
    std::string path;
};

// Accepts only numeric addresses: the control API listens on loopback.
std::optional<control_address> parse_url(std::string_view url) {
    constexpr std::string_view scheme = "http://";
    if (!url.starts_with(scheme)) {
        return std::nullopt;
    }
    url.remove_prefix(scheme.size());
    const std::size_t slash = url.find('/');
    const std::string_view host = url.substr(0, slash);
    const std::size_t colon = host.rfind(':');
    if (colon == std::string_view::npos) {
        return std::nullopt;
    }
    std::string_view address = host.substr(0, colon);
    if (address == "localhost") {
        address = "127.0.0.1";
    }
    if (address.starts_with('[') && address.ends_with(']')) {
        address = address.substr(1, address.size() - 2);
    }
    std::uint16_t port = 0;
    const char* const end = host.data() + host.size();
    const auto [stop, error] = std::from_chars(host.data() + colon + 1, end, port);
    boost::system::error_code ec;
    const auto parsed = asio::ip::make_address(std::string(address), ec);
    if (ec || error != std::errc() || stop != end || port == 0) {
        return std::nullopt;
    }
    return control_address{
        {parsed, port},
        std::string(host),
        slash == std::string_view::npos ? "/control" : std::string(url.substr(slash))};
}

// One request and its answer on its own connection, driven until it is over or times out.
class exchange {
public:
    exchange(asio::io_context& io, std::vector<std::byte> request)
        : socket_(io), request_(std::move(request)) {}

    void start(const tcp::endpoint& endpoint) {
        socket_.async_connect(endpoint, [this](const boost::system::error_code& ec) {
            if (ec) {
                fail("cannot connect: " + ec.message());
                return;
            }
            asio::async_write(
                socket_, asio::buffer(request_),
                [this](const boost::system::error_code& error, std::size_t) {
                    // There may be an answer although not everything could be sent.
                    static_cast<void>(error);
                    read_on();
                });
        });
    }

    bool is_over() const noexcept { return is_over_; }
    const std::string& failure() const noexcept { return failure_; }
    int status() const noexcept { return parser_.head().status; }
    const std::string& body() const noexcept { return body_; }

private:
    void fail(std::string why) {
        failure_ = std::move(why);
        is_over_ = true;
    }

    void read_on() {
        socket_.async_read_some(
            asio::buffer(buffer_), [this](const boost::system::error_code& ec, std::size_t size) {
                if (ec) {
                    take(parser_.finish());
                    return;
                }
                parser_.feed(base::byte_view(buffer_).first(size));
                while (take(parser_.next())) {
                }
                if (!is_over_) {
                    read_on();
                }
            });
    }

    // True while the fed bytes may contain more.
    bool take(std::expected<http::response_event, http::http_errc> event) {
        if (!event) {
            fail("no answer: " + make_error_code(event.error()).message());
            return false;
        }
        if (*event == http::response_event::body) {
            body_ += base::as_text(parser_.body());
            if (body_.size() > answer_size_max) {
                fail("the answer is too large");
                return false;
            }
        }
        is_over_ = *event == http::response_event::complete;
        return *event == http::response_event::head || *event == http::response_event::body;
    }

    tcp::socket socket_;
    std::vector<std::byte> request_;
    std::array<std::byte, std::size_t{16} * 1024> buffer_{};
    http::response_parser parser_;
    std::string body_;
    std::string failure_;
    bool is_over_ = false;
};

std::expected<json::value, std::string> read_answer(int status, const std::string& body) {
    auto parsed = json::parse(body, {.size_max_bytes = answer_size_max});
    if (!parsed) {
        return std::unexpected(
            "status " + std::to_string(status) +
            " and an answer that is not JSON: " + to_string(parsed.error()));
    }
    const json::value* ok = parsed->root.find("ok");
    if (status == 200 && ok != nullptr && ok->as_bool().value_or(false)) {
        return std::move(parsed->root);
    }
    const json::value* error = parsed->root.find("error");
    const auto text = error != nullptr ? error->as_string() : std::nullopt;
    return std::unexpected(
        text ? std::string(*text) : "status " + std::to_string(status) + " without a reason");
}

}  // namespace

std::expected<json::value, std::string> call_control(
    const control_target& target, const json::value& command, std::chrono::milliseconds timeout) {
    const std::optional<control_address> address = parse_url(target.url);
    if (!address) {
        return std::unexpected(
            "'" + target.url + "' is not a control address like http://127.0.0.1:1234/control");
    }
    const std::string body = json::serialize(command);
    const http::header_list headers{
        {"Authorization", "Bearer " + target.token}, {"Content-Type", "application/json"}};
    std::vector<std::byte> request;
    const auto encoded = http::encode_request(
        request, {.method = "POST",
                  .target = address->path,
                  .host = address->host,
                  .headers = &headers,
                  .body = base::as_bytes(body),
                  .end = http::connection_end::close});
    if (!encoded) {
        return std::unexpected(make_error_code(encoded.error()).message());
    }
    asio::io_context io(1);
    exchange talk(io, std::move(request));
    talk.start(address->endpoint);
    io.run_for(timeout);
    if (!talk.is_over()) {
        return std::unexpected("no answer within " + std::to_string(timeout.count()) + " ms");
    }
    if (!talk.failure().empty()) {
        return std::unexpected(target.url + ": " + talk.failure());
    }
    return read_answer(talk.status(), talk.body());
}

}  // namespace reprise::sandbox
