#include <gtest/gtest.h>

#include <string>

#include <reprise/retry/adapters/grpc_details.hpp>

namespace {

using namespace std::chrono_literals;
using reprise::adapters::parse_retry_pushback;
using reprise::adapters::retry_info_delay;

/// A field with bytes.
std::string field(int number, const std::string& bytes) {
    return std::string{static_cast<char>(number << 3 | 2), static_cast<char>(bytes.size())} + bytes;
}
std::string status_with(const std::string& type, const std::string& value) {
    return std::string("\x08\x0e", 2) + field(2, "text") +
           field(3, field(1, "type.googleapis.com/" + type) + field(2, value));
}

TEST(grpc_details, retry_info_is_found_among_the_details) {
    const std::string info = field(1, std::string("\x08\x03\x10\x40", 4));  // 3 s and 64 ns.
    EXPECT_EQ(retry_info_delay(status_with("google.rpc.RetryInfo", info)), 3s + 64ns);
    EXPECT_EQ(
        retry_info_delay(
            status_with("google.rpc.ErrorInfo", "x") + status_with("google.rpc.RetryInfo", info)),
        3s + 64ns);
    EXPECT_EQ(retry_info_delay(status_with("google.rpc.ErrorInfo", info)), std::nullopt);
    EXPECT_EQ(retry_info_delay(""), std::nullopt);
}

// Unknown fields used to count as nanoseconds: a delay of 3 s became 0, and so did one whose
// message a later version had extended.
TEST(grpc_details, fields_that_are_unknown_are_skipped) {
    const auto delay_of = [](const std::string& duration) {
        return retry_info_delay(status_with("google.rpc.RetryInfo", field(1, duration)));
    };
    const std::string three_seconds("\x08\x03\x10\x40", 4);
    EXPECT_EQ(delay_of(three_seconds + std::string("\x18\x7f", 2)), 3s + 64ns) << "a number";
    EXPECT_EQ(delay_of(field(7, "new") + three_seconds), 3s + 64ns) << "bytes";
    EXPECT_EQ(delay_of(three_seconds + std::string("\x25\x01\x02\x03\x04", 5)), 3s + 64ns);
    EXPECT_EQ(delay_of(three_seconds + field(2, "no number")), 3s + 64ns) << "another encoding";
    const std::string info = field(1, three_seconds);
    EXPECT_EQ(
        retry_info_delay(status_with("google.rpc.RetryInfo", field(9, "x") + info)), 3s + 64ns);
}

TEST(grpc_details, every_truncation_of_the_details_is_harmless) {
    const std::string whole =
        status_with("google.rpc.RetryInfo", field(1, std::string("\x08\x03\x10\x40", 4)));
    for (std::size_t size = 0; size < whole.size(); ++size) {
        EXPECT_EQ(retry_info_delay(whole.substr(0, size)), std::nullopt) << size;
    }
}

TEST(grpc_details, odd_delays_count_as_zero_or_as_a_year) {
    const std::string endless = field(1, "\x08" + std::string(8, '\xff') + "\x7f");
    EXPECT_EQ(retry_info_delay(status_with("google.rpc.RetryInfo", endless)), 365 * 24h);
    const std::string negative = field(1, "\x08" + std::string(9, '\xff') + "\x01");
    EXPECT_EQ(retry_info_delay(status_with("google.rpc.RetryInfo", negative)), 0s);
}

TEST(grpc_details, the_text_of_a_failure_names_its_status) {
    using reprise::adapters::detail::grpc_text;
    EXPECT_EQ(grpc_text(14, "no healthy upstream"), "UNAVAILABLE: no healthy upstream");
    EXPECT_EQ(grpc_text(4, ""), "DEADLINE_EXCEEDED");
    EXPECT_EQ(grpc_text(99, "odd"), "status 99: odd");
}

TEST(grpc_details, pushback_is_a_number_of_milliseconds_or_forbids_the_retry) {
    EXPECT_EQ(parse_retry_pushback("250"), 250ms);
    EXPECT_EQ(parse_retry_pushback("0"), 0ms);
    for (const char* text : {"-1", "", "soon", "5s", "99999999999"}) {
        EXPECT_EQ(parse_retry_pushback(text), std::nullopt) << text;
    }
}

}  // namespace
