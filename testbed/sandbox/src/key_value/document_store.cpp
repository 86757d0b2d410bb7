#include "key_value/document_store.hpp"

#include <limits>

#include <reprise/base/assert.hpp>
#include <reprise/base/bytes.hpp>
#include <reprise/wire/compression.hpp>

namespace reprise::sandbox::detail {

std::string_view plain_value(const document& from, std::string& scratch) {
    if (!from.is_compressed) {
        return from.value.text();
    }
    // The block was decompressed when it was stored, so it is known to be valid and within the
    // limit.
    const auto inflated =
        wire::inflate(from.value.view(), std::numeric_limits<std::uint32_t>::max());
    REPRISE_ASSERT(inflated.has_value());
    scratch.assign(base::as_text(*inflated));
    return scratch;
}

}  // namespace reprise::sandbox::detail
