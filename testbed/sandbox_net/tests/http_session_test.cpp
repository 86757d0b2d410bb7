#include <chrono>
#include <filesystem>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include <reprise/http/authorization.hpp>
#include <reprise/json/parse.hpp>
#include <reprise/sandbox_net/control_client.hpp>
#include <reprise/sandbox_net/embedded_cluster.hpp>
#include <reprise/sandbox_net/ready_file.hpp>
#include <reprise/sandbox_net/server.hpp>

#include "raw_client.hpp"

namespace reprise::sandbox::http_ports_test {

using raw::raw_stream;

std::unique_ptr<embedded_cluster> start(bool with_tls = false) {
    server_options options;
    options.cluster.node_count = 2;
    options.tls.is_enabled = with_tls;
    return raw::start_cluster(std::move(options));
}

std::uint16_t management_port(const embedded_cluster& cluster, std::size_t node = 0) {
    return cluster.addresses().nodes.at(node).port(wire::service::management);
}

std::uint16_t control_port(const embedded_cluster& cluster) {
    const std::string& url = cluster.addresses().control_url;
    return static_cast<std::uint16_t>(std::stoi(url.substr(url.rfind(':') + 1)));
}

std::string get(std::string_view path, bool with_password = true, bool keep_alive = false) {
    std::string text = "GET " + std::string(path) + " HTTP/1.1\r\nHost: x\r\n";
    if (with_password) {
        text += "Authorization: " + http::make_basic_authorization("app", "secret") + "\r\n";
    }
    return text + (keep_alive ? "\r\n" : "Connection: close\r\n\r\n");
}

// The server's answer to `request`, until it closes.
std::string ask(std::uint16_t port, std::string_view request) {
    raw_stream stream(port);
    stream.send(request);
    return stream.receive_all();
}

control_target target_of(const embedded_cluster& cluster) {
    return {cluster.addresses().control_url, cluster.addresses().control_token};
}

TEST(sandbox_management, serves_what_a_client_bootstraps_from) {
    const auto cluster = start();
    for (const char* path :
         {"/pools", "/pools/default", "/pools/default/b/default", "/pools/default/nodeServices",
          "/pools/default/buckets/default/scopes"}) {
        const std::string answer = ask(management_port(*cluster), get(path));
        ASSERT_TRUE(answer.starts_with("HTTP/1.1 200 OK\r\n")) << path << '\n' << answer;
        const std::string body = answer.substr(answer.find("\r\n\r\n") + 4);
        EXPECT_TRUE(json::parse(body)) << path;
    }
}

TEST(sandbox_management, requires_the_password) {
    const auto cluster = start();
    const std::string answer = ask(management_port(*cluster), get("/pools/default", false));
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 401 ")) << answer;
    EXPECT_TRUE(answer.contains("WWW-Authenticate: Basic"));
}

TEST(sandbox_management, answers_several_requests_on_one_connection) {
    const auto cluster = start();
    raw_stream stream(management_port(*cluster));
    stream.send(get("/pools", true, true) + get("/whoami", true, true) + get("/no/such/path"));
    const std::string all = stream.receive_all();
    const std::size_t first = all.find("HTTP/1.1 200");
    const std::size_t second = all.find("HTTP/1.1 200", first + 1);
    EXPECT_EQ(first, 0u);
    EXPECT_NE(second, std::string::npos);
    EXPECT_NE(all.find("HTTP/1.1 404", second), std::string::npos) << all;
}

TEST(sandbox_management, is_also_available_over_tls) {
    const auto cluster = start(true);
    raw_stream stream(
        cluster->addresses().nodes.at(0).port(wire::service::management, wire::transport::tls),
        {cluster->addresses().ca_path, {}});
    ASSERT_TRUE(stream.is_open());
    stream.send(get("/pools", true, true));
    EXPECT_TRUE(stream.receive_until("\r\n\r\n").starts_with("HTTP/1.1 200"));
}

TEST(sandbox_management, streams_the_configuration_and_every_change) {
    const auto cluster = start();
    raw_stream stream(management_port(*cluster));
    stream.send(get("/pools/default/bs/default", true, true));
    const std::string first = stream.receive_until("\n\n\n\n");
    ASSERT_TRUE(first.starts_with("HTTP/1.1 200")) << first;
    EXPECT_TRUE(first.contains("Transfer-Encoding: chunked"));
    cluster->with_cluster(
        [](sandbox::cluster& brain) { ASSERT_TRUE(brain.topology().failover(node_id{1})); });
    const std::string second = stream.receive_until("\n\n\n\n");
    EXPECT_TRUE(second.contains("\"rev\"")) << second;
    cluster->with_cluster([](sandbox::cluster& brain) {
        ASSERT_TRUE(brain.topology().set_node_state(node_id{0}, false));
    });
    stream.receive_all();  // ends
}

TEST(sandbox_management, refuses_garbage_and_oversized_requests_with_specific_statuses) {
    const auto cluster = start();
    for (const std::uint16_t port : {management_port(*cluster), control_port(*cluster)}) {
        EXPECT_TRUE(ask(port, "\x80\x1f\r\n\r\n").starts_with("HTTP/1.1 400"));
        EXPECT_TRUE(ask(port, "GET / HTTP/3.0\r\n\r\n").starts_with("HTTP/1.1 505"));
        EXPECT_TRUE(ask(port, "GET /" + std::string(70'000, 'a')).starts_with("HTTP/1.1 431"));
        EXPECT_TRUE(ask(port, "POST / HTTP/1.1\r\nContent-Length: 99999999\r\n\r\n")
                        .starts_with("HTTP/1.1 413"));
        EXPECT_TRUE(ask(port, "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n")
                        .starts_with("HTTP/1.1 400"));
    }
    EXPECT_TRUE(ask(management_port(*cluster), get("/pools")).starts_with("HTTP/1.1 200"));
}

TEST(sandbox_control, answers_commands_with_the_token) {
    const auto cluster = start();
    const auto status = call_control(target_of(*cluster), json::object{{"command", "status"}});
    ASSERT_TRUE(status) << status.error();
    EXPECT_EQ(status->find("nodes")->as_array()->size(), 2u);
}

TEST(sandbox_control, refuses_a_wrong_or_missing_token) {
    const auto cluster = start();
    control_target wrong = target_of(*cluster);
    wrong.token.back() = wrong.token.back() == '0' ? '1' : '0';
    const auto refused = call_control(wrong, json::object{{"command", "status"}});
    ASSERT_FALSE(refused);
    EXPECT_TRUE(refused.error().contains("token")) << refused.error();
    EXPECT_TRUE(ask(control_port(*cluster), "POST /control HTTP/1.1\r\nContent-Length: 0\r\n\r\n")
                    .starts_with("HTTP/1.1 401"));
}

TEST(sandbox_control, refuses_requests_that_are_not_commands) {
    const auto cluster = start();
    const auto unknown = call_control(target_of(*cluster), json::object{{"command", "nothing"}});
    EXPECT_FALSE(unknown);
    const std::string head =
        "Authorization: Bearer " + cluster->addresses().control_token + "\r\nConnection: close\r\n";
    const std::uint16_t port = control_port(*cluster);
    EXPECT_TRUE(ask(port, "POST /control HTTP/1.1\r\n" + head + "Content-Length: 1\r\n\r\n{")
                    .starts_with("HTTP/1.1 400"));
    EXPECT_TRUE(ask(port, "GET /control HTTP/1.1\r\n" + head + "\r\n").starts_with("HTTP/1.1 405"));
    EXPECT_TRUE(ask(port, "POST /other HTTP/1.1\r\n" + head + "Content-Length: 0\r\n\r\n")
                    .starts_with("HTTP/1.1 404"));
}

TEST(sandbox_control, a_fault_added_remotely_disturbs_and_is_counted) {
    const auto cluster = start();
    const json::object rule{
        {"command", "fault_add"}, {"ops", json::array{"hello"}}, {"effect", "close_before"}};
    const auto added = call_control(target_of(*cluster), rule);
    ASSERT_TRUE(added) << added.error();
    raw::raw_client client(cluster->addresses().nodes.at(0).port(wire::service::key_value));
    EXPECT_FALSE(client.call(wire::hello_request{"x", {}}));
    const auto list = call_control(target_of(*cluster), json::object{{"command", "fault_list"}});
    ASSERT_TRUE(list) << list.error();
    EXPECT_EQ(list->find("faults")->at(0)->find("taken")->as_uint64(), 1u);
}

TEST(sandbox_control, a_command_that_takes_a_node_down_closes_its_peers) {
    const auto cluster = start();
    raw::raw_client client(cluster->addresses().nodes.at(1).port(wire::service::key_value));
    client.bootstrap();
    ASSERT_TRUE(
        call_control(target_of(*cluster), json::object{{"command", "node_down"}, {"node", 1}}));
    EXPECT_FALSE(client.receive());
}

// The answer used to be written first, so a fast client could still reach a node that was down.
TEST(sandbox_control, changes_of_a_command_take_effect_before_its_answer) {
    const auto cluster = start();
    const std::uint16_t port = cluster->addresses().nodes.at(1).port(wire::service::key_value);
    for (int round = 0; round < 200; ++round) {
        for (const bool is_up : {false, true}) {
            const json::object command{{"command", is_up ? "node_up" : "node_down"}, {"node", 1}};
            ASSERT_TRUE(call_control(target_of(*cluster), command));
            ASSERT_EQ(raw::raw_socket(port).is_connected(), is_up) << "turn " << round;
        }
    }
}

// An answer's status line, to a request with these headers.
std::string ask_control(
    const embedded_cluster& cluster, std::string_view request, std::string_view headers) {
    const std::string answer =
        ask(control_port(cluster), std::string(request) + " HTTP/1.1\r\n" + std::string(headers) +
                                       "Connection: close\r\n\r\n");
    return answer.substr(9, 3);
}

TEST(sandbox_console, needs_the_token_in_the_link) {
    server_options options;
    options.cluster.node_count = 1;
    options.console_page = "<p>console</p>";
    auto cluster = embedded_cluster::start(std::move(options));
    ASSERT_TRUE(cluster) << cluster.error();
    const server_addresses& at = (*cluster)->addresses();
    const std::string path = at.console_url.substr(at.console_url.find("/console"));
    EXPECT_EQ(path, "/console?token=" + at.control_token);
    const std::string answer =
        ask(control_port(**cluster),
            "GET " + path + " HTTP/1.1\r\nHost: 127.0.0.1:1\r\nConnection: close\r\n\r\n");
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 200 ")) << answer;
    EXPECT_TRUE(answer.contains("Content-Security-Policy: default-src 'none'; ")) << answer;
    EXPECT_TRUE(answer.ends_with("<p>console</p>")) << answer;
    const auto status = [&](std::string_view request, std::string_view headers) {
        return ask_control(**cluster, request, headers);
    };
    EXPECT_EQ(status("GET /console?token=" + at.control_token + "x", "Host: localhost\r\n"), "401");
    EXPECT_EQ(status("GET /console", "Host: localhost\r\n"), "401");
    EXPECT_EQ(status("POST /control?token=" + at.control_token, "Host: localhost\r\n"), "401");
}

TEST(sandbox_console, is_not_there_unless_it_was_requested) {
    const auto cluster = start();
    const std::string token = cluster->addresses().control_token;
    EXPECT_EQ(cluster->addresses().console_url, "");
    EXPECT_EQ(ask_control(*cluster, "GET /console?token=" + token, "Host: localhost\r\n"), "404");
}

TEST(sandbox_control, refuses_requests_that_a_browser_sends_for_another_site) {
    const auto cluster = start();
    const std::string bearer =
        "Authorization: Bearer " + cluster->addresses().control_token + "\r\n";
    const auto status = [&](const std::string& headers) {
        return ask_control(*cluster, "POST /control", headers + bearer);
    };
    EXPECT_EQ(status("Host: evil.example:80\r\n"), "403");
    EXPECT_EQ(status("Host: localhost.evil.example\r\n"), "403");
    EXPECT_EQ(status("Host: 127.0.0.1:80@evil.example\r\n"), "403");
    EXPECT_EQ(status("Host: localhost:80\r\nOrigin: http://evil.example\r\n"), "403");
    EXPECT_EQ(status("Host: localhost:80\r\nOrigin: https://localhost:80\r\n"), "403");
    EXPECT_EQ(status("Host: localhost:80\r\nOrigin: null\r\n"), "403");
    EXPECT_EQ(status("Origin: http://localhost:80\r\n"), "403");
    const std::string own =
        "POST /control HTTP/1.1\r\nHost: localhost:80\r\n"
        "Origin: http://localhost:80\r\nConnection: close\r\n";
    const std::string answer =
        ask(control_port(*cluster), own + bearer + "Content-Length: 2\r\n\r\n{}");
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 200 ")) << answer;
}

TEST(control_client, reports_an_invalid_address_and_one_that_refuses_connections) {
    for (const char* url :
         {"", "127.0.0.1:1", "http://name:1/control", "http://127.0.0.1/c",
          "http://127.0.0.1:99999/c"}) {
        const auto answer = call_control({url, "t"}, json::object{});
        ASSERT_FALSE(answer);
        EXPECT_TRUE(answer.error().contains("not a control address")) << answer.error();
    }
    std::uint16_t port = 0;
    {
        const auto cluster = start();
        port = control_port(*cluster);
    }
    const auto answer = call_control(
        {"http://127.0.0.1:" + std::to_string(port) + "/control", "t"}, json::object{});
    ASSERT_FALSE(answer);
    EXPECT_TRUE(answer.error().contains("cannot connect")) << answer.error();
}

TEST(ready_file, returns_what_was_written_and_is_private) {
    const std::string path = testing::TempDir() + "ready_file_test.json";
    ready_info info;
    info.pid = 42;
    info.addresses.connection_string = "couchbase://127.0.0.1:1";
    info.addresses.connection_string_tls = "couchbases://127.0.0.1:2";
    info.addresses.ca_path = "/ca";
    info.addresses.nodes.resize(2);
    info.addresses.nodes[0].set(wire::service::key_value, wire::transport::plain, 1);
    info.addresses.nodes[0].set(wire::service::key_value, wire::transport::tls, 2);
    info.addresses.nodes[1].set(wire::service::management, wire::transport::plain, 6);
    info.addresses.control_url = "http://127.0.0.1:9/control";
    info.addresses.control_token = "token";
    ASSERT_TRUE(write_ready_file(path, info));
    const auto read = read_ready_file(path);
    ASSERT_TRUE(read) << read.error();
    EXPECT_EQ(to_json(*read), to_json(info));
    EXPECT_EQ(read->addresses.nodes.at(1).port(wire::service::management), 6);
    EXPECT_EQ(
        std::filesystem::status(path).permissions() & std::filesystem::perms::others_all,
        std::filesystem::perms::none);
    std::filesystem::remove(path);
}

TEST(ready_file, reports_what_is_wrong_with_an_invalid_file) {
    const std::string path = testing::TempDir() + "ready_file_bad.json";
    EXPECT_TRUE(read_ready_file(path).error().contains(path));
    for (const char* text :
         {"", "{", "[]", "{}", "{\"connection_string\":\"x\"}",
          "{\"connection_string\":\"x\",\"control\":{\"url\":\"u\","
          "\"token\":\"t\"},\"nodes\":[{\"kv\":70000}]}"}) {
        FILE* file = std::fopen(path.c_str(), "w");
        std::fputs(text, file);
        std::fclose(file);
        const auto read = read_ready_file(path);
        ASSERT_FALSE(read) << text;
        EXPECT_TRUE(read.error().starts_with(path)) << read.error();
    }
    std::filesystem::remove(path);
    EXPECT_FALSE(write_ready_file("no/such/folder/r.json", {}));
}

TEST(sandbox_server, reports_a_port_that_is_in_use_or_impossible) {
    const auto cluster = start();
    server_options options;
    options.port = cluster->addresses().nodes.at(0).port(wire::service::key_value);
    const auto taken = embedded_cluster::start(options);
    ASSERT_FALSE(taken);
    EXPECT_TRUE(taken.error().contains(std::to_string(options.port))) << taken.error();
    options.port = 65530;
    const auto impossible = embedded_cluster::start(options);
    ASSERT_FALSE(impossible);
    EXPECT_TRUE(impossible.error().contains("port")) << impossible.error();
}

TEST(sandbox_server, runs_on_the_caller_s_loop) {
    boost::asio::io_context io(1);
    server_options options;
    options.cluster.node_count = 1;
    options.cluster.replica_count = 0;
    auto front = server::make(io, std::move(options));
    ASSERT_TRUE(front) << front.error();
    raw_stream stream(front->addresses().nodes.at(0).port(wire::service::management));
    stream.send("GET / HTTP/1.1\r\n\r\n");
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (front->session_count() == 0 && std::chrono::steady_clock::now() < deadline) {
        io.run_one_for(std::chrono::seconds(1));
    }
    EXPECT_EQ(front->session_count(), 1u);
    front->stop();
    io.run_for(std::chrono::seconds(30));  // the handlers of closed sockets finish
    EXPECT_TRUE(io.stopped());
    EXPECT_EQ(front->session_count(), 0u);
}

}  // namespace reprise::sandbox::http_ports_test
