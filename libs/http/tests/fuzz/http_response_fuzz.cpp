#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include <reprise/http/response_parser.hpp>

// The first byte selects the size of the pieces and the second the kind of request; the rest is the
// stream. Each piece is freed after use, so that a view kept too long is detected.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace reprise::http;
    if (size < 2) {
        return 0;
    }
    const auto kind = data[1] % 8 == 0 ? response_kind::to_head : response_kind::with_body;
    const std::size_t piece_size = std::size_t{data[0]} % 64 + 1;
    std::span stream(reinterpret_cast<const std::byte*>(data) + 2, size - 2);
    response_parser parser({.header_size_max_bytes = 512}, kind);
    std::size_t body_size = 0;
    while (!stream.empty()) {
        const auto next_piece = stream.first(std::min(piece_size, stream.size()));
        const std::vector<std::byte> piece(next_piece.begin(), next_piece.end());
        stream = stream.subspan(piece.size());
        parser.feed(piece);
        for (;;) {
            const auto event = parser.next();
            if (!event) {
                return 0;
            }
            if (*event == response_event::need_more) {
                break;
            }
            if (*event == response_event::body) {
                body_size += parser.body().size();
            }
            if (*event == response_event::complete) {
                parser.restart(kind);
            }
        }
    }
    if (body_size > size) {
        std::abort();
    }
    static_cast<void>(parser.finish());
    return 0;
}
