// Asynchronous functions without their header. See check_refused.py.

#include <reprise/couchbase.hpp>

namespace couchbase = reprise::couchbase;

// refused: a_document_without_the_header_of_tokens
// message: include <reprise/couchbase/asio.hpp> to use the asynchronous functions
auto read(const couchbase::collection& at) {
    return at.async_get("k", {}, [](auto) {});
}

// refused: a_query_without_the_header_of_tokens
// message: include <reprise/couchbase/asio.hpp> to use the asynchronous functions
auto read(const couchbase::cluster& at) {
    return at.async_query("SELECT 1");
}

// refused: a_row_without_the_header_of_tokens
// message: include <reprise/couchbase/asio.hpp> to use the asynchronous functions
auto read(couchbase::query_stream& rows) {
    return rows.async_next();
}

// refused: a_manager_without_the_header_of_tokens
// message: include <reprise/couchbase/asio.hpp> to use the asynchronous functions
auto read(const couchbase::bucket_manager& at) {
    return at.async_list();
}

// refused: a_ping_without_the_header_of_tokens
// message: include <reprise/couchbase/asio.hpp> to use the asynchronous functions
auto read(const couchbase::bucket& at) {
    return at.async_ping();
}
