#include <reprise/couchbase/results.hpp>

#include <new>

#include "session.hpp"

namespace reprise::couchbase {

using detail::document_bytes_access;

static_assert(sizeof(base::slice) <= sizeof(document_bytes));
static_assert(alignof(base::slice) <= alignof(document_bytes));

document_bytes::document_bytes() noexcept {
    ::new (static_cast<void*>(storage_)) base::slice();
}

document_bytes::document_bytes(const document_bytes& other) noexcept {
    ::new (static_cast<void*>(storage_)) base::slice(document_bytes_access::slice_of(other));
}

document_bytes::document_bytes(document_bytes&& other) noexcept {
    ::new (static_cast<void*>(storage_))
        base::slice(std::move(document_bytes_access::slice_of(other)));
}

// NOLINTNEXTLINE(bugprone-unhandled-self-assignment): the slice handles it
document_bytes& document_bytes::operator=(const document_bytes& other) noexcept {
    document_bytes_access::slice_of(*this) = document_bytes_access::slice_of(other);
    return *this;
}

document_bytes& document_bytes::operator=(document_bytes&& other) noexcept {
    document_bytes_access::slice_of(*this) = std::move(document_bytes_access::slice_of(other));
    return *this;
}

document_bytes::~document_bytes() {
    document_bytes_access::slice_of(*this).~slice();
}

std::span<const std::byte> document_bytes::view() const noexcept {
    return document_bytes_access::slice_of(*this).view();
}

document_bytes detail::document_bytes_access::make(base::slice&& bytes) noexcept {
    document_bytes made;
    slice_of(made) = std::move(bytes);
    return made;
}

}  // namespace reprise::couchbase
