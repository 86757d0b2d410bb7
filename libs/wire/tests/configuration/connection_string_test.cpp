#include <reprise/wire/connection_string.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace reprise::wire::connection_string_test {

using errc = connection_string_errc;

connection_string parsed(std::string_view text) {
    auto result = parse_connection_string(text);
    EXPECT_TRUE(result.has_value()) << (result ? "" : to_string(result.error()));
    return result ? std::move(*result) : connection_string{};
}

connection_string_error refused(std::string_view text) {
    auto result = parse_connection_string(text);
    EXPECT_FALSE(result.has_value()) << text;
    return result ? connection_string_error{} : result.error();
}

TEST(connection_string, a_host_alone_is_enough) {
    const connection_string result = parsed("127.0.0.1");
    EXPECT_EQ(result.security, transport::plain);
    ASSERT_EQ(result.hosts.size(), 1U);
    EXPECT_EQ(result.hosts[0].host, "127.0.0.1");
    EXPECT_EQ(result.hosts[0].port, std::nullopt);
    EXPECT_EQ(result.default_port(), 11210);
    EXPECT_EQ(result.bucket, "");
    EXPECT_TRUE(result.parameters.empty());
}

TEST(connection_string, every_part_is_parsed) {
    const connection_string result = parsed(
        "couchbases://a.example,b-2:11999;[::1]:5,[fe80::1%25eth0]/my%20bucket"
        "?kv_timeout=2.5s&network=a%20b&tls_verify");
    EXPECT_EQ(result.security, transport::tls);
    EXPECT_EQ(result.default_port(), 11207);
    ASSERT_EQ(result.hosts.size(), 4U);
    EXPECT_EQ(result.hosts[1].host, "b-2");
    EXPECT_EQ(result.hosts[1].port, 11999);
    EXPECT_EQ(result.hosts[2].host, "::1");
    EXPECT_EQ(result.hosts[2].port, 5);
    EXPECT_EQ(result.hosts[3].host, "fe80::1%eth0");
    EXPECT_EQ(result.bucket, "my bucket");
    const std::vector<connection_parameter> given{
        {"kv_timeout", "2.5s", 70, 81}, {"network", "a b", 86, 94}, {"tls_verify", "", 100, 110}};
    EXPECT_EQ(result.parameters, given);
}

TEST(connection_string, other_schemes_are_rejected_with_the_reason) {
    for (const char* scheme : {"http", "https", "couchbase2", "memcached", ""}) {
        const connection_string_error error = refused(std::string(scheme) + "://h");
        EXPECT_EQ(error.code, errc::scheme_unsupported);
        EXPECT_EQ(error.field, "scheme");
        EXPECT_NE(error.detail.find(std::string("'") + scheme + "://'"), std::string::npos);
    }
    EXPECT_EQ(parsed("COUCHBASES://h").security, transport::tls);
}

TEST(connection_string, RH_40_couchbase2_is_rejected_as_not_supported) {
    const connection_string_error error = refused("couchbase2://h");
    EXPECT_EQ(error.code, errc::scheme_unsupported);
    EXPECT_NE(error.detail.find("not supported"), std::string::npos) << error.detail;
    EXPECT_NE(error.detail.find("does not support Protostellar"), std::string::npos)
        << error.detail;
}

TEST(connection_string, user_info_is_rejected_and_not_repeated) {
    const connection_string_error error = refused("couchbase://user:hunter2@host");
    EXPECT_EQ(error.code, errc::user_info_refused);
    EXPECT_EQ(to_string(error).find("hunter2"), std::string::npos);
}

