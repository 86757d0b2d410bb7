#pragma once

/// The workers of the load. Each runs one operation at a time, all of them on one thread.

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <reprise/couchbase.hpp>
#include <reprise/couchbase/asio.hpp>
#include <reprise/retry/random_generator.hpp>

#include "accounts.hpp"
#include "measurements.hpp"
#include "write_ledger.hpp"

namespace reprise::demo {

/// The retry history of a result or an error; null if nothing was retried.
template <class Result>
[[nodiscard]] const couchbase::retry_history* history_of(
    const std::expected<Result, couchbase::error>& result) noexcept {
    if (!result) {
        return result.error().history();
    }
    if constexpr (std::is_void_v<Result>) {
        return nullptr;
    } else {
        return result->trace.history.get();
    }
}

/// Shared by all workers. It lives as long as the load; other threads set the atomics.
struct workshop {
    boost::asio::io_context& io;
    const couchbase::cluster& client;
    couchbase::collection documents;
    couchbase::collection scratch;
    write_ledger& writes;
    measurements& measured;
    random_generator random;
    /// Average time between two operations of a worker.
    std::chrono::microseconds pace{10'000};
    /// Locks are held longer and requested more often.
    std::atomic<bool> is_lock_time = false;
    std::atomic<bool> is_stopping = false;
    /// Reads that found a value that was never reported to its writer, by key-value and by
    /// statements.
    std::atomic<std::uint64_t> wrong_reads = 0;
    std::atomic<std::uint64_t> wrong_selects = 0;
    std::atomic<std::size_t> workers_active = 0;

    [[nodiscard]] bool chance(double share) {
        return static_cast<double>(random.next() >> 11) * 0x1.0p-53 < share;
    }
    [[nodiscard]] std::size_t below(std::size_t end) { return random.next() % end; }
};

/// Runs one operation at a time: step() -> timed handler -> rest() -> step() -> ... until the shop
/// is stopping.
class worker {
public:
    /// `by`: the protocol that its operations count for; `pace`: see workshop::pace.
    explicit worker(workshop& shop) : worker(shop, traffic::key_value, shop.pace) {}
    worker(workshop& shop, traffic by, std::chrono::microseconds pace)
        : shop_(shop), by_(by), pace_(pace), timer_(shop.io) {}
    worker(const worker&) = delete;
    worker& operator=(const worker&) = delete;
    virtual ~worker() = default;

    void begin();

protected:
    /// Starts one operation whose handler ends in `rest`.
    virtual void step() = 0;

    /// Waits, then steps, or retires if the shop is stopping.
    void rest();
    /// Runs `then` after `time`, even while the shop is stopping.
    template <class Then>
    void after(std::chrono::microseconds time, Then then) {
        timer_.expires_after(time);
        timer_.async_wait([then = std::move(then)](boost::system::error_code) mutable { then(); });
    }

    /// Returns a handler that measures the operation and then runs on the load's thread. Call it
    /// when the operation starts.
    template <class Done>
    [[nodiscard]] auto timed(Done done) {
        return boost::asio::bind_executor(
            shop_.io.get_executor(), [this, begun = std::chrono::steady_clock::now(),
                                      done = std::move(done)](auto&& result) mutable {
                shop_.measured.record(
                    by_, std::chrono::steady_clock::now() - begun,
                    result ? nullptr : &result.error(), history_of(result));
                done(result);
            });
    }

    /// Upserts a document with a stamp, then rests.
    void store(
        const couchbase::collection& where, document_account& account,
        couchbase::durability_level durability);
    /// Records in the ledger and the account how a stamped write ended; `failure` null: applied.
    void settle(document_account& account, std::uint64_t stamp, const couchbase::error* failure);

    workshop& shop_;

private:
    traffic by_;
    std::chrono::microseconds pace_;
    boost::asio::steady_timer timer_;
};

/// The error of a result; null if it succeeded.
template <class Result>
[[nodiscard]] const couchbase::error* failure_of(
    const std::expected<Result, couchbase::error>& result) noexcept {
    return result ? nullptr : &result.error();
}

/// Owns a few documents and reads and writes them; some writes are durable.
class document_worker final : public worker {
public:
    document_worker(workshop& shop, std::vector<document_account*> owned)
        : worker(shop), owned_(std::move(owned)) {}

private:
    void step() override;
    void read(document_account& account);

    std::vector<document_account*> owned_;
};

/// Owns a counter.
class counter_worker final : public worker {
public:
    counter_worker(workshop& shop, counter_account& owned) : worker(shop), owned_(owned) {}

private:
    void step() override;

    counter_account& owned_;
};

/// Shares its documents with other workers: locks one, holds the lock for a while, then writes or
/// unlocks.
class lock_worker final : public worker {
public:
    /// `made` is the document that it creates first, so that every document has one creator; may be
    /// null.
    lock_worker(workshop& shop, std::vector<document_account*> shared, document_account* made)
        : worker(shop), shared_(std::move(shared)), made_(made) {}

private:
    void step() override;
    void release(document_account& account, couchbase::cas lock);

    std::vector<document_account*> shared_;
    document_account* made_;
};

/// Writes to the collection that is dropped and recreated.
class scratch_worker final : public worker {
public:
    scratch_worker(workshop& shop, document_account& owned) : worker(shop), owned_(owned) {}

private:
    void step() override;

    document_account& owned_;
};

}  // namespace reprise::demo
