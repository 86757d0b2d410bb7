#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace reprise::couchbase::detail {

// Decides which vbuckets are scanned at the same time: at most `concurrency` of each node, in the
// order of their numbers. Vbuckets without an owner count as those of one more node.
class scan_schedule {
public:
    // `owners` has the number of the node for each vbucket.
    scan_schedule(std::vector<std::optional<std::size_t>> owners, std::size_t concurrency)
        : owners_(std::move(owners)), is_begun_(owners_.size()), concurrency_(concurrency) {}

    // The next vbucket to scan. Empty if there is none, or none that may begin now.
    [[nodiscard]] std::optional<std::uint16_t> next() {
        for (std::size_t vbucket = first_; vbucket < owners_.size(); ++vbucket) {
            if (!is_begun_[vbucket] && running_of(vbucket) < concurrency_) {
                begin(static_cast<std::uint16_t>(vbucket));
                return static_cast<std::uint16_t>(vbucket);
            }
        }
        return std::nullopt;
    }
    // The scan of a vbucket has begun elsewhere.
    void begin(std::uint16_t vbucket) {
        is_begun_[vbucket] = true;
        ++running_of(vbucket);
        ++begun_count_;
        while (first_ < is_begun_.size() && is_begun_[first_]) {
            ++first_;
        }
    }
    void end(std::uint16_t vbucket) { --running_of(vbucket); }
    [[nodiscard]] bool has_more() const noexcept { return begun_count_ < owners_.size(); }

private:
    [[nodiscard]] std::size_t& running_of(std::size_t vbucket) {
        const std::size_t node = owners_[vbucket] ? *owners_[vbucket] + 1 : 0;
        if (node >= running_.size()) {
            running_.resize(node + 1);
        }
        return running_[node];
    }

    std::vector<std::optional<std::size_t>> owners_;
    std::vector<bool> is_begun_;
    std::size_t concurrency_;
    std::size_t first_ = 0;  // all before it have begun
    std::size_t begun_count_ = 0;
    std::vector<std::size_t> running_;  // by node; the first one: without an owner
};

}  // namespace reprise::couchbase::detail
