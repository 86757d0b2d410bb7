#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include <reprise/base/printable.hpp>
#include <reprise/engine/vocabulary.hpp>
#include <reprise/retry/retry_history.hpp>

namespace reprise::engine {

// The history of a running operation. It stores four entries inline and allocates a block for the
// fifth. It keeps endpoints by their number in the engine; their names are looked up when the
// history is read.
class operation_history {
public:
    // How many endpoints a history can name. Further ones are omitted.
    static constexpr std::size_t endpoint_count_max = 8;

    // `endpoint` is its number in the engine, negative if there is none.
    void push(retry_history::entry entry, std::int32_t endpoint) {
        entry.set_place(local_index(endpoint));
        if (count_ < inline_.size()) {
            inline_[count_++] = entry;
            return;
        }
        if (!more_) {
            more_ = std::make_unique<retry_history>();
            for (const retry_history::entry& early : inline_) {
                more_->record(early);
            }
        }
        more_->record(entry);
    }
    [[nodiscard]] bool empty() const noexcept { return count_ == 0; }

    // Returns the history in the form that users see. `name_of` and `problem_of` map the number of
    // an endpoint to its texts; `code_text` writes the codes of the protocol, as plain numbers if
    // it is null.
    template <class NameOf, class ProblemOf>
    [[nodiscard]] retry_history report(
        NameOf&& name_of, ProblemOf&& problem_of,
        std::string (*code_text)(std::uint32_t) = nullptr) const {
        retry_history result = more_ ? *more_ : retry_history{};
        for (std::size_t index = 0; !more_ && index < count_; ++index) {
            result.record(inline_[index]);
        }
        auto notes = std::make_shared<driver::protocol_notes>();
        notes->reason_name = &name_of_reason;
        notes->code_text = code_text;
        for (std::size_t index = 0; index < endpoint_count_; ++index) {
            notes->places.push_back(base::printable(name_of(std::uint32_t{endpoints_[index]})));
            notes->problems.emplace_back(problem_of(std::uint32_t{endpoints_[index]}));
        }
        result.protocol = std::move(notes);
        return result;
    }

private:
    static std::string_view name_of_reason(std::uint8_t code) noexcept {
        return to_string(static_cast<retry_reason>(code));
    }

    std::uint8_t local_index(std::int32_t endpoint) {
        if (endpoint < 0) {
            return retry_history::entry::no_place;
        }
        for (std::uint8_t index = 0; index < endpoint_count_; ++index) {
            if (endpoints_[index] == endpoint) {
                return index;
            }
        }
        const bool fits = endpoint <= 0xffff && endpoint_count_ < endpoint_count_max;
        if (!fits) {
            return retry_history::entry::no_place;
        }
        endpoints_[endpoint_count_] = static_cast<std::uint16_t>(endpoint);
        return endpoint_count_++;
    }

    std::array<retry_history::entry, 4> inline_{};
    std::array<std::uint16_t, endpoint_count_max> endpoints_{};
    std::uint8_t count_ = 0;
    std::uint8_t endpoint_count_ = 0;
    std::unique_ptr<retry_history> more_;
};

}  // namespace reprise::engine
