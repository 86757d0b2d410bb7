#include <algorithm>
#include <chrono>
#include <utility>

#include <reprise/engine/service_exchange.hpp>
#include <reprise/services/management_request.hpp>

#include "service_kind.hpp"
#include "service_request.hpp"
#include "session.hpp"

// From a call's options to a request of the engine.

namespace reprise::couchbase::detail {
namespace {

using work_result = std::expected<engine::http_request, error>;

error argument_error(std::string text) {
    return {make_error_code(errc::invalid_argument), std::move(text)};
}

// Collects the JSON of a call's values and the first one that is none.
class json_collector {
public:
    [[nodiscard]] std::string take(const json_fragment& value, std::string_view what) {
        if (!problem_ && !value.problem().empty()) {
            problem_ = error(
                make_error_code(errc::encoding_failure),
                std::string(what) + ": " + value.problem());
        } else if (!problem_ && value.is_macro()) {
            problem_ = argument_error(std::string(what) + ": macros are for sub-documents only");
        }
        return value.text();
    }
    [[nodiscard]] std::vector<std::string> take_all(
        const std::vector<json_fragment>& values, std::string_view what) {
        std::vector<std::string> taken;
        taken.reserve(values.size());
        for (const json_fragment& value : values) {
            taken.push_back(take(value, what));
        }
        return taken;
    }
    [[nodiscard]] std::vector<services::named_json> take_all(
        const std::vector<named_value>& values) {
        std::vector<services::named_json> taken;
        taken.reserve(values.size());
        for (const auto& [name, value] : values) {
            taken.push_back({name, take(value, name)});
        }
        return taken;
    }
    [[nodiscard]] std::string take(
        const std::optional<json_fragment>& value, std::string_view what) {
        return value ? take(*value, what) : std::string();
    }
    [[nodiscard]] const std::optional<error>& problem() const noexcept { return problem_; }

private:
    std::optional<error> problem_;
};

std::vector<services::mutation_mark> marks_of(const mutation_state& state) {
    std::vector<services::mutation_mark> marks;
    marks.reserve(state.tokens.size());
    for (const mutation_token& token : state.tokens) {
        marks.push_back(
            {token.bucket, wire::vbucket_id{token.vbucket}, {token.vbucket_uuid, token.seqno}});
    }
    return marks;
}

std::chrono::milliseconds timeout_for_server(duration timeout) {
    return services::server_timeout(std::max(
        std::chrono::duration_cast<std::chrono::milliseconds>(timeout),
        std::chrono::milliseconds{1}));
}

std::string context_of(service_scope in) {
    return in.bucket.empty() ? std::string() : services::make_query_context(in.bucket, in.scope);
}

// The part that all calls have: bounds, time, strategy.
template <class Options>
service_work finish_work(
    const std::shared_ptr<session>& client, const json_collector& values,
    engine::service_request made, const Options& options, row_mode mode) {
    work_result request = std::unexpected(argument_error(""));
    if (values.problem()) {
        request = std::unexpected(*values.problem());
    } else if (!made) {
        request = std::unexpected(argument_error(services::to_string(made.error())));
    } else {
        made->timeout = options.timeout;
        made->strategy = options.strategy;
        made->user_data = options.user_data;
        made->outer_allowance = options.outer_allowance;
        if constexpr (requires { options.rows_size_max_bytes; }) {
            made->rows_size_max_bytes = options.rows_size_max_bytes.value_or(
                mode == row_mode::kept ? result_size_max_bytes_default
                                       : stream_size_max_bytes_default);
        }
        request = std::move(*made);
    }
    return {client, std::make_shared<service_request>(service_request{std::move(request)})};
}

template <class Options>
std::chrono::milliseconds server_limit(
    const session& client, wire::service service, const Options& options) {
    return timeout_for_server(options.timeout.value_or(client.facts().http.timeout_of(service)));
}

services::query_request to_wire(
    session& client, service_scope in, std::string_view statement, const query_options& options,
    json_collector& values) {
    services::query_request asked;
    asked.statement = statement;
    asked.client_context_id =
        options.client_context_id.empty() ? client.next_context_id() : options.client_context_id;
    asked.timeout = server_limit(client, wire::service::query, options);
    asked.is_readonly = options.readonly;
    asked.args = values.take_all(options.positional, "positional");
    asked.parameters = values.take_all(options.named);
    asked.consistency = static_cast<services::scan_consistency>(options.consistency);
    asked.consistent_with = marks_of(options.consistent_with);
    if (!asked.consistent_with.empty() &&
        asked.consistency == services::scan_consistency::server_default) {
        asked.consistency = services::scan_consistency::at_plus;
    }
    asked.scan_wait = options.scan_wait;
    asked.scan_cap = options.scan_cap;
    asked.pipeline_cap = options.pipeline_cap;
    asked.pipeline_batch = options.pipeline_batch;
    asked.max_parallelism = options.max_parallelism;
    if (options.profile) {
        asked.profile = static_cast<services::query_profile>(*options.profile);
    }
    asked.metrics = options.metrics;
    asked.query_context = context_of(in);
    asked.use_search_index = options.use_search_index;
    asked.preserve_expiry = options.preserve_expiry;
    asked.use_replica = options.use_replica;
    asked.raw = values.take_all(options.raw);
    return asked;
}

static_assert(
    static_cast<int>(scan_consistency::request_plus) ==
        static_cast<int>(services::scan_consistency::request_plus) &&
    static_cast<int>(query_profile::timings) ==
        static_cast<int>(services::query_profile::timings) &&
    static_cast<int>(view_stale::no) == static_cast<int>(services::view_stale::no) &&
    static_cast<int>(view_on_error::stop) == static_cast<int>(services::view_on_error::stop));

services::view_request to_wire(
    std::string_view bucket, std::string_view design, std::string_view view,
    const view_options& options, json_collector& values) {
    services::view_request asked;
    asked.bucket = bucket;
    asked.design_document = design;
    asked.view = view;
    asked.is_development = options.is_development;
    asked.limit = options.limit;
    asked.skip = options.skip;
    if (options.stale) {
        asked.stale = static_cast<services::view_stale>(*options.stale);
    }
    asked.key = values.take(options.key, "key");
    asked.keys = values.take_all(options.keys, "keys");
    asked.start_key = values.take(options.start_key, "start_key");
    asked.end_key = values.take(options.end_key, "end_key");
    asked.start_key_doc_id = options.start_key_doc_id;
    asked.end_key_doc_id = options.end_key_doc_id;
    asked.is_end_inclusive = options.inclusive_end;
    asked.is_reduced = options.reduce;
    asked.is_grouped = options.group;
    asked.group_level = options.group_level;
    asked.is_descending = options.descending;
    if (options.on_error) {
        asked.on_error = static_cast<services::view_on_error>(*options.on_error);
    }
    asked.has_debug = options.debug;
    asked.is_full_set = options.full_set;
    return asked;
}

}  // namespace

service_work make_query_work(
    const std::shared_ptr<session>& client, service_scope in, std::string_view statement,
    const query_options& options, row_mode mode) {
    json_collector values;
    auto asked = to_wire(*client, in, statement, options, values);
    engine::query_plan plan;
    if (!options.adhoc) {
        plan.cache = client->prepared();
        plan.may_be_enhanced = client->facts().enhanced_prepared_statements;
    }
    return finish_work(
        client, values, engine::make_query_operation(std::move(asked), std::move(plan)), options,
        mode);
}

service_work make_analytics_work(
    const std::shared_ptr<session>& client, service_scope in, std::string_view statement,
    const analytics_options& options, row_mode mode) {
    json_collector values;
    services::analytics_request asked;
    asked.statement = statement;
    asked.client_context_id =
        options.client_context_id.empty() ? client->next_context_id() : options.client_context_id;
    asked.timeout = server_limit(*client, wire::service::analytics, options);
    asked.is_readonly = options.readonly;
    asked.has_priority = options.has_priority;
    asked.args = values.take_all(options.positional, "positional");
    asked.parameters = values.take_all(options.named);
    asked.consistency = static_cast<services::scan_consistency>(options.consistency);
    asked.query_context = context_of(in);
    asked.raw = values.take_all(options.raw);
    return finish_work(client, values, engine::make_analytics_operation(asked), options, mode);
}

service_work make_search_work(
    const std::shared_ptr<session>& client, service_scope in, std::string_view index,
    const search_query& query, const search_options& options, row_mode mode) {
    json_collector values;
    services::search_request asked;
    asked.index = index;
    asked.bucket = in.bucket;
    asked.scope = in.scope;
    asked.query = query.json;
    asked.timeout = server_limit(*client, wire::service::search, options);
    asked.consistent_with = marks_of(options.consistent_with);
    asked.size = options.limit;
    asked.from = options.skip;
    asked.is_explained = options.explain;
    asked.is_unscored = options.disable_scoring;
    asked.has_locations = options.include_locations;
    asked.fields = options.fields;
    asked.sort = values.take_all(options.sort, "sort");
    asked.facets = values.take_all(options.facets);
    asked.collections = options.collections;
    asked.raw = values.take_all(options.raw);
    return finish_work(client, values, engine::make_search_operation(asked), options, mode);
}

service_work make_view_work(
    const std::shared_ptr<session>& client, std::string_view bucket, std::string_view design,
    std::string_view view, const view_options& options, row_mode mode) {
    json_collector values;
    const auto asked = to_wire(bucket, design, view, options, values);
    return finish_work(client, values, engine::make_view_operation(asked), options, mode);
}

service_work make_management_work(
    const std::shared_ptr<session>& client, const management_request& request,
    const management_options& options) {
    if (request.service == service_kind::key_value) {
        return {
            client, std::make_shared<service_request>(service_request{std::unexpected(
                        argument_error("service: key_value does not speak HTTP"))})};
    }
    services::raw_service_request asked;
    asked.service = couchbase::to_wire(request.service);
    asked.method = request.method;
    asked.target = request.target;
    asked.content_type = request.content_type;
    asked.body = request.body;
    return make_call_work(client, services::make_raw_call(std::move(asked)), options);
}

service_work make_call_work(
    const std::shared_ptr<session>& client, services::service_call_result call,
    const management_options& options) {
    engine::service_request made =
        call ? engine::service_request(engine::make_management_operation(std::move(*call)))
             : std::unexpected(std::move(call.error()));
    return finish_work(client, {}, std::move(made), options, row_mode::kept);
}

std::expected<engine::http_request, error> take_request(const service_work& work) {
    return std::exchange(
        work.request->request, std::unexpected(argument_error("this request was started before")));
}

}  // namespace reprise::couchbase::detail
