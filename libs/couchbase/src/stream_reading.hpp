#pragma once

#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include <reprise/couchbase/error.hpp>

#include "session.hpp"

// Reading from a stream that a reader and the loop share. A handle has `client` and `source`, and a
// source has try_begin_read, try_next, ask, set_refused, end_read, cancel, uses_borrowed and loop.

namespace reprise::couchbase::detail {

[[nodiscard]] inline error second_read_error() {
    return {errc::read_in_progress, "start the next read when the last one has completed"};
}

// Waits until something can be read, or the end is known.
template <class Handle>
[[nodiscard]] net::refusal await_reading(const Handle& stream) {
    auto not_asked = net::refusal::none;
    const auto refused = stream.client->client().await([&](std::move_only_function<void()> done) {
        const auto ended = std::make_shared<std::move_only_function<void()>>(std::move(done));
        not_asked = stream.source->ask(*stream.client, [ended] { (*ended)(); });
        if (not_asked != net::refusal::none) {
            (*ended)();
        }
    });
    return refused != net::refusal::none ? refused : not_asked;
}

template <class Item, class Handle>
[[nodiscard]] std::expected<std::optional<Item>, error> read_next(const Handle& stream) {
    if (!stream.source->try_begin_read()) {
        return std::unexpected(second_read_error());
    }
    // Keeps the handle alive, because a completion may release the last one.
    const Handle held = stream;  // NOLINT(performance-unnecessary-copy-initialization)
    auto item = held.source->try_next();
    if (!item) {
        const auto refused = await_reading(held);
        const bool is_refused = refused != net::refusal::none;
        held.source->set_refused(is_refused ? std::optional(to_error(refused)) : std::nullopt);
        if (is_refused) {
            item.emplace(std::unexpected(to_error(refused)));
        } else {
            item = held.source->try_next();
        }
    }
    held.source->end_read();
    return std::move(*item);
}

template <class Item, class Handle>
void start_reading(const Handle& stream, const result_receiver<std::optional<Item>>& receiver) {
    auto& source = *stream.source;
    if (!source.try_begin_read()) {
        return receiver.complete(std::unexpected(second_read_error()), true);
    }
    if (auto here = source.try_next()) {
        source.end_read();
        return receiver.complete(std::move(*here), true);
    }
    source.set_refused(std::nullopt);
    const auto refused = source.ask(*stream.client, [receiver, at = &source] {
        auto item = *at->try_next();
        at->end_read();
        receiver.complete(std::move(item), false);
    });
    if (refused != net::refusal::none) {
        source.set_refused(to_error(refused));
        source.end_read();
        receiver.complete(std::unexpected(to_error(refused)), true);
    }
}

// Ends a stream that nobody reads any more. See leave_rows.
template <class Handle>
void leave(const Handle& stream) noexcept {
    const Handle held = stream;  // NOLINT(performance-unnecessary-copy-initialization)
    held.source->cancel(*held.client);
    net::client& client = held.client->client();
    if (!held.source->uses_borrowed() || !client.has_own_loop()) {
        return;
    }
    const net::loop_number loop = held.source->loop();
    // Tasks run in order, and the first one may cancel its operations with further ones.
    (void)client.await([&](std::move_only_function<void()> done) {
        (void)client.post(
            [&client, loop, done = std::move(done)]() mutable {
                (void)client.post(std::move(done), loop);
            },
            loop);
    });
}

[[nodiscard]] inline bool is_borrowed(
    const std::shared_ptr<driver::retry_allowance>& given) noexcept {
    return given != nullptr && given.use_count() == 0;
}

}  // namespace reprise::couchbase::detail
