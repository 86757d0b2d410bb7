#include <array>
#include <charconv>
#include <string>
#include <utility>

#include <reprise/wire/document_messages.hpp>

#include "key_value/data_access.hpp"
#include "key_value/handlers.hpp"

namespace reprise::sandbox::detail {

namespace {

using wire::opcode;
using wire::status;

// Whether set, add or replace may proceed with the document that exists now.
status check_store(opcode op, const document* existing, std::uint64_t cas, time_point now) {
    if (existing == nullptr) {
        const bool needs_existing = op == opcode::replace || (op == opcode::set && cas != 0);
        return needs_existing ? status::key_enoent : status::success;
    }
    if (op == opcode::add) {
        return status::key_eexists;
    }
    return check_cas(*existing, cas, now);
}

void put_value(document& content, taken_value value) {
    content.value = std::move(value.stored);
    content.is_json = value.is_json;
    content.is_compressed = value.is_compressed;
}

std::optional<std::uint64_t> parse_counter(std::string_view text) noexcept {
    std::uint64_t number = 0;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    return error == std::errc{} && stop == end ? std::optional(number) : std::nullopt;
}

void answer_counter(
    request& current, const vbucket& in, const document& content, std::uint64_t number) {
    std::array<std::byte, 8> value;
    base::store_big_endian(value.data(), number);
    answer_mutation(current, in, content, value);
}

}  // namespace

void handle_store(request& current, const wire::store_request& message) {
    vbucket* in = open_vbucket(current, message.key, vbucket_state::active, access_kind::change);
    if (in == nullptr) {
        return;
    }
    auto value = take_value(current, message.value, current.frame.datatype());
    if (!value) {
        return current.fail(value.error(), "The value is too large or cannot be decompressed");
    }
    const document* existing = find_alive(current, *in, message.key);
    if (const status bad = check_store(current.op(), existing, current.frame.cas(), current.now);
        bad != status::success) {
        return current.fail(bad);
    }
    if (!is_durability_possible(current)) {
        return;
    }
    document content;
    put_value(content, std::move(*value));
    content.flags = message.flags;
    content.expiry = absolute_expiry(current, message.expiry, message.key.collection);
    if (existing != nullptr) {
        // The body is replaced, the attributes are kept.
        content.xattrs = existing->xattrs;
        content.expiry = current.infos.preserve_ttl ? existing->expiry : content.expiry;
    }
    const document& stored = commit(current, *in, message.key, std::move(content));
    answer_mutation(current, *in, stored);
}

void handle_concat(request& current, const wire::concat_request& message) {
    vbucket* in = open_vbucket(current, message.key, vbucket_state::active, access_kind::change);
    if (in == nullptr) {
        return;
    }
    const auto given = take_value(current, message.value, current.frame.datatype());
    if (!given) {
        return current.fail(given.error(), "The value is too large or cannot be decompressed");
    }
    const document* existing = find_alive(current, *in, message.key);
    if (existing == nullptr) {
        return current.fail(status::not_stored);
    }
    if (const status bad = check_cas(*existing, current.frame.cas(), current.now);
        bad != status::success) {
        return current.fail(bad);
    }
    document piece;
    put_value(piece, *given);
    std::string old_scratch;
    std::string new_scratch;
    std::string joined(plain_value(*existing, old_scratch));
    const std::string_view added = plain_value(piece, new_scratch);
    if (joined.size() + added.size() > current.cluster.options.value_size_max_bytes) {
        return current.fail(status::e2big);
    }
    joined.insert(current.op() == opcode::append ? joined.size() : 0, added);
    if (!is_durability_possible(current)) {
        return;
    }
    document content = *existing;
    put_value(content, make_value(joined));
    const document& stored = commit(current, *in, message.key, std::move(content));
    answer_mutation(current, *in, stored);
}

void handle_remove(request& current, const wire::document_request& message) {
    const auto opened = open_document(current, message.key);
    if (!opened) {
        return;
    }
    const auto [in, existing] = *opened;
    if (const status bad = check_cas(existing, current.frame.cas(), current.now);
        bad != status::success) {
        return current.fail(bad);
    }
    if (!is_durability_possible(current)) {
        return;
    }
    const document& stored =
        commit(current, in, message.key, make_tombstone(existing, seconds_of(current.now)));
    answer_mutation(current, in, stored);
}

void handle_counter(request& current, const wire::counter_request& message) {
    vbucket* in = open_vbucket(current, message.key, vbucket_state::active, access_kind::change);
    if (in == nullptr) {
        return;
    }
    const document* existing = find_alive(current, *in, message.key);
    document content;
    std::uint64_t number = message.initial;
    if (existing == nullptr) {
        if (message.expiry == wire::expiry_do_not_create) {
            return current.fail(status::key_enoent);
        }
        content.expiry = absolute_expiry(current, message.expiry, message.key.collection);
    } else {
        if (existing->is_locked(current.now)) {
            return current.fail(status::locked);
        }
        std::string scratch;
        const auto old = parse_counter(plain_value(*existing, scratch));
        if (!old) {
            return current.fail(status::delta_badval);
        }
        // Incrementing wraps around, decrementing stops at zero.
        const bool is_up = current.op() == opcode::increment;
        const std::uint64_t lowered = message.delta > *old ? 0 : *old - message.delta;
        number = is_up ? *old + message.delta : lowered;
        content = *existing;
    }
    if (!is_durability_possible(current)) {
        return;
    }
    put_value(content, make_value(std::to_string(number)));
    const document& stored = commit(current, *in, message.key, std::move(content));
    answer_counter(current, *in, stored, number);
}

}  // namespace reprise::sandbox::detail
