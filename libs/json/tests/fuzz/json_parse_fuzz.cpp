// Text that parses must survive a round trip.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include <reprise/json/parse.hpp>
#include <reprise/json/write.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    reprise::json::parse_options options;
    options.duplicates = reprise::json::duplicate_policy::report;
    const auto first = reprise::json::parse(text, options);
    if (!first) {
        (void)to_string(first.error());
        return 0;
    }
    const auto again = reprise::json::parse(reprise::json::serialize(first->root), options);
    if (!again || !(again->root == first->root) || !again->duplicates.empty()) {
        std::abort();
    }
    return 0;
}
