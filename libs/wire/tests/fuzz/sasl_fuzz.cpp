// Messages of both sides. The first byte selects the reader; the rest are messages, one per line.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include <reprise/wire/sasl.hpp>

namespace {

using namespace reprise::wire;

std::string_view take_line(std::string_view& text) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    return line;
}

void fuzz_client(sasl_mechanism mechanism, std::string_view text) {
    scram_client_options options;
    options.iterations_min = 1;
    options.iterations_max = 16;  // keeps an iteration cheap
    sasl_client client(mechanism, {"user", "pencil", ""}, "abc", options);
    if (!client.start()) {
        return;
    }
    const auto wanted = client.on_challenge(take_line(text));
    if (!wanted || !client.on_key(derive_key(*wanted))) {
        return;
    }
    // No fuzzer finds the signature by chance, so accepting one is a bug.
    if (client.on_success(take_line(text))) {
        std::abort();
    }
}

void fuzz_server(sasl_mechanism mechanism, std::string_view text) {
    scram_server server(mechanism, "def");
    const auto name = server.on_first(take_line(text));
    if (!name) {
        return;
    }
    if (name->empty()) {
        std::abort();
    }
    (void)server.challenge(make_decoy_credential(mechanism, *name, "secret", 1));
    if (server.on_final(take_line(text))) {
        std::abort();
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) {
        return 0;
    }
    const std::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);
    switch (data[0] % 5) {
        case 0:
            fuzz_client(sasl_mechanism::scram_sha1, text);
            break;
        case 1:
            fuzz_server(sasl_mechanism::scram_sha256, text);
            break;
        case 2:
            (void)decode_plain(text);
            break;
        case 3:
            (void)decode_oauthbearer(text);
            break;
        default:
            (void)parse_mechanism_list(text);
    }
    return 0;
}
