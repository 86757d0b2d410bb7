#include <gtest/gtest.h>

#include <reprise/http/message.hpp>

namespace reprise::http {
namespace message_test {

TEST(header_list, names_are_found_without_case_and_the_first_counts) {
    const header_list headers{{"Retry-After", "1"}, {"retry-after", "2"}};
    EXPECT_EQ(find_header(headers, "RETRY-AFTER"), "1");
    EXPECT_EQ(find_header(headers, "retry"), std::nullopt);
}

TEST(content_encoding, compression_nobody_asked_for_is_found) {
    EXPECT_EQ(find_content_encoding({{"Content-Encoding", "gzip"}}), "gzip");
    EXPECT_EQ(
        find_content_encoding({{"content-encoding", "identity"}, {"CONTENT-ENCODING", "br"}}),
        "br");
    EXPECT_EQ(find_content_encoding({{"Content-Encoding", "Identity"}}), std::nullopt);
    EXPECT_EQ(find_content_encoding({{"Content-Encoding", ""}}), std::nullopt);
    EXPECT_EQ(find_content_encoding({{"Content-Type", "gzip"}}), std::nullopt);
}

}  // namespace message_test
}  // namespace reprise::http
