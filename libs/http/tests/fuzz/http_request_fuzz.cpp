#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include <reprise/http/request_parser.hpp>

// The first byte selects the size of the pieces; the rest is the stream. The parser must return the
// same requests for any size.
namespace {

struct totals {
    std::size_t count = 0;
    std::size_t size = 0;
    bool operator==(const totals&) const = default;
};

totals read_all(std::span<const std::byte> stream, std::size_t piece_size, bool& failed) {
    reprise::http::request_parser parser(
        {.header_size_max_bytes = 512, .body_size_max_bytes = 1024});
    totals out;
    while (!stream.empty()) {
        const auto piece = stream.first(std::min(piece_size, stream.size()));
        stream = stream.subspan(piece.size());
        parser.feed(piece);
        for (;;) {
            const auto next = parser.next();
            if (!next) {
                failed = true;
                return out;
            }
            if (!*next) {
                break;
            }
            ++out.count;
            out.size += (*next)->body.size() + (*next)->target.size();
            if ((*next)->body.size() > 1024) {
                std::abort();
            }
        }
    }
    return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) {
        return 0;
    }
    const std::span stream(reinterpret_cast<const std::byte*>(data) + 1, size - 1);
    bool pieces_failed = false;
    bool whole_failed = false;
    const totals pieces = read_all(stream, std::size_t{data[0]} % 32 + 1, pieces_failed);
    const totals whole = read_all(stream, stream.size() + 1, whole_failed);
    if (!pieces_failed && !whole_failed && !(pieces == whole)) {
        std::abort();
    }
    return 0;
}
