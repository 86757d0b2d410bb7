#include "rows/row_run.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include <reprise/services/row_splitter.hpp>

namespace reprise::services::detail::row_run_test {

// Rows as services send them, of `size` bytes or a little more: the input that a run is designed
// for.
std::string usual_rows(std::mt19937& rng, std::size_t size, bool has_escapes = true) {
    std::vector<std::string> values = {
        "1",
        "0",
        "-12",
        "1234567890",
        "3.25",
        "true",
        "false",
        "null",
        "\"\"",
        "\"text, {}[]:\"",
        "\"a\\\"b\\\\\"",
        "[1,2,\"x\"]",
        "[[1],[\"y\"]]",
        "{\"in\":{\"deep\":[1]}}",
        "\"a text that is longer than a block of sixty-four bytes, which is not unusual at all\""};
    if (!has_escapes) {  // an escape that crosses two blocks is not for a run
        std::erase_if(values, [](const std::string& value) { return value.contains('\\'); });
    }
    std::string out;
    while (out.size() < size) {
        out += out.empty() ? "{" : ",\n{";
        for (unsigned i = 0, count = 1 + static_cast<unsigned>(rng() % 6); i < count; ++i) {
            out += i == 0 ? "\"" : rng() % 8 == 0 ? ", \"" : ",\"";
            out += "member" + std::to_string(i) + (rng() % 8 == 0 ? "\": " : "\":");
            out += values[rng() % values.size()];
        }
        out += "}";
    }
    return out;
}

struct run_result {
    std::vector<std::string> rows;
    std::size_t size = 0;  // number of bytes read
    bool is_stuck = false;
    row_run_state state;

    friend bool operator==(const run_result& a, const run_result& b) {
        return a.rows == b.rows && a.size == b.size && a.is_stuck == b.is_stuck &&
               a.state.nesting.depth == b.state.nesting.depth &&
               a.state.is_in_string == b.state.is_in_string &&
               a.state.awaits_colon == b.state.awaits_colon &&
               a.state.is_after_value == b.state.is_after_value;
    }
};

run_result run(std::string_view text, const row_run_kernel& kernel) {
    row_run reader({}, 256, kernel);
    std::vector<std::string_view> rows(text.size() + row_run::group_row_count_max);
    const char* const end =
        reader.read(text.data(), text.data() + text.size(), rows.data(), rows.size());
    run_result result;
    result.rows.assign(rows.begin(), rows.begin() + std::ptrdiff_t(reader.row_count()));
    result.size = static_cast<std::size_t>(end - text.data());
    result.is_stuck = reader.is_stuck();
    result.state = reader.state();
    return result;
}

// Splits the text into pieces of a whole answer. `next` is the reference.
std::vector<std::string> split(
    std::string_view rows, std::size_t piece_size, bool by_batch, std::string& error) {
    const std::string document = R"({"results":[)" + std::string(rows) + "]}";
    row_splitter splitter("results");
    std::vector<std::string> found;
    for (std::size_t at = 0; at < document.size(); at += piece_size) {
        const std::string piece = document.substr(at, piece_size);
        splitter.feed(base::as_bytes(piece));
        auto event = by_batch ? splitter.next_rows() : splitter.next();
        while (event == row_event::row) {
            if (by_batch) {
                found.insert(found.end(), splitter.rows().begin(), splitter.rows().end());
            } else {
                found.emplace_back(splitter.row());
            }
            event = by_batch ? splitter.next_rows() : splitter.next();
        }
        if (!event) {
            error = to_string(event.error());
            return found;
        }
    }
    const auto end = splitter.finish();
    error = end ? "" : to_string(end.error());
    return found;
}

TEST(row_run, the_last_kernel_runs_everywhere) {
    ASSERT_FALSE(row_run_kernels().empty());
    EXPECT_EQ(row_run_kernels().back().name, "portable");
}

// The reference: classifies one byte at a time.
json_masks masks_by_byte(std::string_view bytes) {
    json_masks masks{};
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        const char letter = bytes[i];
        const auto put = [&](block_words& words, bool is_member) {
            words[i / json_block_size] |= std::uint64_t{is_member} << i % json_block_size;
        };
        put(masks.quotes, letter == '"');
        put(masks.backslashes, letter == '\\');
        put(masks.commas, letter == ',');
        put(masks.colons, letter == ':');
        put(masks.opens, letter == '{' || letter == '[');
        put(masks.closes, letter == '}' || letter == ']');
        put(masks.blanks, letter == ' ' || letter == '\n');
        put(masks.controls, static_cast<unsigned char>(letter) < 0x20);
        put(masks.digits, letter >= '0' && letter <= '9');
        put(masks.zeros, letter == '0');
    }
    return masks;
}

