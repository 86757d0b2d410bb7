#include <reprise/wire/sasl.hpp>

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace reprise::wire::sasl_test {

using namespace std::string_literals;

TEST(sasl, mechanism_names_match_in_any_letter_case) {
    EXPECT_EQ(to_string(sasl_mechanism::scram_sha512), "SCRAM-SHA512");
    EXPECT_EQ(parse_sasl_mechanism("scram-sha256"), sasl_mechanism::scram_sha256);
    EXPECT_EQ(parse_sasl_mechanism("PLAIN"), sasl_mechanism::plain);
    EXPECT_EQ(parse_sasl_mechanism("SCRAM-SHA-256"), std::nullopt);
    EXPECT_EQ(parse_sasl_mechanism("CRAM-MD5"), std::nullopt);
    EXPECT_EQ(parse_sasl_mechanism(""), std::nullopt);
}

TEST(sasl, mechanism_lists_are_parsed_and_encoded) {
    const auto list = parse_mechanism_list("SCRAM-SHA512  CRAM-MD5 PLAIN PLAIN");
    ASSERT_EQ(list.size(), 2U);
    EXPECT_EQ(to_mechanism_list(list), "SCRAM-SHA512 PLAIN");
    EXPECT_TRUE(parse_mechanism_list("").empty());
}

TEST(sasl, the_strongest_scram_is_chosen_unless_plain_is_preferred) {
    const std::array all{
        sasl_mechanism::plain, sasl_mechanism::scram_sha1, sasl_mechanism::scram_sha512};
    EXPECT_EQ(choose_mechanism(all, plain_use::refused), sasl_mechanism::scram_sha512);
    EXPECT_EQ(choose_mechanism(all, plain_use::last_resort), sasl_mechanism::scram_sha512);
    EXPECT_EQ(choose_mechanism(all, plain_use::preferred), sasl_mechanism::plain);
    const std::array only_sha1{sasl_mechanism::oauthbearer, sasl_mechanism::scram_sha1};
    EXPECT_EQ(choose_mechanism(only_sha1, plain_use::preferred), sasl_mechanism::scram_sha1);
    const std::array only_plain{sasl_mechanism::plain};
    EXPECT_EQ(choose_mechanism(only_plain, plain_use::refused), std::nullopt);
    EXPECT_EQ(choose_mechanism(only_plain, plain_use::last_resort), sasl_mechanism::plain);
    EXPECT_EQ(choose_mechanism(only_plain, plain_use::preferred), sasl_mechanism::plain);
    EXPECT_EQ(choose_mechanism({}, plain_use::preferred), std::nullopt);
}

TEST(sasl, plain_is_a_single_message) {
    sasl_client client(sasl_mechanism::plain, {"alice", "s3cret", ""}, "");
    EXPECT_EQ(client.start().value(), "\0alice\0s3cret"s);
    EXPECT_TRUE(client.on_success("").has_value());
    EXPECT_EQ(client.on_challenge("x").error().code, sasl_errc::out_of_order);
    EXPECT_EQ(client.on_key("x").error().code, sasl_errc::out_of_order);
    EXPECT_EQ(
        sasl_client(sasl_mechanism::plain, {"", "p", ""}, "").start().error().code,
        sasl_errc::username_invalid);
    EXPECT_EQ(
        sasl_client(sasl_mechanism::plain, {"u", "a\0b"s, ""}, "").start().error().code,
        sasl_errc::credentials_refused);
}

TEST(sasl, plain_is_decoded_with_and_without_the_trailing_nul) {
    const auto message = decode_plain("\0alice\0s3cret\0"s);
    ASSERT_TRUE(message.has_value());
    EXPECT_EQ(message->username, "alice");
    EXPECT_EQ(message->password, "s3cret");
    EXPECT_EQ(decode_plain("id\0alice\0"s)->authorization_id, "id");
    EXPECT_EQ(decode_plain("alice"s).error().code, sasl_errc::malformed_message);
    EXPECT_EQ(decode_plain("\0alice"s).error().code, sasl_errc::malformed_message);
    EXPECT_EQ(decode_plain(""s).error().code, sasl_errc::malformed_message);
    EXPECT_EQ(decode_plain("\0alice\0a\0b"s).error().code, sasl_errc::malformed_message);
    EXPECT_EQ(decode_plain("\0\0p"s).error().code, sasl_errc::username_invalid);
}

TEST(sasl, bearer_tokens_are_encoded_and_decoded) {
    sasl_client client(sasl_mechanism::oauthbearer, {"", "", "ey.J.x"}, "");
    const std::string message = client.start().value();
    EXPECT_EQ(
        message,
        "n,,\x01"
        "auth=Bearer ey.J.x\x01\x01");
    EXPECT_EQ(decode_oauthbearer(message).value(), "ey.J.x");
    EXPECT_EQ(
        decode_oauthbearer("n,a=u,\x01host=h\x01"
                           "auth=bEaReR t\x01\x01")
            .value(),
        "t");
    EXPECT_EQ(
        decode_oauthbearer("n,,\x01"
                           "auth=Bearer \x01\x01")
            .error()
            .code,
        sasl_errc::token_missing);
    EXPECT_EQ(decode_oauthbearer("n,,\x01\x01").error().code, sasl_errc::token_missing);
    EXPECT_EQ(decode_oauthbearer("n,,").error().code, sasl_errc::malformed_message);
    EXPECT_EQ(decode_oauthbearer("x,,\x01\x01").error().code, sasl_errc::malformed_message);
    EXPECT_EQ(
        decode_oauthbearer("n,,\x01"
                           "auth=Bearer t")
            .error()
            .code,
        sasl_errc::malformed_message);
    EXPECT_EQ(decode_oauthbearer("").error().code, sasl_errc::malformed_message);
    EXPECT_EQ(
        sasl_client(sasl_mechanism::oauthbearer, {}, "").start().error().code,
        sasl_errc::token_missing);
}

TEST(sasl, a_scram_client_and_server_agree) {
    for (const auto mechanism :
         {sasl_mechanism::scram_sha1, sasl_mechanism::scram_sha256, sasl_mechanism::scram_sha512}) {
        sasl_client client(mechanism, {"al=ice", "pass,word", ""}, "cnonce");
        scram_server server(mechanism, "snonce");
        EXPECT_EQ(server.on_first(client.start().value()).value(), "al=ice");
        const auto credential = make_scram_credential(mechanism, "pass,word", "pepper", 4096);
        const auto wanted = client.on_challenge(server.challenge(credential));
        const auto proof = client.on_key(derive_key(wanted.value()));
        const auto signature = server.on_final(proof.value());
        EXPECT_TRUE(client.on_success(signature.value()).has_value());
    }
}

TEST(sasl, errors_explain_what_happened_without_any_secret) {
    const sasl_error error = decode_plain("secret-without-fields").error();
    EXPECT_EQ(to_string(error), "malformed message: fewer than three fields");
    EXPECT_TRUE(is_same_secret("abc", "abc"));
    EXPECT_FALSE(is_same_secret("abc", "abd"));
    EXPECT_FALSE(is_same_secret("abc", "abcd"));
}

}  // namespace reprise::wire::sasl_test
