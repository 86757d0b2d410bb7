#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <set>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <reprise/retry.hpp>
#include <reprise/testing/virtual_clock.hpp>

#if defined(__GNUC__)
#pragma GCC diagnostic error "-Wswitch"  // A forgotten enumerator must not compile.
#endif

// libc++ marks four of the enumerators as deprecated. Those are classified, too.
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wdeprecated-declarations"
#endif

namespace reprise::error_tables_test {

/// True for every enumerator of `std::errc`, false for other numbers.
[[nodiscard]] bool is_enumerator(std::errc code) {
    using enum std::errc;
    switch (code) {
        case address_family_not_supported:
        case address_in_use:
        case address_not_available:
        case already_connected:
        case argument_list_too_long:
        case argument_out_of_domain:
        case bad_address:
        case bad_file_descriptor:
        case bad_message:
        case broken_pipe:
        case connection_aborted:
        case connection_already_in_progress:
        case connection_refused:
        case connection_reset:
        case cross_device_link:
        case destination_address_required:
        case device_or_resource_busy:
        case directory_not_empty:
        case executable_format_error:
        case file_exists:
        case file_too_large:
        case filename_too_long:
        case function_not_supported:
        case host_unreachable:
        case identifier_removed:
        case illegal_byte_sequence:
        case inappropriate_io_control_operation:
        case interrupted:
        case invalid_argument:
        case invalid_seek:
        case io_error:
        case is_a_directory:
        case message_size:
        case network_down:
        case network_reset:
        case network_unreachable:
        case no_buffer_space:
        case no_child_process:
        case no_link:
        case no_lock_available:
        case no_message:
        case no_message_available:
        case no_protocol_option:
        case no_space_on_device:
        case no_stream_resources:
        case no_such_device:
        case no_such_device_or_address:
        case no_such_file_or_directory:
        case no_such_process:
        case not_a_directory:
        case not_a_socket:
        case not_a_stream:
        case not_connected:
        case not_enough_memory:
        case not_supported:
        case operation_canceled:
        case operation_in_progress:
        case operation_not_permitted:
#if EOPNOTSUPP != ENOTSUP
        case operation_not_supported:
#endif
#if EWOULDBLOCK != EAGAIN
        case operation_would_block:
#endif
        case owner_dead:
        case permission_denied:
        case protocol_error:
        case protocol_not_supported:
        case read_only_file_system:
        case resource_deadlock_would_occur:
        case resource_unavailable_try_again:
        case result_out_of_range:
        case state_not_recoverable:
        case stream_timeout:
        case text_file_busy:
        case timed_out:
        case too_many_files_open:
        case too_many_files_open_in_system:
        case too_many_links:
        case too_many_symbolic_link_levels:
        case value_too_large:
        case wrong_protocol_type:
            return true;
    }
    return false;
}

TEST(error_tables, every_enumerator_of_errc_is_in_its_table) {
    constexpr int value_max = 1024;
    int count = 0;
    for (int value = 1; value <= value_max; ++value) {
        if (is_enumerator(static_cast<std::errc>(value))) {
            EXPECT_NE(detail::find_error("generic", value), nullptr) << value;
            EXPECT_EQ(detail::find_errno(value), detail::find_error("generic", value)) << value;
            ++count;
        }
    }
    EXPECT_GE(count, 76);  // 78, of which two pairs are the same number on many systems.
}

TEST(error_tables, every_yes_has_a_reason_and_no_error_is_listed_twice) {
    for (const detail::error_table& table : detail::error_tables()) {
        std::set<std::string_view> names;
        for (const detail::error_row& row : table.rows) {
            const std::string where = std::string(table.category) + ' ' + std::string(row.name);
            EXPECT_TRUE(names.insert(row.name).second) << where;
            EXPECT_NE(row.code, 0) << where;
            EXPECT_EQ(row.safety == retry_safety::yes, !row.reason.empty()) << where;
            EXPECT_NE(row.safety, retry_safety::no) << where;
            EXPECT_EQ(row.fault.has_value(), row.safety.has_value()) << where;
            // One number with two names must have the same safety under both.
            EXPECT_EQ(detail::find_row(table.rows, row.code)->safety, row.safety) << where;
        }
    }
}

TEST(error_tables, only_what_comes_before_sending_is_yes) {
    std::set<std::string_view> safe;
    for (const detail::error_table& table : detail::error_tables()) {
        for (const detail::error_row& row : table.rows) {
            if (row.safety == retry_safety::yes) {
                safe.insert(row.name);
            }
        }
    }
    const std::set<std::string_view> expected{"connection_refused",       "address_not_available",
                                              "host_not_found_try_again", "WSAECONNREFUSED",
                                              "WSAEADDRNOTAVAIL",         "WSATRY_AGAIN",
                                              "ERROR_CONNECTION_REFUSED", "Request Timeout",
                                              "Too Many Requests",        "circuit_open"};
    EXPECT_EQ(safe, expected);
}

/// A receive timeout of a socket is reported as EAGAIN. The library took it for a failure before
/// sending, and executed a call that must not be repeated five times.
TEST(error_tables, a_call_that_must_not_be_repeated_runs_once_after_errors_that_can_come_late) {
    using enum std::errc;
    for (const std::errc code :
         {resource_unavailable_try_again, operation_would_block, interrupted, host_unreachable,
          network_unreachable, network_down, not_connected, connection_reset, connection_aborted,
          network_reset, broken_pipe, timed_out}) {
        testing::virtual_clock clock;
        standard_strategy strategy({.attempts_max = 5});
        int executed = 0;
        const std::error_code last = retry(
            strategy, {.repeat = repeatability::not_repeatable, .clock = &clock},
            [&]() -> std::error_code {
                ++executed;
                return std::error_code(static_cast<int>(code), std::system_category());
            });
        EXPECT_TRUE(last);
        EXPECT_EQ(executed, 1) << make_error_code(code).message();
        EXPECT_EQ(facts_of(make_error_code(code)).safety, retry_safety::maybe);
    }
}

std::span<const detail::error_row> windows_rows() {
    const auto table = std::ranges::find(
        detail::error_tables(), std::string_view("windows"), &detail::error_table::category);
    return table->rows;
}

/// The numbers of Winsock's reference lie in ranges without a gap, and single ones below.
TEST(error_tables, every_code_of_winsocks_reference_is_in_the_table) {
    std::vector<int> codes{6, 8, 87, 995, 996, 997, 10004, 10009, 10013, 10014, 10022, 10024};
    constexpr std::pair<int, int> ranges[]{
        {10035, 10071}, {10091, 10093}, {10101, 10112}, {11001, 11031}};
    for (const auto& [first, last] : ranges) {
        for (int code = first; code <= last; ++code) {
            codes.push_back(code);
        }
    }
    for (const int code : codes) {
        const detail::error_row* const row = detail::find_row(windows_rows(), code);
        ASSERT_NE(row, nullptr) << code;
        EXPECT_TRUE(row->name.starts_with("WSA") || code == 995) << row->name;
    }
}

TEST(error_tables, windows_codes_have_the_facts_of_their_standard_twins) {
    using enum std::errc;
    constexpr std::pair<const char*, std::errc> twins[]{
        {"WSAEINTR", interrupted},
        {"WSAEWOULDBLOCK", resource_unavailable_try_again},
        {"WSAEADDRINUSE", address_in_use},
        {"WSAEADDRNOTAVAIL", address_not_available},
        {"WSAENETDOWN", network_down},
        {"WSAENETUNREACH", network_unreachable},
        {"WSAENETRESET", network_reset},
        {"WSAECONNABORTED", connection_aborted},
        {"WSAECONNRESET", connection_reset},
        {"WSAENOTCONN", not_connected},
        {"WSAETIMEDOUT", timed_out},
        {"WSAECONNREFUSED", connection_refused},
        {"WSAEHOSTUNREACH", host_unreachable},
        {"WSAEACCES", permission_denied},
        {"WSA_NOT_ENOUGH_MEMORY", not_enough_memory},
        {"WSAEINVAL", invalid_argument},
        {"WSAENOTEMPTY", directory_not_empty},
        {"WSAELOOP", too_many_symbolic_link_levels},
        {"WSAECANCELLED", operation_canceled},
        {"WSA_E_CANCELLED", operation_canceled},
        {"ERROR_BROKEN_PIPE", broken_pipe},
        {"ERROR_OPERATION_ABORTED", operation_canceled},
    };
    for (const auto& [name, code] : twins) {
        const detail::error_row* const row = detail::find_row(windows_rows(), name);
        ASSERT_NE(row, nullptr) << name;
        const failure_facts twin = facts_of(make_error_code(code));
        EXPECT_EQ(row->safety, twin.safety) << name;
        EXPECT_EQ(row->timeout, twin.timeout) << name;
    }
}

/// A category of a program that stands for `std::errc` in its own way.
class shop_category final : public std::error_category {
public:
    [[nodiscard]] const char* name() const noexcept override { return "shop"; }
    [[nodiscard]] std::string message(int) const override { return "shop closed"; }
    [[nodiscard]] std::error_condition default_error_condition(int value) const noexcept override {
        return value == 1 ? std::errc::connection_refused : std::errc::host_unreachable;
    }
};

TEST(error_tables, codes_of_other_categories_have_the_facts_of_the_condition_they_equal) {
    static const shop_category shop;
    EXPECT_EQ(facts_of(std::error_code(1, shop)).safety, retry_safety::yes);
    EXPECT_EQ(facts_of(std::error_code(2, shop)).safety, retry_safety::maybe);
}

TEST(error_tables, an_open_circuit_is_safe_although_it_equals_try_again) {
    EXPECT_EQ(facts_of(detail::to_code(retry_errc::circuit_open)).safety, retry_safety::yes);
}

}  // namespace reprise::error_tables_test
