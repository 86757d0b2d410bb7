#include <reprise/engine/row_batch.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace reprise::engine::row_batch_test {

// A block with `text` in it, like one that a connection received.
base::block_ref received(std::string_view text) {
    base::block_ref block = base::block_ref::make(text.size() + 10);
    std::ranges::copy(base::as_bytes(text), block.bytes().begin());
    return block;
}

std::vector<std::string> texts_of(const row_batch& batch) {
    return {batch.rows().begin(), batch.rows().end()};
}

TEST(row_batch, rows_stay_in_the_received_block_and_keep_it_alive) {
    const base::block_ref block = received("[1],[22]");
    const auto piece = base::as_text(block.bytes()).substr(0, 8);
    const std::vector rows{piece.substr(0, 3), piece.substr(4, 4)};
    row_batch batch;
    batch.append(rows, piece, &block);
    EXPECT_EQ(texts_of(batch), (std::vector<std::string>{"[1]", "[22]"}));
    EXPECT_EQ(batch[1].data(), piece.data() + 4) << "not copied";
    EXPECT_EQ(batch.size_bytes(), 8U);
    EXPECT_FALSE(block.is_unique());
    batch.clear();
    EXPECT_TRUE(batch.empty());
    EXPECT_EQ(batch.size_bytes(), 0U);
    EXPECT_TRUE(block.is_unique());
}

TEST(row_batch, a_block_is_held_once_however_many_pieces_it_contains) {
    const base::block_ref block = received("[1][2][3]");
    const auto whole = base::as_text(block.bytes());
    row_batch batch;
    for (std::size_t at = 0; at < 9; at += 3) {
        const std::vector rows{whole.substr(at, 3)};
        batch.append(rows, rows[0], &block);
    }
    EXPECT_EQ(texts_of(batch), (std::vector<std::string>{"[1]", "[2]", "[3]"}));
    EXPECT_EQ(batch.take_parts().memory.size(), 1U);
}

TEST(row_batch, rows_without_an_owner_are_copied) {
    row_batch batch;
    {
        std::string piece = "[1], [22]";
        const std::string_view text = piece;
        const std::vector rows{text.substr(0, 3), text.substr(5, 4)};
        batch.append(rows, text, nullptr);
        const base::block_ref other = received("elsewhere");
        batch.append(rows, text, &other);
        EXPECT_TRUE(other.is_unique());
        piece.assign(piece.size(), '?');
    }
    EXPECT_EQ(texts_of(batch), (std::vector<std::string>{"[1]", "[22]", "[1]", "[22]"}));
    EXPECT_EQ(batch.size_bytes(), 18U) << "including the separators";
}

TEST(row_batch, a_row_that_began_in_an_earlier_piece_is_copied_and_the_others_are_not) {
    const base::block_ref block = received("2],[3]");
    const auto piece = base::as_text(block.bytes()).substr(0, 6);
    std::string gathered = "[12]";
    row_batch batch;
    batch.append(std::vector<std::string_view>{gathered, piece.substr(3, 3)}, piece, &block);
    gathered = "????";
    EXPECT_EQ(texts_of(batch), (std::vector<std::string>{"[12]", "[3]"}));
    EXPECT_EQ(batch[1].data(), piece.data() + 3);
    EXPECT_EQ(batch.size_bytes(), 7U);
}

TEST(row_batch, copies_share_blocks_of_memory) {
    row_batch batch;
    for (int round = 0; round < 1000; ++round) {
        const std::string piece = "[" + std::to_string(round) + "]";
        batch.append(std::vector<std::string_view>{piece}, piece, nullptr);
    }
    ASSERT_EQ(batch.size(), 1000U);
    EXPECT_EQ(batch[0], "[0]");
    EXPECT_EQ(batch[999], "[999]");
    EXPECT_LE(batch.take_parts().memory.size(), 13U);
}

TEST(row_batch, a_batch_moved_from_is_empty_and_can_be_used_again) {
    row_batch batch;
    batch.append(std::vector<std::string_view>{"[1]"}, {}, nullptr);
    row_batch moved = std::move(batch);
    EXPECT_EQ(texts_of(moved), (std::vector<std::string>{"[1]"}));
    // NOLINTNEXTLINE(bugprone-use-after-move): the contract allows it
    EXPECT_TRUE(batch.empty());
    batch.append(std::vector<std::string_view>{"[2]"}, {}, nullptr);
    EXPECT_EQ(texts_of(batch), (std::vector<std::string>{"[2]"}));
    EXPECT_EQ(texts_of(moved), (std::vector<std::string>{"[1]"}));
    row_batch::parts parts = moved.take_parts();
    EXPECT_EQ(parts.rows.at(0), "[1]");
    EXPECT_TRUE(moved.empty());
    EXPECT_EQ(moved.size_bytes(), 0U);
}

}  // namespace reprise::engine::row_batch_test
