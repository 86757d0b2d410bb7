#include <array>
#include <charconv>
#include <cstdint>

#include <reprise/retry/http_facts.hpp>

namespace reprise {

namespace {

using std::chrono::sys_seconds;

constexpr std::array<std::string_view, 12> month_names{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                       "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
constexpr std::array<std::string_view, 7> day_names{"Sun", "Mon", "Tue", "Wed",
                                                    "Thu", "Fri", "Sat"};
constexpr std::array<std::string_view, 7> long_day_names{
    "Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"};

/// Reads a date from left to right; the first mismatch makes all later reads fail, too.
class date_reader {
public:
    explicit date_reader(std::string_view text) noexcept : rest_(text) {}

    void literal(std::string_view expected) noexcept {
        if (!rest_.starts_with(expected)) {
            failed_ = true;
            return;
        }
        rest_.remove_prefix(expected.size());
    }
    /// Exactly `digits` digits; a leading blank counts as zero where `padded`.
    [[nodiscard]] int number(std::size_t digits, bool padded = false) noexcept {
        if (failed_ || rest_.size() < digits) {
            failed_ = true;
            return 0;
        }
        int value = 0;
        for (std::size_t index = 0; index < digits; ++index) {
            const char c = rest_[index];
            if (padded && index == 0 && c == ' ') {
                continue;
            }
            failed_ = failed_ || c < '0' || c > '9';
            value = value * 10 + (c - '0');
        }
        rest_.remove_prefix(digits);
        return failed_ ? 0 : value;
    }
    template <std::size_t Count>
    [[nodiscard]] int one_of(const std::array<std::string_view, Count>& names) noexcept {
        for (std::size_t index = 0; index < Count; ++index) {
            if (rest_.starts_with(names[index])) {
                rest_.remove_prefix(names[index].size());
                return static_cast<int>(index);
            }
        }
        failed_ = true;
        return 0;
    }
    [[nodiscard]] bool finished() const noexcept { return !failed_ && rest_.empty(); }

private:
    std::string_view rest_;
    bool failed_ = false;
};

struct calendar_fields {
    int year = 0;
    int month = 0;  // 0-based
    int day = 0;
    int hour = 0;
    int minute = 0;
    int second = 0;
};

[[nodiscard]] std::optional<sys_seconds> to_seconds(const calendar_fields& fields) noexcept {
    using namespace std::chrono;
    const year_month_day date{
        year{fields.year}, month{static_cast<unsigned>(fields.month + 1)},
        day{static_cast<unsigned>(fields.day)}};
    // 60 is a leap second; it counts as the first second of the next minute.
    if (!date.ok() || fields.hour > 23 || fields.minute > 59 || fields.second > 60) {
        return std::nullopt;
    }
    return sys_days{date} + hours{fields.hour} + minutes{fields.minute} + seconds{fields.second};
}

void read_clock_time(date_reader& reader, calendar_fields& fields) noexcept {
    fields.hour = reader.number(2);
    reader.literal(":");
    fields.minute = reader.number(2);
    reader.literal(":");
    fields.second = reader.number(2);
}

/// "Sun, 06 Nov 1994 08:49:37 GMT"
[[nodiscard]] std::optional<sys_seconds> parse_fixdate(std::string_view text) noexcept {
    date_reader reader(text);
    calendar_fields fields;
    static_cast<void>(reader.one_of(day_names));
    reader.literal(", ");
    fields.day = reader.number(2);
    reader.literal(" ");
    fields.month = reader.one_of(month_names);
    reader.literal(" ");
    fields.year = reader.number(4);
    reader.literal(" ");
    read_clock_time(reader, fields);
    reader.literal(" GMT");
    return reader.finished() ? to_seconds(fields) : std::nullopt;
}

/// "Sunday, 06-Nov-94 08:49:37 GMT"; a year more than 50 years ahead means the century before.
[[nodiscard]] std::optional<sys_seconds> parse_rfc850(
    std::string_view text, sys_seconds now) noexcept {
    date_reader reader(text);
    calendar_fields fields;
    static_cast<void>(reader.one_of(long_day_names));
    reader.literal(", ");
    fields.day = reader.number(2);
    reader.literal("-");
    fields.month = reader.one_of(month_names);
    reader.literal("-");
    const int short_year = reader.number(2);
    reader.literal(" ");
    read_clock_time(reader, fields);
    reader.literal(" GMT");
    const std::chrono::year_month_day today{std::chrono::floor<std::chrono::days>(now)};
    const int this_year = static_cast<int>(today.year());
    fields.year = this_year - this_year % 100 + short_year;
    if (fields.year > this_year + 50) {
        fields.year -= 100;
    }
    return reader.finished() ? to_seconds(fields) : std::nullopt;
}

/// "Sun Nov  6 08:49:37 1994"
[[nodiscard]] std::optional<sys_seconds> parse_asctime(std::string_view text) noexcept {
    date_reader reader(text);
    calendar_fields fields;
    static_cast<void>(reader.one_of(day_names));
    reader.literal(" ");
    fields.month = reader.one_of(month_names);
    reader.literal(" ");
    fields.day = reader.number(2, true);
    reader.literal(" ");
    read_clock_time(reader, fields);
    reader.literal(" ");
    fields.year = reader.number(4);
    return reader.finished() ? to_seconds(fields) : std::nullopt;
}

[[nodiscard]] std::optional<std::chrono::seconds> parse_seconds(std::string_view text) noexcept {
    if (text.empty() || text.find_first_not_of("0123456789") != std::string_view::npos) {
        return std::nullopt;
    }
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    // Numbers beyond 64 bits are far above any limit: not usable.
    return error == std::errc{} && end == text.data() + text.size()
               ? std::optional{std::chrono::seconds{value}}
               : std::nullopt;
}

[[nodiscard]] std::string_view trimmed(std::string_view text) noexcept {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) {
        text.remove_prefix(1);
    }
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) {
        text.remove_suffix(1);
    }
    return text;
}

[[nodiscard]] retry_safety safety_of_status(int status) noexcept {
    if (status == 408 || status == 429) {
        return retry_safety::yes;  // Refused before anything was done.
    }
    return status >= 500 ? retry_safety::maybe : retry_safety::no;
}

}  // namespace

