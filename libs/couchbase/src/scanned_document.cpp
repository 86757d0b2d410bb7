#include "scanned_document.hpp"

#include <reprise/wire/compression.hpp>
#include <reprise/wire/range_scan_messages.hpp>

#include "session.hpp"

namespace reprise::couchbase::detail {
namespace {

constexpr std::size_t value_size_max_bytes = std::size_t{21} * 1024 * 1024;

std::unexpected<error> unreadable_scan(std::string_view why) {
    return std::unexpected(error(errc::decoding_failure, std::string(why)));
}

}  // namespace

std::expected<scanned_document, error> to_document(std::string_view row, bool is_key_only) {
    wire::scan_item_reader reader(
        is_key_only ? wire::scan_content::keys : wire::scan_content::documents,
        base::as_bytes(row));
    const auto item = reader.next();
    if (!item || !*item) {
        return unreadable_scan("a row of a scan");
    }
    const wire::scan_item& found = **item;
    scanned_document document;
    document.key = found.key;
    document.flags = found.flags;
    document.cas = cas{found.cas};
    document.expiry_seconds = found.expiry;
    if (is_key_only) {
        return document;
    }
    if (!wire::has(found.datatype, wire::datatype::snappy)) {
        document.content = document_bytes_access::make(base::slice::copy_of(found.value));
        return document;
    }
    const auto inflated = wire::inflate(found.value, value_size_max_bytes);
    if (!inflated) {
        return unreadable_scan(wire::to_string(inflated.error()));
    }
    document.content = document_bytes_access::make(base::slice::copy_of(*inflated));
    return document;
}

}  // namespace reprise::couchbase::detail
