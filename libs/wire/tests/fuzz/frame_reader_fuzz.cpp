#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include <reprise/wire/frame_reader.hpp>

namespace {

using namespace reprise::wire;
using reprise::base::byte_view;

struct reading {
    std::vector<std::vector<std::byte>> bodies;
    std::optional<wire_errc> error;
    bool operator==(const reading&) const = default;
};

// Feeds `stream` in pieces of `piece` bytes. Each has its own memory, so that the sanitizer detects
// a view kept too long.
reading read_in_pieces(byte_view stream, std::size_t piece, const frame_limits& limits) {
    reading result;
    frame_reader reader(limits);
    while (!stream.empty() && !result.error) {
        const byte_view part = stream.first(std::min(piece, stream.size()));
        const std::vector<std::byte> chunk(part.begin(), part.end());
        reader.feed(chunk);
        for (;;) {
            const auto frame = reader.next();
            if (!frame) {
                result.error = frame.error();
                break;
            }
            if (!*frame) {
                break;
            }
            const byte_view body = (*frame)->body();
            result.bodies.emplace_back(body.begin(), body.end());
            const std::size_t parts = (*frame)->framing_extras().size() +
                                      (*frame)->extras().size() + (*frame)->key().size() +
                                      (*frame)->value().size();
            if (parts != body.size()) {
                std::abort();
            }
        }
        stream = stream.subspan(part.size());
    }
    return result;
}

}  // namespace

// The first byte gives the size of the pieces and the direction. Reading in pieces must give the
// same result as reading at once.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 1) {
        return 0;
    }
    const byte_view stream(reinterpret_cast<const std::byte*>(data) + 1, size - 1);
    frame_limits limits;
    limits.body_size_max_bytes = 4096;
    limits.direction = static_cast<frame_direction>(data[0] % 3);
    const reading at_once = read_in_pieces(stream, SIZE_MAX, limits);
    const reading in_pieces = read_in_pieces(stream, std::size_t{1} + data[0] / 3, limits);
    if (!(at_once == in_pieces)) {
        std::abort();
    }
    return 0;
}
