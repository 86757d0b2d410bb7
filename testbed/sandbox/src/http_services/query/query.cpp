#include <utility>

#include <reprise/json/write.hpp>

#include "http_services/missing_paths.hpp"
#include "http_services/query/language.hpp"
#include "http_services/query/query_body.hpp"
#include "http_services/query/run.hpp"
#include "http_services/routes.hpp"
#include "http_services/service_handlers.hpp"

// The query and analytics ports: paths, and the format of the answer.

namespace reprise::sandbox::detail {

namespace {

// The number of bytes to produce before the peer must read.
constexpr std::size_t piece_size_bytes = std::size_t{32} * 1024;

// The server's own timeout. It ends the answer with 200 and `retry: true`.
constexpr int timeout_code = 1080;

// "8µs"
std::string duration_text(std::chrono::microseconds duration) {
    return std::to_string(duration.count()) + "\u00b5s";
}

// The members of an answer that follow the rows. A streamed answer keeps them until then.
struct answer_tail {
    bool is_analytics = false;
    bool has_metrics = true;
    std::string profile;
    std::string prepared;
    std::string duration;
    std::uint64_t row_count = 0;
    std::uint64_t row_size = 0;
    std::uint64_t mutation_count = 0;
    std::vector<statement_error> errors;

    void append_errors(json::writer& w) const {
        w.key("errors").begin_array();
        for (const statement_error& each : errors) {
            w.begin_object().member("code", each.code).member("msg", each.message);
            if (each.reason_code != 0 || !each.reason.empty()) {
                w.key("reason").begin_object();
                if (each.reason_code != 0) {
                    w.member("code", each.reason_code);
                }
                w.member("message", each.reason).end_object();
            }
            if (each.is_retry_advised) {
                w.member("retry", true);
            }
            w.end_object();
        }
        w.end_array();
    }

    void append_to(std::string& out) const {
        std::string members;
        json::writer w(members);
        w.begin_object();
        if (!prepared.empty()) {
            w.member("prepared", prepared);
        }
        if (!errors.empty()) {
            append_errors(w);
        }
        const int code = errors.empty() ? 0 : errors.front().code;
        // Failed reads and writes of single documents do not end a statement.
        const bool is_fatal = !(code == 12008 || code == 12009);
        w.member(
            "status", errors.empty()         ? "success"
                      : code == timeout_code ? "timeout"
                                             : (is_fatal ? "fatal" : "errors"));
        if (has_metrics) {
            w.key("metrics").begin_object();
            w.member("elapsedTime", duration).member("executionTime", duration);
            w.member("resultCount", row_count).member("resultSize", row_size);
            if (is_analytics) {
                w.member("processedObjects", row_count);
            }
            if (mutation_count != 0) {
                w.member("mutationCount", mutation_count);
            }
            if (!errors.empty()) {
                w.member("errorCount", errors.size());
            }
            w.end_object();
        }
        if (profile == "phases" || profile == "timings") {
            w.key("profile").begin_object();
            w.key("phaseTimes").begin_object().member("run", duration).end_object();
            w.member("requestTime", duration);
            w.end_object();
        }
        w.end_object();
        out += members.substr(1);  // the members continue after the rows
    }
};

// The rows of a stream, separated by commas, then the tail.
class result_body final : public body_source {
public:
    result_body(std::unique_ptr<row_stream> rows, answer_tail tail)
        : rows_(std::move(rows)), tail_(std::move(tail)) {}

