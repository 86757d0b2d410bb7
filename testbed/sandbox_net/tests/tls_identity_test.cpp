#include <filesystem>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include <reprise/sandbox_net/embedded_cluster.hpp>
#include <reprise/sandbox_net/server.hpp>

#include "raw_client.hpp"

namespace reprise::sandbox::tls_test {

using raw::raw_client;
using raw::raw_stream;
using wire::status;

std::unique_ptr<embedded_cluster> start(server_tls_options tls = {}) {
    server_options options;
    options.cluster.node_count = 1;
    options.cluster.replica_count = 0;
    options.tls = std::move(tls);
    options.tls.is_enabled = true;
    return raw::start_cluster(std::move(options));
}

std::uint16_t port_of(const embedded_cluster& cluster) {
    return cluster.addresses().nodes.at(0).port(wire::service::key_value, wire::transport::tls);
}

TEST(sandbox_tls, a_raw_client_bootstraps_and_stores_over_tls) {
    const auto cluster = start();
    raw_client client(port_of(*cluster), {cluster->addresses().ca_path, {}});
    client.bootstrap();
    ASSERT_EQ(client.set("k", "v")->status(), status::success);
    EXPECT_EQ(client.get("k")->value, "v");
    const std::string large(3'000'000, 'x');
    ASSERT_EQ(client.set("large", large)->status(), status::success);
    EXPECT_EQ(client.get("large")->value, large);
}

TEST(sandbox_tls, plain_passwords_are_accepted_on_all_ports) {
    const auto cluster = start();
    raw_client secure(port_of(*cluster), {cluster->addresses().ca_path, {}});
    secure.hello({wire::hello_feature::xerror});
    EXPECT_EQ(secure.log_in("app", "secret", wire::sasl_mechanism::plain), status::success);
    raw_client open(cluster->addresses().nodes.at(0).port(wire::service::key_value));
    open.hello({wire::hello_feature::xerror});
    EXPECT_EQ(open.log_in("app", "secret", wire::sasl_mechanism::plain), status::success);
}

TEST(sandbox_tls, a_wrong_certificate_is_refused_for_its_reason) {
    struct expectation {
        certificate_fault fault;
        long reason;
    };
    for (const auto& [fault, reason] : {
             expectation{certificate_fault::wrong_host, X509_V_ERR_IP_ADDRESS_MISMATCH},
             expectation{certificate_fault::expired, X509_V_ERR_CERT_HAS_EXPIRED},
             expectation{
                 certificate_fault::untrusted, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY},
         }) {
        const auto cluster = start({.fault = fault});
        raw_stream stream(port_of(*cluster), {cluster->addresses().ca_path, {}});
        EXPECT_FALSE(stream.is_open());
        EXPECT_EQ(stream.verify_result(), reason);
    }
}

TEST(sandbox_tls, a_client_certificate_authenticates_its_user) {
    const auto cluster = start({.takes_client_certificates = true});
    const std::string ca = cluster->addresses().ca_path;
    raw_client known(port_of(*cluster), {ca, cluster->issue_client_certificate("app").value()});
    known.hello({wire::hello_feature::xerror, wire::hello_feature::collections});
    const auto selected = known.call(wire::select_bucket_request{"default"});
    ASSERT_TRUE(selected);
    EXPECT_EQ(selected->status(), status::success);

    raw_client stranger(
        port_of(*cluster), {ca, cluster->issue_client_certificate("stranger").value()});
    EXPECT_FALSE(stranger.call(wire::hello_request{"x", {}}));

    raw_client without(port_of(*cluster), {ca, {}});
    without.bootstrap();
}

TEST(sandbox_tls, a_certificate_of_another_authority_is_refused) {
    const auto cluster = start({.takes_client_certificates = true});
    const auto other = certificate_authority::make();
    ASSERT_TRUE(other);
    raw_client client(
        port_of(*cluster),
        {cluster->addresses().ca_path, other->issue_client_certificate("app").value()});
    EXPECT_FALSE(client.call(wire::hello_request{"x", {}}));
}

TEST(sandbox_tls, garbage_on_a_tls_port_closes_that_connection_only) {
    const auto cluster = start();
    for (const std::string& bytes :
         {std::string("GET / HTTP/1.1\r\n\r\n"), std::string(5000, '\xff'),
          std::string("\x16\x03\x01\xff\xff") + std::string(70000, 'x')}) {
        raw_stream stream(port_of(*cluster));
        stream.send(bytes);
        stream.receive_all();
    }
    raw_client client(port_of(*cluster), {cluster->addresses().ca_path, {}});
    client.bootstrap();
}

TEST(sandbox_tls, the_file_of_the_authority_exists_as_long_as_the_server) {
    std::string path;
    {
        const auto cluster = start();
        path = cluster->addresses().ca_path;
        EXPECT_TRUE(std::filesystem::exists(path));
    }
    EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(sandbox_tls, an_error_names_the_authority_file_that_cannot_be_written) {
    server_options options;
    options.tls.is_enabled = true;
    options.tls.ca_path = "no/such/folder/ca.pem";
    const auto started = embedded_cluster::start(std::move(options));
    ASSERT_FALSE(started);
    EXPECT_TRUE(started.error().contains("no/such/folder/ca.pem")) << started.error();
}

}  // namespace reprise::sandbox::tls_test
