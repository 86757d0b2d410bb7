// No answer of search, views and management breaks its parser, and an answer that reports a failure
// is never a success. Parsed durations survive a round trip.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include <reprise/services/go_duration.hpp>
#include <reprise/services/management_request.hpp>
#include <reprise/services/query_index_statement.hpp>
#include <reprise/services/search_outcome.hpp>
#include <reprise/services/view_outcome.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace reprise::services;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto search = parse_search_outcome(text);
    const bool is_good = search && search->error.empty() && search->status != "fail";
    if ((classify_search(200, text, search).error == std::nullopt) != is_good) {
        std::abort();
    }
    for (const int status : {302, 400, 404, 429, 500}) {
        if (classify_search(status, text, search).error == std::nullopt ||
            classify_view(status, text).error == std::nullopt ||
            classify_management(status, "/pools/default/buckets/b", text) == std::nullopt) {
            std::abort();
        }
    }
    (void)parse_view_outcome(text);
    (void)parse_view_row(text);
    (void)parse_bucket(text);
    (void)parse_bucket_list(text);
    (void)parse_query_index(text);
    (void)parse_go_duration(text);
    return 0;
}
