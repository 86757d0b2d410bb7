#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <reprise/json/value.hpp>
#include <reprise/sandbox/cluster_options.hpp>

#include "services/http_texts.hpp"

namespace reprise::sandbox::detail {

// One field of the forms that make and change buckets.
struct setting_facts {
    std::string_view name;
    std::string_view values;  // for people
    std::string_view effect;  // what it does here
    // Stores the text into the options; false: it is malformed. Fields about the name, which the
    // caller reads, have none.
    bool (*read)(std::string_view text, bucket_options& into);
};

std::span<const setting_facts> bucket_setting_table() noexcept;

// The field that is wrong, and why.
using setting_problem = std::pair<std::string, std::string>;

// Reads what a form gives into `into`; what it does not give stays.
std::optional<setting_problem> read_bucket_form(const form_fields& form, bucket_options& into);
// What cannot be changed once a bucket is there.
std::optional<setting_problem> find_forbidden_change(
    const bucket_options& before, const bucket_options& after);

// Sets the members that show the settings.
void show_bucket_settings(json::object& into, const bucket_options& bucket);

}  // namespace reprise::sandbox::detail
