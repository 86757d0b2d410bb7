#include <reprise/json/object_reader.hpp>

#include <algorithm>
#include <cmath>
#include <functional>

#include <reprise/base/closest_name.hpp>
#include <reprise/base/duration_text.hpp>

namespace reprise::json {

std::string to_string(const value_path& path) {
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

value_path parse_path(std::string_view text) {
    value_path path;
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

void reading_report::add(value_path path, std::string message) {
    if (problems_.size() < problems_max) {
        problems_.push_back({std::move(path), std::move(message)});
    }
}

void reading_report::add_unused(value_path path) {
    unused_.push_back(std::move(path));
}

std::chrono::nanoseconds read_duration(
    const value& content, const value_path& path, reading_report& report) {
    const auto text = content.as_string();
    const auto parsed = text ? base::parse_duration_text(*text) : std::nullopt;
    if (!parsed) {
        report.add(
            path, text
                      ? "'" + std::string(*text) + "' is not a time with its unit, such as \"2.5s\""
                      : "must be a time with its unit, such as \"500ms\"");
    }
    return parsed.value_or(std::chrono::nanoseconds::zero());
}

object_reader::object_reader(const value& content, value_path path, reading_report& report)
    : members_(content.as_object()), path_(std::move(path)), report_(&report) {
    if (members_ == nullptr) {
        report.add(path_, "must be an object, not " + std::string(to_string(content.what())));
    }
}

bool object_reader::has(std::string_view name) const {
    return members_ != nullptr && members_->find(name) != nullptr;
}

const value* object_reader::take(std::string_view name) {
    if (std::ranges::find(known_, name) == known_.end()) {
        known_.push_back(name);
    }
    return members_ == nullptr ? nullptr : members_->find(name);
}

void object_reader::ignore(std::string_view name) {
    if (take(name) != nullptr) {
        report_->add_unused(path_of(name));
    }
}

value_path object_reader::path_of(std::string_view name) const {
    value_path path = path_;
    path.emplace_back(name);
    return path;
}

void object_reader::fail(std::string_view name, std::string message) const {
    report_->add(name.empty() ? path_ : path_of(name), std::move(message));
}

// Takes what `as` finds in the member, or reports what it must be.
template <class As, class Into>
void object_reader::read_as(
    std::string_view name, const As& as, const char* requirement, Into& into) {
    if (const value* found = take(name)) {
        if (const auto content = as(*found)) {
            into = *content;
        } else {
            fail(name, requirement);
        }
    }
}

void object_reader::read(std::string_view name, double& into) {
    const auto as_finite = [](const value& found) {
        const auto number = found.as_double();
        return number && std::isfinite(*number) ? number : std::nullopt;
    };
    read_as(name, as_finite, "must be a number", into);
}

void object_reader::read(std::string_view name, bool& into) {
    read_as(name, std::mem_fn(&value::as_bool), "must be true or false", into);
}

void object_reader::read(std::string_view name, std::string& into) {
    read_as(name, std::mem_fn(&value::as_string), "must be a string", into);
}

void object_reader::read(std::string_view name, std::chrono::nanoseconds& into) {
    if (const value* found = take(name)) {
        const std::size_t problems = report_->problems().size();
        const auto read = read_duration(*found, path_of(name), *report_);
        if (report_->problems().size() == problems) {
            into = read;
        }
    }
}

void object_reader::require(std::string_view name) {
    if (members_ != nullptr && members_->find(name) == nullptr) {
        fail({}, "needs '" + std::string(name) + "'");
    }
}

void object_reader::finish() {
    if (members_ == nullptr) {
        return;
    }
    for (const member& each : *members_) {
        if (std::ranges::find(known_, each.name) == known_.end()) {
            fail(each.name, "is unknown here" + suggest(each.name, known_));
        }
    }
}

std::optional<std::uint64_t> object_reader::read_whole(
    std::string_view name, const value& found, std::uint64_t max) const {
    const auto number = found.as_uint64();
    if (!number || *number > max) {
        fail(name, "must be a whole number of at most " + std::to_string(max));
        return std::nullopt;
    }
    return number;
}

}  // namespace reprise::json
