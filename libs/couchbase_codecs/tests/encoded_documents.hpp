#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <string_view>

#include <reprise/couchbase/codec.hpp>

// Documents as the client passes them to codecs.

namespace encoded_documents {

namespace couchbase = reprise::couchbase;
using couchbase::codec;

inline couchbase::document_view make_document(
    std::string_view text, couchbase::document_format format = couchbase::document_format::json) {
    return {std::as_bytes(std::span{text}), couchbase::flags_of(format)};
}

template <class T>
std::expected<T, couchbase::error> decode(std::string_view text) {
    return codec<T>::decode(make_document(text));
}

// The detail of a decoding failure; something else if decoding succeeds or fails otherwise.
template <class T>
std::string why_not(std::string_view text) {
    const auto decoded = decode<T>(text);
    if (decoded) {
        return "decoded";
    }
    EXPECT_EQ(decoded.error().code(), couchbase::errc::decoding_failure);
    return decoded.error().info().detail;
}

template <class T>
std::string encode(const T& value) {
    const auto encoded = codec<T>::encode(value);
    EXPECT_EQ(encoded.problem(), "");
    EXPECT_EQ(encoded.flags(), couchbase::flags_of(couchbase::document_format::json));
    return {reinterpret_cast<const char*>(encoded.bytes().data()), encoded.bytes().size()};
}

// Why a value cannot be encoded; empty if it can.
template <class T>
std::string problem_of(const T& value) {
    const auto encoded = codec<T>::encode(value);
    EXPECT_EQ(encoded.bytes().empty(), !encoded.problem().empty());
    return encoded.problem();
}

// Reads a document without a format as JSON, and refuses every other format by its name. `text` is
// a document that T can be read from.
template <class Value, class T>
void expect_only_json_is_read(std::string_view text) {
    using couchbase::document_format;
    EXPECT_TRUE(codec<Value>::decode(make_document("{}", document_format::none)));
    EXPECT_TRUE(decode<T>(text));
    for (const auto format :
         {document_format::binary, document_format::string, document_format::private_format}) {
        const auto decoded = codec<T>::decode(make_document(text, format));
        ASSERT_FALSE(decoded);
        EXPECT_EQ(decoded.error().code(), couchbase::errc::decoding_failure);
        EXPECT_EQ(
            decoded.error().info().detail,
            "wanted json, the document is " + std::string(to_string(format)));
    }
}

// This many arrays, one inside of the other.
inline std::string nested(std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
}

// Decodes the text with each byte removed, replaced or last. Every result is a value that can be
// encoded again, or a decoding failure with a text. Returns how many were values.
template <class T>
std::size_t decode_damaged(const std::string& text) {
    std::size_t value_count = 0;
    const auto check = [&](const std::string& damaged) {
        const auto decoded = decode<T>(damaged);
        if (decoded) {
            ++value_count;
            EXPECT_EQ(codec<T>::encode(*decoded).problem(), "") << damaged;
        } else {
            EXPECT_EQ(decoded.error().code(), couchbase::errc::decoding_failure) << damaged;
            EXPECT_FALSE(decoded.error().info().detail.empty()) << damaged;
        }
    };
    for (std::size_t at = 0; at < text.size(); ++at) {
        check(text.substr(0, at));
        check(text.substr(0, at) + text.substr(at + 1));
        for (const char byte : std::string_view("\0\"\\[]{},:-.e0 tn\x80\xff", 18)) {
            check(text.substr(0, at) + byte + text.substr(at + 1));
        }
    }
    return value_count;
}

}  // namespace encoded_documents
