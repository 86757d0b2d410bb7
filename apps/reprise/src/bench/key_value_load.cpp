#include "bench/key_value_load.hpp"

#include <chrono>
#include <expected>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include <reprise/couchbase/asio.hpp>
#include <reprise/retry/random_generator.hpp>

namespace reprise::app {

namespace {

using clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

// A JSON string of exactly `size` bytes, which compresses as little as real documents do.
[[nodiscard]] std::string make_value(std::size_t size) {
    constexpr std::string_view letters =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    std::string text(size, '"');
    random_generator bits(size);
    for (std::size_t at = 1; at + 1 < size; ++at) {
        text[at] = letters[bits.next() % letters.size()];
    }
    return text;
}

}  // namespace

key_value_load::key_value_load(
    couchbase::cluster client, couchbase::collection where, load_options options,
    std::string prefix)
    : client_(std::move(client)), where_(std::move(where)), options_(std::move(options)) {
    keys_.reserve(options_.key_count);
    for (std::size_t each = 0; each < options_.key_count; ++each) {
        keys_.push_back(fmt::format("{}{}", prefix, each));
    }
    values_.reserve(options_.sizes.size());
    for (const std::size_t size : options_.sizes) {
        values_.emplace_back(make_value(size));
    }
}

std::optional<couchbase::error> key_value_load::prepare() {
    for (const std::string& key : keys_) {
        const couchbase::json_text& value = values_[stored_count_ % values_.size()];
        ++stored_count_;
        if (auto stored = where_.upsert(key, value); !stored) {
            return std::move(stored.error());
        }
    }
    return std::nullopt;
}

void key_value_load::run() {
    // Operations that failed are replaced only here: in their handlers, a client that cannot reach
    // its cluster would fail as fast as the processor allows.
    while (true) {
        while (!is_stopping() && open_ < options_.in_flight) {
            start_next();
        }
        if (open_.load(std::memory_order_acquire) == 0) {
            return;
        }
        if (options_.is_driven) {
            static_cast<void>(client_.drive(20ms));  // it can only fail in the other thread modes
        } else {
            std::this_thread::sleep_for(20ms);
        }
    }
}

std::size_t key_value_load::clean_up() {
    std::size_t left = 0;
    for (std::size_t each = 0; each < stored_count_; ++each) {
        const auto removed = where_.remove(keys_[each]);
        const bool is_gone =
            removed || removed.error().code() == couchbase::errc::document_not_found;
        left += is_gone ? 0 : 1;
    }
    return left;
}

bool key_value_load::is_read(std::uint64_t number) const noexcept {
    const std::uint64_t percent = options_.read_percent;
    return (number + 1) * percent / 100 != number * percent / 100;
}

void key_value_load::start_next() {
    const std::uint64_t number = started_.fetch_add(1, std::memory_order_relaxed);
    const std::string& key = keys_[number % keys_.size()];
    open_.fetch_add(1, std::memory_order_relaxed);
    if (is_read(number)) {
        start_read(key);
    } else {
        start_write(key, values_[number % values_.size()]);
    }
}

void key_value_load::start_read(const std::string& key) {
    where_.async_get(
        key, {},
        [this, start = clock::now()](
            const std::expected<couchbase::get_result, couchbase::error>& result) {
            if (result) {
                on_end(reads_, clock::now() - start, result->bytes().size());
            } else {
                on_error(reads_, result.error());
            }
        });
}

void key_value_load::start_write(const std::string& key, const couchbase::json_text& value) {
    where_.async_upsert(
        key, value, {},
        [this, start = clock::now(), size = value.text.size()](
            const std::expected<couchbase::mutation_result, couchbase::error>& result) {
            if (result) {
                on_end(writes_, clock::now() - start, size);
            } else {
                on_error(writes_, result.error());
            }
        });
}

void key_value_load::on_end(operation_figures& figures, duration took, std::size_t bytes) {
    figures.succeeded.fetch_add(1, std::memory_order_relaxed);
    figures.bytes.fetch_add(bytes, std::memory_order_relaxed);
    figures.latency.record(took);
    if (!is_stopping()) {
        start_next();
    }
    open_.fetch_sub(1, std::memory_order_release);  // last: `run` may return
}

void key_value_load::on_error(operation_figures& figures, const couchbase::error& error) {
    figures.failed.fetch_add(1, std::memory_order_relaxed);
    {
        const std::scoped_lock lock(error_mutex_);
        if (first_error_.empty()) {
            first_error_ = error.message();
        }
    }
    open_.fetch_sub(1, std::memory_order_release);
}

}  // namespace reprise::app
