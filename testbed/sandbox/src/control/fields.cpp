#include "control/fields.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include <reprise/base/hex.hpp>

namespace reprise::sandbox::detail {

namespace {

std::optional<std::uint32_t> parse_hex_code(std::string_view text) noexcept {
    if (!text.starts_with("0x")) {
        return std::nullopt;
    }
    const auto code = base::parse_hex(text.substr(2));
    return code && *code <= UINT32_MAX ? std::optional(static_cast<std::uint32_t>(*code))
                                       : std::nullopt;
}

}  // namespace

std::optional<wire::opcode> parse_opcode(std::string_view text) noexcept {
    if (const auto code = parse_hex_code(text)) {
        return *code <= 0xff ? std::optional(static_cast<wire::opcode>(*code)) : std::nullopt;
    }
    for (unsigned byte = 0; byte <= 0xff; ++byte) {
        const auto& facts = wire::opcode_info(static_cast<wire::opcode>(byte));
        if (facts.is_known && facts.name == text) {
            return facts.op;
        }
    }
    return std::nullopt;
}

std::optional<wire::status> parse_status(std::string_view text) noexcept {
    if (const auto code = parse_hex_code(text)) {
        return *code <= 0xffff ? std::optional(static_cast<wire::status>(*code)) : std::nullopt;
    }
    for (const wire::status_facts& facts : wire::all_statuses()) {
        if (facts.name == text) {
            return facts.code;
        }
    }
    return std::nullopt;
}

std::string status_text(wire::status code) {
    return "0x" + base::to_hex(static_cast<std::uint32_t>(code), 4);
}

const json::value* field_reader::any(std::string_view name) {
    asked_.push_back(name);
    return request_.find(name);
}

void field_reader::wrong(std::string text) {
    if (problem_.empty()) {
        problem_ = std::move(text);
    }
}

void field_reader::must_be(std::string_view name, std::string_view what) {
    wrong("'" + std::string(name) + "' must be " + std::string(what));
}

template <class Read>
auto field_reader::typed(std::string_view name, Read read, std::string_view what) {
    const json::value* given = any(name);
    const auto found = given == nullptr ? std::invoke_result_t<Read, const json::value&>()
                                        : std::invoke(read, *given);
    if (given != nullptr && !found) {
        must_be(name, what);
    }
    return found;
}

template <class Parse>
auto field_reader::named(std::string_view name, Parse parse, std::string_view what)
    -> std::invoke_result_t<Parse, std::string_view> {
    const auto given = text(name);
    const auto found = given ? parse(*given) : std::nullopt;
    if (given && !found) {
        wrong("'" + *given + "' is not " + std::string(what));
    }
    return found;
}

template <class Value>
Value field_reader::required(std::string_view name, std::optional<Value> found) {
    if (!found) {
        wrong("'" + std::string(name) + "' is missing");
    }
    return std::move(found).value_or(Value());
}

std::optional<std::string> field_reader::text(std::string_view name) {
    const auto found = typed(name, &json::value::as_string, "a string");
    return found ? std::optional(std::string(*found)) : std::nullopt;
}

std::string field_reader::required_text(std::string_view name) {
    return required(name, text(name));
}

std::optional<std::uint64_t> field_reader::number(std::string_view name) {
    return typed(name, &json::value::as_uint64, "a whole number, 0 or more");
}

std::uint64_t field_reader::required_number(std::string_view name) {
    return required(name, number(name));
}

std::optional<std::uint64_t> field_reader::bounded(std::string_view name, std::uint64_t most) {
    const auto found = number(name);
    if (found.value_or(0) > most) {
        wrong("'" + std::string(name) + "' must not exceed " + std::to_string(most));
    }
    return found;
}

std::optional<double> field_reader::share(std::string_view name) {
    constexpr std::string_view what = "a number from 0 to 1";
    const auto found = typed(name, &json::value::as_double, what);
    if (found && (*found < 0 || *found > 1)) {
        must_be(name, what);
        return std::nullopt;
    }
    return found;
}

std::optional<bool> field_reader::flag(std::string_view name) {
    return typed(name, &json::value::as_bool, "true or false");
}

std::optional<node_id> field_reader::node(std::string_view name) {
    const auto found = number(name);
    if (found && *found > 0xffff) {
        wrong("'" + std::string(name) + "' is not a node");
        return std::nullopt;
    }
    return found ? std::optional(node_id{static_cast<std::uint32_t>(*found)}) : std::nullopt;
}

node_id field_reader::required_node(std::string_view name) {
    return required(name, node(name));
}

std::optional<wire::opcode> field_reader::op(std::string_view name) {
    return named(name, parse_opcode, "an opcode");
}

std::vector<wire::opcode> field_reader::ops(std::string_view name) {
    std::vector<wire::opcode> found;
    const json::array* list =
        typed(name, [](const json::value& at) { return at.as_array(); }, "a list of opcodes");
    if (list == nullptr) {
        return found;
    }
    for (const json::value& element : *list) {
        const auto op = parse_opcode(element.as_string().value_or(std::string_view()));
        if (!op) {
            wrong("'" + std::string(name) + "' must contain only opcodes");
            return found;
        }
        found.push_back(*op);
    }
    return found;
}

std::optional<wire::status> field_reader::status(std::string_view name) {
    return named(name, parse_status, "a status");
}

std::optional<int> field_reader::http_status(std::string_view name) {
    const auto found = number(name);
    if (found && (*found < 100 || *found > 999)) {
        wrong("'" + std::string(name) + "' must be 100 to 999");
        return std::nullopt;
    }
    return found ? std::optional(static_cast<int>(*found)) : std::nullopt;
}

std::optional<wire::service> field_reader::http_service(std::string_view name) {
    const auto word = text(name);
    if (!word) {
        return std::nullopt;
    }
    for (const wire::service each : wire::list_services(wire::is_http_service)) {
        if (to_string(each) == *word) {
            return each;
        }
    }
    wrong(
        "'" + std::string(name) + "' must be one of " + wire::name_services(wire::is_http_service));
    return std::nullopt;
}

bool field_reader::finish() {
    for (const json::member& given : request_) {
        if (given.name != "command" && std::ranges::find(asked_, given.name) == asked_.end()) {
            wrong("'" + given.name + "' is not a member of this command");
        }
    }
    return problem_.empty();
}

}  // namespace reprise::sandbox::detail
