#pragma once

/// Reads options from JSON, strictly: wrong kinds, missing units and unknown members are errors
/// with their path and what is accepted instead.

#include <chrono>
#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <reprise/json/value.hpp>

namespace reprise::json {

/// Steps from the root; indexes of arrays are decimal numbers.
using value_path = std::vector<std::string>;

/// "services[1].calls"
[[nodiscard]] std::string to_string(const value_path& path);

/// Reads "services[1].calls" or "services.1.calls".
[[nodiscard]] value_path parse_path(std::string_view text);

struct reading_error {
    value_path path;
    std::string message;
};

/// Problems found while one document was read.
class reading_report {
public:
    /// Problems beyond this number are not recorded.
    static constexpr std::size_t problems_max = 100;

    void add(value_path path, std::string message);
    /// A member that was accepted and has no effect.
    void add_unused(value_path path);

    [[nodiscard]] bool has_failed() const noexcept { return !problems_.empty(); }
    /// In the order in which they were found.
    [[nodiscard]] const std::vector<reading_error>& problems() const noexcept { return problems_; }
    [[nodiscard]] const std::vector<value_path>& unused() const noexcept { return unused_; }

private:
    std::vector<reading_error> problems_;
    std::vector<value_path> unused_;
};

/// ", did you mean 'x'?" if there is a similar name; otherwise "; accepted: a, b, c".
[[nodiscard]] std::string suggest(
    std::string_view wrong, std::span<const std::string_view> accepted);

template <class Enum>
using enum_names = std::span<const std::pair<std::string_view, Enum>>;

/// Reads the members of one object into options. A member that is absent or wrong leaves its option
/// unchanged. Reading continues after a problem, so that all of them are found. Call `finish` at
/// the end.
class object_reader {
public:
    /// If `content` is not an object, that is a problem.
    object_reader(const value& content, value_path path, reading_report& report);

    [[nodiscard]] bool has(std::string_view name) const;
    /// The member, or null; it then counts as known.
    [[nodiscard]] const value* take(std::string_view name);
    [[nodiscard]] value_path path_of(std::string_view name) const;
    [[nodiscard]] reading_report& report() const { return *report_; }
    [[nodiscard]] bool has_failed() const { return report_->has_failed(); }
    /// Reports a problem of a member; an empty name means the object itself.
    void fail(std::string_view name, std::string message) const;

    void read(std::string_view name, double& into);
    void read(std::string_view name, bool& into);
    void read(std::string_view name, std::string& into);
    /// A string with a unit: "500ms".
    void read(std::string_view name, std::chrono::nanoseconds& into);
    template <std::unsigned_integral Number>
        requires(!std::same_as<Number, bool>)
    void read(std::string_view name, Number& into) {
        const value* found = take(name);
        if (const auto number = found == nullptr
                                    ? std::nullopt
                                    : read_whole(name, *found, static_cast<Number>(-1))) {
            into = static_cast<Number>(*number);
        }
    }
    template <class T>
    void read(std::string_view name, std::optional<T>& into) {
        if (has(name)) {
            T content = into.value_or(T{});
            read(name, content);
            into = std::move(content);
        } else {
            accept(name);
        }
    }
    template <class Enum>
    void read(std::string_view name, Enum& into, enum_names<Enum> names) {
        const value* found = take(name);
        if (found == nullptr) {
            return;
        }
        const std::string text(found->as_string().value_or(std::string_view{}));
        if (!found->as_string()) {
            fail(name, "must be a string");
            return;
        }
        std::vector<std::string_view> accepted;
        for (const auto& [known, meaning] : names) {
            if (known == text) {
                into = meaning;
                return;
            }
            accepted.push_back(known);
        }
        fail(name, "'" + text + "' is unknown" + suggest(text, accepted));
    }

    /// The member is known and read elsewhere.
    void accept(std::string_view name) { static_cast<void>(take(name)); }
    /// Accepts the member, which has no effect; the report lists it.
    void ignore(std::string_view name);
    /// A problem if it is absent.
    void require(std::string_view name);
    /// Unknown members are a problem.
    void finish();

private:
    template <class As, class Into>
    void read_as(std::string_view name, const As& as, const char* requirement, Into& into);
    [[nodiscard]] std::optional<std::uint64_t> read_whole(
        std::string_view name, const value& found, std::uint64_t max) const;

    const object* members_;
    value_path path_;
    reading_report* report_;
    std::vector<std::string_view> known_;
};

/// Parses a duration with its unit; on failure reports it at `path` and returns zero.
[[nodiscard]] std::chrono::nanoseconds read_duration(
    const value& content, const value_path& path, reading_report& report);

}  // namespace reprise::json
