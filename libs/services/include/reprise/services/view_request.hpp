#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <reprise/services/service_call.hpp>

namespace reprise::services {

// How old the answer may be.
enum class view_stale : std::uint8_t {
    ok,            // as the index is
    update_after,  // as the index is; it is brought up to date afterwards
    no             // the index is brought up to date first: `stale=false`
};

// What a view does when a part of it fails.
enum class view_on_error : std::uint8_t { keep_going, stop };

// Everything a view query can say; a member left alone is not sent. Keys are JSON values.
struct view_request {
    std::string bucket{};
    std::string design_document{};  // without `dev_`
    bool is_development = false;    // the `dev_` one
    std::string view{};

    std::optional<std::uint64_t> limit{};
    std::optional<std::uint64_t> skip{};
    std::optional<view_stale> stale{};
    std::string key{};                // only rows of this key
    std::vector<std::string> keys{};  // only rows of these; sent as a body
    std::string start_key{};
    std::string end_key{};
    std::string start_key_doc_id{};  // among rows of the same key
    std::string end_key_doc_id{};
    std::optional<bool> is_end_inclusive{};
    std::optional<bool> is_reduced{};
    std::optional<bool> is_grouped{};
    std::optional<std::uint32_t> group_level{};
    std::optional<bool> is_descending{};
    std::optional<view_on_error> on_error{};
    bool has_debug = false;
    bool is_full_set = false;  // development views over all documents
};

// GET /<bucket>/_design/<design document>/_view/<view>?..., or POST if there are keys; rows are in
// "rows". Always idempotent.
//
// Errors: text_missing (bucket, design_document, view), value_not_json (a key), text_not_utf8.
service_call_result make_view_call(const view_request& request);

}  // namespace reprise::services
