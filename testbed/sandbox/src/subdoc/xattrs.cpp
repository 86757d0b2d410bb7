#include "subdoc/xattrs.hpp"

#include <bit>

#include <reprise/base/base64.hpp>
#include <reprise/base/hex.hpp>
#include <reprise/json/write.hpp>

#include "subdoc/edit.hpp"
#include "subdoc/json_text.hpp"

namespace reprise::sandbox::detail {

namespace {

using wire::status;

constexpr std::string_view binary_prefix = "\"cb-content-base64-encoded:";

std::string hex_text(std::uint64_t number, std::size_t digit_count) {
    return "0x" + base::to_hex(number, digit_count);
}

std::string in_quotes(std::string_view text) {
    return "\"" + std::string(text) + "\"";
}

std::string document_attribute(const virtual_source& source) {
    const document& from = *source.existing;
    std::string scratch;
    const std::string_view body = plain_value(from, scratch);
    std::string out;
    json::writer w(out);
    w.begin_object().key("$document").begin_object();
    w.member("CAS", hex_text(from.cas, 16));
    w.member("vbucket_uuid", hex_text(source.vbucket_uuid, 16));
    w.member("seqno", hex_text(from.seqno, 16));
    w.member("revid", std::to_string(from.revision));
    w.member("exptime", from.is_deleted ? 0u : from.expiry);
    w.member("value_bytes", body.size());
    w.key("datatype").begin_array();
    if (from.is_json) {
        w.value("json");
    } else {
        w.value("raw");
    }
    if (from.is_compressed) {
        w.value("snappy");
    }
    if (!from.xattrs.empty()) {
        w.value("xattr");
    }
    w.end_array();
    w.member("deleted", from.is_deleted);
    w.member("flags", from.flags);
    // The CAS is the time of the change in nanoseconds, except for its low bits.
    w.member("last_modified", std::to_string(from.cas / 1'000'000'000));
    w.member("value_crc32c", hex_text(crc32c(body), 8));
    w.end_object().end_object();
    return out;
}

// The vbucket's clock in seconds. Transactions compare it with the times of other attempts.
std::string vbucket_attribute(const virtual_source& source) {
    return R"({"$vbucket":{"HLC":{"now":")" + std::to_string(source.clock_cas / 1'000'000'000) +
           R"(","mode":"real"}}})";
}

std::string contents_attribute(const virtual_source& source) {
    std::string out;
    json::writer w(out);
    w.begin_object().key("$XTOC").begin_array();
    if (const std::string_view xattrs = source.existing->xattrs.text(); !xattrs.empty()) {
        json_walker walker(xattrs, value_range(xattrs).begin);
        for (json_item item; walker.next(item);) {
            const std::string name = unquote(item.name.of(xattrs));
            if (source.can_access_system_xattrs || !is_system_xattr(name)) {
                w.value(name);
            }
        }
    }
    w.end_array().end_object();
    return out;
}

}  // namespace

std::expected<std::string_view, status> xattr_key(std::string_view path) noexcept {
    const std::string_view key = path.substr(0, path.find_first_of(".["));
    if (key.empty() || key.size() > xattr_key_size_max || key.contains('`')) {
        return std::unexpected(status::xattr_einval);
    }
    return key;
}

std::string system_xattrs(std::string_view xattrs) {
    std::string kept;
    json_walker walker(xattrs, value_range(xattrs).begin);
    for (json_item item; walker.next(item);) {
        if (is_system_xattr(unquote(item.name.of(xattrs)))) {
            kept += kept.empty() ? "{" : ",";
            kept.append(item.name.of(xattrs)).append(":").append(item.value.of(xattrs));
        }
    }
    return kept.empty() ? kept : kept + "}";
}

std::string normalized_xattrs(std::string xattrs) {
    if (xattrs.empty()) {
        return xattrs;
    }
    json_walker walker(xattrs, value_range(xattrs).begin);
    json_item item;
    return walker.next(item) ? xattrs : std::string();
}

std::optional<std::string> virtual_xattrs(std::string_view key, const virtual_source& source) {
    if (key == "$document") {
        return document_attribute(source);
    }
    if (key == "$vbucket") {
        return vbucket_attribute(source);
    }
    if (key == "$XTOC") {
        return contents_attribute(source);
    }
    return std::nullopt;
}

bool is_crc32c_macro(std::string_view macro) noexcept {
    return macro == "\"${Mutation.value_crc32c}\"";
}

std::expected<std::string, status> expand_macro(
    std::string_view macro, const macro_source& source) {
    if (macro == "\"${Mutation.CAS}\"") {
        // Clients expect the bytes in reverse order.
        return in_quotes(hex_text(std::byteswap(source.cas), 16));
    }
    if (macro == "\"${Mutation.seqno}\"") {
        return in_quotes(hex_text(source.seqno, 16));
    }
    if (is_crc32c_macro(macro)) {
        return in_quotes(hex_text(source.value_crc32c, 8));
    }
    constexpr std::string_view start = "\"${";
    constexpr std::string_view end = "}\"";
    const bool is_document_macro = macro.starts_with("\"${$document") && macro.ends_with(end);
    if (!is_document_macro || source.virtuals.existing == nullptr) {
        return std::unexpected(status::subdoc_xattr_unknown_macro);
    }
    const std::string_view path =
        macro.substr(start.size(), macro.size() - start.size() - end.size());
    auto found = lookup_path(document_attribute(source.virtuals), wire::opcode::subdoc_get, path);
    if (!found) {
        return std::unexpected(status::subdoc_xattr_unknown_vattr_macro);
    }
    return *found;
}

std::string encode_binary_xattr(std::string_view bytes) {
    return std::string(binary_prefix) + base::encode_base64(bytes) + "\"";
}

std::optional<std::string> decode_binary_xattr(std::string_view json_text) {
    if (!json_text.starts_with(binary_prefix) || !json_text.ends_with('"') ||
        json_text.size() <= binary_prefix.size()) {
        return std::nullopt;
    }
    json_text.remove_prefix(binary_prefix.size());
    json_text.remove_suffix(1);
    return base::decode_base64(json_text);
}

std::uint32_t crc32c(std::string_view bytes) noexcept {
    std::uint32_t crc = 0xffff'ffff;
    for (const char c : bytes) {
        crc ^= static_cast<unsigned char>(c);
        for (int bit = 0; bit < 8; ++bit) {
            crc = (crc >> 1) ^ (0x82f6'3b78u & (0u - (crc & 1u)));
        }
    }
    return ~crc;
}

}  // namespace reprise::sandbox::detail
