#include "object_reader.hpp"

#include <algorithm>
#include <cmath>

#include <reprise/base/closest_name.hpp>
#include <reprise/base/duration_text.hpp>

namespace reprise::lab::detail {

std::string to_string(const json_path& path) {
    std::string text;
    for (const std::string& step : path) {
        const bool is_index =
            !step.empty() && step.find_first_not_of("0123456789") == std::string::npos;
        if (is_index) {
            text += "[" + step + "]";
        } else {
            text += (text.empty() ? "" : ".") + step;
        }
    }
    return text;
}

json_path parse_path(std::string_view text) {
    json_path path;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find_first_of(".[]"), text.size());
        if (end > 0) {
            path.emplace_back(text.substr(0, end));
        }
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return path;
}

std::string suggest(std::string_view wrong, std::span<const std::string_view> accepted) {
    const std::string_view closest = base::closest_name(wrong, accepted);
    if (!closest.empty()) {
        return "; did you mean '" + std::string(closest) + "'?";
    }
    std::string text;
    for (const std::string_view each : accepted) {
        text += (text.empty() ? "; accepted: " : ", ") + std::string(each);
    }
    return text;
}

duration read_duration(
    const json::value& content, const json_path& path, reading_problem& problem) {
    const auto text = content.as_string();
    const auto parsed = text ? base::parse_duration_text(*text) : std::nullopt;
    if (!parsed && !problem) {
        problem = reading_error{
            path, text
                      ? "'" + std::string(*text) + "' is not a time with its unit, such as \"2.5s\""
                      : "must be a time with its unit, such as \"500ms\""};
    }
    return parsed.value_or(duration::zero());
}

object_reader::object_reader(const json::value& content, json_path path, reading_problem& problem)
    : members_(content.as_object()), path_(std::move(path)), problem_(&problem) {
    if (members_ == nullptr && !problem) {
        problem = reading_error{
            path_, "must be an object, not " + std::string(json::to_string(content.what()))};
    }
}

bool object_reader::has(std::string_view name) const {
    return members_ != nullptr && members_->find(name) != nullptr && !has_failed();
}

const json::value* object_reader::take(std::string_view name) {
    known_.push_back(name);
    return members_ == nullptr || has_failed() ? nullptr : members_->find(name);
}

json_path object_reader::path_of(std::string_view name) const {
    json_path path = path_;
    path.emplace_back(name);
    return path;
}

void object_reader::fail(std::string_view name, std::string message) const {
    if (!has_failed()) {
        *problem_ = reading_error{name.empty() ? path_ : path_of(name), std::move(message)};
    }
}

void object_reader::read(std::string_view name, double& into) {
    if (const json::value* found = take(name)) {
        const auto number = found->as_double();
        if (!number || !std::isfinite(*number)) {
            fail(name, "must be a number");
            return;
        }
        into = *number;
    }
}

void object_reader::read(std::string_view name, bool& into) {
    if (const json::value* found = take(name)) {
        const auto flag = found->as_bool();
        if (!flag) {
            fail(name, "must be true or false");
            return;
        }
        into = *flag;
    }
}

void object_reader::read(std::string_view name, std::string& into) {
    if (const json::value* found = take(name)) {
        const auto text = found->as_string();
        if (!text) {
            fail(name, "must be a string");
            return;
        }
        into = *text;
    }
}

void object_reader::read(std::string_view name, duration& into) {
    if (const json::value* found = take(name)) {
        into = read_duration(*found, path_of(name), *problem_);
    }
}

void object_reader::require(std::string_view name) {
    if (members_ != nullptr && members_->find(name) == nullptr) {
        fail({}, "needs '" + std::string(name) + "'");
    }
}

void object_reader::finish() {
    if (members_ == nullptr || has_failed()) {
        return;
    }
    for (const json::member& each : *members_) {
        if (std::ranges::find(known_, each.name) == known_.end()) {
            fail(each.name, "is unknown here" + suggest(each.name, known_));
            return;
        }
    }
}

std::uint64_t object_reader::read_whole(
    std::string_view name, const json::value& found, std::uint64_t max) const {
    const auto number = found.as_uint64();
    if (!number || *number > max) {
        fail(name, "must be a whole number of at most " + std::to_string(max));
        return 0;
    }
    return *number;
}

}  // namespace reprise::lab::detail
