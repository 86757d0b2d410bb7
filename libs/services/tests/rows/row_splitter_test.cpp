#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include <reprise/json/parse.hpp>
#include <reprise/services/row_splitter.hpp>

namespace reprise::services::row_splitter_test {

using rows = std::vector<std::string>;

struct split_result {
    row_splitter_test::rows rows;
    std::string trailer;
    std::optional<row_split_error> error;

    friend bool operator==(const split_result&, const split_result&) = default;
};

enum class way : std::uint8_t { single, batches, mixed };

// Appends the next rows and returns the last event.
std::expected<row_event, row_split_error> take_rows(row_splitter& from, way how, rows& out) {
    for (std::size_t round = 0;; ++round) {
        const bool is_single = how == way::single || (how == way::mixed && round % 3 != 0);
        const auto event = is_single ? from.next() : from.next_rows();
        if (event != row_event::row) {
            return event;
        }
        if (is_single) {
            out.emplace_back(from.row());
        } else {
            EXPECT_FALSE(from.rows().empty());
            out.insert(out.end(), from.rows().begin(), from.rows().end());
        }
    }
}

// Feeds `document` split at the given places. Each piece is a copy that is destroyed after use, so
// that a sanitizer detects a view kept too long.
split_result split(
    std::string_view document, const std::vector<std::size_t>& cuts,
    const row_splitter_options& options, std::string_view member, way how) {
    row_splitter splitter(member, options);
    split_result result;
    std::size_t begin = 0;
    for (std::size_t i = 0; i <= cuts.size(); ++i) {
        const std::size_t end = i < cuts.size() ? cuts[i] : document.size();
        const std::vector<char> piece(
            document.begin() + static_cast<std::ptrdiff_t>(begin),
            document.begin() + static_cast<std::ptrdiff_t>(end));
        splitter.feed(base::as_bytes(std::string_view(piece.data(), piece.size())));
        begin = end;
        const auto event = take_rows(splitter, how, result.rows);
        if (!event) {
            result.error = event.error();
            EXPECT_EQ(splitter.next(), std::unexpected(event.error()));
            EXPECT_EQ(splitter.next_rows(), std::unexpected(event.error()));
            return result;
        }
    }
    const auto end = splitter.finish();
    if (!end) {
        result.error = end.error();
    } else {
        EXPECT_EQ(*end, row_event::complete);
    }
    result.trailer = splitter.trailer();
    EXPECT_EQ(splitter.row_count(), result.rows.size());
    return result;
}

// All ways must find the same.
split_result split(
    std::string_view document, const std::vector<std::size_t>& cuts,
    const row_splitter_options& options = {}, std::string_view member = "results") {
    const split_result single = split(document, cuts, options, member, way::single);
    EXPECT_EQ(split(document, cuts, options, member, way::batches), single) << document;
    EXPECT_EQ(split(document, cuts, options, member, way::mixed), single) << document;
    return single;
}

split_result split(std::string_view document) {
    return split(document, {});
}

std::optional<row_split_error> failure(row_split_errc code, std::uint64_t offset) {
    return row_split_error{code, offset};
}

TEST(row_splitter, RH_45_returns_rows_and_keeps_what_is_before_and_after_them) {
    const auto result = split(
        R"({"requestID":"r","results":[{"a":1},{"b":[2,{}]}],"errors":[{"code":1}],"status":"x"})");
    EXPECT_EQ(result.error, std::nullopt);
    EXPECT_EQ(result.rows, (rows{R"({"a":1})", R"({"b":[2,{}]})"}));
    EXPECT_EQ(
        result.trailer, R"({"requestID":"r","results":[],"errors":[{"code":1}],"status":"x"})");
}

TEST(row_splitter, rows_may_be_any_value_and_lose_surrounding_spaces) {
    const auto result = split("{\"results\" : [ 1 ,\n\"two\" , true,null\t,[ ], { } , -0.5e+3 ] }");
    EXPECT_EQ(result.error, std::nullopt);
    EXPECT_EQ(result.rows, (rows{"1", "\"two\"", "true", "null", "[ ]", "{ }", "-0.5e+3"}));
    EXPECT_EQ(result.trailer, "{\"results\" : [] }");
}

TEST(row_splitter, every_split_and_single_bytes_give_the_same) {
    const std::string document =
        "{\"n\":\"a\\\"b\\u00e9\\\\\", \"results\":[{\"text\":\"with ] and } and \\\" and \\\\\","
        "\"long\":\"0123456789012345678901234567890123456789012345678901234567890123456789\"},"
        "12345, \"s\\n\", false , [1.25e-7,[[]],{\"x\":{\"y\":null}}]\n],\"status\":\"success\"}\n";
    const split_result whole = split(document);
    ASSERT_EQ(whole.error, std::nullopt);
    ASSERT_EQ(whole.rows.size(), 5u);
    for (std::size_t cut = 0; cut <= document.size(); ++cut) {
        EXPECT_EQ(split(document, {cut}), whole) << cut;
        EXPECT_EQ(split(document, {cut / 2, cut}), whole) << cut;
    }
    std::vector<std::size_t> all;
    for (std::size_t cut = 1; cut < document.size(); ++cut) {
        all.push_back(cut);
    }
    EXPECT_EQ(split(document, all), whole);
}

TEST(row_splitter, an_object_is_returned_with_its_last_byte_and_nothing_is_read_ahead) {
    row_splitter splitter("results");
    const std::string_view piece = R"({"results":[{"a":1},{"b":2})";
    splitter.feed(base::as_bytes(piece));
    ASSERT_EQ(splitter.next(), row_event::row);
    EXPECT_EQ(splitter.row(), R"({"a":1})");
    EXPECT_EQ(splitter.row().data(), piece.data() + 12) << "returned in place";
    EXPECT_EQ(splitter.row_count(), 1u);
    ASSERT_EQ(splitter.next(), row_event::row);
    EXPECT_EQ(splitter.row(), R"({"b":2})");
    EXPECT_EQ(splitter.next(), row_event::need_more);
    EXPECT_EQ(splitter.finish(), std::unexpected(row_split_error{row_split_errc::truncated, 27}));
}

TEST(row_splitter, another_call_without_a_new_piece_changes_nothing) {
    row_splitter splitter("results");
    for (const std::string_view piece :
         {R"({"x)", "", R"(":1,"results":["a)", "", R"(b"],"y":2})"}) {
        splitter.feed(base::as_bytes(piece));
        auto event = splitter.next();
        if (event == row_event::row) {
            EXPECT_EQ(splitter.row(), R"("ab")");
            event = splitter.next();
        }
        EXPECT_EQ(splitter.next(), event);
        EXPECT_EQ(splitter.next(), event);
    }
    EXPECT_EQ(splitter.row_count(), 1u);
    EXPECT_EQ(splitter.trailer(), R"({"x":1,"results":[],"y":2})");
}

TEST(row_splitter, rows_that_are_null_or_not_an_array_stay_in_the_trailer) {
    for (const char* value : {"null", "{\"a\":[1]}", "7", "\"text\"", "[]"}) {
        const std::string document = std::string(R"({"status":"ok","hits":)") + value + "}";
        const auto result = split(document, {}, {}, "hits");
        EXPECT_EQ(result.error, std::nullopt) << value;
        EXPECT_TRUE(result.rows.empty()) << value;
        EXPECT_EQ(result.trailer, document);
    }
    EXPECT_EQ(split("{}").trailer, "{}");
    EXPECT_EQ(split(" \n{ } \r\n").error, std::nullopt);
}

TEST(row_splitter, only_the_top_level_member_holds_rows) {
    const auto result =
        split(R"({"x":{"results":[1]},"y":"results","result":[2],"resultss":[3],"results":[4]})");
    EXPECT_EQ(result.rows, (rows{"4"}));
    EXPECT_EQ(
        result.trailer,
        R"({"x":{"results":[1]},"y":"results","result":[2],"resultss":[3],"results":[]})");
}

TEST(row_splitter, text_that_is_not_json_is_reported_with_its_position) {
    using enum row_split_errc;
    const struct {
        std::string document;
        row_split_errc code;
        std::uint64_t offset;
    } cases[] = {
        {"", empty, 0},
        {" \n", empty, 2},
        {"[1]", not_an_object, 0},
        {" true", not_an_object, 1},
        {"<html>", not_an_object, 0},
        {"{} x", extra_text, 3},
        {"{}{}", extra_text, 2},
        {R"({"a" 1})", token_unexpected, 5},
        {R"({"a":1,})", token_unexpected, 7},
        {R"({a:1})", token_unexpected, 1},
        {R"({"a":tru})", scalar_invalid, 8},
        {R"({"results":[1,]})", token_unexpected, 14},
        {R"({"results":[,1]})", token_unexpected, 12},
        {R"({"results":[1 2]})", token_unexpected, 14},
        {R"({"results":[1 22x]})", token_unexpected, 14},
        {R"({"results":[{"a":1 22x}]})", token_unexpected, 19},
        {R"({"results":[{"a":1]]})", token_unexpected, 18},
        {R"({"results":[{"a":1}}})", token_unexpected, 19},
        {R"({"results":[{"a":01}]})", scalar_invalid, 18},
        {R"({"results":[nulll]})", scalar_invalid, 16},
        {R"({"results":[1.]})", scalar_invalid, 14},
        {R"({"results":["a\x"]})", string_invalid, 15},
        {R"({"results":["a\u12g4"]})", string_invalid, 18},
        {"{\"results\":[\"a\nb\"]}", string_invalid, 14},
        {"{\"results\":[\x01]}", scalar_invalid, 12},
        {R"({"results":[{"a":1},{)", truncated, 21},
        {R"({"results":["abc)", truncated, 16},
        {R"({"status":"success")", truncated, 19},
    };
    for (const auto& each : cases) {
        EXPECT_EQ(split(each.document).error, failure(each.code, each.offset)) << each.document;
        std::vector<std::size_t> all;
        for (std::size_t cut = 1; cut < each.document.size(); ++cut) {
            all.push_back(cut);
        }
        EXPECT_EQ(split(each.document, all).error, failure(each.code, each.offset))
            << each.document;
    }
}

TEST(row_splitter, rows_before_invalid_json_are_returned_and_the_error_has_the_position) {
    std::string document = R"({"results":[)";
    for (int i = 0; i < 1000; ++i) {
        document += "{\"id\":" + std::to_string(i) + "},";
    }
    const std::size_t bad = document.size();
    document += "oops";
    const auto result = split(document);
    EXPECT_EQ(result.rows.size(), 1000u);
    EXPECT_EQ(result.error, failure(row_split_errc::scalar_invalid, bad));
}

TEST(row_splitter, a_row_at_the_limit_is_accepted_and_one_byte_more_is_not) {
    const row_splitter_options options{.row_size_max_bytes = 10};
    const std::string fits = R"({"results":["12345678"]})";
    const std::string exceeds = R"({"results":["123456789"]})";
    EXPECT_EQ(split(fits, {}, options).rows, (rows{"\"12345678\""}));
    for (std::size_t cut = 0; cut < exceeds.size(); ++cut) {
        EXPECT_EQ(split(fits, {std::min(cut, fits.size())}, options).error, std::nullopt) << cut;
        const auto result = split(exceeds, {cut}, options);
        ASSERT_TRUE(result.error) << cut;
        EXPECT_EQ(result.error->code, row_split_errc::row_too_large) << cut;
    }
}

TEST(row_splitter, the_trailer_limit_does_not_count_rows) {
    const row_splitter_options options{.trailer_size_max_bytes = 20};
    std::string document = R"({"results":[)";
    for (int i = 0; i < 100; ++i) {
        document += "{\"id\":1} , ";
    }
    EXPECT_EQ(split(document + "1]}", {}, options).error, std::nullopt);
    const auto result = split(document + R"(1],"x":123456789})", {}, options);
    ASSERT_TRUE(result.error);
    EXPECT_EQ(result.error->code, row_split_errc::trailer_too_large);
}

TEST(row_splitter, nesting_is_limited) {
    const row_splitter_options options{.depth_max = 5};
    EXPECT_EQ(split(R"({"results":[[[[1]]]]})", {}, options).error, std::nullopt);
    EXPECT_EQ(
        split(R"({"results":[[[[[1]]]]]})", {}, options).error,
        failure(row_split_errc::too_deep, 15));
    EXPECT_EQ(
        split(R"({"a":[[[[[1]]]]]})", {}, options).error, failure(row_split_errc::too_deep, 9));
    const row_splitter_options deepest{.depth_max = 512};
    const std::string document =
        R"({"results":[)" + std::string(510, '[') + std::string(510, ']') + "]}";
    EXPECT_EQ(split(document, {}, deepest).error, std::nullopt);
    EXPECT_EQ(split(document, {}, deepest).rows.size(), 1u);
}

TEST(row_splitter, extra_text_in_a_later_piece_is_detected) {
    row_splitter splitter("results");
    splitter.feed(base::as_bytes("{} "));
    EXPECT_EQ(splitter.next(), row_event::complete);
    splitter.feed(base::as_bytes(" \r\n"));
    EXPECT_EQ(splitter.next(), row_event::complete);
    splitter.feed(base::as_bytes(" }"));
    EXPECT_EQ(splitter.next(), std::unexpected(row_split_error{row_split_errc::extra_text, 7}));
    EXPECT_FALSE(splitter.finish());
}

// A random value. It is ASCII only, so that the parser used for comparison has no further
// objections.
std::string random_value(std::mt19937& rng, int depth) {
    const auto pick = [&](unsigned count) { return static_cast<unsigned>(rng() % count); };
    static const std::vector<std::string> scalars = {
        "0",
        "-1",
        "12345678901234567890",
        "1.5e-3",
        "true",
        "false",
        "null",
        "\"\"",
        "\"a\\n\"",
        "\"\\\\\\\"\"",
        "\"\\u0041]}\"",
        "\"a rather long text, longer than one block of bytes, "
        "with , and : and { in it\""};
    if (depth == 0 || pick(3) == 0) {
        return scalars[pick(static_cast<unsigned>(scalars.size()))];
    }
    const bool is_object = pick(2) == 0;
    std::string out(1, is_object ? '{' : '[');
    for (unsigned i = 0, count = pick(5); i < count; ++i) {
        out += i == 0 ? "" : pick(4) == 0 ? " ,\n " : ",";
        if (is_object) {
            out += "\"m" + std::to_string(i) + (pick(4) == 0 ? "\" : " : "\":");
        }
        out += random_value(rng, depth - 1);
    }
    return out + (is_object ? '}' : ']');
}

std::string random_document(std::mt19937& rng, rows& expected) {
    std::string out = "{\"before\":" + random_value(rng, 2) + ",\"results\":[";
    for (unsigned i = 0, count = static_cast<unsigned>(rng() % 8); i < count; ++i) {
        expected.push_back(random_value(rng, 4));
        out += (i == 0 ? "" : ",\n") + expected.back();
    }
    return out + "],\"behind\":" + random_value(rng, 2) + "}";
}

std::vector<std::size_t> random_cuts(std::mt19937& rng, std::size_t size) {
    std::vector<std::size_t> cuts(rng() % 4);
    for (std::size_t& cut : cuts) {
        cut = rng() % (size + 1);
    }
    std::sort(cuts.begin(), cuts.end());
    return cuts;
}

TEST(row_splitter, random_documents_give_the_rows_they_were_built_from) {
    std::mt19937 rng(7);
    for (int i = 0; i < 2000; ++i) {
        rows expected;
        const std::string document = random_document(rng, expected);
        const auto result = split(document, random_cuts(rng, document.size()));
        ASSERT_EQ(result.error, std::nullopt) << document;
        ASSERT_EQ(result.rows, expected) << document;
        ASSERT_TRUE(json::parse(result.trailer)) << result.trailer;
    }
}

// Goal: the splitter and a full parser agree on what is JSON. Method: change one byte of a valid
// document and compare both. Adds no exponents, because the parser rejects those it cannot compute.
TEST(row_splitter, random_damage_gives_the_same_result_as_a_full_parser) {
    std::mt19937 rng(11);
    const std::string_view letters = "{}[],:\"\\ \n0-1.tnu+a\x01";
    int refused = 0;
    for (int i = 0; i < 5000; ++i) {
        rows expected;
        std::string document = random_document(rng, expected);
        const std::size_t at = rng() % document.size();
        switch (rng() % 3) {
            case 0:
                document[at] = letters[rng() % letters.size()];
                break;
            case 1:
                document.erase(at, 1 + rng() % 3);
                break;
            default:
                document.insert(at, 1, letters[rng() % letters.size()]);
                break;
        }
        const auto parsed = json::parse(document, {.depth_max = 256});
        const bool is_json = (parsed && parsed->root.as_object() != nullptr) ||
                             (!parsed && parsed.error().code == json::parse_errc::invalid_utf8);
        const auto result = split(document, random_cuts(rng, document.size()));
        ASSERT_EQ(result.error == std::nullopt, is_json)
            << document << '\n'
            << (result.error ? to_string(*result.error) : "accepted");
        refused += is_json ? 0 : 1;
    }
    EXPECT_GT(refused, 1000);
    EXPECT_LT(refused, 4999);
}

TEST(row_splitter, errors_have_texts) {
    EXPECT_EQ(
        to_string(row_split_error{row_split_errc::row_too_large, 12}), "row_too_large at byte 12");
    for (int code = 1; code <= static_cast<int>(row_split_errc::extra_text); ++code) {
        EXPECT_NE(to_string(static_cast<row_split_errc>(code)), "unknown");
    }
}

}  // namespace reprise::services::row_splitter_test
