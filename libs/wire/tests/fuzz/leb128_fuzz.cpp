#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <reprise/wire/document_key.hpp>
#include <reprise/wire/leb128.hpp>

// Decodes a collection id and a key field. What is accepted encodes to exactly the same bytes.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace reprise::wire;
    const reprise::base::byte_view input(reinterpret_cast<const std::byte*>(data), size);
    if (const auto number = decode_leb128(input)) {
        std::array<std::byte, leb128_size_max> again;
        const std::size_t again_size = encode_leb128(again.data(), number->value);
        if (again_size != number->size || std::memcmp(again.data(), data, again_size) != 0) {
            std::abort();
        }
    }
    for (const key_form form : {key_form::bare, key_form::collection_prefixed}) {
        const auto key = decode_document_key(input, form);
        if (!key) {
            continue;
        }
        std::vector<std::byte> again(encoded_size(*key));
        encode(again.data(), *key);
        if (again.size() > key_field_size_max || !reprise::base::equal(again, input)) {
            std::abort();
        }
    }
    return 0;
}
