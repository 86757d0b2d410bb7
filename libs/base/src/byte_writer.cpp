#include <reprise/base/byte_writer.hpp>

#include <cstring>

#include <reprise/base/assert.hpp>

namespace reprise::base {

std::byte* byte_writer::extend(std::size_t size) {
    // Subtracts because size_ + size could wrap. A vector may start above its limit.
    if (failed_ || size_ > limit_ || size > limit_ - size_) {
        failed_ = true;
        return nullptr;
    }
    const std::size_t at = size_;
    if (vector_ != nullptr) {
        vector_->resize(at + size);
        size_ += size;
        return vector_->data() + at;
    }
    size_ += size;
    return fixed_ + at;
}

void byte_writer::write_bytes(byte_view bytes) {
    if (vector_ != nullptr && !failed_ && size_ <= limit_ && bytes.size() <= limit_ - size_) {
        // Does not use extend, which would clear a long value before it is copied.
        vector_->insert(vector_->end(), bytes.begin(), bytes.end());
        size_ += bytes.size();
        return;
    }
    std::byte* at = extend(bytes.size());
    if (at != nullptr && !bytes.empty()) {
        std::memcpy(at, bytes.data(), bytes.size());
    }
}

byte_view byte_writer::bytes() const noexcept {
    const std::byte* data = vector_ != nullptr ? vector_->data() : fixed_;
    return {data + start_, size_ - start_};
}

void byte_writer::rewind(std::size_t written_size) noexcept {
    REPRISE_ASSERT(written_size <= written());
    size_ = start_ + written_size;
    if (vector_ != nullptr) {
        vector_->resize(size_);
    }
    failed_ = false;
}

}  // namespace reprise::base
