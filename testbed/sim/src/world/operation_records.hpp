#pragma once

#include <any>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <ranges>
#include <string>
#include <vector>

#include <reprise/couchbase_types/operation_observer.hpp>
#include <reprise/couchbase_types/retry_strategies.hpp>
#include <reprise/engine/ids.hpp>
#include <reprise/engine/reason_table.hpp>
#include <reprise/sim/scenario.hpp>
#include <reprise/wire/configuration_revision.hpp>
#include <reprise/wire/ids.hpp>

namespace reprise::sim {

using driver::attempt_stage;

inline constexpr std::uint32_t no_link = 0xffff'ffffU;

// One request of an operation, as the network saw it.
struct sent_request {
    std::uint32_t link = no_link;
    std::uint32_t opaque = 0;
    time_point sent{};
    bool is_answered = false;  // the answer was delivered to the client
    bool is_unsent = false;    // the driver reported that it was certainly never sent
    bool is_lost = false;      // the connection ended before an answer
    bool is_decided = false;   // the client has decided how to react to its end
    std::uint16_t status = 0;  // of the answer
    std::uint64_t cas = 0;     // of the answer
    time_point answered{};
    // For requests of calls.
    bool is_corrupt = false;    // its answer is partly or completely unreadable
    bool is_applied = false;    // a server has applied it
    bool is_made_up = false;    // a fault rule answered it
    bool is_harmless = false;   // prepares a statement and does not run it
    bool is_disproved = false;  // the client has read an answer that proves that nothing was done
};

struct decision_note {
    duration offset{};
    duration delay{};
    couchbase::retry_reason reason{};
    attempt_stage stage{};
    std::uint16_t status = 0;
    std::uint32_t attempt = 0;
    bool is_retried = false;
};

// The record of a call, in addition to that of other operations.
struct call_record {
    planned_call plan{};
    // The last request that was composed.
    std::string request_line{};    // "POST /query/service HTTP/1.1"
    bool prepares = false;         // it prepares a statement ...
    bool is_preparing = false;     // ... and does nothing else
    std::uint32_t next_count = 0;  // answers that are followed by another request at once
    duration delay_floor{};        // the delay requested by the last answer
    // Rows.
    std::uint64_t rows_taken = 0;
    std::vector<std::string> rows_seen{};  // for rows whose order is not known in advance
    // Prepared statements: how many answers to PREPARE its client had received when the last
    // request was composed; when a name was last reported as unknown, and that number for its
    // request.
    std::uint64_t prepared_before = 0;
    std::optional<time_point> reported_unknown_at{};
    std::uint64_t prepared_before_unknown = 0;
};

// Everything that is known about one operation of a run.
struct operation_record {
    planned_operation plan{};
    // Set for operations of the HTTP services; `plan` then contains only client, times and
    // strategy.
    std::unique_ptr<call_record> call{};
    std::uint32_t number = 0;
    bool is_idempotent = false;
    bool is_started = false;
    bool is_final_round = false;  // started after all faults had ended
    bool is_canceled = false;     // by its caller, or because the client was closed
    std::uint32_t calls = 0;      // calls of its completion handler
    engine::operation_id id{};
    time_point started{};
    time_point deadline{};
    std::any name{};  // its number, for strategies

    sent_request last{};
    std::uint32_t sent_count = 0;
    std::uint32_t retries = 0;
    std::vector<decision_note> decisions{};

    // The question to its strategy since the last decision.
    bool is_asked = false;
    bool has_strategy_failed = false;
    couchbase::retry_reason asked_reason{};
    std::optional<driver::retry_action> answer{};
    std::uint32_t cost = 0;  // the charge of the last retry, in milli-units
    bool is_capped = false;  // the last retry waits for the deadline, and pays if it is woken

    // Waiting for a retry.
    bool is_backing_off = false;
    time_point decided{};
    time_point due{};

    // Where it was last sent: by which map, if only one is possible, and by which half of it.
    std::optional<wire::configuration_revision> revision{};
    bool went_forward = false;
    std::uint32_t redirects_at_once = 0;  // not-my-vbucket answers that were followed without a
                                          // wait
    // The client's map when it was started, or at the last retry decision.
    std::optional<wire::configuration_revision> revision_decided{};

    bool is_success_reported = false;        // its success was reported to its strategy
    bool was_lied_to = false;                // a fault rule answered a success that did not happen
    std::optional<std::uint64_t> counter{};  // the counter's value on the server

