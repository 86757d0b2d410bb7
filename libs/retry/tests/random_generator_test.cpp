#include <gtest/gtest.h>

#include <array>
#include <cstdint>

#if !defined(_WIN32)
#include <sys/wait.h>
#include <unistd.h>
#endif

#include <reprise/retry/clock.hpp>
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

#if !defined(_WIN32)
// Each child had a copy of the same generator, so after a failure all workers of a server that
// forks retried at the same time.
TEST(thread_random, forked_processes_draw_different_numbers) {
    static_cast<void>(detail::thread_random());
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe(ends.data()), 0);
    std::array<std::uint64_t, 3> drawn{};
    for (std::size_t index = 0; index < 2; ++index) {
        const pid_t child = ::fork();
        if (child == 0) {
            const std::uint64_t number = detail::thread_random();
            ::_exit(::write(ends[1], &number, sizeof number) == sizeof number ? 0 : 1);
        }
        int status = -1;
        ASSERT_EQ(::waitpid(child, &status, 0), child);
        ASSERT_EQ(status, 0);
        ASSERT_EQ(::read(ends[0], &drawn[index], sizeof drawn[index]), sizeof drawn[index]);
    }
    drawn[2] = detail::thread_random();
    EXPECT_NE(drawn[0], drawn[1]) << "two children";
    EXPECT_NE(drawn[0], drawn[2]) << "a child and its parent";
    EXPECT_NE(drawn[1], drawn[2]);
    static_cast<void>(::close(ends[0]));
    static_cast<void>(::close(ends[1]));
}
#endif

}  // namespace reprise
