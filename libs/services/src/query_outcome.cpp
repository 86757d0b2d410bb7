#include <reprise/services/query_outcome.hpp>

#include <algorithm>
#include <array>
#include <utility>

#include <reprise/services/go_duration.hpp>

#include "outcome_reader.hpp"

namespace reprise::services {

namespace {

constexpr std::size_t query_problem_count_max = 100;

constexpr std::array<std::string_view, 11> query_status_names = {
    "missing", "running", "success", "errors",  "completed", "stopped",
    "timeout", "closed",  "fatal",   "aborted", "unknown"};

std::expected<query_status, outcome_error> read_query_status(const json::value& answer) {
    const json::value* const found = answer.find("status");
    if (found == nullptr) {
        return query_status::missing;
    }
    const auto text = found->as_string();
    if (!text) {
        return detail::outcome_failure(outcome_errc::wrong_type, "status", "not a string");
    }
    const auto last = query_status_names.end() - 1;
    const auto at = std::find(query_status_names.begin() + 1, last, *text);
    return static_cast<query_status>(at - query_status_names.begin());
}

std::expected<query_problem, outcome_error> read_query_problem(
    const json::value& entry, const std::string& path) {
    const json::value* const code = entry.find("code");
    if (code == nullptr) {
        return detail::outcome_failure(outcome_errc::missing_member, path + ".code", "missing");
    }
    query_problem problem;
    const auto number = code->as_int64();
    if (!number) {
        return detail::outcome_failure(outcome_errc::wrong_type, path + ".code", "not a number");
    }
    problem.code = *number;
    problem.message = detail::text_or_empty(entry, "msg");
    const json::value* const retry = entry.find("retry");
    problem.is_retry_advised = retry != nullptr && retry->as_bool().value_or(false);
    if (const json::value* const reason = entry.find("reason"); reason != nullptr) {
        const json::value* const reason_code = reason->find("code");
        problem.reason_code = reason_code == nullptr ? std::nullopt : reason_code->as_int64();
    }
    return problem;
}

std::expected<std::vector<query_problem>, outcome_error> read_query_problems(
    const json::value& answer, std::string_view name) {
    const auto entries = detail::array_or_null(answer, name);
    if (!entries) {
        return std::unexpected(entries.error());
    }
    std::vector<query_problem> problems;
    if (*entries == nullptr) {
        return problems;
    }
    const std::size_t count = std::min((*entries)->size(), query_problem_count_max);
    for (std::size_t i = 0; i < count; ++i) {
        auto problem =
            read_query_problem((**entries)[i], std::string(name) + '[' + std::to_string(i) + ']');
        if (!problem) {
            return std::unexpected(std::move(problem.error()));
        }
        problems.push_back(*std::move(problem));
    }
    return problems;
}

std::optional<couchbase::query_metrics> read_query_metrics(const json::value& answer) {
    const json::value* const found = answer.find("metrics");
    if (found == nullptr || found->as_object() == nullptr) {
        return std::nullopt;
    }
    couchbase::query_metrics metrics;
    metrics.elapsed_time = parse_go_duration(detail::text_or_empty(*found, "elapsedTime"));
    metrics.execution_time = parse_go_duration(detail::text_or_empty(*found, "executionTime"));
    metrics.result_count = detail::number_or_zero(*found, "resultCount");
    metrics.result_size = detail::number_or_zero(*found, "resultSize");
    metrics.sort_count = detail::number_or_zero(*found, "sortCount");
    metrics.mutation_count = detail::number_or_zero(*found, "mutationCount");
    metrics.error_count = detail::number_or_zero(*found, "errorCount");
    metrics.warning_count = detail::number_or_zero(*found, "warningCount");
    metrics.processed_objects = detail::number_or_zero(*found, "processedObjects");
    return metrics;
}

}  // namespace

std::string_view to_string(query_status status) noexcept {
    const auto index = static_cast<std::size_t>(status);
    return index < query_status_names.size() ? query_status_names[index] : "unknown";
}

std::expected<query_outcome, outcome_error> parse_query_outcome(std::string_view trailer) {
    const auto answer = detail::parse_answer(trailer);
    if (!answer) {
        return std::unexpected(answer.error());
    }
    const auto status = read_query_status(*answer);
    if (!status) {
        return std::unexpected(status.error());
    }
    auto errors = read_query_problems(*answer, "errors");
    if (!errors) {
        return std::unexpected(std::move(errors.error()));
    }
    query_outcome outcome;
    outcome.state = *status;
    outcome.status = to_string(*status);
    outcome.errors = *std::move(errors);
    if (auto warnings = read_query_problems(*answer, "warnings"); warnings) {
        for (query_problem& warning : *warnings) {
            outcome.warnings.push_back({warning.code, std::move(warning.message)});
        }
    }
    outcome.metrics = read_query_metrics(*answer);
    outcome.request_id = detail::text_or_empty(*answer, "requestID");
    outcome.client_context_id = detail::text_or_empty(*answer, "clientContextID");
    outcome.prepared_name = detail::text_or_empty(*answer, "prepared");
    outcome.signature = detail::raw_or_empty(*answer, "signature");
    outcome.profile = detail::raw_or_empty(*answer, "profile");
    return outcome;
}

std::expected<prepared_row, outcome_error> parse_prepared_row(std::string_view row) {
    const auto answer = detail::parse_answer(row);
    if (!answer) {
        return std::unexpected(answer.error());
    }
    prepared_row prepared{
        detail::text_or_empty(*answer, "name"), detail::text_or_empty(*answer, "encoded_plan")};
    if (prepared.name.empty()) {
        return detail::outcome_failure(outcome_errc::missing_member, "name", "missing");
    }
    if (prepared.encoded_plan.empty()) {
        return detail::outcome_failure(outcome_errc::missing_member, "encoded_plan", "missing");
    }
    return prepared;
}

}  // namespace reprise::services
