#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <reprise/wire/frame_reader.hpp>

#include "frame_bytes.hpp"

namespace frame_reader_test {

using namespace reprise::wire;
using namespace frame_bytes;
using reprise::base::byte_view;

// Consecutive frames of several shapes: empty body, key only, all parts, a push.
std::vector<std::byte> stream_of_frames() {
    std::vector<std::byte> stream;
    reprise::base::byte_writer writer(stream);
    frame_parts parts;
    parts.magic = magic::response;
    parts.opaque = 1;
    EXPECT_TRUE(encode_frame(writer, parts));
    parts.opaque = 2;
    parts.value = text("a value of some length");
    EXPECT_TRUE(encode_frame(writer, parts));
    parts.magic = magic::alt_response;
    parts.opaque = 3;
    parts.framing_extras = text("\x02zz");
    parts.extras = text("flag");
    parts.key = text("k");
    EXPECT_TRUE(encode_frame(writer, parts));
    parts = {};
    parts.magic = magic::server_request;
    parts.opaque = 4;
    parts.extras = text("0123456789abcdef");
    parts.key = text("travel");
    EXPECT_TRUE(encode_frame(writer, parts));
    return stream;
}

// Describes a frame as text, which can be compared after the frame's memory is gone.
std::string describe(const frame_view& frame) {
    return std::to_string(frame.opaque()) + "|" + to_hex(frame.framing_extras()) + "|" +
           to_hex(frame.extras()) + "|" + to_hex(frame.key()) + "|" + to_hex(frame.value());
}

void read_all(frame_reader& reader, std::vector<std::string>& frames) {
    for (;;) {
        const auto frame = reader.next();
        ASSERT_TRUE(frame.has_value());
        if (!*frame) {
            return;
        }
        frames.push_back(describe(**frame));
    }
}

std::vector<std::string> read_in_one_piece(byte_view stream) {
    frame_reader reader({});
    std::vector<std::string> frames;
    reader.feed(stream);
    read_all(reader, frames);
    EXPECT_TRUE(reader.is_at_boundary());
    return frames;
}

TEST(frame_reader, returns_contiguous_frames_in_place) {
    const auto stream = stream_of_frames();
    frame_reader reader({});
    reader.feed(stream);
    std::size_t offset = 0;
    for (std::uint32_t opaque = 1; opaque <= 4; ++opaque) {
        const auto frame = reader.next();
        ASSERT_TRUE(frame && *frame);
        EXPECT_EQ((*frame)->opaque(), opaque);
        EXPECT_EQ((*frame)->body().data(), stream.data() + offset + header_size);
        offset += (*frame)->header().frame_size();
    }
    const auto nothing = reader.next();
    ASSERT_TRUE(nothing.has_value());
    EXPECT_EQ(*nothing, nullptr);
    EXPECT_EQ(reader.gathered_size(), 0u);
}

TEST(frame_reader, every_split_of_a_stream_in_two_gives_the_same_frames) {
    const auto stream = stream_of_frames();
    const auto expected = read_in_one_piece(stream);
    ASSERT_EQ(expected.size(), 4u);
    for (std::size_t split = 0; split <= stream.size(); ++split) {
        frame_reader reader({});
        std::vector<std::string> frames;
        reader.feed(byte_view(stream).first(split));
        read_all(reader, frames);
        reader.feed(byte_view(stream).subspan(split));
        read_all(reader, frames);
        ASSERT_EQ(frames, expected) << split;
        ASSERT_TRUE(reader.is_at_boundary());
    }
}

TEST(frame_reader, single_bytes_and_random_pieces_give_the_same_frames) {
    const auto stream = stream_of_frames();
    const auto expected = read_in_one_piece(stream);
    std::mt19937_64 rng(5);
    for (int round = 0; round < 500; ++round) {
        frame_reader reader({});
        std::vector<std::string> frames;
        byte_view rest = stream;
        while (!rest.empty()) {
            const std::size_t size =
                round == 0 ? 1 : std::min<std::size_t>(rest.size(), rng() % 40);
            // Each chunk has its own memory, released after use, so that ASan detects a view kept
            // too long.
            const std::vector<std::byte> chunk(
                rest.begin(), rest.begin() + static_cast<long>(size));
            reader.feed(chunk);
            read_all(reader, frames);
            rest = rest.subspan(size);
        }
        ASSERT_EQ(frames, expected) << round;
    }
}

std::vector<std::byte> document_of(std::size_t size) {
    std::vector<std::byte> stream;
    reprise::base::byte_writer writer(stream);
    const std::string value(size, 'v');
    frame_parts parts;
    parts.magic = magic::response;
    parts.value = text(value);
    EXPECT_TRUE(encode_frame(writer, parts));
    return stream;
}

TEST(frame_reader, memory_grows_with_the_bytes_received_and_not_with_the_length_announced) {
    constexpr std::size_t piece = 1000;
    const auto stream = document_of(std::size_t{4} * 1024 * 1024);
    frame_reader reader({});
    for (byte_view rest = stream; rest.size() > piece; rest = rest.subspan(piece)) {
        reader.feed(rest.first(piece));
        const auto frame = reader.next();
        ASSERT_TRUE(frame.has_value());
        ASSERT_EQ(*frame, nullptr);
        const std::size_t received = stream.size() - rest.size() + piece;
        ASSERT_EQ(reader.gathered_size(), received);
        ASSERT_LE(
            reader.block_size(),
            std::max(frame_reader::block_size_min, frame_reader::block_growth * received));
    }
    EXPECT_FALSE(reader.is_at_boundary());
    EXPECT_EQ(reader.block_size(), stream.size());
}

// A large value that arrives in parts is copied once, into the block that its result shares.
TEST(frame_reader, a_gathered_frame_lives_as_long_as_its_block) {
    const auto stream = document_of(10'000);
    reprise::base::block_pool pool;
    frame_reader reader({}, &pool);
    std::vector<reprise::base::slice> values;
    for (int round = 0; round < 3; ++round) {
        reader.feed(byte_view(stream).first(100));
        ASSERT_EQ(reader.next().value(), nullptr);
        EXPECT_EQ(reader.gathered_block(), nullptr);
        reader.feed(byte_view(stream).subspan(100));
        const frame_view* const frame = reader.next().value();
        ASSERT_NE(frame, nullptr);
        ASSERT_NE(reader.gathered_block(), nullptr);
        values.push_back(reprise::base::slice::cut(*reader.gathered_block(), frame->value()));
        ASSERT_EQ(reader.next().value(), nullptr);
        EXPECT_EQ(reader.gathered_block(), nullptr);
        EXPECT_EQ(reader.block_size(), 0u) << "its value owns it";
    }
    for (const auto& each : values) {
        EXPECT_EQ(each.text(), std::string(10'000, 'v'));
    }
}

// The rest of a large frame needs no copy: it is received where its result will be.
TEST(frame_reader, the_rest_of_a_large_frame_is_received_in_place) {
    constexpr std::size_t first_piece = 20'000;
    for (const std::size_t piece :
         {std::size_t{7'000}, std::size_t{50'000}, std::size_t{900'000}}) {
        auto stream = document_of(300'000);
        const std::size_t frame_size = stream.size();
        const auto next_frame = document_of(10);
        stream.insert(stream.end(), next_frame.begin(), next_frame.end());
        reprise::base::block_pool pool;  // its blocks are larger than the frame
        frame_reader reader({}, &pool);
        reader.feed(byte_view(stream).first(first_piece));
        ASSERT_EQ(reader.next().value(), nullptr);
        std::size_t at = first_piece;
        const frame_view* frame = nullptr;
        while (frame == nullptr) {
            const auto place = reader.place();
            const std::size_t rest = frame_size - at;
            ASSERT_EQ(place.size(), rest < frame_reader::place_size_min ? 0 : rest);
            const std::size_t size = std::min(piece, rest);
            const byte_view received = byte_view(stream).subspan(at, size);
            if (place.empty()) {
                reader.feed(received);
            } else {
                const std::byte* const block = reader.gathered_into().bytes().data();
                EXPECT_EQ(place.data(), block + at) << "behind what it has";
                std::ranges::copy(received, place.begin());
                reader.feed(place.first(size));
            }
            at += size;
            frame = reader.next().value();
        }
        EXPECT_EQ(at, frame_size);
        EXPECT_TRUE(std::ranges::equal(
            frame->body(), byte_view(stream).first(frame_size).subspan(header_size)));
        EXPECT_TRUE(reader.place().empty()) << "the frame is in use";
        ASSERT_EQ(reader.next().value(), nullptr);
        EXPECT_TRUE(reader.place().empty()) << "between frames";
        reader.feed(byte_view(stream).subspan(frame_size));
        EXPECT_NE(reader.next().value(), nullptr);
    }
}

TEST(frame_reader, a_frame_has_a_place_only_in_memory_that_its_bytes_justify) {
    const auto stream = document_of(std::size_t{4} * 1024 * 1024);
    frame_reader reader({});
    std::size_t at = 0;
    for (const std::size_t size : {header_size - 1, std::size_t{1}, std::size_t{1'000}}) {
        EXPECT_TRUE(reader.place().empty()) << at;
        reader.feed(byte_view(stream).subspan(at, size));
        ASSERT_EQ(reader.next().value(), nullptr);
        at += size;
    }
    EXPECT_EQ(reader.place().size(), frame_reader::block_size_min - at);
}

TEST(frame_reader, an_unshared_small_block_is_used_again) {
    frame_reader reader({});
    for (const auto& [size, kept] : {std::pair{10'000u, true}, std::pair{100'000u, false}}) {
        const auto stream = document_of(size);
        reader.feed(byte_view(stream).first(100));
        ASSERT_EQ(reader.next().value(), nullptr);
        reader.feed(byte_view(stream).subspan(100));
        ASSERT_NE(reader.next().value(), nullptr);
        ASSERT_EQ(reader.next().value(), nullptr);
        EXPECT_EQ(reader.block_size() != 0, kept) << size;
    }
}

TEST(frame_reader, an_error_is_found_with_the_header_and_is_final) {
    const auto good = stream_of_frames();
    const auto bad =
        from_hex("81 00 00 09 00 00 00 00 00 00 00 05 00 00 00 00 00 00 00 00 00 00 00 00");
    std::vector<std::byte> stream = good;
    stream.insert(stream.end(), bad.begin(), bad.end());
    for (std::size_t split = 0; split <= stream.size(); ++split) {
        frame_reader reader({});
        std::size_t count = 0;
        std::optional<wire_errc> error;
        for (const byte_view chunk :
             {byte_view(stream).first(split), byte_view(stream).subspan(split)}) {
            reader.feed(chunk);
            for (auto frame = reader.next();; frame = reader.next()) {
                if (!frame) {
                    error = frame.error();
                    break;
                }
                if (!*frame) {
                    break;
                }
                ++count;
            }
        }
        ASSERT_EQ(count, 4u) << split;
        ASSERT_EQ(error, wire_errc::lengths_exceed_body) << split;
        reader.feed(good);
        ASSERT_EQ(reader.next().error(), wire_errc::lengths_exceed_body);
    }
}

TEST(frame_reader, unknown_magic_is_reported_as_soon_as_a_header_is_complete) {
    frame_reader reader({});
    const std::vector<std::byte> garbage(header_size, std::byte{0x47});
    reader.feed(garbage);
    EXPECT_EQ(reader.next().error(), wire_errc::unknown_magic);
}

TEST(frame_reader, a_frame_above_the_limit_is_rejected_before_its_body_arrives) {
    frame_limits limits;
    limits.body_size_max_bytes = 10;
    limits.direction = frame_direction::to_client;
    frame_reader reader(limits);
    const auto header =
        from_hex("81 00 00 00 00 00 00 00 00 00 00 0b 00 00 00 00 00 00 00 00 00 00 00 00");
    reader.feed(header);
    EXPECT_EQ(reader.next().error(), wire_errc::frame_too_large);
}

TEST(frame_scan, reports_how_many_bytes_are_needed) {
    const auto stream = stream_of_frames();
    const auto short_scan = must(scan_frame(byte_view(stream).first(23), {}));
    EXPECT_FALSE(short_scan.frame);
    EXPECT_EQ(short_scan.size, header_size);
    const byte_view second = byte_view(stream).subspan(header_size);
    const auto body_missing = must(scan_frame(second.first(30), {}));
    EXPECT_FALSE(body_missing.frame);
    EXPECT_EQ(body_missing.size, header_size + 22);
    const auto whole = scan_frame(second, {});
    ASSERT_TRUE(whole && whole->frame);
    EXPECT_EQ(whole->size, header_size + 22);
}

}  // namespace frame_reader_test
