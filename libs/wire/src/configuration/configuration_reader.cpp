#include "configuration/configuration_reader.hpp"

#include <algorithm>
#include <utility>

#include <reprise/base/hex.hpp>
#include <reprise/wire/collections_manifest.hpp>

namespace reprise::wire::detail {

namespace {

// Servers and some clients write null for an absent member.
const json::value* present(const json::value* found) noexcept {
    return found == nullptr || found->is_null() ? nullptr : found;
}

const json::value* present_member(const json::value& source, std::string_view name) noexcept {
    return present(source.find(name));
}

// Turns "vBucketMap" and 3 into "vBucketMap[3]".
std::string indexed(std::string_view path, std::size_t index) {
    return std::string(path) + "[" + std::to_string(index) + "]";
}

}  // namespace

// Stores the error and returns false, so that the caller can return it.
bool configuration_reader::fail(configuration_errc code, std::string path, std::string detail) {
    error_ = {code, std::move(path), std::move(detail)};
    return false;
}

bool configuration_reader::fail_type(
    std::string path, const json::value& found, std::string_view expected) {
    return fail(
        configuration_errc::wrong_type, std::move(path),
        std::string(to_string(found.what())) + " where " + std::string(expected) + " is expected");
}

// Reads the identity first, because the kind of configuration determines which members it must
// have.
bool configuration_reader::read() {
    if (root_.as_object() == nullptr) {
        return fail_type("", root_, "an object");
    }
    return read_revision() && read_identity() && read_locator() && read_nodes() && read_servers() &&
           read_map() && read_capabilities();
}

// Moves everything out of the reader, which must not be used afterwards.
cluster_configuration_ptr configuration_reader::take_configuration() {
    return std::make_shared<const cluster_configuration>(
        std::move(facts_), std::move(current_), std::move(forward_));
}

// Rejects a missing `rev` unless the caller accepts 0. A negative epoch means that the server is
// not initialised: its configurations do not count.
bool configuration_reader::read_revision() {
    if (const json::value* rev = present_member(root_, "rev")) {
        const auto number = rev->as_uint64();
        if (!number) {
            return fail(configuration_errc::revision_invalid, "rev", "not an integer below 2^64");
        }
        facts_.revision.rev = *number;
    } else if (options_.revision_required) {
        return fail(configuration_errc::revision_invalid, "rev", "missing");
    }
    if (const json::value* epoch = present_member(root_, "revEpoch")) {
        const auto number = epoch->as_int64();
        if (!number || *number < 0) {
            return fail(
                configuration_errc::revision_invalid, "revEpoch",
                number ? "negative" : "not an integer below 2^63");
        }
        facts_.revision.epoch = *number;
    }
    return true;
}

bool configuration_reader::read_text(std::string_view name, std::string& out) {
    return read_optional_text(root_, name, "", out);
}

bool configuration_reader::read_optional_text(
    const json::value& source, std::string_view name, const std::string& path, std::string& out) {
    const json::value* found = present_member(source, name);
    if (found == nullptr) {
        return true;
    }
    const auto text = found->as_string();
    if (!text) {
        return fail_type(
            path.empty() ? std::string(name) : path + "." + std::string(name), *found, "a string");
    }
    out = *text;
    return true;
}

// All are optional. Which of them are present determines the kind of configuration.
bool configuration_reader::read_identity() {
    if (!read_text("name", facts_.bucket_name) || !read_text("uuid", facts_.bucket_uuid) ||
        !read_text("bucketType", facts_.bucket_type) ||
        !read_text("clusterName", facts_.cluster_name) ||
        !read_text("clusterUUID", facts_.cluster_uuid)) {
        return false;
    }
    if (present_member(root_, "name") != nullptr && facts_.bucket_name.empty()) {
        return fail(configuration_errc::missing_member, "name", "empty");
    }
    std::string manifest_uid;
    if (!read_text("collectionsManifestUid", manifest_uid)) {
        return false;
    }
    if (!manifest_uid.empty()) {
        const auto uid = base::parse_hex(manifest_uid);
        if (!uid) {
            return fail(
                configuration_errc::wrong_type, "collectionsManifestUid",
                "not a hexadecimal number of 64 bits");
        }
        facts_.collections_manifest_uid = *uid;
    }
    return true;
}

// A global configuration has no locator, and an old full one may omit it.
bool configuration_reader::read_locator() {
    if (facts_.bucket_name.empty()) {
        return true;
    }
    std::string locator = "vbucket";
    if (!read_text("nodeLocator", locator)) {
        return false;
    }
    if (locator == "ketama") {
        facts_.locator = node_locator::ketama;
        return true;
    }
    if (locator != "vbucket") {
        return fail(configuration_errc::locator_unknown, "nodeLocator", "'" + locator + "'");
    }
    facts_.locator = node_locator::vbucket;
    map_ = present_member(root_, "vBucketServerMap");
    if (map_ == nullptr) {
        return fail(configuration_errc::missing_member, "vBucketServerMap", "missing");
    }
    return map_->as_object() != nullptr || fail_type("vBucketServerMap", *map_, "an object");
}

// nodesExt[i] is serverList[i] for every i in the map, so only the length of serverList matters.
bool configuration_reader::read_servers() {
    const json::value* legacy = present_member(root_, "nodes");
    const json::array* legacy_nodes = legacy == nullptr ? nullptr : legacy->as_array();
    if (facts_.locator == node_locator::ketama) {
        facts_.kv_node_count = legacy_nodes == nullptr
                                   ? facts_.nodes.size()
                                   : std::min(legacy_nodes->size(), facts_.nodes.size());
        return true;
    }
    if (map_ == nullptr) {
        return true;
    }
    const json::value* found = present_member(*map_, "serverList");
    if (found == nullptr) {
        return fail(configuration_errc::missing_member, "vBucketServerMap.serverList", "missing");
    }
    const json::array* servers = found->as_array();
    if (servers == nullptr) {
        return fail_type("vBucketServerMap.serverList", *found, "an array");
    }
    server_count_ = servers->size();
    facts_.kv_node_count = server_count_;
    if (server_count_ > facts_.nodes.size()) {
        return fail(
            configuration_errc::node_list_too_short, "nodesExt",
            std::to_string(facts_.nodes.size()) + " nodes for a serverList of " +
                std::to_string(server_count_));
    }
    return true;
}

// An empty map means that no node owns a vbucket yet: the bucket is being set up.
bool configuration_reader::read_map() {
    if (map_ == nullptr) {
        return true;
    }
    const std::string path = "vBucketServerMap.vBucketMap";
    const json::value* rows = present_member(*map_, "vBucketMap");
    if (rows == nullptr) {
        return fail(configuration_errc::missing_member, path, "missing");
    }
    if (!read_rows(*rows, path, current_)) {
        return false;
    }
    if (current_.entries.empty()) {
        return read_replica_count();
    }
    const json::value* forward = present_member(*map_, "vBucketMapForward");
    const std::string forward_path = "vBucketServerMap.vBucketMapForward";
    if (forward != nullptr && !read_rows(*forward, forward_path, forward_)) {
        return false;
    }
    if (!forward_.entries.empty() && forward_.row_count() != current_.row_count()) {
        return fail(
            configuration_errc::forward_map_mismatch, forward_path,
            std::to_string(forward_.row_count()) + " rows, the map has " +
                std::to_string(current_.row_count()));
    }
    return read_replica_count();
}

bool configuration_reader::read_rows(
    const json::value& source, const std::string& path, flat_map& out) {
    const json::array* rows = source.as_array();
    if (rows == nullptr) {
        return fail_type(path, source, "an array");
    }
    if (rows->size() > vbucket_count_max) {
        return fail(
            configuration_errc::vbucket_map_too_long, path, std::to_string(rows->size()) + " rows");
    }
    // Rows may differ in length. The block is as wide as the widest and padded with -1.
    std::size_t width = 1;
    for (std::size_t row = 0; row < rows->size(); ++row) {
        const json::array* columns = (*rows)[row].as_array();
        if (columns == nullptr) {
            return fail_type(indexed(path, row), (*rows)[row], "an array");
        }
        if (columns->size() > 1 + replica_count_max) {
            return fail(
                configuration_errc::row_too_wide, indexed(path, row),
                std::to_string(columns->size()) + " entries");
        }
        width = std::max(width, columns->size());
    }
    out.width = width;
    out.entries.assign(rows->size() * width, std::int16_t{-1});
    for (std::size_t row = 0; row < rows->size(); ++row) {
        const json::array& columns = *(*rows)[row].as_array();
        for (std::size_t column = 0; column < columns.size(); ++column) {
            const auto index = columns[column].as_int64();
            if (!index) {
                return fail_type(indexed(indexed(path, row), column), columns[column], "an index");
            }
            if (*index < -1 || *index >= static_cast<std::int64_t>(server_count_)) {
                return fail(
                    configuration_errc::node_out_of_range, indexed(indexed(path, row), column),
                    "names node " + std::to_string(*index) + " of " +
                        std::to_string(server_count_));
            }
            out.entries[row * width + column] = static_cast<std::int16_t>(*index);
        }
    }
    return true;
}

// The configured number. A row may have fewer until the next rebalance.
bool configuration_reader::read_replica_count() {
    const std::string path = "vBucketServerMap.numReplicas";
    facts_.replica_count = current_.width - 1;
    const json::value* found = present_member(*map_, "numReplicas");
    if (found == nullptr) {
        return true;
    }
    const auto count = found->as_uint64();
    if (!count) {
        return fail_type(path, *found, "a number of replicas");
    }
    if (*count > replica_count_max) {
        return fail(configuration_errc::row_too_wide, path, std::to_string(*count) + " replicas");
    }
    facts_.replica_count = static_cast<std::size_t>(*count);
    return true;
}

bool configuration_reader::read_capabilities() {
    const json::value* found = present_member(root_, "bucketCapabilities");
    if (found != nullptr) {
        const json::array* names = found->as_array();
        if (names == nullptr) {
            return fail_type("bucketCapabilities", *found, "an array");
        }
        for (const json::value& name : *names) {
            // Skips capabilities of an unknown type, which the client does not use.
            if (const auto text = name.as_string()) {
                facts_.bucket_capabilities.emplace_back(*text);
            }
        }
    }
    return read_cluster_capabilities();
}

// Reads only version 1, the only one with a known meaning.
bool configuration_reader::read_cluster_capabilities() {
    const json::value* version = present_member(root_, "clusterCapabilitiesVer");
    const json::value* major = version == nullptr ? nullptr : version->at(0);
    const json::value* found = present_member(root_, "clusterCapabilities");
    if (found == nullptr || major == nullptr || major->as_int64() != 1) {
        return true;
    }
    const json::object* services = found->as_object();
    if (services == nullptr) {
        return fail_type("clusterCapabilities", *found, "an object");
    }
    for (const json::member& each : *services) {
        const json::array* names = each.content.as_array();
        if (names == nullptr) {
            return fail_type("clusterCapabilities." + each.name, each.content, "an array");
        }
        for (const json::value& name : *names) {
            if (const auto text = name.as_string()) {
                facts_.cluster_capabilities.push_back(each.name + "." + std::string(*text));
            }
        }
    }
    return true;
}

}  // namespace reprise::wire::detail
