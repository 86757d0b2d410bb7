#include "descriptors.hpp"

#include <gtest/gtest.h>

#include <vector>

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <boost/asio/error.hpp>

#include <reprise/net/client.hpp>

#include "tls_context.hpp"

// A test that takes all descriptors releases them again, because other tests run in the same
// process.

namespace reprise::net::descriptors_tests {

// Opens every descriptor that is left under a small limit.
class all_descriptors {
public:
    all_descriptors() {
        ::getrlimit(RLIMIT_NOFILE, &before_);
        rlimit small = before_;
        small.rlim_cur = 128;
        ::setrlimit(RLIMIT_NOFILE, &small);
        for (int next = take(); next >= 0; next = take()) {
            taken_.push_back(next);
        }
    }
    ~all_descriptors() {
        for (const int each : taken_) {
            ::close(each);
        }
        ::setrlimit(RLIMIT_NOFILE, &before_);
    }
    all_descriptors(const all_descriptors&) = delete;
    all_descriptors& operator=(const all_descriptors&) = delete;

private:
    static int take() { return ::open("/dev/null", O_RDONLY | O_CLOEXEC); }

    rlimit before_{};
    std::vector<int> taken_;
};

TEST(descriptors, exhaustion_is_detected) {
    EXPECT_FALSE(is_out_of_descriptors());
    {
        const all_descriptors taken;
        EXPECT_TRUE(is_out_of_descriptors());
    }
    EXPECT_FALSE(is_out_of_descriptors());
}

TEST(descriptors, a_socket_that_cannot_be_created_is_reported) {
    namespace error = boost::asio::error;
    using boost::system::errc::make_error_code;
    using boost::system::errc::too_many_files_open_in_system;
    EXPECT_EQ(classify_connect(error::no_descriptors), engine::connect_failure::no_descriptors);
    EXPECT_EQ(
        classify_connect(make_error_code(too_many_files_open_in_system)),
        engine::connect_failure::no_descriptors);
    EXPECT_EQ(classify_connect(error::connection_refused), engine::connect_failure::refused);
    EXPECT_EQ(classify_connect(error::access_denied), engine::connect_failure::other);
}

TEST(descriptors, a_client_that_cannot_have_a_loop_fails_with_the_reason) {
    engine::engine_options options;
    options.seeds = {{"127.0.0.1", 1}};
    const all_descriptors taken;
    const auto made = client::make(options);
    ASSERT_FALSE(made.has_value());
    EXPECT_EQ(made.error().code, setup_errc::no_resources);
    EXPECT_NE(made.error().text.find("file"), std::string::npos) << made.error().text;
}

}  // namespace reprise::net::descriptors_tests
