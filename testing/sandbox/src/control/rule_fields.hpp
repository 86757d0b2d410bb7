#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "control/fields.hpp"

// Shared by rules for key-value and for HTTP requests.

namespace reprise::sandbox::detail {

inline constexpr std::uint64_t rule_delay_ms_max = 86'400'000;
inline constexpr std::uint64_t rule_size_max = std::uint64_t{32} * 1024 * 1024;

// When the rule acts, and on which node.
template <class Rule>
void read_cadence(field_reader& fields, Rule& rule) {
    rule.node = fields.node("node");
    rule.skip = fields.number("skip").value_or(0);
    rule.every = fields.number("every").value_or(1);
    rule.probability = fields.share("probability").value_or(1.0);
    rule.limit = fields.number("limit");
}

// "effect": a word, or an object with members. Both functions return an optional effect.
template <class Effect, class OfWord, class OfObject>
std::optional<Effect> read_rule_effect(
    field_reader& fields, const OfWord& of_word, const OfObject& of_object) {
    const json::value* given = fields.any("effect");
    if (given == nullptr) {
        fields.wrong("'effect' is missing");
        return std::nullopt;
    }
    if (const auto word = given->as_string()) {
        std::optional<Effect> effect = of_word(*word);
        if (!effect) {
            fields.wrong("'" + std::string(*word) + "' is not an effect");
        }
        return effect;
    }
    const json::object* object = given->as_object();
    if (object == nullptr) {
        fields.wrong("'effect' must be a word or an object");
        return std::nullopt;
    }
    field_reader inner(*object);
    std::optional<Effect> effect = of_object(inner);
    if (!effect) {
        fields.wrong(inner.problem());
    }
    return effect;
}

}  // namespace reprise::sandbox::detail
