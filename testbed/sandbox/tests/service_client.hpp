#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <string_view>
#include <utility>

#include <reprise/http/authorization.hpp>
#include <reprise/json/parse.hpp>
#include <reprise/json/write.hpp>
#include <reprise/sandbox/cluster.hpp>
#include <reprise/sandbox/services.hpp>

// Sends requests to the services of a small cluster, without a codec in between.

namespace service_testing {

namespace http = reprise::http;
namespace json = reprise::json;
namespace sandbox = reprise::sandbox;
namespace wire = reprise::wire;

inline constexpr sandbox::time_point start_of_time{std::chrono::seconds(1'735'689'600)};

inline sandbox::cluster make_cluster() {
    sandbox::cluster_options options;
    options.node_count = 2;
    options.vbucket_count = 16;
    sandbox::bucket_options bucket;
    bucket.name = "travel";
    bucket.scopes = {{"inventory", {"airline", "hotel"}}};
    options.buckets = {bucket};
    sandbox::user_options admin;
    admin.name = "app";
    admin.password = "secret";
    sandbox::user_options limited;
    limited.name = "guest";
    limited.password = "guest";
    limited.buckets = {"other"};
    options.users = {admin, limited};
    return sandbox::cluster::make(options).value();
}

// An answer with its complete body, even if it was streamed.
struct reply {
    int status = 0;
    sandbox::service_header_list headers{};
    std::string text{};
    json::value body{};

    const json::value* find(std::string_view name) const { return body.find(name); }
    // The text of a top-level member; "" if there is none.
    std::string member(std::string_view name) const {
        const json::value* found = body.find(name);
        return found == nullptr ? std::string() : json::serialize(*found);
    }
    std::string results() const { return member("results"); }
    // The code of the first error; 0 without one.
    std::int64_t code() const {
        const json::value* errors = body.find("errors");
        const json::value* first = errors == nullptr ? nullptr : errors->at(0);
        const json::value* found = first == nullptr ? nullptr : first->find("code");
        return found == nullptr ? 0 : found->as_int64().value_or(-1);
    }
};

class service_client {
public:
    sandbox::cluster cluster = make_cluster();
    sandbox::time_point now = start_of_time;
    std::string user = "app";
    std::string password = "secret";

    sandbox::service_answer raw(sandbox::service_request request) {
        if (!user.empty()) {
            request.headers.push_back(
                {"Authorization", http::make_basic_authorization(user, password)});
        }
        return sandbox::handle_service(cluster, sandbox::node_id{0}, request, now);
    }

    reply ask(
        wire::service service, std::string method, std::string target, std::string body = {}) {
        sandbox::service_request request;
        request.service = service;
        request.method = std::move(method);
        request.target = std::move(target);
        request.body = std::move(body);
        sandbox::service_answer answer = raw(std::move(request));
        reply made;
        made.status = answer.response.status;
        made.headers = answer.response.headers;
        made.text = answer.response.body;
        while (answer.response.more && answer.response.more->append_next(made.text)) {
        }
        if (auto parsed = json::parse(made.text)) {
            made.body = std::move(parsed->root);
        }
        return made;
    }

    // Runs a statement with additional members of the request.
    reply query(std::string_view statement, json::object members = {}) {
        members.set("statement", statement);
        return ask(wire::service::query, "POST", "/query/service", json::serialize(members));
    }
    reply analytics(std::string_view statement, json::object members = {}) {
        members.set("statement", statement);
        return ask(
            wire::service::analytics, "POST", "/analytics/service", json::serialize(members));
    }
    // Stores documents k1 to k3 in the default collection.
    void fill() {
        const reply made = query(
            R"(UPSERT INTO travel (KEY, VALUE) VALUES ("k1", {"name": "first one", "n": 1}),
               ("k2", {"name": "second", "n": 2, "at": {"city": "Brno"}}), ("k3", {"n": 3}))");
        EXPECT_EQ(made.member("status"), "\"success\"") << made.text;
    }
};

}  // namespace service_testing
