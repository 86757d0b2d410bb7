#pragma once

#include <string_view>

#include <reprise/services/http_exchange.hpp>

namespace reprise::services {

using couchbase::view_options;

/// GET /<bucket>/_design/<design document>/_view/<view>?..., or POST if there are keys. Rows are in
/// "rows". Always idempotent.
///
/// Fails with text_missing (bucket, design_document, view), value_not_encoded or value_not_json (a
/// key), text_not_utf8 or dot_segment.
service_call_result make_view_call(
    std::string_view bucket, std::string_view design_document, std::string_view view,
    const view_options& options = {});

/// Fails like make_view_call().
[[nodiscard]] service_operation_result make_view_operation(
    std::string_view bucket, std::string_view design_document, std::string_view view,
    const view_options& options = {});

}  // namespace reprise::services
