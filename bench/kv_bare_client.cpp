// The reference for kv_client_bench: it only builds the same get packets and matches the opaque. It
// uses a blocking socket, computes vbuckets in advance instead of routing, and has no timeouts.

#include <array>
#include <cstring>
#include <string>
#include <vector>

#include <reprise/wire/vbucket.hpp>

#include "loopback.hpp"

namespace {

constexpr std::size_t header_size = 24;
constexpr std::size_t buffer_size = std::size_t{64} * 1024;
constexpr std::size_t in_flight_max = 256;
constexpr std::size_t key_count = 1024;
constexpr std::uint64_t warm_up = 2000;

struct place {
    std::string key;  // with the id of the default collection as prefix
    std::uint16_t vbucket = 0;
};

class bare_client {
public:
    explicit bare_client(int socket) : socket_(socket) {
        for (std::size_t number = 0; number < key_count; ++number) {
            const std::string key = "airline_" + std::to_string(10'000 + number);
            places_.push_back(
                {std::string(1, '\0') + key, reprise::wire::vbucket_of(key, 1024).value});
        }
    }

    // Prints this thread's CPU time per operation, and operations per second.
    void measure(const char* name, std::size_t in_flight, std::uint64_t count, double seconds) {
        run(in_flight, warm_up, 1e18);
        const double cpu = bench::seconds_of(CLOCK_THREAD_CPUTIME_ID);
        const double wall = bench::seconds_of(CLOCK_MONOTONIC);
        const auto done = static_cast<double>(run(in_flight, count, wall + seconds));
        std::printf(
            "\"%s\": {\"cpu_ns_per_op\": %.1f, \"ops_per_second\": %.0f, \"operations\": %.0f}",
            name, (bench::seconds_of(CLOCK_THREAD_CPUTIME_ID) - cpu) * 1e9 / done,
            done / (bench::seconds_of(CLOCK_MONOTONIC) - wall), done);
    }

private:
    // Keeps `in_flight` requests running until `count` are answered or the time is over.
    std::uint64_t run(std::size_t in_flight, std::uint64_t count, double until) {
        std::uint64_t answered = 0;
        std::size_t open = 0;
        for (std::uint32_t round = 0; open > 0 || answered < count; ++round) {
            for (; open < in_flight && answered + open < count; ++open) {
                build_get();
            }
            if (out_size_ > 0 && ::send(socket_, out_.data(), out_size_, 0) < 0) {
                bench::fail("send");
            }
            out_size_ = 0;
            const std::size_t now_answered = receive();
            answered += now_answered;
            open -= now_answered;
            if (round % 64 == 63 && bench::seconds_of(CLOCK_MONOTONIC) > until) {
                count = 0;
            }
        }
        return answered;
    }

    void build_get() {
        const place& to = places_[next_opaque_ % key_count];
        const auto key_size = static_cast<std::uint16_t>(to.key.size());
        std::uint8_t* const at = &out_[out_size_];
        std::memset(at, 0, header_size);
        at[0] = 0x80;
        store(at + 2, htons(key_size));
        store(at + 6, htons(to.vbucket));
        store(at + 8, htonl(key_size));
        store(at + 12, next_opaque_);
        to.key.copy(reinterpret_cast<char*>(at + header_size), key_size);
        out_size_ += header_size + key_size;
        waiting_[next_opaque_ % in_flight_max] = next_opaque_;
        ++next_opaque_;
    }

    // Reads once and returns the number of complete answers.
    std::size_t receive() {
        const auto size = ::recv(socket_, &in_[in_size_], in_.size() - in_size_, 0);
        if (size <= 0) {
            bench::fail("recv");
        }
        in_size_ += static_cast<std::size_t>(size);
        std::size_t at = 0;
        std::size_t answers = 0;
        while (in_size_ - at >= header_size) {
            const std::size_t frame_size = header_size + ntohl(load(&in_[at + 8]));
            if (in_size_ - at < frame_size) {
                break;
            }
            const std::uint32_t opaque = load(&in_[at + 12]);
            const bool is_success = in_[at] == 0x81 && in_[at + 6] == 0 && in_[at + 7] == 0;
            if (!is_success || waiting_[opaque % in_flight_max] != opaque) {
                bench::fail("unexpected answer");
            }
            at += frame_size;
            ++answers;
        }
        std::memmove(in_.data(), &in_[at], in_size_ - at);
        in_size_ -= at;
        return answers;
    }

    template <class Number>
    static void store(std::uint8_t* at, Number number) {
        std::memcpy(at, &number, sizeof(number));
    }
    static std::uint32_t load(const std::uint8_t* at) {
        std::uint32_t number = 0;
        std::memcpy(&number, at, sizeof(number));
        return number;
    }

    int socket_;
    std::vector<place> places_;
    std::uint32_t next_opaque_ = 0;
    std::array<std::uint32_t, in_flight_max> waiting_{};
    std::array<std::uint8_t, buffer_size> out_{};
    std::size_t out_size_ = 0;
    std::array<std::uint8_t, buffer_size> in_{};
    std::size_t in_size_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
    if (argc != 4) {
        std::fputs("usage: kv_bare_client PORT OPERATIONS SECONDS\n", stderr);
        return 2;
    }
    bare_client client(bench::connect_to(static_cast<std::uint16_t>(std::atoi(argv[1]))));
    const auto operations = std::strtoull(argv[2], nullptr, 10);
    std::fputs("{", stdout);
    client.measure("in_flight_64", 64, operations, std::atof(argv[3]));
    std::fputs(", ", stdout);
    client.measure("in_flight_256", in_flight_max, operations, std::atof(argv[3]));
    std::fputs(", ", stdout);
    client.measure("one_at_a_time", 1, operations, std::atof(argv[3]));
    std::fputs("}\n", stdout);
}
