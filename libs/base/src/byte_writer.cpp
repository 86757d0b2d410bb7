#include <reprise/base/byte_writer.hpp>

#include <algorithm>

#include <reprise/base/assert.hpp>

namespace reprise::base {

void byte_writer::grow(std::size_t size) {
    const std::size_t needed = size_ + size;
    vector_->resize(is_reusing_ ? std::max(needed, 2 * ready_size_) : needed);
    data_ = vector_->data();
    ready_size_ = vector_->size();
}

void byte_writer::write_bytes(byte_view bytes) {
    // As in extend, which would clear a long value before it is copied.
    if (failed_ || size_ > limit_ || bytes.size() > limit_ - size_) [[unlikely]] {
        failed_ = true;
        return;
    }
    if (bytes.size() > ready_size_ - size_) [[unlikely]] {
        return append(bytes);
    }
    if (!bytes.empty()) {
        copy_few(data_ + size_, bytes);
        size_ += bytes.size();
    }
}

void byte_writer::append(byte_view bytes) {
    vector_->resize(size_);
    vector_->insert(vector_->end(), bytes.begin(), bytes.end());
    data_ = vector_->data();
    size_ += bytes.size();
    ready_size_ = size_;
}

void byte_writer::rewind(std::size_t written_size) noexcept {
    REPRISE_ASSERT(written_size <= written());
    size_ = start_ + written_size;
    if (vector_ != nullptr && !is_reusing_) {
        vector_->resize(size_);
        ready_size_ = size_;
    }
    failed_ = false;
}

}  // namespace reprise::base
