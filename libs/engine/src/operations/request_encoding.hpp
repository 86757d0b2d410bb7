#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <reprise/base/byte_writer.hpp>
#include <reprise/engine/engine_options.hpp>
#include <reprise/engine/operation_request.hpp>
#include <reprise/engine/vocabulary.hpp>
#include <reprise/wire/document_key.hpp>
#include <reprise/wire/hello_feature.hpp>

namespace reprise::engine {

class scan_progress;

// Fields of a request that come from the connection and the route.
struct encoding_context {
    std::uint32_t opaque = 0;
    wire::vbucket_id vbucket{};
    wire::collection_id collection = wire::default_collection;
    wire::key_form form = wire::key_form::collection_prefixed;
    wire::hello_feature_set features{};
    // Null if values are sent uncompressed.
    const wire::compression_options* compression = nullptr;
    // A value of at least this many bytes is not copied to the output.
    std::size_t large_value_size_min = SIZE_MAX;
    // Time left for an operation whose request names a time: a scan, or a write with a durability
    // requirement, for which the server gets nine tenths of it as its timeout.
    duration time_left{};
    // Of a range scan.
    const scan_progress* scan = nullptr;
};

// Why a request cannot be sent. Two registers, because each request passes here and almost none
// fails.
struct encoding_error {
    const char* detail = nullptr;  // a literal; null: there is no error
    errc code = errc::invalid_argument;

    [[nodiscard]] explicit operator bool() const noexcept { return detail != nullptr; }
};

// An error, or whether the frame has no value yet: then that of the request follows what was
// appended. Two whole registers: GCC takes smaller fields apart and puts them together again.
class encoding_result {
public:
    explicit encoding_result(encoding_error why) noexcept
        : detail_(why.detail), number_(static_cast<std::uint64_t>(why.code)) {}
    explicit encoding_result(bool is_value_apart) noexcept : number_(is_value_apart ? 1 : 0) {}

    [[nodiscard]] bool has_failed() const noexcept { return detail_ != nullptr; }
    [[nodiscard]] encoding_error error() const noexcept {
        return {detail_, static_cast<errc>(number_)};
    }
    [[nodiscard]] bool is_value_apart() const noexcept { return number_ != 0; }

private:
    const char* detail_ = nullptr;
    std::uint64_t number_ = 0;
};

// Appends the frame, or nothing if it fails.
[[nodiscard]] encoding_result encode_operation(
    base::byte_writer& out, const operation_request& request, const encoding_context& context);

// Checks what most kinds do not have: a copy, paths, a lock, the terms of a scan.
[[nodiscard]] encoding_error check_further(const operation_request& request);

namespace detail {

// The part of a kind's row that check_request needs.
struct request_rules {
    bool has_key = false;
    bool has_more = true;  // check_further has something to check
};

consteval request_rules rules_of(const operation_facts& row) {
    const wire::opcode_facts& facts = wire::opcode_info(row.op);
    const bool has_more = facts.cas == wire::cas_rule::must_not_be_zero ||
                          facts.request == wire::request_shape::scan ||
                          facts.request == wire::request_shape::scan_cancel ||
                          facts.request == wire::request_shape::subdoc_lookup ||
                          facts.request == wire::request_shape::subdoc_mutation ||
                          row.of == operation_class::replica_read;
    return {facts.has_document_key, has_more};
}

inline constexpr auto rules_by_kind = []<std::size_t... Kind>(std::index_sequence<Kind...>) {
    return std::array{rules_of(operation_table[Kind])...};
}(std::make_index_sequence<operation_kind_count>{});

}  // namespace detail

// Checks what can be checked before there is a connection. `is_named_collection`: the collection is
// not the default one. Inline, because each operation passes here.
[[nodiscard]] [[gnu::always_inline]] inline encoding_error check_request(
    const operation_request& request, bool is_named_collection) {
    const auto index = static_cast<std::size_t>(request.kind);
    if (index >= operation_kind_count) [[unlikely]] {
        return {"unknown operation"};
    }
    const detail::request_rules rules = detail::rules_by_kind[index];
    if (rules.has_key) {
        if (request.key.empty()) [[unlikely]] {
            return {"the key is empty"};
        }
        if (request.key.size() > (is_named_collection ? wire::key_size_max_named_collection
                                                      : wire::key_size_max_default_collection))
            [[unlikely]] {
            return {"the key is too long"};
        }
    }
    return rules.has_more || request.replica != 0 ? check_further(request) : encoding_error{};
}

}  // namespace reprise::engine
