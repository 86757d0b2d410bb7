#pragma once

#include <cstdint>

#include "engine_context.hpp"
#include "topology/own_requests.hpp"
#include "topology/topology_listener.hpp"

namespace reprise::engine {

class kv_connection;

// The effect of an answer on the connection that it arrived on.
enum class collection_answer : std::uint8_t {
    taken,            // nothing
    undecodable,      // close it, then call `forget`
    drop_connection,  // close it: it has lost its login or its bucket
};

// The ids of collections. Each id is requested once and kept until a server reports it as unknown.
// Operations that need an id wait in its entry.
//
//     unknown -> ask: asking -> on_answer: known
//                                        | stale: asked again later
//                                        | unknown: missing, or refused with an error that ends
//                                          the operations that wait
//
class collections {
public:
    collections(
        engine_context& context, topology_listener& listener, own_request_rules& judge) noexcept
        : context_(context), listener_(listener), judge_(judge) {}

    void ask(collection_entry& entry, kv_connection& connection, time_point now);
    [[nodiscard]] collection_answer on_answer(
        collection_entry& entry, const endpoint_record& asked, const wire::frame_view& frame,
        time_point now);
    // The answer is overdue, or it is time to ask again.
    void on_due(collection_entry& entry, time_point now);
    // No answer will arrive: the waiting operations ask again, on another connection if necessary.
    void forget(collection_entry& entry, time_point now);

private:
    [[nodiscard]] collection_answer on_refused(
        collection_entry& entry, const endpoint_record& asked, const wire::frame_view& frame,
        time_point now);
    void on_missing(
        collection_entry& entry, const endpoint_record& asked, const wire::frame_view& frame,
        time_point now);
    void ask_later(
        collection_entry& entry, const endpoint_record& asked, retry_reason reason,
        wire::status status, time_point now);

    engine_context& context_;
    topology_listener& listener_;
    own_request_rules& judge_;
};

}  // namespace reprise::engine
