// The splitter finds the same however a document is split and whichever function returns its rows.
// It accepts what a full parser accepts, with the same number of rows.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/json/parse.hpp>
#include <reprise/services/row_splitter.hpp>

namespace {

struct split_result {
    std::vector<std::string> rows;
    std::string trailer;
    bool has_failed = false;
    reprise::services::row_split_error error;
};

enum class way : std::uint8_t { single, batches };

// Feeds `step` bytes at a time; each piece is a copy that is destroyed after use.
split_result split(std::string_view document, std::size_t step, way how) {
    using namespace reprise::services;
    row_splitter splitter("results", {.row_size_max_bytes = 4096, .trailer_size_max_bytes = 4096});
    split_result result;
    const auto fail = [&](const row_split_error& error) {
        result.has_failed = true;
        result.error = error;
        if (to_string(error).empty() || error.offset > document.size()) {
            std::abort();
        }
    };
    for (std::size_t at = 0; at < document.size(); at += step) {
        const std::string_view part = document.substr(at, step);
        const std::vector<char> piece(part.begin(), part.end());
        splitter.feed(reprise::base::as_bytes(std::string_view(piece.data(), piece.size())));
        const auto next = [&] {
            return how == way::single ? splitter.next() : splitter.next_rows();
        };
        auto event = next();
        for (; event && *event == row_event::row; event = next()) {
            if (how == way::single) {
                result.rows.emplace_back(splitter.row());
            } else {
                result.rows.insert(
                    result.rows.end(), splitter.rows().begin(), splitter.rows().end());
            }
        }
        if (!event) {
            fail(event.error());
            return result;
        }
    }
    if (const auto end = splitter.finish(); !end) {
        fail(end.error());
    }
    result.trailer = splitter.trailer();
    return result;
}

bool is_size_error(const split_result& result) {
    using reprise::services::row_split_errc;
    return result.has_failed && (result.error.code == row_split_errc::row_too_large ||
                                 result.error.code == row_split_errc::trailer_too_large);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace reprise;
    if (size == 0) {
        return 0;
    }
    const std::size_t step = 1 + data[0] % 100;
    const std::string_view document(reinterpret_cast<const char*>(data + 1), size - 1);
    const split_result whole = split(document, document.size() + 1, way::single);
    for (const split_result& other :
         {split(document, step, way::single), split(document, step, way::batches),
          split(document, document.size() + 1, way::batches)}) {
        if (is_size_error(whole) || is_size_error(other)) {
            return 0;  // detected at the end of a row or of a piece, whichever is first
        }
        if (other.has_failed != whole.has_failed || other.rows != whole.rows ||
            (whole.has_failed ? other.error != whole.error : other.trailer != whole.trailer)) {
            std::abort();
        }
    }
    const auto parsed =
        json::parse(document, {.depth_max = 256, .duplicates = json::duplicate_policy::refuse});
    if (!parsed || parsed->root.as_object() == nullptr) {
        return 0;
    }
    const json::value* const rows = parsed->root.find("results");
    const bool has_rows = rows != nullptr && rows->as_array() != nullptr;
    const bool is_plain = document.find('\\') == std::string_view::npos;
    if (whole.has_failed || !json::parse(whole.trailer) ||
        (is_plain && whole.rows.size() != (has_rows ? rows->as_array()->size() : 0))) {
        std::abort();
    }
    return 0;
}