    // Consecutive answers with the same status.
    std::uint16_t status_last = 0;
    std::uint32_t status_count = 0;
};

// Operations by number. Records never move: they are in blocks of equal size.
class operation_records {
public:
    operation_record& add(const planned_operation& plan) {
        if (count_ % block_size == 0) {
            blocks_.push_back(std::make_unique<block>());
        }
        operation_record& made = at(static_cast<std::uint32_t>(count_));
        made.plan = plan;
        made.number = static_cast<std::uint32_t>(count_++);
        made.is_idempotent = engine::is_idempotent(plan.kind);
        made.name = made.number;
        return made;
    }
    operation_record& add_call(const planned_call& plan) {
        planned_operation common;
        common.at = plan.at;
        common.timeout = plan.timeout;
        common.cancel_after = plan.cancel_after;
        common.client = plan.client;
        common.kind = engine::operation_kind::noop;
        common.strategy = plan.strategy;
        operation_record& made = add(common);
        made.call = std::make_unique<call_record>();
        made.call->plan = plan;
        made.is_idempotent = is_readonly(plan.kind);
        return made;
    }
    operation_record& at(std::uint32_t number) {
        return (*blocks_[number / block_size])[number % block_size];
    }
    [[nodiscard]] std::size_t size() const noexcept { return count_; }
    // A range of all of them.
    [[nodiscard]] auto all() noexcept {
        return std::views::iota(std::uint32_t{0}, static_cast<std::uint32_t>(count_)) |
               std::views::transform(
                   [this](std::uint32_t number) -> operation_record& { return at(number); });
    }

private:
    static constexpr std::size_t block_size = 64;
    using block = std::array<operation_record, block_size>;

    std::vector<std::unique_ptr<block>> blocks_;
    std::size_t count_ = 0;
};

// The class of an operation in the table of reasons.
inline engine::operation_class class_of(const operation_record& record) noexcept {
    return record.call ? class_of(record.call->plan.kind)
                       : engine::class_of(record.plan.kind, record.plan.durability != 0);
}

// The client's name for it: "get", "query".
inline std::string_view name_of(const operation_record& record) noexcept {
    if (!record.call) {
        return engine::to_string(record.plan.kind);
    }
    const call_facts& facts = facts_of(record.call->plan.kind);
    // Without statement and path it is the one call of its service.
    const bool is_only = facts.statement.empty() && facts.target.empty();
    return is_only ? facts.name : wire::to_string(facts.service);
}

// The use of a document.
enum class document_kind : std::uint8_t { plain, counter, text, list };

constexpr document_kind document_kind_of(std::uint16_t key) noexcept {
    return static_cast<document_kind>(key % 4);
}

// The content that operation `number` writes: a stamp that no other operation writes, so that it
// identifies its writer.
inline std::string stamp_of(std::uint32_t number) {
    return std::to_string(number) + ';';
}

// The whole value of an upsert, insert or replace; the piece of an append or prepend; the element
// that mutate_in appends to the list `list_path` (missing documents and lists are created).
//
//   plain    "17;", sometimes followed by '-' to make it long
//   counter  a number as text
//   text     "17;": appends and prepends add further stamps
//   list     {"l":[17]}; the element of mutate_in is 17
inline constexpr std::string_view list_path = "l";

inline std::string value_of(const planned_operation& plan, std::uint32_t number) {
    const bool is_whole = plan.kind == engine::operation_kind::upsert ||
                          plan.kind == engine::operation_kind::insert ||
                          plan.kind == engine::operation_kind::replace;
    switch (document_kind_of(plan.key)) {
        case document_kind::plain:
            return number % 8 == 7
                       ? stamp_of(number) + std::string(std::size_t{40} * (number % 64), '-')
                       : stamp_of(number);
        case document_kind::counter:
            return std::to_string(1000 + number);
        case document_kind::text:
            return stamp_of(number);
        case document_kind::list:
            return is_whole ? "{\"l\":[" + std::to_string(number) + "]}" : std::to_string(number);
    }
    return {};
}

// By how much increment and decrement change a counter, and the initial value of a missing one.
constexpr std::uint64_t delta_of(std::uint32_t number) noexcept {
    return 1 + number % 7;
}
inline constexpr std::uint64_t counter_initial = 500;

}  // namespace reprise::sim
