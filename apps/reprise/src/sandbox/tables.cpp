#include "sandbox/tables.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>

#include <fmt/format.h>

#include <reprise/json/write.hpp>
#include <reprise/sandbox/port_name.hpp>

namespace reprise::app {

std::string cell(const json::value& row, std::string_view name) {
    const json::value* member = row.find(name);
    if (member == nullptr || member->is_null()) {
        return "-";
    }
    if (const auto text = member->as_string()) {
        return text->empty() ? "-" : std::string(*text);
    }
    return json::serialize(*member);
}

const json::array& list_of(const json::value& answer, std::string_view name) {
    static const json::array nothing;
    const json::value* member = answer.find(name);
    const json::array* elements = member != nullptr ? member->as_array() : nullptr;
    return elements != nullptr ? *elements : nothing;
}

std::string member_table(
    const json::array& elements, const std::vector<std::string>& heading,
    const std::vector<std::string_view>& names) {
    std::vector<std::vector<std::string>> rows;
    for (const json::value& element : elements) {
        std::vector<std::string>& row = rows.emplace_back();
        for (const std::string_view name : names) {
            row.push_back(cell(element, name));
        }
    }
    return to_columns(heading, rows);
}

namespace {

[[nodiscard]] std::string effect_text(const json::value& fault) {
    const json::value* effect = fault.find("effect");
    if (effect == nullptr) {
        return "-";
    }
    if (const auto word = effect->as_string()) {
        return std::string(*word);
    }
    if (effect->find("delay_ms") != nullptr) {
        return "delay " + cell(*effect, "delay_ms") + "ms";
    }
    if (effect->find("trickle_ms") != nullptr) {
        return "trickle " + cell(*effect, "trickle_ms") + "ms";
    }
    for (const std::string_view name : {"truncate", "garbage"}) {
        if (effect->find(name) != nullptr) {
            return std::string(name) + " " + cell(*effect, name);
        }
    }
    return "status " + cell(*effect, "status");
}

[[nodiscard]] std::string service_effect_text(const json::value& fault) {
    const json::value* effect = fault.find("effect");
    const json::object* members = effect == nullptr ? nullptr : effect->as_object();
    if (members == nullptr) {
        return cell(fault, "effect");
    }
    for (const std::string_view name :
         {"redirect", "delay_ms", "close_mid_body", "wrong_length", "encoding", "continue_first",
          "bytes_after", "bytes_before", "status"}) {
        if (members->find(name) != nullptr) {
            return std::string(name == "delay_ms" ? "delay" : name) + " " + cell(*effect, name) +
                   (name == "delay_ms" ? "ms" : "");
        }
    }
    return "-";
}

[[nodiscard]] std::string service_fault_table(const json::array& faults, bool is_second) {
    if (faults.empty()) {
        return {};
    }
    std::vector<std::vector<std::string>> rows;
    rows.reserve(faults.size());
    for (const json::value& fault : faults) {
        rows.push_back(
            {cell(fault, "id"), cell(fault, "service"), cell(fault, "method"), cell(fault, "path"),
             cell(fault, "statement"), cell(fault, "context"), cell(fault, "node"),
             cell(fault, "skip"), cell(fault, "every"), cell(fault, "probability"),
             cell(fault, "limit"), service_effect_text(fault), cell(fault, "matched"),
             cell(fault, "taken")});
    }
    return (is_second ? "\n" : "") +
           to_columns(
               {"id", "service", "method", "path", "statement", "context", "node", "skip", "every",
                "probability", "count", "effect", "matched", "taken"},
               rows);
}

[[nodiscard]] std::string opcodes_text(const json::value& fault) {
    std::string text;
    for (const json::value& op : list_of(fault, "ops")) {
        text += (text.empty() ? "" : ",") + std::string(op.as_string().value_or("?"));
    }
    return text.empty() ? "any" : text;
}

// Whether any node has a port with this name.
[[nodiscard]] bool has_port(const json::array& nodes, std::string_view name) {
    return std::ranges::any_of(nodes, [name](const json::value& node) {
        const json::value* port = node.find(name);
        return port != nullptr && port->as_uint64().value_or(0) != 0;
    });
}

}  // namespace

std::string to_columns(
    const std::vector<std::string>& heading, const std::vector<std::vector<std::string>>& rows) {
    std::vector<std::size_t> widths;
    widths.reserve(heading.size());
    for (const std::string& title : heading) {
        widths.push_back(title.size());
    }
    for (const auto& row : rows) {
        for (std::size_t i = 0; i < row.size(); ++i) {
            widths[i] = std::max(widths[i], row[i].size());
        }
    }
    std::string text;
    const auto add_line = [&](const std::vector<std::string>& cells) {
        std::string line;
        for (std::size_t i = 0; i < cells.size(); ++i) {
            line += fmt::format("{:<{}}  ", cells[i], widths[i]);
        }
        line.erase(line.find_last_not_of(' ') + 1);
        text += line + "\n";
    };
    add_line(heading);
    for (const auto& row : rows) {
        add_line(row);
    }
    return text;
}

std::string status_tables(const json::value& answer) {
    const json::array& nodes = list_of(answer, "nodes");
    std::vector<std::string> heading{"node", "state", "host", "kv", "kv tls", "management"};
    std::vector<std::string> names{"node", "state", "host", "kv", "kv_tls", "management"};
    for (const wire::service service : wire::list_services(wire::is_http_service)) {
        for (const wire::transport over : {wire::transport::plain, wire::transport::tls}) {
            const std::string name = sandbox::port_name(service, over);
            if (name != "management" && has_port(nodes, name)) {
                names.push_back(name);
                heading.push_back(name);
                std::ranges::replace(heading.back(), '_', ' ');
            }
        }
    }
    return member_table(nodes, heading, {names.begin(), names.end()}) + "\n" +
           member_table(
               list_of(answer, "buckets"), {"bucket", "manifest"}, {"name", "manifest_uid"}) +
           fmt::format(
               "\n{} connections, {} requests, {} HTTP requests, {} fault rules, {} of services\n",
               cell(answer, "connections"), cell(answer, "requests"),
               cell(answer, "service_requests"), cell(answer, "faults"),
               cell(answer, "service_faults"));
}

std::string fault_table(const json::value& answer) {
    std::vector<std::vector<std::string>> rows;
    for (const json::value& fault : list_of(answer, "faults")) {
        rows.push_back(
            {cell(fault, "id"), opcodes_text(fault), cell(fault, "key"), cell(fault, "node"),
             cell(fault, "bucket"), cell(fault, "skip"), cell(fault, "every"),
             cell(fault, "probability"), cell(fault, "limit"), effect_text(fault),
             cell(fault, "matched"), cell(fault, "taken")});
    }
    std::string text;
    if (!rows.empty()) {
        text = to_columns(
            {"id", "opcode", "key", "node", "bucket", "skip", "every", "probability", "count",
             "effect", "matched", "taken"},
            rows);
    }
    text += service_fault_table(list_of(answer, "service_faults"), !text.empty());
    return text.empty() ? "no fault rules\n" : text;
}

std::string audit_tables(const json::value& answer) {
    return member_table(
               list_of(answer, "entries"),
               {"number", "node", "connection", "opaque", "opcode", "bucket", "vbucket", "key",
                "applied", "status", "answer", "fault"},
               {"number", "node", "connection", "opaque", "op", "bucket", "vbucket", "key",
                "applied", "status", "answer", "fault"}) +
           "\n" +
           member_table(
               list_of(answer, "counters"), {"opcode", "status", "count", "applied"},
               {"op", "status", "count", "applied"}) +
           fmt::format("\n{} requests in total\n", cell(answer, "requests"));
}

}  // namespace reprise::app
