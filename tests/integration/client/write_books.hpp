#pragma once

#include <charconv>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include <reprise/sandbox/ledger.hpp>

#include "live_cluster.hpp"

namespace live {

// Double-entry books of the writes of one test: each value begins with its number, which the
// server's audit shows when it applies the write. Any thread.
class write_books {
public:
    // Watches the server for as long as it lives; the books may go before.
    explicit write_books(sandbox::embedded_cluster& server) {
        server.with_cluster([&](sandbox::cluster& cluster) {
            cluster.audit().set_observer([shared = shared_](const sandbox::audit_entry& entry) {
                if (entry.is_applied) {
                    const std::scoped_lock lock(shared->mutex);
                    shared->ledger.on_applied(number_in(entry.value_start));
                }
            });
        });
    }

    // The value to write.
    std::string begin(std::string label = {}) {
        const std::scoped_lock lock(shared_->mutex);
        const std::uint64_t number = ++shared_->last;
        shared_->ledger.begin(number, std::move(label));
        return "#" + std::to_string(number);
    }
    // What the user was told about that write.
    template <class Result>
    void settle(const std::string& value, const Result& result) {
        using sandbox::write_outcome;
        const auto outcome = result                          ? write_outcome::applied
                             : result.error().is_ambiguous() ? write_outcome::unknown
                                                             : write_outcome::not_applied;
        const std::scoped_lock lock(shared_->mutex);
        shared_->ledger.settle(number_in(value), outcome);
    }
    sandbox::ledger_totals totals() const {
        const std::scoped_lock lock(shared_->mutex);
        return shared_->ledger.totals();
    }

private:
    struct content {
        std::mutex mutex;
        sandbox::ledger ledger;
        std::uint64_t last = 0;
    };

    // 0, which is no write, if there is none.
    static std::uint64_t number_in(std::string_view value) {
        std::uint64_t number = 0;
        if (value.starts_with('#')) {
            std::from_chars(value.data() + 1, value.data() + value.size(), number);
        }
        return number;
    }

    std::shared_ptr<content> shared_ = std::make_shared<content>();
};

}  // namespace live
