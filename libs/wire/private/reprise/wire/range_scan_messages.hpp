#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include <reprise/base/byte_writer.hpp>
#include <reprise/base/bytes.hpp>
#include <reprise/wire/ids.hpp>
#include <reprise/wire/message.hpp>

// Messages that read the keys or documents of one vbucket in the order of their keys:
//
//     create -> an id;  continue -> items, again and again until complete;  cancel
//
// See message.hpp for encoding and decoding, and docs/design/range_scan.md for where the facts come
// from.

namespace reprise::wire {

/// Names a scan on its server.
struct scan_id {
    std::array<std::byte, 16> bytes{};

    friend bool operator==(const scan_id&, const scan_id&) = default;
};

/// An end of a range.
struct scan_bound {
    std::string key{};
    bool is_exclusive = false;

    friend bool operator==(const scan_bound&, const scan_bound&) = default;
};

/// The keys from `start` to `end`, compared byte by byte.
struct scan_range {
    scan_bound start{};
    scan_bound end{};

    friend bool operator==(const scan_range&, const scan_range&) = default;
};

/// Documents chosen at random. The same seed chooses the same ones, as long as nothing changes.
struct scan_sampling {
    std::uint64_t samples = 0;
    std::uint32_t seed = 0;

    friend bool operator==(const scan_sampling&, const scan_sampling&) = default;
};

/// The state that the vbucket must have on disk before the scan begins.
struct scan_snapshot {
    std::uint64_t vbucket_uuid = 0;
    std::uint64_t seqno = 0;
    /// How long the server waits for it. 0: it answers 0x86 at once.
    std::uint32_t timeout_ms = 0;

    friend bool operator==(const scan_snapshot&, const scan_snapshot&) = default;
};

/// The body of a create request, above which decode refuses it. Our own limit: two keys in base64
/// need less.
inline constexpr std::size_t scan_create_size_max_bytes = 4096;

/// range_scan_create. Its value is JSON, so unlike other messages it owns what it decodes. The
/// datatype of the header is ignored: it is always JSON.
struct range_scan_create_request {
    collection_id collection = default_collection;
    bool is_key_only = false;
    std::variant<scan_range, scan_sampling> what{};
    std::optional<scan_snapshot> snapshot{};

    std::expected<void, wire_errc> encode(base::byte_writer&, const request_header&) const;
    static std::expected<range_scan_create_request, wire_errc> decode(const frame_view&);
};

/// Answer to range_scan_create.
struct range_scan_create_response {
    scan_id id{};

    std::expected<void, wire_errc> encode(base::byte_writer&, const response_header&) const;
    static std::expected<range_scan_create_response, wire_errc> decode(const frame_view&);
};

/// range_scan_continue. A limit of 0 means none. At least one item is sent, whatever its size.
struct range_scan_continue_request {
    scan_id id{};
    std::uint32_t item_limit = 0;
    std::uint32_t time_limit_ms = 0;
    std::uint32_t byte_limit = 0;

    std::expected<void, wire_errc> encode(base::byte_writer&, const request_header&) const;
    static std::expected<range_scan_continue_request, wire_errc> decode(const frame_view&);
};

/// The format of the items of an answer.
enum class scan_content : std::uint32_t {
    keys = 0,
    documents = 1,
};

/// One of the frames that answer range_scan_continue. All but the last have the status `success`;
/// the last one has `range_scan_more`, `range_scan_complete` or an error. `items` is the whole
/// value: read it with scan_item_reader. A frame without items may lack the extras.
struct range_scan_continue_response {
    scan_content content = scan_content::keys;
    base::byte_view items{};

    std::expected<void, wire_errc> encode(base::byte_writer&, const response_header&) const;
    static std::expected<range_scan_continue_response, wire_errc> decode(const frame_view&);
};

/// Whether further frames with the same opaque follow this response.
[[nodiscard]] inline bool has_further_frames(const frame_view& response) noexcept {
    return response.op() == opcode::range_scan_continue && response.status() == status::success;
}
/// Whether it is one of the statuses that end an answer to range_scan_continue without an error.
[[nodiscard]] constexpr bool is_scan_end(status code) noexcept {
    return code == status::range_scan_more || code == status::range_scan_complete;
}

/// range_scan_cancel. The answer is an empty_response.
struct range_scan_cancel_request {
    scan_id id{};

    std::expected<void, wire_errc> encode(base::byte_writer&, const request_header&) const;
    static std::expected<range_scan_cancel_request, wire_errc> decode(const frame_view&);
};

/// A key, or a document with its key. It points into the answer. The other fields are those of
/// documents.
struct scan_item {
    std::string_view key{};  ///< without a collection id
    std::uint32_t flags = 0;
    std::uint32_t expiry = 0;  ///< seconds since 1970; 0: never
    std::uint64_t seqno = 0;
    std::uint64_t cas = 0;
    wire::datatype datatype = wire::datatype::raw;
    base::byte_view value{};  ///< compressed if the datatype has that bit

    /// The bytes of the item as they were sent.
    base::byte_view encoded{};
};

/// Reads the items of one answer in their order.
class scan_item_reader {
public:
    scan_item_reader(scan_content content, base::byte_view items) noexcept
        : content_(content), rest_(items) {}

    /// The next item; empty after the last one. Fails with key_missing or scan_item_malformed, and
    /// then every further call does.
    [[nodiscard]] std::expected<std::optional<scan_item>, wire_errc> next() noexcept;

private:
    scan_content content_;
    base::byte_view rest_;
};

/// Appends one item, as a server does. `item.encoded` is not used.
void append_scan_item(base::byte_writer& out, scan_content content, const scan_item& item);

}  // namespace reprise::wire
