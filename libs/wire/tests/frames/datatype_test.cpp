#include <reprise/wire/datatype.hpp>

#include <gtest/gtest.h>

namespace datatype_test {

using namespace reprise::wire;

TEST(datatype, to_string_names_known_bits_and_prints_unknown_ones_as_a_number) {
    EXPECT_EQ(to_string(datatype::raw), "raw");
    EXPECT_EQ(to_string(datatype::json | datatype::snappy), "json|snappy");
    EXPECT_EQ(to_string(static_cast<datatype>(0x8c)), "xattr|0x88");
    EXPECT_TRUE(has(datatype::json | datatype::snappy, datatype::snappy));
    EXPECT_FALSE(has(datatype::json, datatype::snappy));
}

}  // namespace datatype_test
