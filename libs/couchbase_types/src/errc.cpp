#include <array>
#include <string>
#include <utility>

#include <reprise/couchbase_types/errc.hpp>

namespace reprise::couchbase {
namespace {

struct errc_facts {
    errc code;
    std::string_view name;
    std::string_view message;
    // Facts for a caller's own retry loop.
    retry_safety safety;
};

constexpr auto yes = retry_safety::yes;
constexpr auto no = retry_safety::no;
constexpr auto maybe = retry_safety::maybe;

constexpr std::array errc_table{
    errc_facts{errc::request_canceled, "request_canceled", "the request was canceled", maybe},
    errc_facts{errc::invalid_argument, "invalid_argument", "an argument is invalid", no},
    errc_facts{
        errc::service_not_available, "service_not_available", "no node offers the service", yes},
    errc_facts{
        errc::internal_server_failure, "internal_server_failure", "the server failed internally",
        maybe},
    errc_facts{
        errc::authentication_failure, "authentication_failure",
        "the credentials were refused or do not allow this", no},
    errc_facts{
        errc::temporary_failure, "temporary_failure", "the server could not do it at this moment",
        yes},
    errc_facts{errc::parsing_failure, "parsing_failure", "a text could not be parsed", no},
    errc_facts{errc::cas_mismatch, "cas_mismatch", "the document was changed by somebody else", no},
    errc_facts{errc::bucket_not_found, "bucket_not_found", "no such bucket", no},
    errc_facts{errc::collection_not_found, "collection_not_found", "no such collection", no},
    errc_facts{
        errc::unsupported_operation, "unsupported_operation", "the server does not support this",
        no},
    errc_facts{
        errc::ambiguous_timeout, "ambiguous_timeout",
        "no answer in time; the server may have done it", maybe},
    errc_facts{
        errc::unambiguous_timeout, "unambiguous_timeout", "not done in time; nothing was changed",
        yes},
    errc_facts{
        errc::feature_not_available, "feature_not_available",
        "the server or bucket does not have this feature", no},
    errc_facts{errc::scope_not_found, "scope_not_found", "no such scope", no},
    errc_facts{errc::index_not_found, "index_not_found", "no such index", no},
    errc_facts{errc::index_exists, "index_exists", "the index exists already", no},
    errc_facts{errc::encoding_failure, "encoding_failure", "the value cannot be encoded", no},
    errc_facts{errc::decoding_failure, "decoding_failure", "the answer cannot be decoded", no},
    errc_facts{errc::rate_limited, "rate_limited", "a rate limit was reached", yes},
    errc_facts{errc::quota_limited, "quota_limited", "a quota was reached", no},
    errc_facts{errc::document_not_found, "document_not_found", "no such document", no},
    errc_facts{
        errc::document_unretrievable, "document_unretrievable", "no copy could be read", maybe},
    errc_facts{errc::document_locked, "document_locked", "the document is locked", yes},
    errc_facts{errc::value_too_large, "value_too_large", "the value is too large", no},
    errc_facts{errc::document_exists, "document_exists", "the document exists already", no},
    errc_facts{
        errc::durability_level_not_available, "durability_level_not_available",
        "the durability level is not available", no},
    errc_facts{
        errc::durability_impossible, "durability_impossible",
        "too few replicas for the durability level", no},
    errc_facts{
        errc::durability_ambiguous, "durability_ambiguous",
        "the durable write may or may not have happened", maybe},
    errc_facts{
        errc::durable_write_in_progress, "durable_write_in_progress",
        "another durable write is under way", yes},
    errc_facts{
        errc::durable_write_re_commit_in_progress, "durable_write_re_commit_in_progress",
        "a durable write is being committed again", yes},
    errc_facts{errc::path_not_found, "path_not_found", "no such path", no},
    errc_facts{
        errc::path_mismatch, "path_mismatch", "the path does not fit the document's structure", no},
    errc_facts{errc::path_invalid, "path_invalid", "the path cannot be read", no},
    errc_facts{errc::path_too_big, "path_too_big", "the path is too long", no},
    errc_facts{errc::path_too_deep, "path_too_deep", "the document is nested too deep", no},
    errc_facts{errc::value_too_deep, "value_too_deep", "the value is nested too deep", no},
    errc_facts{errc::value_invalid, "value_invalid", "the value cannot be inserted", no},
    errc_facts{errc::document_not_json, "document_not_json", "the document is not JSON", no},
    errc_facts{errc::number_too_big, "number_too_big", "the number is out of range", no},
    errc_facts{errc::delta_invalid, "delta_invalid", "the delta or the number is invalid", no},
    errc_facts{errc::path_exists, "path_exists", "the path exists already", no},
    errc_facts{errc::xattr_unknown_macro, "xattr_unknown_macro", "unknown macro", no},
    errc_facts{
        errc::xattr_invalid_key_combo, "xattr_invalid_key_combo",
        "these attribute keys or flags cannot stand together", no},
    errc_facts{
        errc::xattr_unknown_virtual_attribute, "xattr_unknown_virtual_attribute",
        "unknown virtual attribute", no},
    errc_facts{
        errc::xattr_cannot_modify_virtual_attribute, "xattr_cannot_modify_virtual_attribute",
        "virtual attributes cannot be changed", no},
    errc_facts{errc::xattr_no_access, "xattr_no_access", "no access to this system attribute", no},
    errc_facts{errc::document_not_locked, "document_not_locked", "the document is not locked", no},
    errc_facts{
        errc::cannot_revive_living_document, "cannot_revive_living_document",
        "the document is alive and cannot be revived", no},
    errc_facts{
        errc::mutation_token_outdated, "mutation_token_outdated", "the mutation token is outdated",
        no},
    errc_facts{
        errc::planning_failure, "planning_failure", "no plan could be made for the statement", no},
    errc_facts{errc::index_failure, "index_failure", "an index failed", maybe},
    errc_facts{
        errc::prepared_statement_failure, "prepared_statement_failure",
        "the prepared statement cannot be used", no},
    errc_facts{
        errc::dml_failure, "dml_failure", "a statement that changes documents failed", maybe},
    errc_facts{
        errc::compilation_failure, "compilation_failure", "the statement cannot be compiled", no},
    errc_facts{errc::job_queue_full, "job_queue_full", "the queue of the service is full", yes},
    errc_facts{errc::dataset_not_found, "dataset_not_found", "no such dataset", no},
    errc_facts{errc::dataverse_not_found, "dataverse_not_found", "no such dataverse", no},
    errc_facts{errc::dataset_exists, "dataset_exists", "the dataset exists already", no},
    errc_facts{errc::dataverse_exists, "dataverse_exists", "the dataverse exists already", no},
    errc_facts{errc::link_not_found, "link_not_found", "no such link", no},
    errc_facts{errc::link_exists, "link_exists", "the link exists already", no},
    errc_facts{errc::index_not_ready, "index_not_ready", "the index is not ready yet", yes},
    errc_facts{
        errc::consistency_mismatch, "consistency_mismatch",
        "the index cannot be made consistent with these writes", no},
    errc_facts{errc::view_not_found, "view_not_found", "no such view", no},
    errc_facts{
        errc::design_document_not_found, "design_document_not_found", "no such design document",
        no},
    errc_facts{errc::collection_exists, "collection_exists", "the collection exists already", no},
    errc_facts{errc::scope_exists, "scope_exists", "the scope exists already", no},
    errc_facts{errc::user_not_found, "user_not_found", "no such user", no},
    errc_facts{errc::group_not_found, "group_not_found", "no such group", no},
    errc_facts{errc::bucket_exists, "bucket_exists", "the bucket exists already", no},
    errc_facts{
        errc::bucket_not_flushable, "bucket_not_flushable", "the bucket cannot be flushed", no},
    errc_facts{errc::tls_failure, "tls_failure", "TLS with the server failed", no},
    errc_facts{
        errc::bucket_access_failure, "bucket_access_failure",
        "the bucket does not exist or the user may not use it", no},
    errc_facts{
        errc::retry_queue_full, "retry_queue_full", "too many operations wait for a retry", yes},
    errc_facts{errc::strategy_failure, "strategy_failure", "the retry strategy failed", no},
    errc_facts{
        errc::unknown_server_status, "unknown_server_status",
        "the server answered with an unknown status", no},
    errc_facts{
        errc::plain_http_not_allowed, "plain_http_not_allowed",
        "HTTP without TLS is not allowed to carry credentials", no},
    errc_facts{
        errc::blocking_call_in_loop, "blocking_call_in_loop",
        "blocking call on the thread that must complete it", no},
    errc_facts{
        errc::submission_queue_full, "submission_queue_full",
        "too many operations wait for the client's thread", yes},
    errc_facts{
        errc::connection_string_invalid, "connection_string_invalid", "invalid connection string",
        no},
    errc_facts{errc::option_invalid, "option_invalid", "invalid option", no},
    errc_facts{
        errc::certificate_unreadable, "certificate_unreadable", "certificate or key cannot be read",
        no},
    errc_facts{
        errc::used_after_fork, "used_after_fork", "the client belongs to the parent process", no},
    errc_facts{
        errc::no_resources, "no_resources", "the system has no thread or file descriptor left",
        yes},
    errc_facts{
        errc::executor_gone, "executor_gone", "the context of the client's executor was destroyed",
        no},
    errc_facts{
        errc::read_in_progress, "read_in_progress", "another read of this stream has not completed",
        no},
};

const errc_facts* find_errc(int code) noexcept {
    for (const errc_facts& facts : errc_table) {
        if (static_cast<int>(facts.code) == code) {
            return &facts;
        }
    }
    return nullptr;
}

class couchbase_error_category final : public std::error_category {
public:
    const char* name() const noexcept override { return "reprise.couchbase"; }
    std::string message(int code) const override {
        const errc_facts* facts = find_errc(code);
        return facts == nullptr ? "unknown error " + std::to_string(code)
                                : std::string(facts->message);
    }
};

class couchbase_condition_category final : public std::error_category {
public:
    const char* name() const noexcept override { return "reprise.couchbase.condition"; }
    std::string message(int code) const override {
        switch (static_cast<error_condition>(code)) {
            case error_condition::client_error:
                return "the client cannot work with this cluster";
            case error_condition::timeout:
                return "timeout";
            case error_condition::not_started:
                return "refused by the client before anything was sent";
        }
        return "unknown condition";
    }
    bool equivalent(const std::error_code& code, int condition) const noexcept override {
        if (code.category() != couchbase_category()) {
            return false;
        }
        const auto error = static_cast<errc>(code.value());
        switch (static_cast<error_condition>(condition)) {
            case error_condition::client_error:
                return error == errc::tls_failure || error == errc::bucket_access_failure;
            case error_condition::timeout:
                return error == errc::ambiguous_timeout || error == errc::unambiguous_timeout;
            case error_condition::not_started:
                return error >= errc::blocking_call_in_loop && error <= errc::read_in_progress;
        }
        return false;
    }
};

}  // namespace

const std::error_category& couchbase_category() noexcept {
    static const couchbase_error_category category;
    return category;
}

const std::error_category& condition_category() noexcept {
    static const couchbase_condition_category category;
    return category;
}

std::error_code make_error_code(errc error) noexcept {
    return {static_cast<int>(error), couchbase_category()};
}

std::error_condition make_error_condition(error_condition condition) noexcept {
    return {static_cast<int>(condition), condition_category()};
}

std::string_view to_string(errc error) noexcept {
    const errc_facts* facts = find_errc(static_cast<int>(error));
    return facts == nullptr ? std::string_view("unknown_error") : facts->name;
}

failure_facts describe(errc error) noexcept {
    failure_facts result;
    const errc_facts* facts = find_errc(static_cast<int>(error));
    if (facts == nullptr) {
        return result;
    }
    result.safety = facts->safety;
    result.throttling = error == errc::rate_limited || error == errc::submission_queue_full;
    result.timeout = error == errc::ambiguous_timeout || error == errc::unambiguous_timeout;
    const bool is_own_fault =
        facts->safety == no || make_error_code(error) == error_condition::not_started;
    result.fault = is_own_fault ? failure_fault::client : failure_fault::server;
    result.code = static_cast<std::uint32_t>(error);
    return result;
}

failure_facts retry_facts(errc error) noexcept {
    return describe(error);
}

}  // namespace reprise::couchbase
