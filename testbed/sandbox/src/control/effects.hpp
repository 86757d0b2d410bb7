#pragma once

#include <optional>

#include <reprise/json/value.hpp>
#include <reprise/sandbox/fault_effect.hpp>

#include "control/fields.hpp"

// Effects of fault rules as JSON: a word, or an object with members.

namespace reprise::sandbox::detail {

// Reads the member "effect". On an error, `fields` describes it.
template <class Effect>
std::optional<Effect> read_effect(field_reader& fields);

template <class Effect>
json::value describe_effect(const Effect& effect);

extern template std::optional<fault_effect> read_effect(field_reader&);
extern template std::optional<service_fault_effect> read_effect(field_reader&);
extern template json::value describe_effect(const fault_effect&);
extern template json::value describe_effect(const service_fault_effect&);

}  // namespace reprise::sandbox::detail