TEST(row_run, every_kernel_classifies_all_bytes_correctly) {
    std::string bytes;
    std::mt19937 rng(3);
    for (int i = 0; i < 256; ++i) {
        bytes += static_cast<char>(i);
    }
    for (int i = 0; i < 768; ++i) {
        bytes += static_cast<char>(rng() % 256);
    }
    const std::size_t count = bytes.size() / json_block_size;
    const json_masks expected = masks_by_byte(bytes);
    for (const row_run_kernel& kernel : row_run_kernels()) {
        json_masks found{};
        kernel.fill_masks(bytes.data(), 0, count, found);
        for (std::size_t block = 0; block < count; ++block) {
            SCOPED_TRACE(std::string(kernel.name) + " " + std::to_string(block));
            EXPECT_EQ(found.quotes[block], expected.quotes[block]);
            EXPECT_EQ(found.backslashes[block], expected.backslashes[block]);
            EXPECT_EQ(found.commas[block], expected.commas[block]);
            EXPECT_EQ(found.colons[block], expected.colons[block]);
            EXPECT_EQ(found.opens[block], expected.opens[block]);
            EXPECT_EQ(found.closes[block], expected.closes[block]);
            EXPECT_EQ(found.blanks[block], expected.blanks[block]);
            EXPECT_EQ(found.controls[block], expected.controls[block]);
            EXPECT_EQ(found.digits[block], expected.digits[block]);
            EXPECT_EQ(found.zeros[block], expected.zeros[block]);
        }
    }
}

TEST(row_run, every_kernel_takes_usual_rows_completely) {
    std::mt19937 rng(5);
    for (int round = 0; round < 20; ++round) {
        const std::string text = usual_rows(rng, 3000 + rng() % 3000, false);
        std::string error;
        const auto expected = split(text, text.size() + 20, false, error);
        ASSERT_EQ(error, "");
        for (const row_run_kernel& kernel : row_run_kernels()) {
            const run_result found = run(text, kernel);
            EXPECT_EQ(found.size, text.size()) << kernel.name << ": " << text.substr(found.size);
            EXPECT_FALSE(found.is_stuck) << kernel.name;
            EXPECT_EQ(found.rows, expected) << kernel.name;
        }
    }
}

TEST(row_run, stops_before_what_it_does_not_understand_and_reports_it) {
    const std::string before = R"({"a":1},{"b":"0123456789012345678901234567890123456789"},)";
    for (const char* unknown :
         {R"({})", R"({"a":[]})", R"(1)", R"("text")", R"({"a":"\u0041"})", "{\"a\":\t1}",
          R"({"a" :1})", R"(]})"}) {
        const std::string text = before + unknown;
        for (const row_run_kernel& kernel : row_run_kernels()) {
            const run_result found = run(text, kernel);
            EXPECT_TRUE(found.is_stuck) << kernel.name << ": " << unknown;
            EXPECT_LE(found.size, before.size()) << kernel.name << ": " << unknown;
        }
    }
}

// Goal: a run never accepts what reading by token rejects, and never finds other rows, however the
// answer is split. Method: damage usual rows in one place and compare both; all kernels must agree.
TEST(row_run, damage_is_detected_as_by_reading_by_token_at_every_split) {
    std::mt19937 rng(11);
    const std::string_view letters = "{}[],:\"\\ \n\t0-1.tnu+a\x01";
    int refused = 0;
    for (int round = 0; round < 3000; ++round) {
        std::string text = usual_rows(rng, 100 + rng() % 400);
        const std::size_t at = rng() % text.size();
        switch (rng() % 4) {
            case 0:
                text[at] = letters[rng() % letters.size()];
                break;
            case 1:
                text.erase(at, 1 + rng() % 3);
                break;
            case 2:
                text.insert(at, 1, letters[rng() % letters.size()]);
                break;
            default:
                break;
        }
        std::string error;
        const auto expected = split(text, text.size() + 20, false, error);
        refused += error.empty() ? 0 : 1;
        for (const std::size_t piece : {text.size() + 20, std::size_t{1 + rng() % 200}}) {
            std::string batch_error;
            ASSERT_EQ(split(text, piece, true, batch_error), expected) << piece << '\n' << text;
            ASSERT_EQ(batch_error, error) << piece << '\n' << text;
        }
        const run_result portable = run(text, row_run_kernels().back());
        for (const row_run_kernel& kernel : row_run_kernels()) {
            ASSERT_EQ(run(text, kernel), portable) << kernel.name << '\n' << text;
        }
    }
    EXPECT_GT(refused, 500);
    EXPECT_LT(refused, 2800);
}

// Found by fuzzing: a piece that ended after a number in the place of a name was accepted, and the
// next piece could start with the colon.
TEST(row_run, a_number_or_container_is_not_a_name_wherever_the_answer_is_split) {
    for (const char* text :
         {R"({"a":0, 0 :1})", R"({"a":0,true:1})", R"({0:1})", R"({"a":1,[2]:3})", R"({[1]:3})",
          R"({"a":1,{"b":2}:3})", R"({"a":1, 7 ,"b":2})", R"({"a" "b":1})", R"([{"a":1},"b":2])"}) {
        std::string expected_error;
        split(text, 1000, false, expected_error);
        ASSERT_NE(expected_error, "") << text;
        for (std::size_t piece = 1; piece < 40; ++piece) {
            std::string error;
            split(text, piece, true, error);
            EXPECT_EQ(error, expected_error) << text << " by " << piece;
        }
    }
}

TEST(row_run, every_split_of_one_answer_gives_the_same_rows) {
    std::mt19937 rng(17);
    const std::string text = usual_rows(rng, 700);
    std::string error;
    const auto expected = split(text, text.size() + 20, false, error);
    ASSERT_EQ(error, "");
    for (std::size_t piece = 1; piece <= text.size() + 20; ++piece) {
        EXPECT_EQ(split(text, piece, true, error), expected) << piece;
        EXPECT_EQ(error, "") << piece;
    }
}

}  // namespace reprise::services::detail::row_run_test
