#include <reprise/couchbase/error.hpp>

#include <gtest/gtest.h>

#include <reprise/couchbase/cluster.hpp>
#include <sstream>

namespace {

namespace couchbase = reprise::couchbase;
using couchbase::errc;

TEST(client_error, the_stream_shows_code_and_detail) {
    std::ostringstream out;
    out << couchbase::error(errc::option_invalid, "kv_timeout must be above zero");
    EXPECT_EQ(out.str(), "invalid option: kv_timeout must be above zero");
}

TEST(client_error, RH_35_errors_describe_themselves_to_the_retry_library) {
    static_assert(reprise::driver::describes_failure<couchbase::error>);
    const couchbase::error full(errc::submission_queue_full, "");
    EXPECT_EQ(reprise::facts_of(full).safety, reprise::retry_safety::yes);
    EXPECT_TRUE(reprise::facts_of(full).throttling);
    const couchbase::error wrong(errc::option_invalid, "");
    EXPECT_EQ(reprise::facts_of(wrong).safety, reprise::retry_safety::no);

    auto info = std::make_shared<couchbase::error_info>();
    info->code = couchbase::errc::ambiguous_timeout;
    info->operation = "upsert";
    info->is_ambiguous = true;
    const couchbase::error timeout(info);
    EXPECT_TRUE(reprise::facts_of(timeout).timeout);
    EXPECT_EQ(reprise::facts_of(timeout).safety, reprise::retry_safety::maybe);
    EXPECT_TRUE(timeout.code() == couchbase::error_condition::timeout);
}

TEST(expiry, converts_from_durations_and_time_points) {
    using namespace std::chrono_literals;
    const couchbase::expiry minutes = 10min;
    EXPECT_EQ(std::get<std::chrono::seconds>(minutes.value()), 600s);
    const couchbase::expiry at = std::chrono::system_clock::from_time_t(4'000'000'000);
    EXPECT_EQ(std::get<std::chrono::sys_seconds>(at.value()).time_since_epoch(), 4'000'000'000s);
    static_assert(!std::is_convertible_v<std::chrono::milliseconds, couchbase::expiry>);
}

}  // namespace
