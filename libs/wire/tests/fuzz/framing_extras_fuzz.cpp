#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include <reprise/base/byte_writer.hpp>
#include <reprise/wire/framing_extras.hpp>

// Decodes a framing-extras field as a server and as a client. What the server accepts survives a
// round trip.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace reprise::wire;
    const reprise::base::byte_view input(reinterpret_cast<const std::byte*>(data), size);
    frame_info_reader reader(input);
    std::size_t total = 0;
    for (auto info = reader.next(); info && *info; info = reader.next()) {
        total += 1 + (*info)->payload.size();
    }
    if (total > size) {
        std::abort();
    }
    if (const auto infos = decode_request_frame_infos(input)) {
        std::vector<std::byte> bytes;
        reprise::base::byte_writer writer(bytes);
        if (encode_request_frame_infos(writer, *infos)) {
            if (decode_request_frame_infos(bytes) != *infos) {
                std::abort();
            }
        } else if (size <= framing_extras_size_max) {
            std::abort();
        }
    }
    (void)decode_response_frame_infos(input);
    return 0;
}
