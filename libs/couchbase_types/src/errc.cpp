#include <array>
#include <string>

#include <reprise/base/enum_table.hpp>
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

template <errc Code>
consteval errc_facts facts_of(std::string_view message, retry_safety safety) {
    return {Code, base::enumerator_name<Code>(), message, safety};
}

constexpr std::array errc_table{
    facts_of<errc::request_canceled>("the request was canceled", maybe),
    facts_of<errc::invalid_argument>("an argument is invalid", no),
    facts_of<errc::service_not_available>("no node offers the service", yes),
    facts_of<errc::internal_server_failure>("the server failed internally", maybe),
    facts_of<errc::authentication_failure>("the credentials were refused or do not allow this", no),
    facts_of<errc::temporary_failure>("temporary failure of the server", yes),
    facts_of<errc::parsing_failure>("a text could not be parsed", no),
    facts_of<errc::cas_mismatch>("the document was changed by another writer", no),
    facts_of<errc::bucket_not_found>("no such bucket", no),
    facts_of<errc::collection_not_found>("no such collection", no),
    facts_of<errc::unsupported_operation>("the server does not support this", no),
    facts_of<errc::ambiguous_timeout>("no answer in time; the server may have acted", maybe),
    facts_of<errc::unambiguous_timeout>("not done in time; nothing was changed", yes),
    facts_of<errc::feature_not_available>("the server or bucket does not have this feature", no),
    facts_of<errc::scope_not_found>("no such scope", no),
    facts_of<errc::index_not_found>("no such index", no),
    facts_of<errc::index_exists>("the index exists already", no),
    facts_of<errc::encoding_failure>("the value cannot be encoded", no),
    facts_of<errc::decoding_failure>("the answer cannot be decoded", no),
    facts_of<errc::rate_limited>("a rate limit was reached", yes),
    facts_of<errc::quota_limited>("a quota was reached", no),
    facts_of<errc::document_not_found>("no such document", no),
    facts_of<errc::document_unretrievable>("no copy could be read", maybe),
    facts_of<errc::document_locked>("the document is locked", yes),
    facts_of<errc::value_too_large>("the value is too large", no),
    facts_of<errc::document_exists>("the document exists already", no),
    facts_of<errc::durability_level_not_available>("the durability level is not available", no),
    facts_of<errc::durability_impossible>("too few replicas for the durability level", no),
    facts_of<errc::durability_ambiguous>("the durable write may or may not have happened", maybe),
    facts_of<errc::durable_write_in_progress>("another durable write is under way", yes),
    facts_of<errc::durable_write_re_commit_in_progress>(
        "a durable write is being committed again", yes),
    facts_of<errc::path_not_found>("no such path", no),
    facts_of<errc::path_mismatch>("the path does not fit the document's structure", no),
    facts_of<errc::path_invalid>("the path cannot be read", no),
    facts_of<errc::path_too_big>("the path is too long", no),
    facts_of<errc::path_too_deep>("the document is nested too deep", no),
    facts_of<errc::value_too_deep>("the value is nested too deep", no),
    facts_of<errc::value_invalid>("the value cannot be inserted", no),
    facts_of<errc::document_not_json>("the document is not JSON", no),
    facts_of<errc::number_too_big>("the number is out of range", no),
    facts_of<errc::delta_invalid>("the delta or the number is invalid", no),
    facts_of<errc::path_exists>("the path exists already", no),
    facts_of<errc::xattr_unknown_macro>("unknown macro", no),
    facts_of<errc::xattr_invalid_key_combo>("these attribute keys or flags cannot be combined", no),
    facts_of<errc::xattr_unknown_virtual_attribute>("unknown virtual attribute", no),
    facts_of<errc::xattr_cannot_modify_virtual_attribute>(
        "virtual attributes cannot be changed", no),
    facts_of<errc::xattr_no_access>("no access to this system attribute", no),
    facts_of<errc::document_not_locked>("the document is not locked", no),
    facts_of<errc::cannot_revive_living_document>(
        "the document is alive and cannot be revived", no),
    facts_of<errc::mutation_token_outdated>("the mutation token is outdated", no),
    facts_of<errc::planning_failure>("no plan could be made for the statement", no),
    facts_of<errc::index_failure>("an index failed", maybe),
    facts_of<errc::prepared_statement_failure>("the prepared statement cannot be used", no),
    facts_of<errc::dml_failure>("a statement that changes documents failed", maybe),
    facts_of<errc::compilation_failure>("the statement cannot be compiled", no),
    facts_of<errc::job_queue_full>("the queue of the service is full", yes),
    facts_of<errc::dataset_not_found>("no such dataset", no),
    facts_of<errc::dataverse_not_found>("no such dataverse", no),
    facts_of<errc::dataset_exists>("the dataset exists already", no),
    facts_of<errc::dataverse_exists>("the dataverse exists already", no),
    facts_of<errc::link_not_found>("no such link", no),
    facts_of<errc::link_exists>("the link exists already", no),
    facts_of<errc::index_not_ready>("the index is not ready yet", yes),
    facts_of<errc::consistency_mismatch>(
        "the index cannot be made consistent with these writes", no),
    facts_of<errc::view_not_found>("no such view", no),
    facts_of<errc::design_document_not_found>("no such design document", no),
    facts_of<errc::collection_exists>("the collection exists already", no),
    facts_of<errc::scope_exists>("the scope exists already", no),
    facts_of<errc::user_not_found>("no such user", no),
    facts_of<errc::group_not_found>("no such group", no),
    facts_of<errc::bucket_exists>("the bucket exists already", no),
    facts_of<errc::bucket_not_flushable>("the bucket cannot be flushed", no),
    facts_of<errc::tls_failure>("TLS with the server failed", no),
    facts_of<errc::bucket_access_failure>(
        "the bucket does not exist or the user may not use it", no),
    facts_of<errc::retry_queue_full>("too many operations wait for a retry", yes),
    facts_of<errc::strategy_failure>("the retry strategy failed", no),
    facts_of<errc::unknown_server_status>("the server answered with an unknown status", no),
    facts_of<errc::plain_http_not_allowed>(
        "HTTP without TLS is not allowed to carry credentials", no),
    facts_of<errc::blocking_call_in_loop>("blocking call on the thread that must complete it", no),
    facts_of<errc::submission_queue_full>("too many operations wait for the client's thread", yes),
    facts_of<errc::connection_string_invalid>("invalid connection string", no),
    facts_of<errc::option_invalid>("invalid option", no),
    facts_of<errc::certificate_unreadable>("certificate or key cannot be read", no),
    facts_of<errc::used_after_fork>("the client belongs to the parent process", no),
    facts_of<errc::no_resources>("the system has no thread or file descriptor left", yes),
    facts_of<errc::executor_gone>("the context of the client's executor was destroyed", no),
    facts_of<errc::read_in_progress>("another read of this stream has not completed", no),
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
