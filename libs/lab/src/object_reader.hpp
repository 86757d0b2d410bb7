#pragma once

/// Reads options from JSON, strictly: wrong kinds, missing units and unknown members are errors
/// with their path and what is accepted instead.

#include <array>
#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <reprise/json/value.hpp>
#include <reprise/retry/time.hpp>

namespace reprise::lab::detail {

/// Steps from the root; indexes of arrays are decimal numbers.
using json_path = std::vector<std::string>;

/// "services[1].calls"
[[nodiscard]] std::string to_string(const json_path& path);

/// Reads "services[1].calls" or "services.1.calls".
[[nodiscard]] json_path parse_path(std::string_view text);

struct reading_error {
    json_path path;
    std::string message;
};

/// The first problem of one document.
using reading_problem = std::optional<reading_error>;

/// ", did you mean 'x'?" if there is a similar name; otherwise "; accepted: a, b, c".
[[nodiscard]] std::string suggest(
    std::string_view wrong, std::span<const std::string_view> accepted);

template <class Enum>
using enum_names = std::span<const std::pair<std::string_view, Enum>>;

/// Reads the members of one object into options. A member that is absent leaves its option
/// unchanged. After the first problem, reads have no effect. Call `finish` at the end.
class object_reader {
public:
    /// If `content` is not an object, that is a problem.
    object_reader(const json::value& content, json_path path, reading_problem& problem);

    [[nodiscard]] bool has(std::string_view name) const;
    /// The member, or null; it then counts as known.
    [[nodiscard]] const json::value* take(std::string_view name);
    [[nodiscard]] json_path path_of(std::string_view name) const;
    [[nodiscard]] reading_problem& problem() const { return *problem_; }
    [[nodiscard]] bool has_failed() const { return problem_->has_value(); }
    void fail(std::string_view name, std::string message) const;

    void read(std::string_view name, double& into);
    void read(std::string_view name, bool& into);
    void read(std::string_view name, std::string& into);
    /// A string with a unit: "500ms".
    void read(std::string_view name, duration& into);
    template <std::unsigned_integral Number>
        requires(!std::same_as<Number, bool>)
    void read(std::string_view name, Number& into) {
        if (const json::value* found = take(name)) {
            into = static_cast<Number>(
                read_whole(name, *found, std::uint64_t{static_cast<Number>(-1)}));
        }
    }
    template <class T>
    void read(std::string_view name, std::optional<T>& into) {
        if (has(name)) {
            T content = into.value_or(T{});
            read(name, content);
            into = std::move(content);
        } else {
            ignore(name);
        }
    }
    template <class Enum>
    void read(std::string_view name, Enum& into, enum_names<Enum> names) {
        std::string text;
        if (!has(name)) {
            ignore(name);
            return;
        }
        read(name, text);
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

    /// Accepts the member without using it.
    void ignore(std::string_view name) { static_cast<void>(take(name)); }
    /// A problem if it is absent.
    void require(std::string_view name);
    /// Unknown members are a problem.
    void finish();

private:
    [[nodiscard]] std::uint64_t read_whole(
        std::string_view name, const json::value& found, std::uint64_t max) const;

    const json::object* members_;
    json_path path_;
    reading_problem* problem_;
    std::vector<std::string_view> known_;
};

/// Parses a duration with its unit; on failure reports it at `path`.
[[nodiscard]] duration read_duration(
    const json::value& content, const json_path& path, reading_problem& problem);

}  // namespace reprise::lab::detail