TEST(connection_string, errors_report_position_and_field) {
    const connection_string_error port = refused("couchbase://a,b:99999");
    EXPECT_EQ(port.code, errc::port_invalid);
    EXPECT_EQ(port.position, 16U);
    EXPECT_EQ(port.field, "port");
    EXPECT_EQ(refused("couchbase://h:0").code, errc::port_invalid);
    EXPECT_EQ(refused("couchbase://h:").code, errc::port_invalid);
    EXPECT_EQ(refused("couchbase://h:1x").code, errc::port_invalid);
    EXPECT_EQ(refused("").code, errc::empty);
    EXPECT_EQ(refused("couchbase://").code, errc::host_missing);
    EXPECT_EQ(refused("couchbase:///b").code, errc::host_missing);
    EXPECT_EQ(refused("couchbase://a,,b").position, 14U);
    EXPECT_EQ(refused("couchbase://a,").code, errc::host_missing);
    EXPECT_EQ(refused("couchbase://:11210").code, errc::host_missing);
    EXPECT_EQ(refused("couchbase://[::1").code, errc::host_invalid);
    EXPECT_EQ(refused("couchbase://[::1]x").code, errc::host_invalid);
    EXPECT_EQ(refused("couchbase://[1.2.3.4]").code, errc::host_invalid);
    EXPECT_EQ(refused("couchbase://::1").code, errc::host_missing);
    EXPECT_EQ(refused("couchbase://fe80::1").code, errc::host_invalid);
    EXPECT_EQ(refused("couchbase://a b").position, 13U);
    EXPECT_EQ(refused("couchbase://h=mcd").code, errc::mode_refused);
    EXPECT_EQ(refused("couchbase://h/a/b").code, errc::bucket_invalid);
    EXPECT_EQ(refused("couchbase://h/a%2").code, errc::bucket_invalid);
    EXPECT_EQ(refused("couchbase://h/a%00").code, errc::bucket_invalid);
    EXPECT_EQ(refused(std::string(20000, 'a')).code, errc::too_long);
}

TEST(connection_string, a_parameter_is_given_once_and_decoded) {
    const connection_string_error twice = refused("couchbase://h?kv_timeout=1&kv_timeout=2");
    EXPECT_EQ(twice.code, errc::parameter_repeated);
    EXPECT_EQ(twice.position, 27U);
    EXPECT_EQ(twice.field, "kv_timeout");
    for (const char* bad : {"couchbase://h?network=a%2", "couchbase://h?network=a%00"}) {
        const connection_string_error error = refused(bad);
        EXPECT_EQ(error.code, errc::parameter_invalid);
        EXPECT_EQ(error.position, 22U);
        EXPECT_EQ(
            to_string(error), "network at 22: invalid parameter value: invalid percent escape");
    }
    EXPECT_EQ(parsed("h?").parameters.size(), 0U);
    EXPECT_EQ(parsed("h?a=b=c").parameters.at(0).value, "b=c");
}

TEST(connection_string, dns_srv_needs_one_name_without_a_port) {
    EXPECT_TRUE(parsed("couchbase://cluster.example").is_dns_srv_eligible());
    EXPECT_EQ(
        parsed("couchbase://cluster.example").dns_srv_name(), "_couchbase._tcp.cluster.example");
    EXPECT_EQ(
        parsed("couchbases://cluster.example").dns_srv_name(), "_couchbases._tcp.cluster.example");
    EXPECT_FALSE(parsed("couchbase://a,b").is_dns_srv_eligible());
    EXPECT_FALSE(parsed("couchbase://a:11210").is_dns_srv_eligible());
    EXPECT_FALSE(parsed("couchbase://10.0.0.1").is_dns_srv_eligible());
    EXPECT_FALSE(parsed("couchbase://[::1]").is_dns_srv_eligible());
    EXPECT_TRUE(parsed("couchbase://1.2.3.4.5").is_dns_srv_eligible());
}

TEST(connection_string, addresses_are_distinguished_from_names) {
    for (const char* address :
         {"1.2.3.4", "255.255.255.255", "::", "::1", "fe80::1", "1::", "1:2:3:4:5:6:7:8",
          "::ffff:1.2.3.4", "fe80::1%eth0"}) {
        EXPECT_TRUE(is_ip_address(address)) << address;
    }
    for (const char* name :
         {"", "a", "1.2.3", "256.1.1.1", "1.2.3.4.", "1.2.3.4.5", ":", ":1", "1:2:3:4:5:6:7:8:9",
          "1::2::3", "12345::", "1:2:", "g::1"}) {
        EXPECT_FALSE(is_ip_address(name)) << name;
    }
}

}  // namespace reprise::wire::connection_string_test
