#include <reprise/retry/http_facts.hpp>

#include <algorithm>
#include <array>
#include <cstddef>

namespace reprise {

namespace {

constexpr std::array<std::string_view, 12> month_names = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                          "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
constexpr std::array<std::string_view, 7> day_names = {
    "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"};

/// Reads a date from left to right. The first part that does not match makes the whole date
/// invalid.
class date_reader {
public:
    explicit date_reader(std::string_view text) noexcept : text_(text) {}

    bool is_good() const noexcept { return is_good_; }
    bool is_at_end() const noexcept { return is_good_ && text_.empty(); }

    void expect(std::string_view part) noexcept {
        if (!text_.starts_with(part)) {
            is_good_ = false;
            return;
        }
        text_.remove_prefix(part.size());
    }

    /// Reads exactly this many digits.
    unsigned number(std::size_t digits) noexcept {
        unsigned result = 0;
        for (std::size_t i = 0; i < digits; ++i) {
            if (text_.empty() || text_.front() < '0' || text_.front() > '9') {
                is_good_ = false;
                return 0;
            }
            result = result * 10 + static_cast<unsigned>(text_.front() - '0');
            text_.remove_prefix(1);
        }
        return result;
    }

    /// Reads two characters, the first of which may be a blank.
    unsigned padded_day() noexcept {
        if (text_.starts_with(' ')) {
            text_.remove_prefix(1);
            return number(1);
        }
        return number(2);
    }

    unsigned month() noexcept {
        for (unsigned i = 0; i < month_names.size(); ++i) {
            if (text_.starts_with(month_names[i])) {
                text_.remove_prefix(month_names[i].size());
                return i + 1;
            }
        }
        return 0;  // no month: `make_time` refuses it
    }

    /// 23:59:60 is a leap second.
    std::chrono::seconds time_of_day() noexcept {
        const unsigned hour = number(2);
        expect(":");
        const unsigned minute = number(2);
        expect(":");
        const unsigned second = number(2);
        is_good_ = is_good_ && hour < 24 && minute < 60 && second <= 60;
        return std::chrono::hours(hour) + std::chrono::minutes(minute) +
               std::chrono::seconds(second);
    }

private:
    std::string_view text_;
    bool is_good_ = true;
};

/// The full name of a day, or its first three letters.
enum class day_form { whole, cut };

bool take_day_name(std::string_view& text, day_form form) noexcept {
    for (const std::string_view name : day_names) {
        const std::string_view wanted = form == day_form::whole ? name : name.substr(0, 3);
        if (text.starts_with(wanted)) {
            text.remove_prefix(wanted.size());
            return true;
        }
    }
    return false;
}

std::optional<std::chrono::sys_seconds> make_time(
    int year, unsigned month, unsigned day, std::chrono::seconds time) noexcept {
    const std::chrono::year_month_day date{
        std::chrono::year(year), std::chrono::month(month), std::chrono::day(day)};
    if (!date.ok()) {
        return std::nullopt;
    }
    return std::chrono::sys_days(date) + time;
}

int century_of_two_digits(unsigned year, std::chrono::sys_seconds now) noexcept {
    const std::chrono::year_month_day today{std::chrono::floor<std::chrono::days>(now)};
    const int this_year = static_cast<int>(today.year());
    const int guess = this_year - this_year % 100 + static_cast<int>(year);
    return guess > this_year + 50 ? guess - 100 : guess;
}

/// The part after "Sun, ".
std::optional<std::chrono::sys_seconds> read_fixed_date(std::string_view text) noexcept {
    date_reader in(text);
    const unsigned day = in.number(2);
    in.expect(" ");
    const unsigned month = in.month();
    in.expect(" ");
    const unsigned year = in.number(4);
    in.expect(" ");
    const std::chrono::seconds time = in.time_of_day();
    in.expect(" GMT");
    return in.is_at_end() ? make_time(static_cast<int>(year), month, day, time) : std::nullopt;
}

/// The part after "Sunday, ".
std::optional<std::chrono::sys_seconds> read_old_date(
    std::string_view text, std::chrono::sys_seconds now) noexcept {
    date_reader in(text);
    const unsigned day = in.number(2);
    in.expect("-");
    const unsigned month = in.month();
    in.expect("-");
    const unsigned year = in.number(2);
    in.expect(" ");
    const std::chrono::seconds time = in.time_of_day();
    in.expect(" GMT");
    return in.is_at_end() ? make_time(century_of_two_digits(year, now), month, day, time)
                          : std::nullopt;
}

/// The part after "Sun " in the format of C's asctime.
std::optional<std::chrono::sys_seconds> read_asctime_date(std::string_view text) noexcept {
    date_reader in(text);
    const unsigned month = in.month();
    in.expect(" ");
    const unsigned day = in.padded_day();
    in.expect(" ");
    const std::chrono::seconds time = in.time_of_day();
    in.expect(" ");
    const unsigned year = in.number(4);
    return in.is_at_end() ? make_time(static_cast<int>(year), month, day, time) : std::nullopt;
}

}  // namespace

std::optional<std::chrono::sys_seconds> driver::parse_http_date(
    std::string_view text, std::chrono::sys_seconds now) noexcept {
    if (std::string_view rest = text;
        take_day_name(rest, day_form::whole) && rest.starts_with(", ")) {
        return read_old_date(rest.substr(2), now);
    }
    if (!take_day_name(text, day_form::cut)) {
        return std::nullopt;
    }
    if (text.starts_with(", ")) {
        return read_fixed_date(text.substr(2));
    }
    return text.starts_with(' ') ? read_asctime_date(text.substr(1)) : std::nullopt;
}

std::optional<std::chrono::seconds> driver::parse_retry_after(
    std::string_view value, std::chrono::sys_seconds now, std::chrono::seconds longest) noexcept {
    // A longer time does not fit into a `duration`.
    longest = std::min(longest, std::chrono::floor<std::chrono::seconds>(duration::max()));
    constexpr std::string_view blanks = " \t";
    const std::size_t begin = value.find_first_not_of(blanks);
    if (begin == std::string_view::npos) {
        return std::nullopt;
    }
    value = value.substr(begin, value.find_last_not_of(blanks) + 1 - begin);
    if (value.find_first_not_of("0123456789") != std::string_view::npos) {
        const auto date = driver::parse_http_date(value, now);
        if (!date || *date - now > longest) {
            return std::nullopt;
        }
        return std::max(std::chrono::seconds(*date - now), std::chrono::seconds(0));
    }
    std::chrono::seconds wait{0};
    for (const char digit : value) {
        wait = wait * 10 + std::chrono::seconds(digit - '0');
        if (wait > longest) {
            return std::nullopt;
        }
    }
    return wait;
}

}  // namespace reprise
