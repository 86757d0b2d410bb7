#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include <reprise/base/byte_writer.hpp>
#include <reprise/wire/frame_reader.hpp>
#include <reprise/wire/range_scan_messages.hpp>

namespace {

using namespace reprise::wire;
using reprise::base::byte_view;

std::vector<std::byte> frame_around(frame_parts parts, byte_view value) {
    std::vector<std::byte> bytes;
    reprise::base::byte_writer writer(bytes);
    parts.value = value;
    if (!encode_frame(writer, parts)) {
        std::abort();
    }
    return bytes;
}

void try_create(byte_view input) {
    frame_parts parts;
    parts.op = opcode::range_scan_create;
    parts.datatype = datatype::json;
    const auto bytes = frame_around(parts, input);
    const auto request = range_scan_create_request::decode(*scan_frame(bytes, {})->frame);
    if (!request) {
        return;
    }
    std::vector<std::byte> again;
    reprise::base::byte_writer writer(again);
    if (!request->encode(writer, {})) {
        std::abort();
    }
    const auto same = range_scan_create_request::decode(*scan_frame(again, {})->frame);
    if (!same || same->what != request->what || same->snapshot != request->snapshot) {
        std::abort();
    }
}

// The items cover the input from its beginning without gaps.
void try_items(scan_content content, byte_view input) {
    scan_item_reader reader(content, input);
    std::size_t used = 0;
    for (;;) {
        const auto next = reader.next();
        if (!next) {
            return;
        }
        if (!*next) {
            break;
        }
        const scan_item& item = **next;
        if (item.encoded.data() != input.data() + used || item.key.empty()) {
            std::abort();
        }
        used += item.encoded.size();
        std::vector<std::byte> again;
        reprise::base::byte_writer writer(again);
        append_scan_item(writer, content, item);
        if (!reprise::base::equal(again, item.encoded)) {
            std::abort();
        }
    }
    if (used != input.size()) {
        std::abort();
    }
}

}  // namespace

// The input is the description of a scan, and the items of an answer, so that the fuzzer need not
// build headers.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const byte_view input(reinterpret_cast<const std::byte*>(data), size);
    try_create(input);
    try_items(scan_content::keys, input);
    try_items(scan_content::documents, input);
    return 0;
}
