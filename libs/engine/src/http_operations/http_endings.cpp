#include "http_operations/http_endings.hpp"

#include <algorithm>
#include <utility>

#include <reprise/base/printable.hpp>

namespace reprise::engine {
namespace {

// Statements and server messages can be megabytes long, so an error contains only their start.
constexpr std::size_t error_text_size_max = 1024;

}  // namespace

http_slot& http_endings::make_slot(http_request&& request) {
    auto made = std::make_unique<http_slot>();
    http_slot& slot = *made;
    slot.id = operation_id{next_id_++};
    slots_.emplace(slot.id.value, std::move(made));
    slot.request = std::move(request);
    return slot;
}

http_slot& http_endings::make_canary(http_request&& request) {
    http_slot& slot = make_slot(std::move(request));
    slot.is_canary = true;
    ++canary_count_;
    return slot;
}

http_slot* http_endings::find(std::uint64_t operation) const noexcept {
    const auto found = slots_.find(operation);
    const bool is_open = found != slots_.end() && found->second->state != operation_state::free;
    return is_open ? found->second.get() : nullptr;
}

http_slot* http_endings::any() const noexcept {
    const auto found = std::ranges::find_if(
        slots_, [](const auto& each) { return each.second->state != operation_state::free; });
    return found == slots_.end() ? nullptr : found->second.get();
}

void http_endings::complete(http_slot& slot, time_point now) {
    if (slot.is_canary) {
        return end_canary(slot, true, now);
    }
    operation_result result;
    result.history = candidates_.history_of(slot);
    end(slot, std::move(result), now);
}

void http_endings::end_canary(http_slot& slot, bool is_answered, time_point now) {
    endpoint_record& endpoint = nodes_.endpoints()[slot.endpoint];
    life_.drop(slot);
    slots_.erase(slot.id.value);
    --canary_count_;
    if (is_answered) {
        nodes_.close_breaker(endpoint, now);
    } else {
        nodes_.breakers_of_nodes().on_canary_lost(endpoint, now);
    }
}

void http_endings::complete_error(
    http_slot& slot, std::error_code code, bool is_ambiguous, std::string detail, time_point now) {
    if (slot.is_canary) {
        return end_canary(slot, false, now);
    }
    auto error = operation_lifecycle::make_error(slot, code);
    error->operation = slot.request.operation;
    error->bucket = slot.request.bucket;
    error->key = base::shortened(slot.request.statement, error_text_size_max);
    error->shows_key = context_.options.log_keys;
    error->is_ambiguous = is_ambiguous;
    if (slot.answer.status() != 0) {
        error->status = static_cast<std::uint16_t>(slot.answer.status());
    }
    error->server_context = base::shortened(slot.server_text, error_text_size_max);
    error->server_ref = slot.request.context_id;
    if (slot.sent_to >= 0) {
        error->last_dispatched_to = nodes_.endpoints()[slot.sent_to].name;
    }
    error->detail = std::move(detail);
    error->history = candidates_.history_of(slot);
    operation_result result;
    result.ec = code;
    result.history = error->history;
    result.error = std::move(error);
    end(slot, std::move(result), now);
}

void http_endings::end(http_slot& slot, operation_result&& result, time_point now) {
    result.http = std::make_unique<http_result>();
    slot.answer.move_to(*result.http);
    result.http->server_code = slot.server_code;
    result.http->server_text = std::move(slot.server_text);
    result.http->metadata = std::move(slot.metadata);
    life_.complete(slot, std::move(result), now);
    slots_.erase(slot.id.value);
}

}  // namespace reprise::engine
