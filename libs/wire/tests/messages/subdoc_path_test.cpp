#include <reprise/wire/subdoc_path.hpp>

#include <gtest/gtest.h>

#include <string>

namespace subdoc_path_test {

using namespace reprise::wire;

TEST(subdoc_path, accepts_names_indexes_and_backticks) {
    EXPECT_EQ(parse_subdoc_path("")->size(), 0u);
    EXPECT_EQ(parse_subdoc_path("a.b[2].c")->size(), 4u);
    EXPECT_EQ(parse_subdoc_path("[-1]")->front().index, -1);
    EXPECT_EQ(parse_subdoc_path("`a.b`.c")->front().name, "a.b");
    EXPECT_EQ(parse_subdoc_path("`a``b`")->front().name, "a`b");
    for (const char* bad :
         {".", "a.", ".a", "a..b", "a[", "a[]", "a[x]", "a[-2]", "a[1", "a]", "`a", "a.[", "a[1]b",
          "a[1].", "a[99999999999999999999]"}) {
        const auto path = parse_subdoc_path(bad);
        ASSERT_FALSE(path) << bad;
        EXPECT_EQ(path.error(), status::subdoc_path_einval) << bad;
    }
    std::string deep = "a";
    for (int i = 0; i < 32; ++i) {
        deep += ".a";
    }
    EXPECT_EQ(parse_subdoc_path(deep).error(), status::subdoc_path_e2big);
}

}  // namespace subdoc_path_test
