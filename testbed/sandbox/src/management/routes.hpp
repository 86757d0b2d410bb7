#pragma once

#include <initializer_list>
#include <optional>
#include <string_view>

#include "http_services/http_texts.hpp"
#include "http_services/routes.hpp"

namespace reprise::sandbox::detail {

// The handlers of the management port. `{bucket}` is the fourth part of every path that has one.

// {"errors":{"<field>":"<text>"}}. Errors that concern no single field use "_".
service_response management_error(int status, std::string_view field, std::string_view text);
// Refuses the first field of a form that is not in the list.
std::optional<service_response> refuse_other_fields(
    const form_fields& form, std::initializer_list<std::string_view> known);
service_response no_such_resource();
service_response forbidden();

// pool.cpp: the cluster itself.
service_response get_welcome(service_exchange& with);
service_response get_who_am_i(service_exchange& with);
service_response get_pools(service_exchange& with);
service_response get_default_pool(service_exchange& with);
service_response get_nodes(service_exchange& with);
service_response list_tasks(service_exchange& with);
service_response get_rebalance_progress(service_exchange& with);
service_response get_terse_cluster(service_exchange& with);
service_response get_versions(service_exchange& with);
service_response get_own_node(service_exchange& with);
service_response get_global_configuration(service_exchange& with);
service_response stream_global_configuration(service_exchange& with);
service_response get_bucket_configuration(service_exchange& with);
service_response stream_bucket_configuration(service_exchange& with);
// The nodes of the configuration as management requests return them.
json::array shown_nodes(service_exchange& with);

// buckets.cpp
service_response list_buckets(service_exchange& with);
service_response make_bucket(service_exchange& with);
service_response get_bucket(service_exchange& with);
service_response change_bucket(service_exchange& with);
service_response remove_bucket(service_exchange& with);
service_response flush_bucket(service_exchange& with);
service_response list_design_documents(service_exchange& with);
service_response get_scopes(service_exchange& with);
service_response make_scope(service_exchange& with);
service_response remove_scope(service_exchange& with);
service_response make_collection(service_exchange& with);
service_response remove_collection(service_exchange& with);
service_response change_collection(service_exchange& with);

// users.cpp
service_response list_users(service_exchange& with);
service_response list_external_users(service_exchange& with);
service_response get_user(service_exchange& with);
service_response set_user(service_exchange& with);
service_response remove_user(service_exchange& with);
service_response change_password(service_exchange& with);
service_response list_roles(service_exchange& with);
service_response list_groups(service_exchange& with);
service_response get_group(service_exchange& with);
service_response set_group(service_exchange& with);
service_response remove_group(service_exchange& with);

}  // namespace reprise::sandbox::detail
