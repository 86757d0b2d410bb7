#include <gtest/gtest.h>

#include <reprise/retry/random_generator.hpp>

namespace reprise {

TEST(random_generator, follows_the_published_sequence) {
    random_generator generator(1234567);
    EXPECT_EQ(generator.next(), 6457827717110365317U);
    EXPECT_EQ(generator.next(), 3203168211198807973U);
    EXPECT_EQ(generator.next(), 9817491932198370423U);
    EXPECT_EQ(generator.next(), 4593380528125082431U);
    EXPECT_EQ(generator.next(), 16408922859458223821U);
}

TEST(random_generator, a_copy_continues_with_the_same_numbers) {
    random_generator original(7);
    static_cast<void>(original.next());
    random_generator copy = original;
    EXPECT_EQ(copy.next(), original.next());
}

TEST(random_generator, mixing_spreads_neighbours_far_apart) {
    static_assert(random_generator::mix(0) == 0);
    EXPECT_GT(random_generator::mix(2) ^ random_generator::mix(1), 0xffff'ffffU);
}

}  // namespace reprise
