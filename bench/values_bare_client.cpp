// The reference for values_client_bench: it only builds the same packets, counts the bytes that
// come back and looks at the status of each answer. It uses a blocking stream, on plain sockets or
// on OpenSSL alone. Prints JSON.

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <reprise/wire/vbucket.hpp>

#include "byte_stream.hpp"
#include "values_load.hpp"

namespace {

constexpr std::size_t header_size = 24;
constexpr std::size_t extras_size = 8;  // flags and expiry of a store

std::uint32_t load(const std::byte* at) {
    std::uint32_t number = 0;
    std::memcpy(&number, at, sizeof(number));
    return ntohl(number);
}

template <class Number>
void store(std::byte* at, Number number) {
    std::memcpy(at, &number, sizeof(number));
}

template <class Stream>
class bare_client {
public:
    bare_client(const Stream& stream, const bench::values_case& what)
        : stream_(stream), what_(what), request_(make_request(what)) {
        for (std::size_t each = 0; each < what.in_flight; ++each) {
            requests_.insert(requests_.end(), request_.begin(), request_.end());
        }
    }

    void measure() {
        run(what_.warm_up);
        const bench::values_reading begin;
        const std::uint64_t done = run(what_.operations);
        bench::print(what_, begin, bench::values_reading(), done);
    }

private:
    static std::vector<std::byte> make_request(const bench::values_case& what) {
        const std::string key = std::string(1, '\0') + what.key();
        const std::size_t extras = what.is_store ? extras_size : 0;
        const std::size_t value = what.is_store ? what.size : 0;
        std::vector<std::byte> made(header_size + extras + key.size() + value);
        made[0] = std::byte{0x80};
        made[1] = std::byte{what.is_store ? std::uint8_t{0x01} : std::uint8_t{0x00}};
        store(&made[2], htons(static_cast<std::uint16_t>(key.size())));
        made[4] = static_cast<std::byte>(extras);
        store(&made[6], htons(reprise::wire::vbucket_of(what.key(), 1024).value));
        store(&made[8], htonl(static_cast<std::uint32_t>(made.size() - header_size)));
        std::memcpy(&made[header_size + extras], key.data(), key.size());
        return made;
    }

    // Keeps requests running until `count` are answered. All have the same bytes.
    std::uint64_t run(std::uint64_t count) {
        std::uint64_t sent = 0;
        std::uint64_t answered = 0;
        while (answered < count) {
            const auto more = std::min(count - sent, what_.in_flight - (sent - answered));
            if (more > 0 && !stream_.send(std::span(requests_).first(more * request_.size()))) {
                bench::fail("send");
            }
            sent += more;
            answered += receive();
        }
        return answered;
    }

    // Reads once and returns the number of answers whose last byte has arrived.
    std::uint64_t receive() {
        const std::size_t size = stream_.receive(std::span(in_).subspan(kept_));
        if (size == 0) {
            bench::fail("receive");
        }
        const std::size_t end = kept_ + size;
        std::size_t at = 0;
        std::uint64_t answers = 0;
        while (true) {
            if (rest_ > 0) {  // of an answer's body
                const std::size_t part = std::min(rest_, end - at);
                at += part;
                rest_ -= part;
                if (rest_ > 0) {
                    break;
                }
                ++answers;
            }
            if (end - at < header_size) {
                break;
            }
            if (in_[at + 6] != std::byte{0} || in_[at + 7] != std::byte{0}) {
                bench::fail("status");
            }
            rest_ = load(&in_[at + 8]);
            at += header_size;
            answers += rest_ == 0 ? 1 : 0;
        }
        kept_ = end - at;
        std::memmove(in_.data(), &in_[at], kept_);
        return answers;
    }

    const Stream& stream_;
    bench::values_case what_;
    std::vector<std::byte> request_;
    std::vector<std::byte> requests_;  // as many as may be in flight, for one write
    std::vector<std::byte> in_ = std::vector<std::byte>(std::size_t{256} * 1024);
    std::size_t kept_ = 0;
    std::size_t rest_ = 0;
};

std::unique_ptr<bench::tls_stream> open_tls(SSL_CTX& context, std::uint16_t port) {
    using enum bench::tls_stream::side;
    auto made = std::make_unique<bench::tls_stream>(context, bench::connect_to(port), client);
    if (!made->is_open()) {
        bench::fail("TLS handshake");
    }
    return made;
}

}  // namespace

int main(int argc, char** argv) {
    const auto wanted = bench::values_arguments(argc, argv);
    const bench::tls_context context(SSL_CTX_new(TLS_client_method()));
    SSL_CTX_load_verify_file(context.get(), wanted.ca_file);
    SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
    const bench::plain_stream plain(bench::connect_to(wanted.plain_port));
    const auto tls = open_tls(*context, wanted.tls_port);
    bench::values_report report;
    for (const bench::values_case& each : bench::values_cases()) {
        report.next();
        if (each.is_tls) {
            bare_client(*tls, each).measure();
        } else {
            bare_client(plain, each).measure();
        }
    }
    report.next();
    bench::measure_connections([&] { (void)open_tls(*context, wanted.tls_port); });
}