    bool append_next(std::string& out) override {
        const std::size_t size_wanted = out.size() + piece_size_bytes;
        while (out.size() < size_wanted) {
            row_.clear();
            if (!rows_->append_next(row_)) {
                if (rows_->error()) {
                    tail_.errors.push_back(*rows_->error());
                }
                out += "],";
                tail_.append_to(out);
                return false;
            }
            out += tail_.row_count++ == 0 ? "" : ",";
            out += row_;
            tail_.row_size += row_.size();
        }
        return true;
    }

private:
    std::unique_ptr<row_stream> rows_;
    answer_tail tail_;
    std::string row_;
};

// The HTTP status of real servers for an error that is found before the first row.
int http_status_of(const statement_error& error, bool is_analytics) noexcept {
    if (error.code == not_in_sandbox_code) {
        return 400;  // not 501, which clients may retry
    }
    if (is_analytics) {
        return error.code < 21000 ? 401 : (error.code >= 24000 && error.code < 25000 ? 400 : 500);
    }
    switch (error.code) {
        case 1000:
            return 403;
        case 1010:
            return 405;
        case 4000:
        case 4040:
            return 404;
        case 4300:
            return 409;
        case 2120:
        case 13014:
            return 401;
        case 12003:
            return 424;
        case 3080:
            return 500;
        default:
            return error.code < 4000 ? 400 : 500;
    }
}

// Analytics uses other codes for the same conditions.
void translate_for_analytics(std::vector<statement_error>& errors) {
    for (statement_error& each : errors) {
        if (each.code == 3000) {
            each.code = 24000;
            each.message = "Syntax error: " + each.message;
        } else if (each.code < 20000) {
            each.code = 24001;
        }
    }
}

service_response shape_answer(
    service_exchange& with, const query_body& body, statement_result result, bool is_analytics) {
    if (is_analytics) {
        translate_for_analytics(result.errors);
    }
    answer_tail tail;
    tail.is_analytics = is_analytics;
    tail.has_metrics = body.has_metrics;
    tail.profile = body.profile;
    tail.prepared = result.prepared;
    tail.duration = duration_text(with.services.cluster.options.server_duration);
    tail.row_count = result.row_count;
    tail.row_size = result.row_size;
    tail.mutation_count = result.mutation_count;
    tail.errors = std::move(result.errors);

    with.audit.mutation_count = result.mutation_count;
    with.audit.is_applied = with.audit.is_applied || result.mutation_count != 0;
    with.audit.error_code = tail.errors.empty() ? 0 : tail.errors.front().code;

    std::string text;
    json::writer w(text);
    w.begin_object().member("requestID", with.services.random_uuid_text());
    if (!body.context_id.empty()) {
        w.member("clientContextID", body.context_id);
    }
    const bool has_begun = tail.errors.empty() || tail.errors.front().is_in_execution ||
                           result.row_count != 0 || result.mutation_count != 0;
    const int status = has_begun ? 200 : http_status_of(tail.errors.front(), is_analytics);
    if (!has_begun) {
        text += ",";
        tail.append_to(text);
        return make_service_response(status, std::move(text));
    }
    if (body.has_signature) {
        w.member("signature", result.signature);
    }
    w.key("results").begin_array();
    text += result.rows;
    service_response response = make_service_response(status, std::move(text));
    if (result.more) {
        response.more = std::make_unique<result_body>(std::move(result.more), std::move(tail));
    } else {
        response.body += "],";
        tail.append_to(response.body);
    }
    return response;
}

const statement_error no_query_user{13014, "User does not have credentials to run queries.", 0, {}};
const statement_error wrong_password{2120, "Unable to authorize user: wrong credentials.", 0, {}};
// The answer of servers that need two requests to prepare and run.
const statement_error no_auto_execute{
    1065, "Unrecognized parameter in request: auto_execute", 0, {}};
const statement_error no_analytics_user{20000, "Unauthorized user.", 0, {}};

// The server's own timeout: the rows are lost, the mutations are not.
void time_out(const query_body& body, statement_result& result) {
    result.rows.clear();
    result.row_count = 0;
    result.row_size = 0;
    result.more.reset();
    statement_error error{timeout_code, "Timeout " + body.timeout_text + " exceeded", 0, {}};
    error.is_retry_advised = true;
    error.is_in_execution = true;
    result.errors.push_back(std::move(error));
}

service_response answer_statement(service_exchange& with, bool is_analytics) {
    const query_body& body = *with.query;
    if (with.user == nullptr) {
        const bool has_login = find_header(with.request.headers, "Authorization").has_value();
        const statement_error& refused = is_analytics ? no_analytics_user
                                         : has_login  ? wrong_password
                                                      : no_query_user;
        return shape_answer(with, body, refuse_statement(refused), is_analytics);
    }
    if (body.problem && !(is_analytics && body.problem->code == 1065)) {
        return shape_answer(with, body, refuse_statement(*body.problem), is_analytics);
    }
    if (body.is_auto_executed && !with.services.cluster.options.offers_enhanced_prepared) {
        return shape_answer(with, body, refuse_statement(no_auto_execute), is_analytics);
    }
    const statement_setting in{
        .with = with,
        .parameters = body.parameters,
        .query_context = body.query_context,
        .is_readonly = body.is_readonly || is_analytics,
        .is_analytics = is_analytics,
        .is_auto_executed = body.is_auto_executed,
        .keeps_expiry = body.keeps_expiry};
    statement_result result = body.prepared.empty()
                                  ? run_statement(in, body.statement)
                                  : run_prepared(in, body.prepared, body.encoded_plan);
    if (with.is_out_of_time && result.errors.empty()) {
        time_out(body, result);
    }
    return shape_answer(with, body, std::move(result), is_analytics);
}

service_response answer_ping(service_exchange&) {
    return make_service_response(200, "{\"status\":\"OK\"}");
}

service_response answer_query_statement(service_exchange& with) {
    return answer_statement(with, false);
}

service_response answer_analytics_statement(service_exchange& with) {
    return answer_statement(with, true);
}

// The handlers check the user, because each keyspace has its own roles.
constexpr service_route query_table[] = {
    {"POST", "/query/service", answer_query_statement, privilege::none, "runs a statement"},
    {"GET", "/query/service", answer_query_statement, privilege::none,
     "runs a statement that changes nothing"},
    {"POST", "/query", answer_query_statement, privilege::none, "runs a statement"},
    {"GET", "/query", answer_query_statement, privilege::none,
     "runs a statement that changes nothing"},
    {"GET", "/admin/ping", answer_ping, privilege::none, "answers; requires no login"},
};

constexpr service_route analytics_table[] = {
    {"POST", "/analytics/service", answer_analytics_statement, privilege::none, "runs a SELECT"},
    {"POST", "/query/service", answer_analytics_statement, privilege::none, "runs a SELECT"},
    {"GET", "/admin/ping", answer_ping, privilege::none, "answers; requires no login"},
};

service_response follow_statement_route(
    std::span<const service_route> routes, service_exchange& with) {
    const route_match found = find_route(routes, with);
    if (found.route != nullptr) {
        return found.route->answer(with);
    }
    if (auto refused = refuse_missing_path(with)) {
        return *std::move(refused);
    }
    return found.is_path ? make_service_response(405, "")
                         : make_service_response(404, "404 page not found\n", "text/plain");
}

}  // namespace

std::span<const service_route> query_routes() noexcept {
    return query_table;
}

std::span<const service_route> analytics_routes() noexcept {
    return analytics_table;
}

service_response answer_query(service_exchange& with) {
    return follow_statement_route(query_table, with);
}

service_response answer_analytics(service_exchange& with) {
    return follow_statement_route(analytics_table, with);
}

}  // namespace reprise::sandbox::detail
