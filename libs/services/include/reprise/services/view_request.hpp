#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <reprise/services/http_exchange.hpp>

namespace reprise::services {

/// How old the result may be.
enum class view_stale : std::uint8_t {
    ok,            ///< uses the index in its current state
    update_after,  ///< uses the index in its current state and updates it afterwards
    no             ///< updates the index first: `stale=false`
};

/// Behaviour of a view if a part of it fails.
enum class view_on_error : std::uint8_t { keep_going, stop };

/// All options of a view query. A member that you do not set is not sent. Keys are JSON values.
struct view_request {
    std::string bucket{};
    std::string design_document{};  ///< without the `dev_` prefix
    bool is_development = false;    ///< uses the document with the `dev_` prefix
    std::string view{};

    std::optional<std::uint64_t> limit{};
    std::optional<std::uint64_t> skip{};
    std::optional<view_stale> stale{};
    std::string key{};                ///< only rows with this key
    std::vector<std::string> keys{};  ///< only rows with these keys; sent as a body
    std::string start_key{};
    std::string end_key{};
    std::string start_key_doc_id{};  ///< applies to rows with the same key
    std::string end_key_doc_id{};
    std::optional<bool> is_end_inclusive{};
    std::optional<bool> is_reduced{};
    std::optional<bool> is_grouped{};
    std::optional<std::uint32_t> group_level{};
    std::optional<bool> is_descending{};
    std::optional<view_on_error> on_error{};
    bool has_debug = false;
    bool is_full_set = false;  ///< a development view covers all documents
};

/// GET /<bucket>/_design/<design document>/_view/<view>?..., or POST if there are keys. Rows are in
/// "rows". Always idempotent.
///
/// Fails with text_missing (bucket, design_document, view), value_not_json (a key) or
/// text_not_utf8.
service_call_result make_view_call(const view_request& request);

/// Fails like make_view_call().
[[nodiscard]] service_operation_result make_view_operation(const view_request& request);

}  // namespace reprise::services
