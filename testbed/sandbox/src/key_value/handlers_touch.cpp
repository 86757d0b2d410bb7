#include <utility>

#include <reprise/wire/document_messages.hpp>

#include "key_value/data_access.hpp"
#include "key_value/handlers.hpp"

namespace reprise::sandbox::detail {

namespace {

using wire::opcode;
using wire::status;

std::chrono::seconds lock_time(
    const cluster_options& options, std::optional<std::uint32_t> asked) noexcept {
    const std::chrono::seconds wanted{asked.value_or(0)};
    const bool is_usable = wanted.count() > 0 && wanted <= options.lock_time_max;
    return is_usable ? wanted : options.lock_time_default;
}

}  // namespace

void handle_touch(request& current, const wire::touch_request& message) {
    const auto opened = open_document(current, message.key);
    if (!opened) {
        return;
    }
    const auto [in, existing] = *opened;
    if (existing.is_locked(current.now)) {
        return current.fail(status::locked);
    }
    if (!is_durability_possible(current)) {
        return;
    }
    document content = existing;
    content.expiry = absolute_expiry(current, message.expiry, message.key.collection);
    const document& stored = commit(current, in, message.key, std::move(content));
    if (current.op() == opcode::touch) {
        current.answer({.cas = stored.cas});
    } else {
        answer_document(current, stored, stored.cas);
    }
}

void handle_get_locked(request& current, const wire::get_locked_request& message) {
    const auto opened = open_document(current, message.key);
    if (!opened) {
        return;
    }
    const auto [in, existing] = *opened;
    if (existing.is_locked(current.now)) {
        return current.fail(status::locked);
    }
    // A lock is a new CAS that only its holder knows. It has no new seqno and is not replicated.
    existing.cas = in.cas_next(current.now);
    in.cas_max = existing.cas;
    existing.locked_until = current.now + lock_time(current.cluster.options, message.lock_seconds);
    current.audit.is_applied = true;
    answer_document(current, existing, existing.cas);
}

void handle_unlock(request& current, const wire::document_request& message) {
    const auto opened = open_document(current, message.key);
    if (!opened) {
        return;
    }
    const auto [in, existing] = *opened;
    if (!existing.is_locked(current.now)) {
        return current.fail(status::not_locked);
    }
    if (existing.cas != current.frame.cas()) {
        return current.fail(status::locked);
    }
    existing.locked_until = time_point{};
    current.audit.is_applied = true;
    current.answer({});
}

}  // namespace reprise::sandbox::detail
