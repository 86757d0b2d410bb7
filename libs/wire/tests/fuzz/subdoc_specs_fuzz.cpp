#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include <reprise/base/byte_writer.hpp>
#include <reprise/wire/frame_reader.hpp>
#include <reprise/wire/subdoc_messages.hpp>
#include <reprise/wire/subdoc_rules.hpp>

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

}  // namespace

// The input is the value of the four multi messages, so that the fuzzer need not build headers.
// Accepted lists have 1 to 16 entries, all within the value.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const byte_view input(reinterpret_cast<const std::byte*>(data), size);
    frame_parts parts;
    parts.key = reprise::base::as_bytes("k");
    parts.op = opcode::subdoc_multi_lookup;
    const auto lookup_bytes = frame_around(parts, input);
    const auto lookup_frame = *scan_frame(lookup_bytes, {})->frame;
    if (const auto lookup = subdoc_lookup_request::decode(lookup_frame, key_form::bare)) {
        (void)check_subdoc(*lookup);
        if (lookup->specs.empty()) {
            std::abort();
        }
    }
    parts.op = opcode::subdoc_multi_mutation;
    const auto mutation_bytes = frame_around(parts, input);
    const auto mutation_frame = *scan_frame(mutation_bytes, {})->frame;
    if (const auto mutation = subdoc_mutation_request::decode(mutation_frame, key_form::bare)) {
        (void)check_subdoc(*mutation, 0);
        std::size_t used = 0;
        for (const mutation_spec& spec : mutation->specs) {
            used += 8 + spec.path.size() + spec.value.size();
        }
        if (used != size) {
            std::abort();
        }
    }
    parts = {};
    parts.magic = magic::response;
    for (const status code : {status::success, status::subdoc_multi_path_failure}) {
        parts.vbucket_or_status = static_cast<std::uint16_t>(code);
        parts.op = opcode::subdoc_multi_lookup;
        const auto results = frame_around(parts, input);
        (void)subdoc_lookup_response::decode(*scan_frame(results, {})->frame);
        parts.op = opcode::subdoc_multi_mutation;
        const auto outcome = frame_around(parts, input);
        (void)subdoc_mutation_response::decode(*scan_frame(outcome, {})->frame);
    }
    return 0;
}
