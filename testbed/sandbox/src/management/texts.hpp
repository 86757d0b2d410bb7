#pragma once

#include <vector>

#include <reprise/json/value.hpp>
#include <reprise/sandbox/cluster_options.hpp>

namespace reprise::sandbox::detail {

// {"role":"data_reader","bucket_name":"travel"}
json::object shown_role(const role_grant& grant);
json::array shown_roles(const std::vector<role_grant>& grants);

}  // namespace reprise::sandbox::detail
