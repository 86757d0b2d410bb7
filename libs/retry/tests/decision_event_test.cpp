#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <latch>
#include <ostream>
#include <sstream>
#include <stdexcept>
#include <streambuf>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <reprise/retry.hpp>
#include <reprise/testing/virtual_clock.hpp>

namespace reprise::decision_event_test {

using namespace std::chrono_literals;

struct shop_error {
    std::string text;

    [[nodiscard]] std::string message() const { return text; }
    [[nodiscard]] failure_facts retry_facts() const { return {.safety = retry_safety::yes}; }
};

// Has the shape of std::expected, which C++20 does not have.
struct shop_result {
    shop_error failure;

    [[nodiscard]] bool has_value() const { return failure.text.empty(); }
    [[nodiscard]] const shop_error& error() const { return failure; }
};

// Two failures, then a success.
template <class Fail>
auto fails_twice(Fail fail) {
    return [fail, left = 2]() mutable -> std::error_code {
        return left-- > 0 ? fail() : std::error_code();
    };
}

TEST(decision_event, a_logger_names_the_call_the_failure_and_the_decision) {
    testing::virtual_clock clock;
    std::ostringstream log;
    const auto rule = attempts(3).every(250ms).with_jitter(jitter::none).observer(log_to(log));
    static_cast<void>(retry(rule, {.name = "fetch price", .clock = &clock}, fails_twice([] {
                                return make_error_code(std::errc::connection_refused);
                            })));
    const std::string failed = "failed, connection refused (" +
                               std::to_string(static_cast<int>(std::errc::connection_refused)) +
                               "); retried after 250 ms\n";
    EXPECT_EQ(log.str(), "fetch price: attempt 1 " + failed + "fetch price: attempt 2 " + failed);
}

// Each logger had a mutex of its own, and the line break came after the line: the lines of two
// strategies that log to the same stream were mixed.
TEST(decision_event, loggers_of_one_stream_write_whole_lines_one_at_a_time) {
    class checking_buffer final : public std::streambuf {
    public:
        std::vector<std::string> pieces;
        std::atomic<int> overlaps = 0;

    private:
        std::streamsize xsputn(const char* text, std::streamsize size) override {
            const bool is_alone = !is_in_use_.exchange(true);
            overlaps += is_alone ? 0 : 1;
            if (is_alone) {
                pieces.emplace_back(text, static_cast<std::size_t>(size));
                std::this_thread::yield();
                is_in_use_ = false;
            }
            return size;
        }
        std::atomic<bool> is_in_use_ = false;
    };
    constexpr int line_count = 2'000;
    checking_buffer buffer;
    std::ostream log(&buffer);
    std::latch ready(2);
    const auto write_lines = [&] {
        const auto logger = log_to(log);
        ready.arrive_and_wait();
        for (int line = 0; line < line_count; ++line) {
            logger->on_decision({});
        }
    };
    {
        const std::jthread first(write_lines);
        const std::jthread second(write_lines);
    }
    EXPECT_EQ(buffer.overlaps, 0);
    EXPECT_EQ(buffer.pieces.size(), 2U * line_count);
    EXPECT_EQ(
        std::ranges::count(buffer.pieces, to_string(decision_event{}) + '\n'), 2 * line_count);
}

// The line about a failure must not wait in a buffer while the program waits, or crashes.
TEST(decision_event, a_logger_flushes_each_line) {
    class counting_buffer final : public std::stringbuf {
    public:
        int flushes = 0;

    private:
        int sync() override {
            ++flushes;
            return 0;
        }
    };
    testing::virtual_clock clock;
    counting_buffer buffer;
    std::ostream log(&buffer);
    static_cast<void>(retry(attempts(3).observer(log_to(log)), {.clock = &clock}, fails_twice([] {
                                return make_error_code(std::errc::connection_refused);
                            })));
    EXPECT_EQ(buffer.flushes, 2);
}

TEST(decision_event, SM_05_the_logger_shows_why_there_was_no_further_retry) {
    testing::virtual_clock clock;
    std::vector<std::string> lines;
    const auto rule =
        attempts(2).every(1s).with_jitter(jitter::none).observer(log_to([&](std::string_view line) {
            lines.emplace_back(line);
        }));
    const auto fail = [] { throw std::runtime_error("Out of stock"); };
    EXPECT_THROW(retry(rule, {.clock = &clock}, fail), std::runtime_error);
    EXPECT_EQ(
        lines, (std::vector<std::string>{
                   "retry: attempt 1 failed, out of stock; retried after 1000 ms",
                   "retry: attempt 2 failed, out of stock; not retried: attempts exhausted"}));
}

TEST(decision_event, is_one_line_whatever_the_call_is_named) {
    testing::virtual_clock clock;
    std::string log;
    const auto rule =
        attempts(1).observer(log_to([&](std::string_view line) { log.append(line); }));
    const auto fail = [] { return std::error_code(-7, std::generic_category()); };
    static_cast<void>(
        retry(rule, {.name = "http://shop/\nroot: logged in\x1b", .clock = &clock}, fail));
    EXPECT_TRUE(log.starts_with("http://shop/ root: logged in : attempt 1 failed")) << log;
    EXPECT_EQ(log.find('\n'), std::string::npos);
    EXPECT_NE(log.find("(-7)"), std::string::npos) << log;
}

TEST(decision_event, carries_the_failure_itself) {
    testing::virtual_clock clock;
    std::vector<std::string> seen;
    const auto rule = attempts(2).every(1s).on_decision([&](const decision_event& event) {
        const auto* error = event.failure.get_if<shop_error>();
        seen.push_back(error == nullptr ? "" : error->text);
        EXPECT_EQ(event.is_retried(), seen.size() == 1);
        EXPECT_EQ(event.facts.safety, retry_safety::yes);
    });
    const auto fail = []() -> shop_result { return {{"SKU 7 is locked"}}; };
    static_cast<void>(retry(rule, {.clock = &clock}, fail));
    EXPECT_EQ(seen, (std::vector<std::string>{"SKU 7 is locked", "SKU 7 is locked"}));
}

// Other people's code throws numbers and texts. A log must show them.
TEST(decision_event, SM_05_a_thrown_object_that_is_no_exception_has_a_text) {
    struct unknown {};
    const auto text_of = [](auto thrown) {
        testing::virtual_clock clock;
        retry_history history;
        std::string log;
        const auto rule = attempts(1).observer(log_to([&](std::string_view line) { log = line; }));
        const auto fail = [&] { throw thrown; };
        EXPECT_THROW(retry(rule, {.history = &history, .clock = &clock}, fail), decltype(thrown));
        const std::string kept = history.message_of(history.entries[0]);
        EXPECT_EQ(log, "retry: attempt 1 failed, " + kept + "; not retried: attempts exhausted");
        return kept;
    };
    EXPECT_EQ(text_of(42), "thrown number 42");
    EXPECT_EQ(text_of(-7L), "thrown number -7");
    EXPECT_EQ(text_of(7U), "thrown number 7");
    EXPECT_EQ(text_of(~0ULL), "thrown number 18446744073709551615");
    EXPECT_EQ(text_of("out of stock"), "out of stock");
    EXPECT_EQ(text_of(std::string("out of stock")), "out of stock");
    EXPECT_EQ(text_of(std::string_view("out of stock")), "out of stock");
    EXPECT_EQ(text_of(static_cast<const char*>(nullptr)), "exception of an unknown type");
    EXPECT_EQ(text_of(unknown{}), "exception of an unknown type");
}

TEST(decision_event, a_history_keeps_the_text_of_failures_without_a_category) {
    testing::virtual_clock clock;
    retry_history history;
    const auto fail = []() -> shop_result { return {{"locked\n\x1b[31mby Bob"}}; };
    static_cast<void>(retry(attempts(3).every(1s), {.history = &history, .clock = &clock}, fail));
    ASSERT_EQ(history.entries.size(), 3U);
    ASSERT_EQ(history.texts.size(), 1U) << "the same text is kept once";
    EXPECT_EQ(history.message_of(history.entries[2]), "locked  [31mby Bob") << "one clean line";
    EXPECT_NE(to_string(history).find("attempt 1 failed, locked"), std::string::npos);
}

TEST(decision_event, the_texts_of_a_history_are_bounded) {
    testing::virtual_clock clock;
    retry_history history;
    int calls = 0;
    const auto fail = [&]() -> shop_result {
        ++calls;
        return {{std::string(1000, 'x') + std::to_string(calls)}};
    };
    static_cast<void>(retry(attempts(20).every(1s), {.history = &history, .clock = &clock}, fail));
    EXPECT_EQ(history.texts.size(), 1U) << "equal as far as they are kept";
    EXPECT_EQ(history.texts[0].size(), retry_history::text_size_max);
    const auto differs = [&]() -> shop_result { return {{std::to_string(++calls)}}; };
    static_cast<void>(
        retry(attempts(20).every(1s), {.history = &history, .clock = &clock}, differs));
    EXPECT_EQ(history.texts.size(), retry_history::text_count_max);
    EXPECT_EQ(history.message_of(history.entries[19]), "") << "no room for this one";
}

TEST(decision_event, offsets_count_from_the_start_of_the_call) {
    testing::virtual_clock clock(time_point{1h});
    retry_history history;
    std::vector<duration> seen;
    const auto slow = [&] {
        clock.advance(40ms);
        return make_error_code(std::errc::connection_refused);
    };
    const auto rule =
        attempts(2).every(100ms).with_jitter(jitter::none).on_decision([&](const auto& event) {
            seen.push_back(event.entry.offset());
        });
    static_cast<void>(retry(rule, {.history = &history, .clock = &clock}, slow));
    ASSERT_EQ(history.entries.size(), 2U);
    EXPECT_EQ(history.entries[0].offset(), 40ms);
    EXPECT_EQ(history.entries[1].offset(), 180ms);
    EXPECT_EQ(seen, (std::vector<duration>{40ms, 180ms}));
}

}  // namespace reprise::decision_event_test
