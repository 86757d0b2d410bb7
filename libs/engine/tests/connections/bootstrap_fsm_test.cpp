#include <gtest/gtest.h>

#include "engine_driver.hpp"

// The client trusts nothing that a server sends before the login, and a server that cannot prove
// that it knows the password must wait for its next login.

namespace reprise::engine::testing::trust_tests {

// Makes the server end every login with this message.
void end_logins_with(scripted_cluster& cluster, std::string last, status code = status::success) {
    cluster.answer_each(opcode::sasl_step, [last = std::move(last), code](const seen_request&) {
        return answer{.status = code, .value = last};
    });
}

// Two seeds: the first refuses every login, the second is the cluster.
engine_options with_two_seeds() {
    engine_options options;
    options.seeds = {{"node1", {}}, {"node2", {}}};
    return options;
}

class login_log final : public log_sink {
public:
    void on_message(log_level, std::string_view text) noexcept override { all += text; }
    void on_decision(log_level, const decision_record&) noexcept override {}
    std::string all;
};

TEST(trust, a_configuration_pushed_before_the_login_changes_nothing) {
    scripted_cluster cluster(2);
    cluster.nodes[0].is_silent = true;
    engine_driver driver(cluster, with_two_seeds());
    driver.engine().open(cluster.bucket, driver.now);
    driver.settle();
    // The healthy seed has sent the true configuration. A new connection to it is poisoned, too.
    cluster.revision.rev = std::int64_t{1} << 62;
    driver.push_configuration_of(0);
    ASSERT_NE(driver.engine().configuration("travel"), nullptr);
    EXPECT_EQ(driver.engine().configuration("travel")->revision().rev, 10);
    // Updates of the real cluster still arrive.
    cluster.revision.rev = 11;
    driver.push_configuration_of(1);
    EXPECT_EQ(driver.engine().configuration("travel")->revision().rev, 11);
}

TEST(trust, a_configuration_pushed_before_the_login_is_not_even_the_first_one) {
    scripted_cluster cluster(1);
    cluster.answer_all(opcode::sasl_step, {.is_silent = true});
    connected_driver driver(cluster);
    for (const bool is_brief : {true, false}) {
        driver.push_configuration(driver.connections_to(0).at(0), 0, is_brief);
        driver.settle();
    }
    EXPECT_EQ(driver.engine().configuration("travel"), nullptr);
    EXPECT_EQ(cluster.count(opcode::get_cluster_config), 0U);
    EXPECT_EQ(driver.connections_to(0).size(), 1U) << "it is ignored, not an error";
}

TEST(trust, features_that_were_not_asked_for_are_not_used) {
    scripted_cluster cluster(1);
    cluster.on_request = [](const seen_request& seen) -> std::optional<answer> {
        // The server grants what was asked for, and extended errors as well.
        const std::string xerror("\0\7", 2);
        return seen.op == opcode::hello ? std::optional(answer{.value = seen.value + xerror})
                                        : std::nullopt;
    };
    engine_options options;
    options.enable_error_map = false;
    connected_driver driver(cluster, options);
    EXPECT_EQ(driver.connections_to(0).size(), 1U);
    EXPECT_EQ(cluster.count(opcode::get_error_map), 0U);
    EXPECT_NE(driver.engine().configuration("travel"), nullptr);
}

TEST(trust, EM_02_an_error_map_is_held_on_its_connection_until_the_login) {
    auto [cluster, driver] = connected_node({{.kv_connections_per_node = 2}});
    driver.advance(10ms);
    ASSERT_EQ(driver.connections_to(0).size(), 2U);
    // An impostor now answers at the node's address, with a newer map that marks a plain failure as
    // retryable.
    cluster.nodes[0].error_map_text =
        R"({"version":2,"revision":99,"errors":{)"
        R"("7ff1":{"name":"POISON","desc":"d","attrs":["temp","retry-now"]}}})";
    cluster.nodes[0].sasl_status = status::etmpfail;
    driver.close_peer(driver.connections_to(0).at(1));
    driver.advance(1s);
    EXPECT_GE(cluster.count(opcode::get_error_map), 3U);
    cluster.answer_all(opcode::get, {.status = status(0x7ff1)});
    int answered = 0;
    for (int index = 0; index < 4; ++index) {
        auto request = driver.request(operation_kind::get, "k");
        request.timeout = 100ms;
        const auto read = driver.after(200ms, driver.start(std::move(request)));
        ASSERT_EQ(read->calls, 1);
        if (read->result.error->status == 0x7ff1) {
            ++answered;
            EXPECT_EQ(read->result.error->error_map.value().name, "TEST_FAIL");
        }
    }
    EXPECT_GT(answered, 0);
}

TEST(trust, RH_25_a_server_that_does_not_know_the_password_fails_requests_at_once_by_name) {
    struct row {
        std::string last;
        std::string text;
    };
    const std::vector<row> rows{
        {"v=AAAA", "server signature is wrong: this server does not know the password"},
        {"", "server sent no signature"},
        {"x=1", "server sent no signature"},
        {"garbage", "server sent no signature"},
        {"e=invalid-proof", "the server refused the login: e=invalid-proof"},
        {"e=unknown-user", "the server refused the login: e=unknown-user"},
        {"e=other-error", "the server refused the login: e=other-error"},
    };
    for (const row& each : rows) {
        scripted_cluster cluster(1);
        end_logins_with(cluster, each.last);
        engine_options options;
        const auto log = std::make_shared<login_log>();
        options.log = log;
        engine_driver driver(cluster, options);
        const time_point started = driver.now;
        const auto read = driver.after(1s, driver.get("k"));
        ASSERT_EQ(read->code(), errc::authentication_failure) << each.last << each.last;
        EXPECT_EQ(read->result.error->last_reason, retry_reason::authentication_error);
        EXPECT_LE(read->at - started, 500ms);
        EXPECT_NE(log->all.find(each.text), std::string::npos) << log->all;
        EXPECT_EQ(cluster.count(opcode::select_bucket), 0U);
    }
}

TEST(trust, RH_25_a_refusal_in_scram_counts_in_any_message) {
    for (const opcode at : {opcode::sasl_auth, opcode::sasl_step}) {
        for (const status code : {status::success, status::auth_continue, status::auth_error}) {
            scripted_cluster cluster(1);
            cluster.on_request = [&](const seen_request& seen) -> std::optional<answer> {
                if (seen.op == opcode::sasl_list_mechanisms) {
                    return answer{.status = status::unknown_command};
                }
                return seen.op == at ? std::optional(answer{.status = code, .value = "e=no"})
                                     : std::nullopt;
            };
            engine_driver driver(cluster);
            const auto read = driver.after(500ms, driver.get("k"));
            EXPECT_EQ(read->code(), errc::authentication_failure) << static_cast<int>(code);
        }
    }
}

TEST(trust, RH_25_a_success_without_a_challenge_proves_nothing) {
    scripted_cluster cluster(1);
    cluster.answer_all(opcode::sasl_auth, {});
    engine_driver driver(cluster);
    const auto read = driver.after(500ms, driver.get("k"));
    EXPECT_EQ(read->code(), errc::authentication_failure);
    EXPECT_EQ(driver.engine().statistics().connections_open, 0U);
}

TEST(trust, RH_25_an_unusable_challenge_is_no_evidence_about_the_password) {
    struct row {
        std::string challenge;
        std::string text;
    };
    const std::vector<row> rows{
        {"r=another,s=QQ==,i=4096", "server nonce does not extend ours"},
        {"r=NONCE1,s=QQ==,i=4095", "too few iterations"},
        {"r=NONCE1,s=QQ==,i=100001", "too many iterations"},
        {"r=NONCE1,s=,i=4096", "invalid salt"},
        {"garbage", "malformed message"},
    };
    for (const row& each : rows) {
        scripted_cluster cluster(1);
        cluster.answer_each(opcode::sasl_auth, [&](const seen_request& seen) {
            std::string challenge = each.challenge;
            if (const auto place = challenge.find("NONCE"); place != std::string::npos) {
                challenge.replace(place, 5, seen.value.substr(seen.value.find(",r=") + 3));
            }
            return answer{.status = status::auth_continue, .value = challenge};
        });
        engine_options options;
        const auto log = std::make_shared<login_log>();
        options.log = log;
        engine_driver driver(cluster, options);
        auto request = driver.request(operation_kind::get, "k");
        request.timeout = 300ms;
        const auto read = driver.after(400ms, driver.start(std::move(request)));
        EXPECT_EQ(read->code(), errc::unambiguous_timeout) << each.challenge << each.challenge;
        EXPECT_NE(log->all.find(each.text), std::string::npos) << log->all;
        EXPECT_EQ(cluster.count(opcode::sasl_step), 0U) << "no proof for a bad challenge";
    }
}

TEST(trust, RH_39_after_a_wrong_signature_a_node_sees_one_login_in_ten_seconds) {
    // A server can collect proofs by refusing them as well as by a wrong signature.
    for (const char* last : {"v=AAAA", "", "e=invalid-proof"}) {
        scripted_cluster cluster(1);
        end_logins_with(cluster, last);
        engine_driver driver(cluster, {{.kv_connections_per_node = 4}});
        driver.engine().open("travel", driver.now);
        driver.engine().open("", driver.now);  // a second link to the same node
        driver.advance(1s);
        const std::size_t at_first = cluster.count(opcode::sasl_auth);
        EXPECT_LE(at_first, 2U) << "the connections that were in progress";
        driver.advance(59s);
        const auto logins = cluster.all(opcode::sasl_auth);
        EXPECT_GE(logins.size(), at_first + 4);
        for (std::size_t index = at_first; index < logins.size(); ++index) {
            EXPECT_GE(logins[index].at - logins[index - 1].at, 10s) << index;
        }
        // Once the server knows the password, all connections return without another delay.
        cluster.on_request = nullptr;
        driver.advance(11s);
        EXPECT_EQ(driver.engine().statistics().connections_open, 5U);
        const auto read = driver.settled(driver.get("k"));
        EXPECT_EQ(read->code(), errc::document_not_found);
    }
}

TEST(trust, RH_39_every_proof_counts_whatever_the_server_does_next) {
    enum class reaction : std::uint8_t { closes, sends_garbage, refuses, is_silent };
    for (const reaction how :
         {reaction::closes, reaction::sends_garbage, reaction::refuses, reaction::is_silent}) {
        SCOPED_TRACE(static_cast<int>(how));
        scripted_cluster cluster(1);
        engine_options options;
        options.bootstrap_timeout = 1s;
        engine_driver driver(cluster, options);
        cluster.on_request =
            [&](const seen_request& request) -> std::optional<scripted_cluster::scripted_answer> {
            if (request.op != opcode::sasl_step) {
                return std::nullopt;
            }
            answer made;
            made.is_silent = how == reaction::is_silent;
            made.closes = how == reaction::closes;
            made.status = how == reaction::refuses ? status::auth_error : status::not_stored;
            return made;
        };
        driver.engine().open("travel", driver.now);
        driver.advance(9s);
        // A connection that is only lost is forgiven once: the server may have restarted.
        const std::size_t at_first = how == reaction::refuses ? 1 : 2;
        EXPECT_EQ(cluster.count(opcode::sasl_step), at_first);
        driver.advance(30s);
        EXPECT_LE(cluster.count(opcode::sasl_step), at_first + 3);
        EXPECT_GE(cluster.count(opcode::sasl_step), at_first + 2);
    }
}

TEST(trust, RH_39_new_credentials_do_not_send_another_proof_early) {
    scripted_cluster cluster(1);
    end_logins_with(cluster, "v=AAAA");
    connected_driver driver(cluster);
    ASSERT_EQ(cluster.count(opcode::sasl_step), 1U);
    for (int round = 0; round < 5; ++round) {
        credentials identity;
        identity.username = "app";
        identity.password = "secret" + std::to_string(round);
        driver.engine().replace_credentials(identity);
        driver.advance(1s);
    }
    EXPECT_EQ(cluster.count(opcode::sasl_step), 1U);
}

TEST(trust, RH_25_the_state_survives_reconnects_until_a_login_succeeds) {
    scripted_cluster cluster(1);
    cluster.nodes[0].sasl_status = status::auth_error;
    engine_driver driver(cluster);
    const auto expect_refused = [&](const char* when) {
        const auto read = driver.settled(driver.get("k"));
        EXPECT_EQ(read->code(), errc::authentication_failure) << when << when;
    };
    driver.connect();
    expect_refused("refused");
    // Failures of later connections before a login are no evidence about the password.
    cluster.nodes[0].refuses_connections = true;
    driver.advance(6s);
    expect_refused("no connection");
    cluster.nodes[0].refuses_connections = false;
    cluster.nodes[0].ignores_connections = true;
    driver.advance(6s);
    expect_refused("connecting");
    cluster.nodes[0].ignores_connections = false;
    cluster.nodes[0].is_silent = true;
    driver.advance(6s);
    expect_refused("connected, and no answer");
    cluster.nodes[0].is_silent = false;
    cluster.nodes[0].sasl_status = status::etmpfail;
    driver.advance(11s);
    expect_refused("other trouble at SASL");
    cluster.nodes[0].mechanisms = "";
    driver.advance(6s);
    expect_refused("no mechanism");
    cluster.nodes[0].mechanisms = "SCRAM-SHA512";
    cluster.nodes[0].sasl_status.reset();
    driver.advance(6s);
    const auto read = driver.settled(driver.get("k"));
    EXPECT_EQ(read->code(), errc::document_not_found);
}

TEST(trust, plain_needs_tls_that_is_verified) {
    struct row {
        bool is_tls_verified;
        std::string offered;
        std::string taken;
    };
    const std::vector<row> rows{
        {true, "SCRAM-SHA1 PLAIN", "PLAIN"},
        {true, "PLAIN", "PLAIN"},
        {true, "SCRAM-SHA1", "SCRAM-SHA1"},
        {false, "SCRAM-SHA1 PLAIN", "SCRAM-SHA1"},
        {false, "PLAIN", ""},
    };
    for (const row& each : rows) {
        scripted_cluster cluster(1);
        cluster.nodes[0].mechanisms = each.offered;
        engine_options options;
        options.transport = wire::transport::tls;
        options.tls.is_verified = each.is_tls_verified;
        connected_driver driver(cluster, options);
        const auto logins = cluster.all(opcode::sasl_auth);
        EXPECT_EQ(logins.empty() ? "" : logins[0].key, each.taken) << each.offered;
    }
}

TEST(trust, a_bearer_token_needs_tls_that_is_verified_unless_it_is_allowed_without) {
    for (const bool is_allowed : {false, true}) {
        scripted_cluster cluster(1);
        cluster.nodes[0].mechanisms = "OAUTHBEARER";
        cluster.nodes[0].sasl_status = status::success;
        engine_options options;
        options.transport = wire::transport::tls;
        options.tls.is_verified = false;
        options.allow_plain_without_tls = is_allowed;
        engine_driver driver(cluster, options);
        driver.identity = {};
        driver.identity.bearer_token = "token";
        driver.connect();
        EXPECT_EQ(cluster.count(opcode::sasl_auth) != 0, is_allowed);
    }
}

TEST(trust, RH_40_a_refused_bearer_token_counts_like_a_refused_password) {
    scripted_cluster cluster(1);
    cluster.nodes[0].mechanisms = "SCRAM-SHA512 OAUTHBEARER";
    cluster.nodes[0].sasl_status = status::auth_error;
    engine_options options;
    options.transport = wire::transport::tls;
    engine_driver driver(cluster, options);
    driver.identity = {};
    driver.identity.bearer_token = "token";
    const auto read = driver.settled(driver.get("k"));
    EXPECT_EQ(cluster.all(opcode::sasl_auth).at(0).key, "OAUTHBEARER");
    EXPECT_EQ(read->code(), errc::authentication_failure);
}

TEST(trust, an_error_about_a_server_that_offers_only_plain_names_the_option) {
    for (const auto transport : {wire::transport::plain, wire::transport::tls}) {
        scripted_cluster cluster(1);
        cluster.nodes[0].mechanisms = "PLAIN";
        engine_options options;
        options.transport = transport;
        options.tls.is_verified = false;
        const auto log = std::make_shared<login_log>();
        options.log = log;
        connected_driver driver(cluster, options);
        const std::string_view expected =
            transport == wire::transport::plain
                ? "the server offers only PLAIN, which would send the password in clear text: use "
                  "couchbases:// or set allow_plain_without_tls"
                : "the server offers only PLAIN, which would reveal the password to a server whose "
                  "certificate is not verified: verify it or set allow_plain_without_tls";
        EXPECT_NE(log->all.find(expected), std::string::npos) << log->all;
    }
}

TEST(trust, allowed_plain_is_used_only_when_nothing_else_is_offered) {
    scripted_cluster cluster(1);
    engine_options options;
    options.allow_plain_without_tls = true;
    cluster.nodes[0].mechanisms = "PLAIN SCRAM-SHA1";
    {
        connected_driver driver(cluster, options);
        EXPECT_EQ(cluster.all(opcode::sasl_auth).at(0).key, "SCRAM-SHA1");
    }
    cluster.requests.clear();
    cluster.nodes[0].mechanisms = "PLAIN";
    connected_driver driver(cluster, options);
    EXPECT_EQ(cluster.all(opcode::sasl_auth).at(0).key, "PLAIN");
    EXPECT_EQ(driver.engine().statistics().connections_open, 1U);
}

// Regression: a hostile seed answered first, and every request of the first milliseconds failed
// with an authentication error although the next seed was the cluster.
TEST(trust, RH_25_a_refusal_by_one_seed_is_not_final_while_others_connect) {
    scripted_cluster cluster(2);
    cluster.nodes[0].sasl_status = status::auth_error;
    engine_driver driver(cluster, with_two_seeds());
    std::string key = "k";
    while (wire::vbucket_of(key, 2).value != 1) {
        key += "k";  // until the second seed owns it
    }
    const auto stored = driver.after(100ms, driver.upsert(key, "v"));
    ASSERT_EQ(stored->calls, 1);
    EXPECT_EQ(stored->result.ec, std::error_code{}) << stored->result.ec.message();
}

TEST(trust, RH_48_a_refusal_waits_for_silent_seeds) {
    scripted_cluster cluster(2);
    cluster.nodes[0].sasl_status = status::auth_error;
    cluster.nodes[1].is_silent = true;
    engine_driver driver(cluster, with_two_seeds());
    const auto stored = driver.after(1400ms, driver.upsert("k", "v"));
    EXPECT_EQ(stored->calls, 0) << "the other seed may still answer";
    driver.advance(200ms);
    EXPECT_EQ(stored->code(), errc::authentication_failure);
}

TEST(trust, RH_25_a_refusal_counts_at_once_when_no_other_seed_is_left) {
    scripted_cluster cluster(2);
    cluster.nodes[0].sasl_status = status::auth_error;
    cluster.nodes[1].sasl_status = status::auth_error;
    engine_driver driver(cluster, with_two_seeds());
    const auto stored = driver.after(10ms, driver.upsert("k", "v"));
    EXPECT_EQ(stored->code(), errc::authentication_failure);
}

}  // namespace reprise::engine::testing::trust_tests
