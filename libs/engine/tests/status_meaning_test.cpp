#include <reprise/engine/status_meaning.hpp>

#include <gtest/gtest.h>

#include <reprise/wire/status.hpp>

namespace couchbase = reprise::couchbase;
namespace engine = reprise::engine;
namespace wire = reprise::wire;

TEST(status_meaning, a_retried_status_has_its_reason_and_the_error_of_a_refusal) {
    EXPECT_EQ(
        engine::usual_meaning(wire::status::locked),
        (engine::status_meaning{
            couchbase::errc::document_locked, couchbase::retry_reason::kv_locked}));
}

TEST(status_meaning, a_final_status_has_its_error_and_no_reason) {
    EXPECT_EQ(
        engine::usual_meaning(wire::status::key_enoent),
        (engine::status_meaning{
            couchbase::errc::document_not_found, couchbase::retry_reason::unknown}));
    EXPECT_EQ(
        engine::usual_meaning(wire::status::eaccess)->error,
        couchbase::errc::authentication_failure);
}

TEST(status_meaning, a_success_and_a_status_of_the_error_map_alone_have_none) {
    EXPECT_FALSE(engine::usual_meaning(wire::status::success));
    EXPECT_FALSE(engine::usual_meaning(wire::status::subdoc_multi_path_failure));
    EXPECT_FALSE(engine::usual_meaning(static_cast<wire::status>(0x7ff0)));
    // Regression: a hand-written table reported it as quota_limited, which the client never does.
    EXPECT_FALSE(engine::usual_meaning(wire::status::bucket_size_limit_exceeded));
}

// Every status in the client's table has a meaning, is a success, or is a step of a longer
// exchange.
TEST(status_meaning, every_status_known_to_the_client_has_one) {
    for (const auto& facts : wire::all_statuses()) {
        const bool is_step = facts.code == wire::status::auth_continue ||
                             facts.code == wire::status::range_scan_more ||
                             facts.code == wire::status::range_scan_complete;
        if (facts.is_known_to_client && !wire::is_success(facts.code) && !is_step) {
            EXPECT_TRUE(engine::usual_meaning(facts.code)) << facts.name;
        }
    }
}
