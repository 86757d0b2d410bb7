#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <reprise/base/printable.hpp>
#include <reprise/engine/vocabulary.hpp>
#include <reprise/retry/retry_history.hpp>

namespace reprise::engine {

class history_blocks;

// The history of a running operation. Most operations have none, so its entries are in a block that
// the first failure takes from `history_blocks`. The block has room for four entries; the fifth
// allocates. Endpoints are kept by their number in the engine; their names are looked up when the
// history is read.
class operation_history {
public:
    // How many endpoints a history can name. Further ones are omitted.
    static constexpr std::size_t endpoint_count_max = 8;

    // `endpoint` is its number in the engine, negative if there is none. `blocks` must outlive the
    // history.
    void push(retry_history::entry entry, std::int32_t endpoint, history_blocks& blocks);
    [[nodiscard]] bool empty() const noexcept { return block_ == nullptr; }

    // Returns the history in the form that users see. `name_of` and `problem_of` map the number of
    // an endpoint to its texts; `code_text` writes the codes of the protocol, as plain numbers if
    // it is null.
    template <class NameOf, class ProblemOf>
    [[nodiscard]] retry_history report(
        NameOf&& name_of, ProblemOf&& problem_of,
        std::string (*code_text)(std::uint32_t) = nullptr) const {
        retry_history result = block_ && block_->more ? *block_->more : retry_history{};
        auto notes = std::make_shared<driver::protocol_notes>();
        notes->reason_name = &name_of_reason;
        notes->code_text = code_text;
        for (std::size_t index = 0; block_ && !block_->more && index < block_->count; ++index) {
            result.record(block_->first[index]);
        }
        for (std::size_t index = 0; block_ && index < block_->endpoint_count; ++index) {
            const std::uint32_t number = block_->endpoints[index];
            notes->places.push_back(base::printable(name_of(number)));
            notes->problems.emplace_back(problem_of(number));
        }
        result.protocol = std::move(notes);
        return result;
    }

private:
    friend class history_blocks;

    struct block {
        std::array<retry_history::entry, 4> first{};
        std::array<std::uint16_t, endpoint_count_max> endpoints{};
        std::uint8_t count = 0;  // of `first`
        std::uint8_t endpoint_count = 0;
        std::unique_ptr<retry_history> more;  // all entries, once there are more than four
        history_blocks* home = nullptr;
        block* next_free = nullptr;

        [[nodiscard]] std::uint8_t local_index(std::int32_t endpoint);
    };
    struct returned {
        void operator()(block* used) const noexcept;
    };

    static std::string_view name_of_reason(std::uint8_t code) noexcept {
        return to_string(static_cast<retry_reason>(code));
    }

    std::unique_ptr<block, returned> block_;
};

// The blocks of all histories of one loop. It allocates for as many operations as have failed at
// once, and uses the blocks again.
class history_blocks {
public:
    history_blocks() { grow(); }  // so that a first failure allocates nothing
    history_blocks(const history_blocks&) = delete;
    history_blocks& operator=(const history_blocks&) = delete;

private:
    friend class operation_history;
    using block = operation_history::block;

    static constexpr std::size_t chunk_size = 64;

    [[nodiscard]] block& take() {
        if (first_free_ == nullptr) {
            grow();
        }
        return *std::exchange(first_free_, first_free_->next_free);
    }
    void take_back(block& used) noexcept {
        used.more.reset();
        used.count = 0;
        used.endpoint_count = 0;
        used.next_free = std::exchange(first_free_, &used);
    }
    void grow() {
        chunks_.push_back(std::make_unique<block[]>(chunk_size));
        for (std::size_t index = 0; index < chunk_size; ++index) {
            block& each = chunks_.back()[index];
            each.home = this;
            each.next_free = std::exchange(first_free_, &each);
        }
    }

    std::vector<std::unique_ptr<block[]>> chunks_;
    block* first_free_ = nullptr;
};

inline void operation_history::returned::operator()(block* used) const noexcept {
    used->home->take_back(*used);
}

inline void operation_history::push(
    retry_history::entry entry, std::int32_t endpoint, history_blocks& blocks) {
    if (!block_) {
        block_.reset(&blocks.take());
    }
    entry.set_place(block_->local_index(endpoint));
    if (block_->count < block_->first.size()) {
        block_->first[block_->count++] = entry;
        return;
    }
    auto& more = block_->more;
    if (!more) {
        more = std::make_unique<retry_history>();
        for (const retry_history::entry& early : block_->first) {
            more->record(early);
        }
    }
    more->record(entry);
}

inline std::uint8_t operation_history::block::local_index(std::int32_t endpoint) {
    if (endpoint < 0) {
        return retry_history::entry::no_place;
    }
    for (std::uint8_t index = 0; index < endpoint_count; ++index) {
        if (endpoints[index] == endpoint) {
            return index;
        }
    }
    const bool fits = endpoint <= 0xffff && endpoint_count < endpoint_count_max;
    if (!fits) {
        return retry_history::entry::no_place;
    }
    endpoints[endpoint_count] = static_cast<std::uint16_t>(endpoint);
    return endpoint_count++;
}

}  // namespace reprise::engine