std::optional<duration> parse_retry_after(
    std::string_view text, sys_seconds now, const http_facts_options& options) noexcept {
    using std::chrono::seconds;
    const std::string_view value = trimmed(text);
    std::optional<seconds> wait = parse_seconds(value);
    if (!wait) {
        std::optional<sys_seconds> date = parse_fixdate(value);
        if (!date) {
            date = parse_rfc850(value, now);
        }
        if (!date) {
            date = parse_asctime(value);
        }
        if (!date) {
            return std::nullopt;
        }
        wait = *date > now ? *date - now : seconds{0};
    }
    // Compared in seconds: the largest numbers do not fit into nanoseconds.
    if (*wait > std::chrono::floor<seconds>(options.retry_after_max)) {
        return std::nullopt;
    }
    return duration{*wait};
}

failure_facts http_facts(
    int status, std::string_view retry_after, sys_seconds now,
    const http_facts_options& options) noexcept {
    failure_facts facts;
    if (status < 400 || status > 599) {
        return facts;
    }
    facts.code = static_cast<std::uint32_t>(status);
    facts.safety = safety_of_status(status);
    facts.throttling = status == 429;
    facts.timeout = status == 408 || status == 504;
    facts.fault = status >= 500 ? failure_fault::server : failure_fault::client;
    facts.minimum_wait = parse_retry_after(retry_after, now, options);
    return facts;
}

failure_facts http_connect_failure() noexcept {
    failure_facts facts;
    facts.safety = retry_safety::yes;
    facts.fault = failure_fault::other;
    return facts;
}

}  // namespace reprise
