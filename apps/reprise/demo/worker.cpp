#include "worker.hpp"

#include <boost/asio/post.hpp>

namespace reprise::demo {

namespace {

using couchbase::durability_level;
using couchbase::errc;

constexpr std::chrono::seconds lock_time{1};
constexpr double read_share = 0.55;
constexpr double durable_share = 0.1;

}  // namespace

void worker::begin() {
    ++shop_.workers_active;
    boost::asio::post(shop_.io, [this] { rest(); });
}

void worker::rest() {
    if (shop_.is_stopping) {
        --shop_.workers_active;
        return;
    }
    // Random, so that workers that were woken by one event do not stay in step.
    const auto pace = static_cast<std::size_t>(pace_.count());
    after(std::chrono::microseconds{pace / 2 + shop_.below(pace + 1)}, [this] {
        if (shop_.is_stopping) {
            --shop_.workers_active;
        } else {
            step();
        }
    });
}

void worker::settle(
    document_account& account, std::uint64_t stamp, const couchbase::error* failure) {
    using sandbox::write_outcome;
    if (failure == nullptr) {
        shop_.writes.settle(stamp, write_outcome::applied);
        account.confirm(stamp);
    } else if (failure->is_ambiguous()) {
        shop_.writes.settle(stamp, write_outcome::unknown);
        account.add_unknown(stamp);
    } else {
        shop_.writes.settle(stamp, write_outcome::not_applied);
    }
}

void worker::store(
    const couchbase::collection& where, document_account& account, durability_level durability) {
    const std::uint64_t stamp = shop_.writes.begin_write(account.key);
    where.async_upsert(
        account.key, couchbase::plain_text{to_value(stamp)}, {.durability = durability},
        timed([this, &account, stamp](const auto& result) {
            settle(account, stamp, failure_of(result));
            rest();
        }));
}

void document_worker::step() {
    document_account& account = *owned_[shop_.below(owned_.size())];
    if (shop_.chance(read_share)) {
        read(account);
    } else {
        const bool is_durable = shop_.chance(durable_share);
        store(
            shop_.documents, account,
            is_durable ? durability_level::majority : durability_level::none);
    }
}

// The worker does nothing else in the meantime, so the possible results are known exactly.
void document_worker::read(document_account& account) {
    if (account.confirmed == 0) {
        store(shop_.documents, account, durability_level::none);
        return;
    }
    shop_.documents.async_get(
        account.key, {},
        timed([this, &account](const std::expected<couchbase::get_result, couchbase::error>& got) {
            if (got) {
                const auto stamp = stamp_of(got->text());
                shop_.wrong_reads += stamp && account.allows(*stamp) ? 0U : 1U;
            } else if (got.error().code() == make_error_code(errc::document_not_found)) {
                ++shop_.wrong_reads;
            }
            rest();
        }));
}

void counter_worker::step() {
    shop_.documents.async_increment(
        owned_.key, {.delta = 1, .initial = 1}, timed([this](const auto& result) {
            if (result) {
                ++owned_.confirmed;
            } else if (result.error().is_ambiguous()) {
                ++owned_.unknown;
            }
            rest();
        }));
}

void lock_worker::step() {
    if (made_ != nullptr && made_->confirmed == 0) {
        store(shop_.documents, *made_, durability_level::none);
        return;
    }
    // Locks are usually rare; in their own phase these workers do nothing else.
    document_account& account = *shared_[shop_.below(shared_.size())];
    if (account.confirmed == 0 || (!shop_.is_lock_time && shop_.chance(0.8))) {
        rest();
        return;
    }
    shop_.documents.async_get_and_lock(
        account.key, lock_time, {}, timed([this, &account](const auto& locked) {
            if (!locked) {
                rest();
                return;
            }
            const std::chrono::microseconds hold{shop_.is_lock_time ? 15'000 : 2'000};
            after(hold, [this, &account, cas = locked->cas] { release(account, cas); });
        }));
}

void lock_worker::release(document_account& account, couchbase::cas lock) {
    if (shop_.chance(0.5)) {
        shop_.documents.async_unlock(account.key, lock, {}, timed([this](const auto&) { rest(); }));
        return;
    }
    // A write with the lock's CAS also releases the lock.
    const std::uint64_t stamp = shop_.writes.begin_write(account.key);
    shop_.documents.async_replace(
        account.key, couchbase::plain_text{to_value(stamp)}, {.cas = lock},
        timed([this, &account, stamp](const auto& result) {
            settle(account, stamp, failure_of(result));
            rest();
        }));
}

void scratch_worker::step() {
    store(shop_.scratch, owned_, durability_level::none);
}

}  // namespace reprise::demo
