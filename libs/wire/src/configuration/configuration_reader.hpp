#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <reprise/json/value.hpp>
#include <reprise/wire/cluster_configuration.hpp>

namespace reprise::wire::detail {

// Reads one configuration tree. Each step stores the first error and returns false, so the checks
// happen in the order of the calls in read(). Use it once.
//
//   read() -> take_configuration()
//          -> (false) error()
class configuration_reader {
public:
    configuration_reader(const json::value& root, const parse_configuration_options& options)
        : root_(root), options_(options) {}

    bool read();
    cluster_configuration_ptr take_configuration();
    const configuration_error& error() const noexcept { return error_; }

private:
    using facts = cluster_configuration::facts;
    using flat_map = cluster_configuration::flat_map;

    struct host_port {
        std::string host;
        std::uint16_t port = 0;
    };

    bool fail(configuration_errc code, std::string path, std::string detail);
    bool fail_type(std::string path, const json::value& found, std::string_view expected);

    bool read_revision();
    bool read_identity();
    bool read_text(std::string_view name, std::string& out);
    bool read_locator();

    bool read_nodes();
    bool read_node(const json::value& source, const std::string& path, cluster_node& node);
    bool read_optional_text(
        const json::value& source, std::string_view name, const std::string& path,
        std::string& out);
    bool read_host(const json::value* source, const std::string& path, std::string& out);
    bool read_ports(const json::value* source, const std::string& path, service_ports& out);
    bool read_alternates(const json::value* source, const std::string& path, cluster_node& node);
    bool read_legacy_nodes();
    bool read_legacy_node(const json::value& source, const std::string& path, cluster_node& node);
    void merge_legacy_node(cluster_node node);
    std::optional<host_port> split_host_port(std::string_view text) const;

    bool read_servers();
    bool read_map();
    bool read_rows(const json::value& source, const std::string& path, flat_map& out);
    bool read_replica_count();

    bool read_capabilities();
    bool read_cluster_capabilities();

    const json::value& root_;
    const parse_configuration_options& options_;
    configuration_error error_;
    facts facts_;
    flat_map current_;
    flat_map forward_;
    const json::value* map_ = nullptr;
    std::size_t server_count_ = 0;
};

}  // namespace reprise::wire::detail
