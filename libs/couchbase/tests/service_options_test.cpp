#include <gtest/gtest.h>

#include <any>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include <reprise/services/analytics_request.hpp>
#include <reprise/services/query_request.hpp>
#include <reprise/services/search_request.hpp>
#include <reprise/services/view_request.hpp>

#include "service_calls.hpp"

// No option of a request to an HTTP service is silently ignored: each field changes what is sent,
// how the request is run, or why it is refused.

namespace reprise::couchbase::service_options_test {

using namespace std::chrono_literals;

services::service_call_result call_with(const query_options& options) {
    return services::make_query_call("SELECT 1", options);
}
services::service_call_result call_with(const analytics_options& options) {
    return services::make_analytics_call("SELECT 1", options);
}
services::service_call_result call_with(const search_options& options) {
    return services::make_search_call("index", search_query("{}"), options);
}
services::service_call_result call_with(const view_options& options) {
    return services::make_view_call("bucket", "design", "view", options);
}

// What is sent, and how it is run, as text.
template <class Options>
std::string text_of(const Options& options) {
    const auto call = call_with(options);
    if (!call) {
        return to_string(call.error());
    }
    std::ostringstream text;
    text << call->target << ' ' << call->body << ' ' << call->is_idempotent;
    for (const auto& [name, value] : call->headers) {
        text << ' ' << name << ": " << value;
    }
    const auto request = take_request(detail::finish_work(
        nullptr, services::service_operation(), options, detail::row_mode::kept));
    text << ' ' << (request->timeout ? request->timeout->count() : -1) << ' '
         << request->rows_size_max_bytes << ' ' << request->own_strategy() << ' '
         << request->own_user_data() << ' ' << request->outer_allowance;
    return text.str();
}

// Each of the setters sets one field, and the request must differ. The five fields that all
// requests have are set here.
template <class Options>
void expect_effects(std::vector<std::function<void(Options&)>> setters, std::size_t field_count) {
    setters.push_back([](Options& o) { o.timeout = 7s; });
    setters.push_back([](Options& o) { o.rows_size_max_bytes = 7; });
    setters.push_back([](Options& o) { o.strategy = std::make_shared<best_effort_strategy>(); });
    setters.push_back([](Options& o) { o.user_data = std::make_shared<const std::any>(7); });
    setters.push_back(
        [](Options& o) { o.outer_allowance = std::make_shared<driver::retry_allowance>(1); });
    EXPECT_EQ(setters.size(), field_count);
    const std::string plain = text_of(Options{});
    EXPECT_EQ(text_of(Options{}), plain) << "nothing else makes requests differ";
    std::size_t index = 0;
    for (const auto& set : setters) {
        Options changed;
        set(changed);
        EXPECT_NE(text_of(changed), plain) << "setter " << index;
        ++index;
    }
}

const mutation_state written{
    .tokens = {{.bucket = "bucket", .vbucket = 1, .vbucket_uuid = 2, .seqno = 3}}};
const std::vector<named_value> one_value{{"name", 7}};
constexpr auto count_of = [](const auto&... fields) { return sizeof...(fields); };

// In the tests below, a new field does not compile. Give it a setter.

// `adhoc` chooses the exchange instead (query_exchange_test.cpp).
TEST(service_options, every_field_of_a_query_has_an_effect) {
    const query_options all;
    const auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w] = all;
    using o_ = query_options;
    expect_effects<query_options>(
        {[](o_& x) { x.readonly = true; }, [](o_& x) { x.positional = {7}; },
         [](o_& x) { x.named = one_value; },
         [](o_& x) { x.consistency = scan_consistency::request_plus; },
         [](o_& x) { x.consistent_with = written; }, [](o_& x) { x.scan_wait = 7ms; },
         [](o_& x) { x.scan_cap = 7; }, [](o_& x) { x.pipeline_cap = 7; },
         [](o_& x) { x.pipeline_batch = 7; }, [](o_& x) { x.max_parallelism = 7; },
         [](o_& x) { x.profile = query_profile::timings; }, [](o_& x) { x.metrics = true; },
         [](o_& x) { x.client_context_id = "id"; }, [](o_& x) { x.use_search_index = true; },
         [](o_& x) { x.preserve_expiry = true; }, [](o_& x) { x.use_replica = false; },
         [](o_& x) { x.raw = one_value; }},
        count_of(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w) - 1);
}

TEST(service_options, every_field_of_an_analytics_query_has_an_effect) {
    const analytics_options all;
    const auto& [a, b, c, d, e, f, g, h, i, j, k, l] = all;
    using o = analytics_options;
    expect_effects<analytics_options>(
        {[](o& x) { x.readonly = true; }, [](o& x) { x.has_priority = true; },
         [](o& x) { x.positional = {7}; }, [](o& x) { x.named = one_value; },
         [](o& x) { x.consistency = scan_consistency::request_plus; },
         [](o& x) { x.client_context_id = "id"; }, [](o& x) { x.raw = one_value; }},
        count_of(a, b, c, d, e, f, g, h, i, j, k, l));
}

TEST(service_options, every_field_of_a_search_has_an_effect) {
    const search_options all;
    const auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = all;
    using o_ = search_options;
    expect_effects<search_options>(
        {[](o_& x) { x.limit = 7; }, [](o_& x) { x.skip = 7; }, [](o_& x) { x.explain = true; },
         [](o_& x) { x.disable_scoring = true; }, [](o_& x) { x.include_locations = true; },
         [](o_& x) { x.fields = {"*"}; }, [](o_& x) { x.sort = {"name"}; },
         [](o_& x) { x.facets = {{"name", json_text{"{}"}}}; },
         [](o_& x) { x.collections = {"c"}; }, [](o_& x) { x.consistent_with = written; },
         [](o_& x) { x.raw = one_value; }},
        count_of(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p));
}

TEST(service_options, every_field_of_a_view_query_has_an_effect) {
    const view_options all;
    const auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w] = all;
    using o_ = view_options;
    expect_effects<view_options>(
        {[](o_& x) { x.is_development = true; }, [](o_& x) { x.limit = 7; },
         [](o_& x) { x.skip = 7; }, [](o_& x) { x.stale = view_stale::no; },
         [](o_& x) { x.key = 7; }, [](o_& x) { x.keys = {7}; }, [](o_& x) { x.start_key = 7; },
         [](o_& x) { x.end_key = 7; }, [](o_& x) { x.start_key_doc_id = "a"; },
         [](o_& x) { x.end_key_doc_id = "a"; }, [](o_& x) { x.inclusive_end = false; },
         [](o_& x) { x.reduce = false; }, [](o_& x) { x.group = false; },
         [](o_& x) { x.group_level = 1; }, [](o_& x) { x.descending = false; },
         [](o_& x) { x.on_error = view_on_error::stop; }, [](o_& x) { x.debug = true; },
         [](o_& x) { x.full_set = true; }},
        count_of(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w));
}

}  // namespace reprise::couchbase::service_options_test
