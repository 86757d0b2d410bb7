#include "output/error_report.hpp"

#include <reprise/json/write.hpp>

namespace reprise::app {

namespace {

using couchbase::errc;

[[nodiscard]] bool is_of_client(const std::error_code& code) noexcept {
    return code.category() == make_error_code(errc::request_canceled).category();
}

/// The enumerator's name.
[[nodiscard]] std::string_view symbol_of(const std::error_code& code) noexcept {
    if (is_of_client(code)) {
        return to_string(static_cast<errc>(code.value()));
    }
    return "failed";
}

void write_attempts(json::writer& out, const retry_history& history) {
    for (std::size_t at = 0; at < history.entries.size(); ++at) {
        const auto& entry = history.entries[at];
        out.begin_object();
        out.member("offset_us", entry.offset() / std::chrono::microseconds{1});
        out.member("reason", to_string(entry.reason_as<couchbase::retry_reason>()));
        if (const auto stage = entry.stage()) {
            out.member("stage", to_string(*stage));
        }
        out.member("status", entry.code());
        out.member("endpoint", couchbase::endpoint_of(history, entry));
        if (const std::string_view problem = couchbase::problem_of(history, entry);
            !problem.empty()) {
            out.member("problem", problem);
        }
        out.member("delay_us", entry.delay() / std::chrono::microseconds{1});
        out.end_object();
    }
}

void write_head(json::writer& out, exit_code code, std::string_view name) {
    out.member("name", name);
    out.member("exit_code", static_cast<int>(code));
    out.member("exit_name", to_string(code));
}

}  // namespace

exit_code exit_code_of(const std::error_code& code) noexcept {
    if (code == couchbase::error_condition::not_started) {
        return code == errc::submission_queue_full ? exit_code::failed : exit_code::wrong_usage;
    }
    if (!is_of_client(code)) {
        return exit_code::failed;
    }
    switch (static_cast<errc>(code.value())) {
        case errc::document_not_found:
        case errc::collection_not_found:
        case errc::scope_not_found:
        case errc::index_not_found:
        case errc::dataset_not_found:
        case errc::dataverse_not_found:
        case errc::link_not_found:
        case errc::view_not_found:
        case errc::design_document_not_found:
        case errc::user_not_found:
        case errc::group_not_found:
            return exit_code::not_found;
        case errc::document_exists:
        case errc::cas_mismatch:
        case errc::index_exists:
        case errc::dataset_exists:
        case errc::dataverse_exists:
        case errc::link_exists:
        case errc::collection_exists:
        case errc::scope_exists:
        case errc::bucket_exists:
            return exit_code::conflict;
        case errc::ambiguous_timeout:
        case errc::unambiguous_timeout:
            return exit_code::timeout;
        case errc::authentication_failure:
        case errc::tls_failure:
        case errc::bucket_access_failure:
        case errc::bucket_not_found:
            return exit_code::no_access;
        case errc::request_canceled:
        case errc::invalid_argument:
        case errc::strategy_failure:
        case errc::retry_queue_full:
            return exit_code::failed;
        default:  // whatever else the servers report
            return exit_code::server_error;
    }
}

std::string to_json(const couchbase::error& error) {
    std::string text;
    json::writer out(text, json::layout::indented);
    const auto& info = error.info();
    const std::string whole = error.message();
    out.begin_object();
    write_head(out, exit_code_of(error.code()), symbol_of(error.code()));
    out.member("code", error.code().value());
    out.member("category", std::string_view(error.code().category().name()));
    out.member("message", error.code().message());
    out.member("detail", std::string_view(whole).substr(0, whole.find('\n')));
    out.member("ambiguous", error.is_ambiguous());
    if (info.status) {
        out.member("status", *info.status);
    }
    if (error.service_code() != 0) {
        out.member("service_code", error.service_code());
    }
    out.member("retry_attempts", error.retry_attempts());
    out.member("last_reason", to_string(info.last_reason));
    out.member("last_dispatched_to", info.last_dispatched_to);
    out.key("attempts").begin_array();
    if (const auto* history = error.history()) {
        write_attempts(out, *history);
    }
    out.end_array().end_object();
    return text;
}

std::string error_json(exit_code code, std::string_view message) {
    std::string text;
    json::writer out(text, json::layout::indented);
    out.begin_object();
    write_head(out, code, to_string(code));
    out.member("message", message);
    out.end_object();
    return text;
}

}  // namespace reprise::app
