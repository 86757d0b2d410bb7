#include "conversation.hpp"
#include "service_client.hpp"

#include <map>

// The rights of users and groups: stored, returned and enforced, by key-value and by the services.

namespace roles_test {

using namespace service_testing;
using sandbox::role_grant;
using sandbox_testing::opcode;
using sandbox_testing::peer;
using sandbox_testing::status;
using wire::service;

struct roles : testing::Test, service_client {
    void add(const std::string& name, const std::string& given, const std::string& more = "") {
        const reply made =
            ask(service::management, "PUT", "/settings/rbac/users/local/" + name,
                "password=secret&roles=" + given + more);
        EXPECT_EQ(made.status, 200) << made.text;
    }
    peer connect(const std::string& name) {
        peer client(cluster);
        client.hello(sandbox_testing::usual_features());
        EXPECT_EQ(client.login(name, "secret"), status::success);
        EXPECT_EQ(client.select(), status::success);
        return client;
    }
    // The error code of a statement run by `who`; 0: success.
    std::int64_t code_for(const std::string& who, const std::string& statement) {
        user = who;
        const reply made = query(statement);
        user = "app";
        return made.code();
    }
    int status_for(
        const std::string& who, service of, std::string method, std::string target,
        std::string body = {}) {
        user = who;
        const int given = ask(of, std::move(method), std::move(target), std::move(body)).status;
        user = "app";
        return given;
    }
    static std::string key() { return "key_0"; }
};

TEST_F(roles, a_reader_reads_and_a_writer_writes) {
    add("reader", "data_reader[travel]");
    add("writer", "data_writer[travel]");
    peer admin = connect("app");
    peer reader = connect("reader");
    peer writer = connect("writer");
    const std::string name = sandbox_testing::key_on(cluster, 0);
    EXPECT_EQ(admin.set(name, "1").status, status::success);
    EXPECT_EQ(reader.get(name).status, status::success);
    EXPECT_EQ(writer.get(name).status, status::eaccess);
    EXPECT_EQ(reader.set(name, "2").status, status::eaccess);
    EXPECT_EQ(writer.set(name, "2").status, status::success);
    EXPECT_EQ(reader.store(opcode::add, "x" + name, "2").status, status::eaccess);
    const wire::document_request remove{opcode::remove, reader.key(name)};
    EXPECT_EQ(reader.ask(remove, peer::at(name)).status, status::eaccess);
    const wire::counter_request count{opcode::increment, writer.key("n"), 1, 0, 0};
    EXPECT_EQ(writer.ask(count, peer::at("n")).status, status::eaccess);
    EXPECT_EQ(reader.ask(count, peer::at("n")).status, status::eaccess);
    EXPECT_EQ(writer.ask(remove, peer::at(name)).status, status::success);
}

TEST_F(roles, a_role_can_be_restricted_to_one_collection) {
    add("narrow", "data_reader[travel:inventory:airline]");
    peer admin = connect("app");
    peer narrow = connect("narrow");
    const std::string name = sandbox_testing::key_on(cluster, 0);
    const auto* airline =
        cluster.buckets().manifest("travel")->find_collection("inventory", "airline");
    const auto* hotel = cluster.buckets().manifest("travel")->find_collection("inventory", "hotel");
    const auto get = [&](peer& by, std::uint32_t collection) {
        return by.ask(wire::document_request{opcode::get, by.key(name, collection)}, peer::at(name))
            .status;
    };
    EXPECT_EQ(get(narrow, airline->id), status::key_enoent);
    EXPECT_EQ(get(narrow, hotel->id), status::unknown_collection);
    EXPECT_EQ(get(narrow, 0), status::unknown_collection);
    EXPECT_EQ(get(admin, hotel->id), status::key_enoent);
    const wire::store_request store{
        opcode::set, narrow.key(name, airline->id), 0, 0, sandbox_testing::base::as_bytes("1")};
    EXPECT_EQ(narrow.ask(store, peer::at(name)).status, status::eaccess);
    const auto id = [&narrow](const char* path) {
        return narrow.ask(wire::get_collection_id_request{path}).status;
    };
    EXPECT_EQ(id("inventory.airline"), status::success);
    EXPECT_EQ(id("inventory.hotel"), status::unknown_collection);
}

TEST_F(roles, buckets_are_visible_only_with_a_role_in_them) {
    ASSERT_TRUE(cluster.buckets().create({.name = "other"}));
    add("reader", "data_reader[travel]");
    add("every", "data_reader[*]");
    add("overseer", "ro_admin");
    add("nobody", "");
    const auto select = [this](const char* name, const char* bucket) {
        peer client(cluster);
        EXPECT_EQ(client.login(name, "secret"), status::success);
        return client.select(bucket);
    };
    EXPECT_EQ(select("reader", "travel"), status::success);
    EXPECT_EQ(select("reader", "other"), status::eaccess);
    EXPECT_EQ(select("every", "other"), status::success);
    EXPECT_EQ(select("nobody", "travel"), status::eaccess);
    // Select bucket does not reveal whether a bucket exists.
    EXPECT_EQ(select("reader", "missing"), status::eaccess);
    EXPECT_EQ(select("every", "missing"), status::eaccess);
    EXPECT_EQ(select("overseer", "missing"), status::eaccess);
    EXPECT_EQ(select("app", "missing"), status::eaccess);
    const std::string path = "/pools/default/buckets/";
    EXPECT_EQ(status_for("reader", service::management, "GET", path + "missing"), 403);
    EXPECT_EQ(status_for("app", service::management, "GET", path + "missing"), 404);
}

TEST_F(roles, changes_of_roles_affect_open_connections) {
    add("eve", "data_reader[travel]");
    peer eve = connect("eve");
    const std::string name = sandbox_testing::key_on(cluster, 0);
    EXPECT_EQ(eve.set(name, "1").status, status::eaccess);
    add("eve", "data_reader[travel],data_writer[travel]");
    EXPECT_EQ(eve.set(name, "1").status, status::success);
    const std::string group = "/settings/rbac/groups/writers";
    EXPECT_EQ(
        ask(service::management, "PUT", group, "roles=data_writer[travel]&description=they+write")
            .status,
        200);
    add("eve", "", "&groups=writers");
    EXPECT_EQ(eve.get(name).status, status::eaccess);
    EXPECT_EQ(eve.set(name, "1").status, status::success);
    EXPECT_EQ(ask(service::management, "DELETE", group).status, 200);
    EXPECT_EQ(eve.set(name, "1").status, status::eaccess);
}

TEST_F(roles, statements_need_the_role_of_their_verb) {
    fill();
    for (const char* verb : {"select", "insert", "update", "delete", "manage_index"}) {
        add(verb, "query_" + std::string(verb) + "[travel]");
    }
    add("reader", "data_reader[travel]");
    const std::map<std::string, std::vector<std::string>> statements{
        {"SELECT n FROM travel USE KEYS 'k1'", {"select"}},
        {"INSERT INTO travel (KEY, VALUE) VALUES ('new', 1)", {"insert"}},
        {"UPDATE travel USE KEYS 'k1' SET n = 2", {"update"}},
        {"DELETE FROM travel USE KEYS 'k2'", {"delete"}},
        {"CREATE INDEX i ON travel(n)", {"manage_index"}}};
    for (const auto& [statement, allowed] : statements) {
        for (const char* who : {"select", "insert", "update", "delete", "manage_index", "reader"}) {
            const bool is_allowed = std::ranges::find(allowed, who) != allowed.end();
            EXPECT_EQ(code_for(who, statement), is_allowed ? 0 : 13014) << who << statement;
        }
    }
    // UPSERT needs both, and RETURNING reads.
    const std::string upsert = "UPSERT INTO travel (KEY, VALUE) VALUES ('k', 1)";
    EXPECT_EQ(code_for("insert", upsert), 13014);
    add("both", "query_insert[travel],query_update[travel]");
    EXPECT_EQ(code_for("both", upsert), 0);
    EXPECT_EQ(code_for("both", upsert + " RETURNING *"), 13014);
    user = "select";
    const reply refused = query("DELETE FROM travel USE KEYS 'k1'");
    EXPECT_EQ(refused.status, 401);
    EXPECT_NE(refused.text.find("Add role query_delete on default:travel"), std::string::npos);
    EXPECT_EQ(analytics("SELECT VALUE 1 FROM travel").code(), 20001);
}

TEST_F(roles, views_search_and_administration_have_their_own_roles) {
    ASSERT_TRUE(cluster.services().put_view("travel", "d", "v"));
    ASSERT_TRUE(cluster.services().create_search_index("all", "travel"));
    for (const char* role :
         {"views_reader", "views_admin", "fts_searcher", "fts_admin", "bucket_admin", "data_writer",
          "bucket_full_access"}) {
        add(role, std::string(role) + "[travel]");
    }
    add("cluster_admin", "cluster_admin");
    add("security_admin", "security_admin_local");
    const auto check = [this](
                           service of, const char* method, const char* target, const char* body,
                           std::vector<std::string> allowed) {
        for (const char* who :
             {"views_reader", "views_admin", "fts_searcher", "fts_admin", "bucket_admin",
              "data_writer", "bucket_full_access", "cluster_admin", "security_admin", "app"}) {
            const int given = status_for(who, of, method, target, body);
            const bool is_allowed =
                who == std::string("app") || std::ranges::find(allowed, who) != allowed.end();
            EXPECT_EQ(given == 403, !is_allowed) << who << " " << target << " " << given;
        }
    };
    const std::vector<std::string> view_readers{
        "views_reader", "views_admin", "bucket_full_access"};
    check(service::views, "GET", "/travel/_design/d/_view/v", "", view_readers);
    check(service::views, "PUT", "/travel/_design/e", "{}", {"views_admin", "bucket_full_access"});
    check(
        service::search, "POST", "/api/index/all/query", R"({"query":{"match_all":{}}})",
        {"fts_searcher", "fts_admin"});
    check(service::search, "PUT", "/api/index/all", R"({"sourceName":"travel"})", {"fts_admin"});
    const char* bucket = "/pools/default/buckets/travel";
    check(service::management, "POST", bucket, "flushEnabled=0", {"bucket_admin", "cluster_admin"});
    check(
        service::management, "POST", "/pools/default/buckets/travel/controller/doFlush", "",
        {"bucket_admin", "cluster_admin", "bucket_full_access"});
    check(
        service::management, "POST", "/pools/default/buckets/travel/scopes", "name=s",
        {"bucket_admin", "cluster_admin"});
    check(service::management, "POST", "/pools/default/buckets", "name=b", {"cluster_admin"});
    check(service::management, "GET", "/settings/rbac/users", "", {"security_admin"});
    check(
        service::management, "PUT", "/settings/rbac/groups/g", "description=x", {"security_admin"});
}

TEST_F(roles, users_and_groups_are_returned_as_they_were_stored) {
    const std::string groups = "/settings/rbac/groups";
    EXPECT_EQ(ask(service::management, "GET", groups + "/readers").status, 404);
    EXPECT_EQ(ask(service::management, "GET", groups + "/readers").text, "\"Unknown group.\"");
    EXPECT_EQ(
        ask(service::management, "PUT", groups + "/readers",
            "roles=data_reader[travel:inventory]&description=who+reads&ldap_group_ref=cn%3Dx")
            .status,
        200);
    EXPECT_EQ(
        ask(service::management, "GET", groups + "/readers").text,
        R"({"id":"readers","description":"who reads","roles":[{"role":"data_reader",)"
        R"("bucket_name":"travel","scope_name":"inventory","collection_name":"*"}],)"
        R"("ldap_group_ref":"cn=x"})");
    EXPECT_EQ(ask(service::management, "GET", groups).body.as_array()->size(), 1u);
    ask(service::management, "PUT", groups + "/plain", "roles=admin");
    EXPECT_EQ(
        ask(service::management, "GET", groups + "/plain").text,
        R"({"id":"plain","description":"","roles":[{"role":"admin"}]})");
    add("eve", "admin,data_reader[travel:inventory]", "&groups=readers&name=Eve+E.");
    EXPECT_EQ(
        ask(service::management, "GET", "/settings/rbac/users/local/eve").text,
        R"({"id":"eve","domain":"local","name":"Eve E.","roles":[{"role":"admin",)"
        R"("origins":[{"type":"user"}]},{"role":"data_reader","bucket_name":"travel",)"
        R"("scope_name":"inventory","collection_name":"*","origins":[{"type":"user"},)"
        R"({"type":"group","name":"readers"}]}],"groups":["readers"],"external_groups":[]})");
    const reply shown = ask(service::management, "GET", "/settings/rbac/roles");
    EXPECT_NE(shown.text.find(R"("role":"query_select","bucket_name":"*")"), std::string::npos);
    user = "eve";
    EXPECT_EQ(
        ask(service::management, "POST", "/controller/changePassword", "password=others").status,
        200);
    EXPECT_EQ(ask(service::management, "GET", "/whoami").status, 401);
    password = "others";
    EXPECT_NE(
        ask(service::management, "GET", "/whoami").text.find(R"("role":"admin")"),
        std::string::npos);
}

TEST_F(roles, unsupported_roles_and_fields_are_refused) {
    const std::string path = "/settings/rbac/users/local/eve";
    const auto refusal = [&](const std::string& form, const char* field) {
        const reply made = ask(service::management, "PUT", path, "password=secret&" + form);
        EXPECT_EQ(made.status, 400) << form;
        const json::value* errors = made.find("errors");
        const json::value* text = errors == nullptr ? nullptr : errors->find(field);
        EXPECT_NE(text, nullptr) << made.text;
        return text == nullptr ? std::string() : std::string(text->as_string().value_or(""));
    };
    EXPECT_NE(refusal("roles=king", "roles").find("unknown, malformed"), std::string::npos);
    EXPECT_NE(refusal("roles=data_reader", "roles").find("[data_reader]"), std::string::npos);
    EXPECT_NE(refusal("roles=admin[travel]", "roles").find("malformed"), std::string::npos);
    EXPECT_NE(
        refusal("roles=data_reader[nowhere]", "roles").find("[data_reader[nowhere]]"),
        std::string::npos);
    EXPECT_NE(
        refusal("roles=bucket_admin[travel:s]", "roles").find("malformed"), std::string::npos);
    EXPECT_EQ(
        refusal("roles=replication_admin", "roles"),
        "The role replication_admin is not in the sandbox; docs/sandbox.md lists what is");
    EXPECT_EQ(refusal("groups=none", "groups"), "Groups do not exist: none");
    EXPECT_EQ(
        refusal("locked=true", "locked"),
        "The field locked is not in the sandbox; docs/sandbox.md lists what is");
    EXPECT_EQ(cluster.accounts().find_user("eve"), nullptr);
    EXPECT_EQ(
        ask(service::management, "PUT", "/settings/rbac/users/external/x", "roles=admin").status,
        400);
    EXPECT_EQ(ask(service::management, "GET", "/settings/rbac/users/external").text, "[]");
}

}  // namespace roles_test
