#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <reprise/json/value.hpp>
#include <reprise/sandbox/ids.hpp>
#include <reprise/wire/opcode.hpp>
#include <reprise/wire/service.hpp>
#include <reprise/wire/status.hpp>

namespace reprise::sandbox::detail {

// Reads the members of a control request. It keeps the first error; everything read after it is a
// default, so a command reads all members it needs and checks once. A member that was never read is
// an error, too: `finish` finds it.
class field_reader {
public:
    explicit field_reader(const json::object& request) noexcept : request_(request) {}

    std::optional<std::string> text(std::string_view name);
    std::string required_text(std::string_view name);
    std::optional<std::uint64_t> number(std::string_view name);
    std::uint64_t required_number(std::string_view name);
    // A number that must not exceed `most`.
    std::optional<std::uint64_t> bounded(std::string_view name, std::uint64_t most);
    std::optional<double> share(std::string_view name);  // 0..1
    std::optional<bool> flag(std::string_view name);
    std::optional<node_id> node(std::string_view name);
    node_id required_node(std::string_view name);
    std::optional<wire::opcode> op(std::string_view name);
    std::vector<wire::opcode> ops(std::string_view name);
    // By code ("0x86") or by the server's name ("Etmpfail").
    std::optional<wire::status> status(std::string_view name);
    // Of an HTTP answer, 100 to 999.
    std::optional<int> http_status(std::string_view name);
    std::optional<wire::service> http_service(std::string_view name);
    // A value of any type; null if there is none.
    const json::value* any(std::string_view name);

    // Records an error that was found elsewhere.
    void wrong(std::string text);
    // Returns false if there was an error or a member was not read; `problem` then describes it.
    bool finish();
    const std::string& problem() const noexcept { return problem_; }

private:
    void must_be(std::string_view name, std::string_view what);
    // The member as `read` of json::value returns it, which must be `what`.
    template <class Read>
    auto typed(std::string_view name, Read read, std::string_view what);
    // The thing that the text names.
    template <class Parse>
    auto named(std::string_view name, Parse parse, std::string_view what)
        -> std::invoke_result_t<Parse, std::string_view>;
    template <class Value>
    Value required(std::string_view name, std::optional<Value> found);

    const json::object& request_;
    std::vector<std::string_view> asked_;
    std::string problem_;
};

// "set" or "0xd1".
std::optional<wire::opcode> parse_opcode(std::string_view text) noexcept;
std::optional<wire::status> parse_status(std::string_view text) noexcept;
// "0x0086"
std::string status_text(wire::status code);

}  // namespace reprise::sandbox::detail
