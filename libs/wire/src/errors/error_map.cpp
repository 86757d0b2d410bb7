#include <reprise/wire/error_map.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <utility>

#include <reprise/base/bytes.hpp>
#include <reprise/base/enum_table.hpp>
#include <reprise/base/hex.hpp>
#include <reprise/json/parse.hpp>
#include <reprise/json/write.hpp>
#include <reprise/wire/compression.hpp>

#include "located_text.hpp"

namespace reprise::wire {

namespace {

constexpr std::size_t error_map_depth_max = 32;
// A larger interval makes a retry spec unusable. In milliseconds.
constexpr std::int64_t interval_max = std::numeric_limits<std::int32_t>::max();

// In the order of error_attribute.
constexpr std::array<std::string_view, error_attribute_count> attribute_names{
    "success",
    "item-only",
    "item-deleted",
    "item-locked",
    "invalid-input",
    "fetch-config",
    "conn-state-invalidated",
    "auth",
    "special-handling",
    "support",
    "temp",
    "internal",
    "retry-now",
    "retry-later",
    "auto-retry",
    "subdoc",
    "dcp",
    "rate-limit",
    "system-constraint",
    "no-retry"};

// Reports an error of a map. All errors but one count as corruption.
std::unexpected<error_map_error> corrupt(
    error_map_errc code, std::string path, std::string detail = {}) {
    return std::unexpected(error_map_error{code, std::move(path), std::move(detail)});
}

// Accepts upper case and leading zeros, but no signs, spaces or prefixes.
std::expected<std::uint16_t, error_map_error> parse_code(const std::string& key) {
    const std::string path = "errors." + key;
    const bool is_hexadecimal = !key.empty() && std::ranges::all_of(key, [](char each) {
        return base::parse_hex_digit(each).has_value();
    });
    if (!is_hexadecimal) {
        return corrupt(error_map_errc::code_invalid, path, "not a hexadecimal number");
    }
    const std::size_t zeros = std::min(key.find_first_not_of('0'), key.size());
    std::uint16_t code = 0;
    if (zeros < key.size()) {
        const auto result = std::from_chars(key.data() + zeros, key.data() + key.size(), code, 16);
        if (result.ec != std::errc{}) {
            return corrupt(error_map_errc::code_out_of_range, path, "above ffff");
        }
    }
    return code;
}

// Returns milliseconds, or nothing if the interval is unusable.
std::optional<std::chrono::milliseconds> interval_member(
    const json::value& source, std::string_view name) {
    const json::value* found = source.find(name);
    const auto number = found == nullptr ? std::nullopt : found->as_int64();
    if (!number || *number < 0 || *number > interval_max) {
        return std::nullopt;
    }
    return std::chrono::milliseconds(*number);
}

// Absent, null and 0 mean "no limit". Returns false if the member is not an interval.
bool read_limit(
    const json::value& source, std::string_view name,
    std::optional<std::chrono::milliseconds>& out) {
    const json::value* found = source.find(name);
    if (found == nullptr || found->is_null()) {
        return true;
    }
    out = interval_member(source, name);
    if (!out) {
        return false;
    }
    if (out->count() == 0) {
        out.reset();
    }
    return true;
}

// Drops an unusable spec but keeps the entry and the map.
std::optional<retry_spec> read_retry_spec(const json::value* source) {
    if (source == nullptr || source->as_object() == nullptr) {
        return std::nullopt;
    }
    const json::value* name = source->find("strategy");
    const auto strategy = name == nullptr ? std::nullopt : name->as_string();
    retry_spec spec;
    if (strategy == "constant") {
        spec.kind = retry_spec_kind::constant;
    } else if (strategy == "linear") {
        spec.kind = retry_spec_kind::linear;
    } else if (strategy == "exponential") {
        spec.kind = retry_spec_kind::exponential;
    } else {
        return std::nullopt;
    }
    const auto interval = interval_member(*source, "interval");
    const auto after = interval_member(*source, "after");
    // An interval of 0 would be a busy loop.
    if (!interval || interval->count() == 0 || !after) {
        return std::nullopt;
    }
    spec.interval = *interval;
    spec.after = *after;
    if (!read_limit(*source, "ceil", spec.ceil) || !read_limit(*source, "floor", spec.floor) ||
        !read_limit(*source, "max-duration", spec.max_duration)) {
        return std::nullopt;
    }
    return spec;
}

void add_attribute(error_map_entry& entry, std::string_view name, std::uint16_t version) {
    const auto attribute = parse_error_attribute(name);
    if (attribute && (version > 1 || error_attributes::is_of_version_1(*attribute))) {
        entry.attributes.add(*attribute);
    } else {
        entry.unknown_attributes.emplace_back(name);
    }
}

// Reads the entry of one code. Everything but the retry spec must be valid.
std::expected<error_map_entry, error_map_error> read_entry(
    std::uint16_t code, const json::value& source, const std::string& path, std::uint16_t version) {
    if (source.as_object() == nullptr) {
        return corrupt(error_map_errc::entry_invalid, path, "not an object");
    }
    error_map_entry entry;
    entry.code = code;
    for (const auto& [name, target] :
         {std::pair{"name", &entry.name}, std::pair{"desc", &entry.description}}) {
        const json::value* found = source.find(name);
        const auto text = found == nullptr ? std::nullopt : found->as_string();
        if (!text) {
            return corrupt(
                error_map_errc::text_invalid, path + "." + name, "missing or not a string");
        }
        *target = *text;
    }
    const json::value* attributes = source.find("attrs");
    if (attributes == nullptr || attributes->as_array() == nullptr) {
        return corrupt(
            error_map_errc::attributes_invalid, path + ".attrs", "missing or not an array");
    }
    for (const json::value& each : *attributes->as_array()) {
        const auto name = each.as_string();
        if (!name) {
            return corrupt(error_map_errc::attributes_invalid, path + ".attrs", "not a string");
        }
        add_attribute(entry, *name, version);
    }
    const json::value* spec = source.find("retry");
    entry.retry = read_retry_spec(spec);
    const bool is_promised = entry.attributes.has(error_attribute::auto_retry) || spec != nullptr ||
                             source.find("interval") != nullptr;
    entry.is_retry_spec_unusable = is_promised && !entry.retry;
    return entry;
}

// Whether the parser reads this member. Only then is a duplicate ambiguous.
bool is_read_member(const std::vector<std::string>& path) {
    constexpr std::array<std::string_view, 3> top{"version", "revision", "errors"};
    constexpr std::array<std::string_view, 4> in_entry{"name", "desc", "attrs", "retry"};
    const auto is_in = [](const auto& names, std::string_view name) {
        return std::ranges::find(names, name) != names.end();
    };
    if (path.size() == 1) {
        return is_in(top, path[0]);
    }
    if (path[0] != "errors") {
        return false;
    }
    return path.size() == 2 || (path.size() == 3 && is_in(in_entry, path[2])) ||
           (path.size() == 4 && path[2] == "retry");
}

// Two spellings of one code ("1f", "01F") are as ambiguous as a duplicate member.
std::expected<std::vector<error_map_entry>, error_map_error> read_entries(
    const json::object& source, std::uint16_t version) {
    std::vector<error_map_entry> entries;
    entries.reserve(source.size());
    for (const json::member& each : source) {
        const auto code = parse_code(each.name);
        if (!code) {
            return std::unexpected(code.error());
        }
        auto entry = read_entry(*code, each.content, "errors." + each.name, version);
        if (!entry) {
            return std::unexpected(entry.error());
        }
        entries.push_back(std::move(*entry));
    }
    std::ranges::sort(entries, {}, &error_map_entry::code);
    const auto twice = std::ranges::adjacent_find(entries, {}, &error_map_entry::code);
    if (twice != entries.end()) {
        return corrupt(
            error_map_errc::duplicate_member, "errors",
            "code " + std::to_string(twice->code) + " appears twice");
    }
    return entries;
}

// Checks for duplicates first, because the tree keeps only one of the values.
std::expected<error_map, error_map_error> read_map(
    const json::document& document, const parse_error_map_options& options) {
    const json::value& root = document.root;
    if (root.as_object() == nullptr) {
        return corrupt(error_map_errc::not_an_object, "", "top level is not an object");
    }
    for (const json::duplicate_member& duplicate : document.duplicates) {
        if (is_read_member(duplicate.path)) {
            return corrupt(error_map_errc::duplicate_member, to_string(duplicate), "given twice");
        }
    }
    const json::value* found = root.find("version");
    const auto version = found == nullptr ? std::nullopt : found->as_int64();
    if (!version || *version < 1 || *version > options.requested_version) {
        return corrupt(
            error_map_errc::version_invalid, "version",
            "not an integer from 1 to " + std::to_string(options.requested_version));
    }
    found = root.find("revision");
    const auto revision = found == nullptr ? std::nullopt : found->as_int64();
    if (!revision || *revision < 0) {
        return corrupt(error_map_errc::revision_invalid, "revision", "not a non-negative integer");
    }
    found = root.find("errors");
    if (found == nullptr || found->as_object() == nullptr) {
        return corrupt(error_map_errc::errors_invalid, "errors", "missing or not an object");
    }
    const auto format = static_cast<std::uint16_t>(*version);
    auto entries = read_entries(*found->as_object(), format);
    if (!entries) {
        return std::unexpected(entries.error());
    }
    return error_map(format, *revision, std::move(*entries));
}

// Writes the form that read_retry_spec reads. Omits limits that are not set.
void write_retry_spec(json::writer& out, const retry_spec& spec) {
    out.key("retry").begin_object();
    switch (spec.kind) {
        case retry_spec_kind::constant:
            out.member("strategy", "constant");
            break;
        case retry_spec_kind::linear:
            out.member("strategy", "linear");
            break;
        case retry_spec_kind::exponential:
            out.member("strategy", "exponential");
            break;
    }
    out.member("interval", spec.interval.count());
    out.member("after", spec.after.count());
    if (spec.ceil) {
        out.member("ceil", spec.ceil->count());
    }
    if (spec.floor) {
        out.member("floor", spec.floor->count());
    }
    if (spec.max_duration) {
        out.member("max-duration", spec.max_duration->count());
    }
    out.end_object();
}

// Returns lower-case hexadecimal without leading zeros.
std::string code_key(std::uint16_t code) {
    return base::to_shortest_hex(code);
}

}  // namespace

std::string_view to_string(error_attribute attribute) noexcept {
    return attribute_names[static_cast<std::size_t>(attribute)];
}

std::optional<error_attribute> parse_error_attribute(std::string_view name) noexcept {
    const auto found = std::ranges::find(attribute_names, name);
    if (found == attribute_names.end()) {
        return std::nullopt;
    }
    return static_cast<error_attribute>(found - attribute_names.begin());
}

std::string to_string(error_attributes attributes) {
    std::string text;
    for (std::size_t index = 0; index < error_attribute_count; ++index) {
        const auto attribute = static_cast<error_attribute>(index);
        if (attributes.has(attribute)) {
            text += text.empty() ? "" : ", ";
            text += to_string(attribute);
        }
    }
    return text;
}

bool error_map_entry::is_retry_indicated() const noexcept {
    return (attributes.has(error_attribute::retry_now) ||
            attributes.has(error_attribute::retry_later) ||
            attributes.has(error_attribute::auto_retry)) &&
           !attributes.has(error_attribute::no_retry);
}

std::string_view to_string(error_map_errc code) noexcept {
    static constexpr base::enumerator_texts<error_map_errc> texts({
        {error_map_errc::empty_body, "empty error map"},
        {error_map_errc::too_large, "error map too large"},
        {error_map_errc::not_inflatable, "error map cannot be inflated"},
        {error_map_errc::not_json, "error map is not JSON"},
        {error_map_errc::not_an_object, "error map is not an object"},
        {error_map_errc::version_invalid, "invalid version"},
        {error_map_errc::revision_invalid, "invalid revision"},
        {error_map_errc::errors_invalid, "invalid errors"},
        {error_map_errc::code_invalid, "invalid code"},
        {error_map_errc::code_out_of_range, "code out of range"},
        {error_map_errc::duplicate_member, "duplicate"},
        {error_map_errc::entry_invalid, "invalid entry"},
        {error_map_errc::text_invalid, "invalid name or description"},
        {error_map_errc::attributes_invalid, "invalid attributes"},
    });
    return texts[code];
}

std::string to_string(const error_map_error& error) {
    return located_text(error.path, to_string(error.code), error.detail);
}

error_map::error_map(
    std::uint16_t version, std::int64_t revision, std::vector<error_map_entry> entries)
    : version_(version), revision_(revision), entries_(std::move(entries)) {
    std::ranges::sort(entries_, {}, &error_map_entry::code);
    // A map built by hand may repeat a code; lookups rely on unique codes.
    const auto surplus = std::ranges::unique(entries_, {}, &error_map_entry::code);
    entries_.erase(surplus.begin(), surplus.end());
}

const error_map_entry* error_map::find(std::uint16_t code) const noexcept {
    if (code == 0) {
        return nullptr;
    }
    const auto found = std::ranges::lower_bound(entries_, code, {}, &error_map_entry::code);
    return found != entries_.end() && found->code == code ? &*found : nullptr;
}

std::expected<error_map, error_map_error> parse_error_map(
    std::string_view body, const parse_error_map_options& options) {
    if (body.empty()) {
        return corrupt(error_map_errc::empty_body, "");
    }
    if (body.size() > options.size_max_bytes) {
        return corrupt(error_map_errc::too_large, "", std::to_string(body.size()) + " bytes");
    }
    // Must outlive `body`, which then points into it.
    std::vector<std::byte> inflated;
    if (options.is_compressed) {
        auto result = inflate(base::as_bytes(body), options.size_max_bytes);
        if (!result) {
            const bool is_size = result.error() == compression_errc::inflated_too_large;
            return corrupt(
                is_size ? error_map_errc::too_large : error_map_errc::not_inflatable, "",
                std::string(to_string(result.error())));
        }
        inflated = std::move(*result);
        body = base::as_text(inflated);
        if (body.empty()) {
            return corrupt(error_map_errc::empty_body, "");
        }
    }
    json::parse_options limits;
    limits.size_max_bytes = options.size_max_bytes;
    limits.depth_max = error_map_depth_max;
    // The tree alone would hide duplicates.
    limits.duplicates = json::duplicate_policy::report;
    const auto document = json::parse(body, limits);
    if (!document) {
        return corrupt(error_map_errc::not_json, "", to_string(document.error()));
    }
    return read_map(*document, options);
}

std::string encode_error_map(const error_map& map, std::uint16_t version) {
    std::string text;
    json::writer out(text);
    out.begin_object();
    out.member("version", version);
    out.member("revision", map.revision());
    out.key("errors").begin_object();
    for (const error_map_entry& entry : map.entries()) {
        out.key(code_key(entry.code)).begin_object();
        out.member("name", entry.name);
        out.member("desc", entry.description);
        const error_attributes attributes =
            version == 1 ? entry.attributes.version_1_only() : entry.attributes;
        out.key("attrs").begin_array();
        for (std::size_t index = 0; index < error_attribute_count; ++index) {
            if (attributes.has(static_cast<error_attribute>(index))) {
                out.value(to_string(static_cast<error_attribute>(index)));
            }
        }
        for (const std::string& name : entry.unknown_attributes) {
            out.value(name);
        }
        out.end_array();
        if (entry.retry) {
            write_retry_spec(out, *entry.retry);
        }
        out.end_object();
    }
    out.end_object().end_object();
    return text;
}

}  // namespace reprise::wire
