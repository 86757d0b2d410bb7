// An accepted connection string has hosts, and options that are in their ranges; an error points
// into the text.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include <reprise/engine/engine_options.hpp>

namespace {

void expect_readable(const reprise::wire::connection_string_error& error, std::size_t size) {
    if (error.position > size || to_string(error).empty()) {
        std::abort();
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace reprise;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto parsed = wire::parse_connection_string(text);
    if (!parsed) {
        expect_readable(parsed.error(), size);
        return 0;
    }
    if (parsed->hosts.empty() || parsed->hosts.front().host.empty()) {
        std::abort();
    }
    engine::engine_options options;
    if (const auto applied = engine::apply(*parsed, options); !applied) {
        expect_readable(applied.error(), size);
        return 0;
    }
    // Only a contradiction between two options can be left.
    const auto refused = engine::check(options);
    if (refused && refused->field != "config_poll_interval") {
        std::abort();
    }
    return 0;
}
