#include <gtest/gtest.h>

#include <reprise/http/message.hpp>

namespace reprise::http::message_test {

TEST(header_list, lookup_ignores_case_and_returns_the_first_field) {
    const header_list headers{{"Retry-After", "1"}, {"retry-after", "2"}};
    EXPECT_EQ(find_header(headers, "RETRY-AFTER"), "1");
    EXPECT_EQ(find_header(headers, "retry"), std::nullopt);
}

TEST(content_encoding, unrequested_compression_is_detected) {
    EXPECT_EQ(find_content_encoding({{"Content-Encoding", "gzip"}}), "gzip");
    EXPECT_EQ(
        find_content_encoding({{"content-encoding", "identity"}, {"CONTENT-ENCODING", "br"}}),
        "br");
    EXPECT_EQ(find_content_encoding({{"Content-Encoding", "Identity"}}), std::nullopt);
    EXPECT_EQ(find_content_encoding({{"Content-Encoding", ""}}), std::nullopt);
    EXPECT_EQ(find_content_encoding({{"Content-Type", "gzip"}}), std::nullopt);
}

}  // namespace reprise::http::message_test
