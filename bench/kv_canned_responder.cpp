// A key-value server that answers every get with the same small document and without a lookup, so
// that a measurement shows mainly the client. Prints its port, then serves until it is terminated.

#include <string_view>

#include <reprise/wire/document_messages.hpp>

#include "canned_cluster.hpp"

namespace {

namespace wire = reprise::wire;
namespace base = reprise::base;

constexpr std::string_view document =
    R"({"type":"airline","id":10,"name":"Example Air","iata":"XA","country":"Nowhere"})";
constexpr std::size_t opaque_at = 12;  // offset in a frame

bench::reply_bytes make_document_frame() {
    bench::reply_bytes made;
    wire::response_header header;
    header.cas = 1;
    header.datatype = wire::datatype::json;
    base::byte_writer writer(made);
    (void)wire::document_response{0x0200'0000, base::as_bytes(document), {}}.encode(writer, header);
    return made;
}

}  // namespace

int main() {
    std::uint16_t port = 0;
    const int listener = bench::listen_on(port);
    std::printf("%d\n", port);
    std::fflush(stdout);
    const bench::canned_cluster cluster(bench::node_ports{.kv = port});
    const bench::reply_bytes document_frame = make_document_frame();
    bench::serve_peers(
        listener, [&](const wire::frame_view& frame, bench::canned_peer& from, auto& out) {
            if (frame.op() != wire::opcode::get) {
                return cluster.answer(frame, from, out);
            }
            const auto at = out.size();
            out.insert(out.end(), document_frame.begin(), document_frame.end());
            base::store_big_endian(out.data() + at + opaque_at, frame.opaque());
        });
}
