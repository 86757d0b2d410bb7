#include <gtest/gtest.h>

#include <reprise/sandbox/error_code_list.hpp>

namespace reprise::sandbox {

TEST(error_code_list, each_change_gives_the_next_revision) {
    error_code_list codes(wire::default_error_map());
    const auto before = codes.map().revision();
    wire::error_map_entry entry;
    entry.code = 0x7ff0;
    entry.name = "PLANNED";
    codes.put(entry);
    EXPECT_EQ(codes.map().revision(), before + 1);
    ASSERT_NE(codes.map().find(0x7ff0), nullptr);
    EXPECT_NE(codes.text(2).find("PLANNED"), std::string_view::npos);
    EXPECT_TRUE(codes.drop(0x7ff0));
    EXPECT_EQ(codes.map().revision(), before + 2);
    EXPECT_EQ(codes.text(2).find("PLANNED"), std::string_view::npos);
}

TEST(error_code_list, a_code_that_is_not_there_cannot_be_dropped) {
    error_code_list codes(wire::default_error_map());
    const auto before = codes.map().revision();
    EXPECT_EQ(codes.drop(0x7ff0).error(), cluster_errc::unknown_code);
    EXPECT_EQ(codes.map().revision(), before);
}

TEST(error_code_list, old_clients_get_the_text_of_the_first_version) {
    const error_code_list codes(wire::default_error_map());
    EXPECT_EQ(codes.text(1), wire::encode_error_map(codes.map(), 1));
    EXPECT_EQ(codes.text(7), wire::encode_error_map(codes.map(), 2));
}

}  // namespace reprise::sandbox
