#pragma once

/// The options that choose the effect of a fault rule: a table for key-value, a table for the HTTP
/// services, and one for both.

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>

#include <CLI/CLI.hpp>

#include <reprise/json/value.hpp>

namespace reprise::app {

struct effect_option {
    enum class form : std::uint8_t {
        word,     ///< a flag; `member` is the effect
        text,     ///< `member` of the effect's object, like all below
        count,    ///< a whole number, 0 or more
        integer,  ///< a whole number
        time,     ///< in milliseconds
    };

    const char* name;
    std::string_view member;
    form kind;
    const char* help;
    /// If this other option is typed, too, both describe one effect.
    std::string_view belongs_to = {};
};

inline constexpr effect_option shared_effects[] = {
    {"--delay", "delay_ms", effect_option::form::time, "Apply, answer later: 200ms, 2s"},
    {"--never-answer", "no_answer", effect_option::form::word, "Apply, and never answer"},
    {"--close-before", "close_before", effect_option::form::word, "Close without applying"},
    {"--close-after", "close_after", effect_option::form::word,
     "Apply, then close without an answer"},
};

/// The effect as typed. It must not move while the command line is parsed.
class effect_input {
public:
    void add_options(CLI::App& command, std::span<const effect_option> options);
    [[nodiscard]] bool is_typed(std::string_view name) const;
    /// The effect for the control command. Throws `usage_error` unless exactly one was typed.
    [[nodiscard]] json::value make() const;

private:
    struct slot {
        effect_option described;
        CLI::Option* option = nullptr;
        std::string text{};
        std::uint64_t count = 0;
        std::int64_t integer = 0;
    };

    std::deque<slot> slots_;
};

}  // namespace reprise::app
