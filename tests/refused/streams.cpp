// Streams whose errors would be lost. See check_refused.py and docs/design/public_api.md.

#include <reprise/couchbase.hpp>

namespace couchbase = reprise::couchbase;

// refused: a_row_whose_error_is_not_checked
// message: has no member named
auto read(couchbase::query_stream& rows) {
    std::size_t size = 0;
    for (const auto& row : rows) {
        size += row.text().size();
    }
    return size;
}

// refused: a_document_whose_error_is_not_checked
// message: has no member named
auto read(couchbase::scan_stream& documents) {
    std::size_t size = 0;
    for (const auto& document : documents) {
        size += document.key.size();
    }
    return size;
}

// refused: rows_converted_on_the_way
// message: from expression of type
auto read(couchbase::query_stream& rows) {
    std::size_t size = 0;
    for (const couchbase::row_view& row : rows) {
        size += row.text().size();
    }
    return size;
}

// refused: an_ignored_end_of_a_stream
// flags: -Werror
// message: ignoring return value of
void read(couchbase::query_stream& rows) {
    rows.finish();
}

// refused: a_stream_made_by_hand
// message: is private within this context
auto make(couchbase::detail::row_handle rows) {
    return couchbase::query_stream(std::move(rows));
}

// accepted: rows_whose_error_is_checked
// flags: -Wall -Wextra -Werror
bool read(couchbase::query_stream& rows) {
    for (const auto& row : rows) {
        if (!row || row->text().empty()) {
            return false;
        }
    }
    return rows.finish().has_value();
}
