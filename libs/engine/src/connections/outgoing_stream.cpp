#include "connections/outgoing_stream.hpp"

#include <algorithm>

namespace reprise::engine {

base::byte_writer outgoing_stream::begin() {
    handed_before_ += size_;
    size_ = 0;
    written_ = 0;
    values_size_ = 0;
    return {buffer_, 0, base::byte_writer::reuse_tag{}};
}

void outgoing_stream::append_value(const base::slice& value) {
    values_.push_back({size_, value});
    values_size_ += value.size();
    size_ += value.size();
}

base::byte_views outgoing_stream::outstanding() {
    if (!values_.empty()) [[unlikely]] {
        return list_parts();
    }
    if (is_written()) {
        return {};
    }
    rest_ = base::byte_view(buffer_).first(size_).subspan(written_);
    return {&rest_, 1};
}

base::byte_views outgoing_stream::list_parts() {
    parts_.clear();
    std::size_t offset = 0;  // in the current write
    const auto list = [&](base::byte_view part) {
        const std::size_t done = std::min(part.size(), written_ - std::min(written_, offset));
        if (done < part.size()) {
            parts_.push_back(part.subspan(done));
        }
        offset += part.size();
    };
    base::byte_view copied = base::byte_view(buffer_).first(size_ - values_size_);
    for (const value_part& each : values_) {
        const std::size_t before = each.offset - offset;
        list(copied.first(before));
        copied = copied.subspan(before);
        list(each.value.view());
    }
    list(copied);
    return parts_;
}

bool outgoing_stream::on_written(std::size_t size) noexcept {
    if (size > size_ - written_) {
        return false;
    }
    written_ += size;
    if (!values_.empty() && is_written()) [[unlikely]] {
        drop_values();
    }
    return true;
}

std::uint64_t outgoing_stream::sent_end(std::size_t unwritten) const noexcept {
    const std::size_t unreported = size_ - written_;
    return handed_before_ + size_ - (unwritten < unreported ? unwritten : unreported);
}

}  // namespace reprise::engine
