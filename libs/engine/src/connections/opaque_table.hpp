#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <reprise/wire/opcode.hpp>

namespace reprise::engine {

// Who waits for an answer.
enum class waiter_kind : std::uint8_t {
    nobody,         // the entry is free
    operation,      // target: slot index
    configuration,  // a poll of the bucket's configuration
    collection,     // target: index of the bucket's collection entry
    probe,          // NOOP to a quiet connection
    canary,         // NOOP of the endpoint's circuit breaker
    abandoned,      // nobody waits any more; the answer will be dropped
};

struct opaque_entry {
    std::uint32_t opaque = 0;
    waiter_kind kind = waiter_kind::nobody;
    wire::opcode op = wire::opcode::noop;
    std::uint32_t target = 0;
    bool is_operation = false;  // stays true when abandoned: it still takes credit
};

// Why a connection is closed that has answered a request which was never sent.
[[nodiscard]] std::string never_issued_text(std::uint32_t opaque);

// Requests of one connection that wait for an answer. Opaques are sequential; their low bits are
// the place in the table and the whole number is compared, so an answer to an old request never
// finds a new one. Fixed size.
class opaque_table {
public:
    // Room for at least `count` entries.
    // Smaller numbers belong to the bootstrap: its late answers must find nobody here.
    static constexpr std::uint32_t opaque_min = 0x100;

    explicit opaque_table(std::size_t count);

    // The opaque given to the new entry; nothing if the table is full.
    [[nodiscard]] std::optional<std::uint32_t> insert(
        waiter_kind kind, wire::opcode op, std::uint32_t target);
    // Null if nobody waits under this number.
    [[nodiscard]] opaque_entry* find(std::uint32_t opaque) noexcept;
    // Whether a request with this number was ever sent: answered, abandoned or still waiting. A
    // number that was skipped because its place was taken counts as issued once its place is used
    // again; after a wrap-around every number does.
    [[nodiscard]] bool was_issued(std::uint32_t opaque) const noexcept;
    // Frees the entry, abandoned or not.
    void erase(opaque_entry& entry) noexcept;
    // Nobody waits any more: the place stays taken until the answer comes.
    void abandon(opaque_entry& entry) noexcept;

    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    // Entries of operations, abandoned ones included: what pipeline credit is counted in.
    [[nodiscard]] std::size_t operation_count() const noexcept { return operation_count_; }
    // Operations that still wait.
    [[nodiscard]] std::size_t live_operation_count() const noexcept { return live_count_; }
    [[nodiscard]] std::size_t abandoned_count() const noexcept { return abandoned_count_; }
    // All places; those of nobody are free.
    [[nodiscard]] std::vector<opaque_entry>& entries() noexcept { return entries_; }

private:
    // Wraps around past the numbers of the bootstrap.
    void step() noexcept {
        has_wrapped_ = has_wrapped_ || next_ == 0xffff'ffffU;
        next_ = next_ == 0xffff'ffffU ? opaque_min : next_ + 1;
    }

    std::vector<opaque_entry> entries_;
    std::uint32_t next_;
    bool has_wrapped_ = false;
    std::size_t size_ = 0;
    std::size_t operation_count_ = 0;
    std::size_t live_count_ = 0;
    std::size_t abandoned_count_ = 0;
};

}  // namespace reprise::engine
