#pragma once

#include <array>
#include <cstddef>

#include <boost/asio/buffer.hpp>

#include <reprise/base/bytes.hpp>

namespace reprise::net {

// The first parts of a write as one sequence of buffers for Asio, which copies it. More than
// CountMax of them are left for the next write.
template <std::size_t CountMax>
class gathered_buffers {
public:
    // Leaves out the first `skipped` bytes.
    gathered_buffers(base::byte_views parts, std::size_t skipped) noexcept {
        for (const base::byte_view part : parts) {
            if (count_ == CountMax) {
                return;
            }
            if (skipped >= part.size()) {
                skipped -= part.size();
                continue;
            }
            buffers_[count_++] =
                boost::asio::const_buffer(part.data() + skipped, part.size() - skipped);
            skipped = 0;
        }
    }

    [[nodiscard]] const boost::asio::const_buffer* begin() const noexcept {
        return buffers_.data();
    }
    [[nodiscard]] const boost::asio::const_buffer* end() const noexcept {
        return buffers_.data() + count_;
    }

private:
    std::array<boost::asio::const_buffer, CountMax> buffers_;
    std::size_t count_ = 0;
};

}  // namespace reprise::net
