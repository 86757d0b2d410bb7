#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <reprise/json/value.hpp>
#include <reprise/sandbox/cluster_options.hpp>

#include "http_services/http_texts.hpp"

namespace reprise::sandbox::detail {

// One field of the forms that create and change buckets.
struct setting_facts {
    std::string_view name;
    std::string_view values;  // readable description
    std::string_view effect;  // its effect in the sandbox
    // Stores the text in the options and returns false if it is malformed. Null for the name, which
    // the caller reads.
    bool (*read)(std::string_view text, bucket_options& into);
    // The text of the refusal; empty: it lists the values.
    std::string_view problem{};
};

// The memory of all buckets together.
inline constexpr std::uint64_t memory_quota_mb = 8192;

std::span<const setting_facts> bucket_setting_table() noexcept;

// The invalid field, and why it is invalid.
using setting_problem = std::pair<std::string, std::string>;

// Reads a form into `into`. Fields that the form does not contain are not changed.
std::optional<setting_problem> read_bucket_form(const form_fields& form, bucket_options& into);
// Finds a change that is not allowed once the bucket exists.
std::optional<setting_problem> find_forbidden_change(
    const bucket_options& before, const bucket_options& after);

// Sets the members that describe the settings.
void show_bucket_settings(json::object& into, const bucket_options& bucket);

}  // namespace reprise::sandbox::detail
