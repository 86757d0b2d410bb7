#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

#include <reprise/retry.hpp>
#include <reprise/testing/scripted.hpp>
#include <reprise/testing/virtual_clock.hpp>

namespace reprise {

using namespace std::chrono_literals;

namespace {

retry_history::entry entry_of(
    std::uint32_t attempt, refusal_reason refusal = refusal_reason::none) {
    retry_history::entry entry;
    entry.set_attempt(attempt);
    entry.set_refusal(refusal);
    return entry;
}

}  // namespace

TEST(retry_history, shows_failures_delays_and_the_refusal) {
    retry_history history;
    retry_history::entry first = entry_of(1);
    first.set_code(503);
    first.set_delay(250ms);
    first.set_budget_level(495'000);
    history.record(first);
    retry_history::entry second = entry_of(2, refusal_reason::budget_exhausted);
    second.set_offset(251ms);
    second.set_budget_level(3'500);
    second.set_facts(true, true);
    history.record(second);
    EXPECT_EQ(history.refusal(), refusal_reason::budget_exhausted);
    std::ostringstream out;
    out << history;
    EXPECT_EQ(
        out.str(),
        "+0 ms  attempt 1 failed, code 503; retried after 250 ms (budget 495)\n"
        "+251 ms  attempt 2 failed, timeout, throttled; not retried: budget exhausted "
        "(budget 3.5)\n");
}

TEST(retry_history, is_a_range_of_its_entries_in_order_of_time) {
    retry_history history;
    for (std::uint32_t attempt = 1; attempt <= 40; ++attempt) {
        history.record(entry_of(attempt));
    }
    std::vector<std::uint32_t> attempts;
    for (const retry_history::entry& entry : history) {
        attempts.push_back(entry.attempt());
    }
    ASSERT_EQ(attempts.size(), 32U);
    EXPECT_EQ(attempts.front(), 1U);
    EXPECT_EQ(attempts[7], 8U);
    EXPECT_EQ(attempts[8], 17U);
    EXPECT_EQ(attempts.back(), 40U);
    EXPECT_EQ(std::ranges::count(history, 17U, &retry_history::entry::attempt), 1);
}

TEST(retry_history, is_written_as_json_for_machines) {
    retry_history history;
    EXPECT_EQ(to_json(history), R"({"failed_attempts":0,"dropped":0,"entries":[]})");
    retry_history::entry first = entry_of(1);
    first.set_code(503);
    first.set_delay(250ms);
    first.set_budget_level(495'000);
    first.set_text(history.index_of(std::string_view("a \"quoted\" \\ path")));
    history.record(first);
    retry_history::entry second = entry_of(2, refusal_reason::budget_exhausted);
    second.set_offset(251ms);
    second.set_facts(true, true);
    history.record(second);
    EXPECT_EQ(
        to_json(history),
        R"({"failed_attempts":2,"dropped":0,"entries":[)"
        R"({"attempt":1,"offset_us":0,"failure":"a \"quoted\" \\ path","code":503,)"
        R"("delay_us":250000,"budget_milli_units":495000},)"
        R"({"attempt":2,"offset_us":251000,"timeout":true,"throttling":true,)"
        R"("refusal":"budget exhausted"}]})");
}

// Texts come from servers and systems, which may write Latin-1 or cut a character: readers of the
// log refused the whole line.
TEST(retry_history, json_is_valid_whatever_bytes_a_text_has) {
    const auto failure_of = [](const std::string& text) {
        retry_history history;
        retry_history::entry entry = entry_of(1);
        entry.set_text(history.index_of(text));
        history.record(entry);
        const std::string json = to_json(history);
        const std::size_t begin = json.find("failure") + std::string_view("failure\":\"").size();
        return json.substr(begin, json.find('"', begin) - begin);
    };
    for (const char* const valid :
         {"caf\u00e9", "\u0080\u07ff", "\u0800\ud7ff\ue000\uffff", "\U00010000\U0010ffff"}) {
        EXPECT_EQ(failure_of(valid), valid);
    }
    EXPECT_EQ(failure_of("caf\xe9"), "caf\\ufffd") << "Latin-1";
    EXPECT_EQ(failure_of("caf\xe9 au lait"), "caf\\ufffd au lait");
    EXPECT_EQ(failure_of("x\xe2\x82"), "x\\ufffd\\ufffd") << "cut";
    EXPECT_EQ(failure_of("x\xf0\x9f\x92"), "x\\ufffd\\ufffd\\ufffd") << "cut";
    EXPECT_EQ(failure_of("x\x80y"), "x\\ufffdy") << "a rest";
    for (const char* const overlong : {"\xc0\xaf", "\xc1\xbf"}) {
        EXPECT_EQ(failure_of(overlong), "\\ufffd\\ufffd");
    }
    EXPECT_EQ(failure_of("\xe0\x9f\xbf"), "\\ufffd\\ufffd\\ufffd") << "overlong";
    EXPECT_EQ(failure_of("\xf0\x8f\xbf\xbf"), "\\ufffd\\ufffd\\ufffd\\ufffd") << "overlong";
    EXPECT_EQ(failure_of("\xed\xa0\x80"), "\\ufffd\\ufffd\\ufffd") << "a surrogate";
    EXPECT_EQ(failure_of("\xf4\x90\x80\x80"), "\\ufffd\\ufffd\\ufffd\\ufffd") << "> U+10FFFF";
    EXPECT_EQ(failure_of("\xf5"), "\\ufffd");
}

TEST(retry_history, keeps_times_attempts_and_levels_within_their_bounds) {
    retry_history::entry entry = entry_of(70'000);
    entry.set_offset(24h * 365);
    entry.set_delay(-1s);
    entry.set_budget_level(std::int64_t{1} << 40);
    EXPECT_EQ(entry.attempt(), 65'535U);
    EXPECT_GT(entry.offset(), 24h * 12);
    EXPECT_EQ(entry.delay(), 0s);
    EXPECT_EQ(entry.budget_level(), 0xfffffffe);
    entry.set_budget_level(-1);
    EXPECT_EQ(entry.budget_level(), -1);
}

TEST(retry_history, keeps_the_first_8_and_the_last_24_and_counts_the_omitted_ones) {
    retry_history trace;
    for (std::uint32_t attempt = 1; attempt <= 100; ++attempt) {
        trace.record(entry_of(attempt));
    }
    const auto& entries = trace.entries;
    EXPECT_EQ(entries.total(), 100U);
    ASSERT_EQ(entries.size(), 32U);
    EXPECT_EQ(entries[0].attempt(), 1U);
    EXPECT_EQ(entries[7].attempt(), 8U);
    EXPECT_EQ(entries[8].attempt(), 77U);
    EXPECT_EQ(entries[31].attempt(), 100U);
    EXPECT_EQ(entries.back().attempt(), 100U);
    EXPECT_NE(to_string(trace).find("... 68 more ..."), std::string::npos);
    trace.clear();
    EXPECT_EQ(to_string(trace), "");
    EXPECT_EQ(trace.refusal(), refusal_reason::none);
}

TEST(retry_history, shows_the_message_of_a_code_beside_its_number) {
    testing::virtual_clock clock;
    retry_history history;
    const std::error_code code = make_error_code(std::errc::connection_refused);
    const auto refused = [&] { return code; };
    static_cast<void>(retry(attempts(1), {.history = &history, .clock = &clock}, refused));
    EXPECT_EQ(
        to_string(history), "+0 ms  attempt 1 failed, connection refused (" +
                                std::to_string(code.value()) +
                                "); not retried: attempts exhausted\n");
    EXPECT_EQ(history.message_of(history.entries[0]), "connection refused");
}

TEST(retry_history, shows_what_a_protocol_adds) {
    retry_history history;
    driver::protocol_notes notes;
    notes.reason_name = [](std::uint8_t code) noexcept -> std::string_view {
        return code == 3 ? "BUSY" : "LOST";
    };
    notes.code_text = [](std::uint32_t code) { return "0x0" + std::to_string(code); };
    notes.places = {"a:1", "b:2"};
    notes.problems = {"connection refused", ""};
    history.protocol = std::make_shared<driver::protocol_notes>(notes);
    retry_history::entry answered = entry_of(1);
    answered.set_reason(3);
    answered.set_code(7);
    answered.set_place(0);
    answered.set_stage(driver::attempt_stage::response);
    answered.set_delay(1ms);
    history.record(answered);
    retry_history::entry unsent = entry_of(2);
    unsent.set_reason(4);
    unsent.set_place(0);
    unsent.set_stage(driver::attempt_stage::dispatch);
    history.record(unsent);
    retry_history::entry lost = entry_of(3, refusal_reason::unsafe);
    lost.set_reason(4);
    lost.set_place(1);
    lost.set_stage(driver::attempt_stage::network);
    history.record(lost);
    EXPECT_EQ(
        to_string(history),
        "+0 ms  BUSY (0x07) at a:1, response; retried after 1 ms\n"
        "+0 ms  LOST at a:1 (connection refused), dispatch; retried after 0 ms\n"
        "+0 ms  LOST at b:2, network; not retried: unsafe to retry\n");
    history.clear();
    EXPECT_EQ(history.protocol, nullptr) << "a loop that uses it again adds nothing";
}

TEST(retry_history, an_index_behind_the_last_place_names_none) {
    driver::protocol_notes notes;
    notes.places = {"a:1", "gone:2"};
    notes.problems = {"refused", "gone"};
    notes.places.pop_back();
    notes.problems.pop_back();
    retry_history history;
    history.protocol = std::make_shared<driver::protocol_notes>(notes);
    retry_history::entry entry = entry_of(1);
    entry.set_stage(driver::attempt_stage::dispatch);
    entry.set_place(0);
    EXPECT_EQ(driver::place_of(history, entry), "a:1");
    EXPECT_EQ(driver::problem_of(history, entry), "refused");
    entry.set_place(1);
    EXPECT_EQ(driver::place_of(history, entry), "");
    EXPECT_EQ(driver::problem_of(history, entry), "");
}

TEST(retry_history, shows_hedges) {
    retry_history history;
    retry_history::entry hedge = entry_of(1);
    hedge.set_is_hedge();
    hedge.set_budget_level(2'000);
    history.record(hedge);
    hedge.set_refusal(refusal_reason::circuit_open);
    hedge.set_budget_level(-1);
    history.record(hedge);
    EXPECT_EQ(
        to_string(history),
        "+0 ms  attempt 1 still running; hedged by another attempt (budget 2)\n"
        "+0 ms  attempt 1 still running; not hedged: " +
            std::string(to_string(refusal_reason::circuit_open)) + "\n");
    EXPECT_EQ(history.refusal(), refusal_reason::none) << "the call itself goes on";
}

TEST(retry_history, a_code_of_a_fourth_category_is_a_plain_number) {
    struct numbered final : std::error_category {
        [[nodiscard]] const char* name() const noexcept override { return "numbered"; }
        [[nodiscard]] std::string message(int) const override { return "SSL error"; }
    };
    const std::array<numbered, 4> categories;
    retry_history history;
    for (std::uint8_t index = 0; index < 3; ++index) {
        EXPECT_EQ(history.index_of(&categories[index]), index + 1);
    }
    EXPECT_EQ(history.index_of(&categories[0]), 1);
    EXPECT_EQ(history.index_of(&categories[3]), 0);
    EXPECT_EQ(history.index_of(nullptr), 0);
    retry_history::entry entry = entry_of(1);
    entry.set_category(1);
    EXPECT_EQ(history.message_of(entry), "SSL error") << "an abbreviation keeps its case";
}

TEST(retry_history, a_code_of_a_category_may_be_negative) {
    retry_history history;
    retry_history::entry entry = entry_of(1);
    entry.set_code(static_cast<std::uint32_t>(-7));
    history.record(entry);
    EXPECT_NE(to_string(history).find("4294967289"), std::string::npos) << "a plain number";
    EXPECT_NE(to_json(history).find("\"code\":4294967289"), std::string::npos);
    history.clear();
    entry.set_category(history.index_of(&std::generic_category()));
    history.record(entry);
    EXPECT_NE(to_string(history).find("(-7)"), std::string::npos) << history;
    EXPECT_NE(to_json(history).find("\"code\":-7"), std::string::npos) << to_json(history);
}

TEST(retry_history, a_text_that_is_cut_ends_with_a_whole_character) {
    retry_history history;
    constexpr std::size_t limit = retry_history::text_size_max;
    const auto kept = [&](const std::string& text) {
        history.clear();
        EXPECT_EQ(history.index_of(text), 1);
        return history.texts.front();
    };
    EXPECT_EQ(kept(std::string(limit - 1, 'a') + "\u00e9zz"), std::string(limit - 1, 'a'));
    EXPECT_EQ(kept(std::string(limit - 3, 'a') + "\U0001f4a1"), std::string(limit - 3, 'a'));
    EXPECT_EQ(kept(std::string(limit - 2, 'a') + "\u00e9").size(), limit) << "not cut";
    EXPECT_EQ(kept(std::string(limit, '\x80') + "\x80").size(), limit) << "not UTF-8";
}

TEST(retry_history, a_failure_without_a_text_has_none) {
    retry_history history;
    EXPECT_EQ(history.index_of("connection refused"), 1);
    EXPECT_EQ(history.index_of(std::string_view{}), 0);
    EXPECT_EQ(history.index_of("connection refused"), 1);
    EXPECT_EQ(history.index_of("another"), 2);
    history.clear();
    EXPECT_TRUE(history.texts.empty());
    EXPECT_EQ(history.index_of("another"), 1) << "a history that is used again starts empty";
}

TEST(retry_history, the_attempt_that_was_canceled_has_its_number) {
    testing::virtual_clock clock;
    retry_history history;
    std::stop_source stop;
    int calls = 0;
    const auto fails = [&] {
        if (++calls == 2) {
            stop.request_stop();
        }
        return std::error_code(ECONNREFUSED, std::system_category());
    };
    static_cast<void>(retry(
        attempts(5).every(1ms), {.stop = stop.get_token(), .history = &history, .clock = &clock},
        fails));
    ASSERT_EQ(history.entries.size(), 2U);
    EXPECT_EQ(history.entries[0].attempt(), 1U);
    EXPECT_EQ(history.entries[1].attempt(), 2U);
    EXPECT_EQ(history.entries[1].refusal(), refusal_reason::canceled);
}

TEST(retry_history, a_call_with_invalid_settings_leaves_nothing_of_the_call_before) {
    testing::virtual_clock clock;
    retry_history history;
    const auto fails = [] {
        return testing::scripted_result(testing::scripted_error{0, testing::transient()});
    };
    static_cast<void>(retry(attempts(2), {.history = &history, .clock = &clock}, fails));
    EXPECT_EQ(history.entries.size(), 2U);
    EXPECT_THROW(
        static_cast<void>(retry(attempts(2), {.attempt_timeout = 1s, .history = &history}, fails)),
        invalid_settings);
    EXPECT_EQ(history.entries.size(), 0U);
}

TEST(retry_history, every_refusal_has_its_own_name) {
    std::vector<std::string_view> seen;
    for (int value = 0; value <= static_cast<int>(refusal_reason::circuit_open); ++value) {
        const std::string_view name = to_string(static_cast<refusal_reason>(value));
        EXPECT_EQ(std::count(seen.begin(), seen.end(), name), 0) << name;
        seen.push_back(name);
    }
    EXPECT_EQ(to_string(static_cast<refusal_reason>(200)), "unknown refusal");
}

}  // namespace reprise
