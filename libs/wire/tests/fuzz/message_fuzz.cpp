#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <type_traits>
#include <vector>

#include <reprise/base/byte_writer.hpp>
#include <reprise/wire/cluster_messages.hpp>
#include <reprise/wire/document_messages.hpp>
#include <reprise/wire/error_context.hpp>
#include <reprise/wire/frame_reader.hpp>
#include <reprise/wire/observe_messages.hpp>
#include <reprise/wire/range_scan_messages.hpp>
#include <reprise/wire/session_messages.hpp>
#include <reprise/wire/subdoc_messages.hpp>
#include <reprise/wire/subdoc_rules.hpp>

namespace {

using namespace reprise::wire;
using reprise::base::byte_view;

request_header header_of_request(const frame_view& frame) {
    request_header header;
    header.opaque = frame.opaque();
    header.vbucket = frame.vbucket();
    header.cas = frame.cas();
    header.datatype = frame.datatype();
    return header;
}

response_header header_of_response(const frame_view& frame) {
    response_header header;
    header.op = frame.op();
    header.status = frame.status();
    header.opaque = frame.opaque();
    header.cas = frame.cas();
    header.datatype = frame.datatype();
    return header;
}

template <class Message>
auto decode_message(const frame_view& frame, key_form form) {
    if constexpr (std::is_invocable_v<decltype(&Message::decode), const frame_view&>) {
        return Message::decode(frame);
    } else {
        return Message::decode(frame, form);
    }
}

// A decoded message must encode, and the result must decode and encode to the same bytes. The first
// encoding may differ from the input, because unknown HELLO codes are dropped and a collection path
// moves to the value.
template <class Message, class Header>
void try_message(const frame_view& frame, const Header& header, key_form form) {
    const auto message = decode_message<Message>(frame, form);
    if (!message) {
        return;
    }
    std::vector<std::byte> first;
    reprise::base::byte_writer first_writer(first);
    if (const auto result = message->encode(first_writer, header); !result) {
        // A failed multi mutation with a token can be decoded but is never encoded.
        if (std::is_same_v<Message, subdoc_mutation_response>) {
            return;
        }
        std::abort();
    }
    const auto scan = scan_frame(first, {});
    const auto again = decode_message<Message>(*scan->frame, form);
    std::vector<std::byte> second;
    reprise::base::byte_writer second_writer(second);
    if (!again || !again->encode(second_writer, header) || first != second) {
        std::abort();
    }
}

template <class... Messages>
void try_requests(const frame_view& frame, key_form form) {
    (try_message<Messages>(frame, header_of_request(frame), form), ...);
}

template <class... Messages>
void try_responses(const frame_view& frame, key_form form) {
    (try_message<Messages>(frame, header_of_response(frame), form), ...);
}

void try_request(const frame_view& frame, key_form form) {
    try_requests<
        empty_request, document_request, store_request, concat_request, counter_request,
        touch_request, get_locked_request, get_meta_request, observe_request, observe_seqno_request,
        hello_request, sasl_request, select_bucket_request, get_error_map_request, stat_request,
        verbosity_request, get_cluster_config_request, get_collection_id_request,
        get_scope_id_request, subdoc_request, subdoc_lookup_request, subdoc_mutation_request,
        range_scan_create_request, range_scan_continue_request, range_scan_cancel_request>(
        frame, form);
    (void)decode_request_frame_infos(frame.framing_extras());
    if (const auto hello = hello_request::decode(frame)) {
        (void)parse_agent_key(hello->agent);
    }
    if (const auto single = subdoc_request::decode(frame, form)) {
        (void)check_subdoc(*single, frame.cas());
    }
    if (const auto lookup = subdoc_lookup_request::decode(frame, form)) {
        (void)check_subdoc(*lookup);
    }
    if (const auto mutation = subdoc_mutation_request::decode(frame, form)) {
        (void)check_subdoc(*mutation, frame.cas());
    }
}

void try_response(const frame_view& frame, key_form form) {
    try_responses<
        empty_response, value_response, document_response, mutation_response, counter_response,
        get_meta_response, observe_response, observe_seqno_response, hello_response,
        collection_id_response, subdoc_lookup_response, subdoc_mutation_response,
        range_scan_create_response, range_scan_continue_response>(frame, form);
    (void)decode_response_frame_infos(frame.framing_extras());
    (void)error_context_of(frame);
}

}  // namespace

// The first byte selects whether keys have a collection. The rest are frames, each passed to every
// decoder of its direction.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 1) {
        return 0;
    }
    const key_form form = data[0] % 2 == 0 ? key_form::bare : key_form::collection_prefixed;
    byte_view rest(reinterpret_cast<const std::byte*>(data) + 1, size - 1);
    frame_limits limits;
    limits.body_size_max_bytes = 65536;
    for (;;) {
        const auto scan = scan_frame(rest, limits);
        if (!scan || !scan->frame) {
            return 0;
        }
        if (scan->frame->is_request()) {
            try_request(*scan->frame, form);
        } else if (scan->frame->is_response()) {
            try_response(*scan->frame, form);
        } else {
            (void)cluster_map_change_notification::decode(*scan->frame);
        }
        rest = rest.subspan(scan->size);
    }
}
