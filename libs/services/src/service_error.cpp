#include <reprise/services/service_error.hpp>

#include <array>

namespace reprise::services {

namespace {

struct service_errc_name {
    service_errc code;
    std::string_view name;
};

constexpr auto service_errc_names = std::to_array<service_errc_name>({
    {service_errc::none, "none"},
    {service_errc::invalid_argument, "invalid_argument"},
    {service_errc::service_not_available, "service_not_available"},
    {service_errc::internal_server_failure, "internal_server_failure"},
    {service_errc::authentication_failure, "authentication_failure"},
    {service_errc::temporary_failure, "temporary_failure"},
    {service_errc::parsing_failure, "parsing_failure"},
    {service_errc::cas_mismatch, "cas_mismatch"},
    {service_errc::bucket_not_found, "bucket_not_found"},
    {service_errc::collection_not_found, "collection_not_found"},
    {service_errc::unambiguous_timeout, "unambiguous_timeout"},
    {service_errc::feature_not_available, "feature_not_available"},
    {service_errc::scope_not_found, "scope_not_found"},
    {service_errc::index_not_found, "index_not_found"},
    {service_errc::index_exists, "index_exists"},
    {service_errc::decoding_failure, "decoding_failure"},
    {service_errc::rate_limited, "rate_limited"},
    {service_errc::quota_limited, "quota_limited"},
    {service_errc::document_not_found, "document_not_found"},
    {service_errc::document_exists, "document_exists"},
    {service_errc::planning_failure, "planning_failure"},
    {service_errc::index_failure, "index_failure"},
    {service_errc::prepared_statement_failure, "prepared_statement_failure"},
    {service_errc::dml_failure, "dml_failure"},
    {service_errc::compilation_failure, "compilation_failure"},
    {service_errc::job_queue_full, "job_queue_full"},
    {service_errc::dataset_not_found, "dataset_not_found"},
    {service_errc::dataverse_not_found, "dataverse_not_found"},
    {service_errc::dataset_exists, "dataset_exists"},
    {service_errc::dataverse_exists, "dataverse_exists"},
    {service_errc::link_not_found, "link_not_found"},
    {service_errc::link_exists, "link_exists"},
    {service_errc::index_not_ready, "index_not_ready"},
    {service_errc::consistency_mismatch, "consistency_mismatch"},
    {service_errc::view_not_found, "view_not_found"},
    {service_errc::design_document_not_found, "design_document_not_found"},
    {service_errc::collection_exists, "collection_exists"},
    {service_errc::scope_exists, "scope_exists"},
    {service_errc::user_not_found, "user_not_found"},
    {service_errc::group_not_found, "group_not_found"},
    {service_errc::bucket_exists, "bucket_exists"},
    {service_errc::user_exists, "user_exists"},
    {service_errc::bucket_not_flushable, "bucket_not_flushable"},
});

}  // namespace

std::string_view to_string(service_errc error) noexcept {
    for (const service_errc_name& entry : service_errc_names) {
        if (entry.code == error) {
            return entry.name;
        }
    }
    return "unknown";
}

}  // namespace reprise::services
