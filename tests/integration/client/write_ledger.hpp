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

// Records the writes of one test and compares them with the server's audit. Each value starts with
// a number, which the audit shows when the server applies the write. Thread-safe.
class write_ledger {
public:
    // Watches the server as long as the server lives; this object may be destroyed before.
    explicit write_ledger(sandbox::embedded_cluster& server) {
        server.with_cluster([&](sandbox::cluster& cluster) {
            cluster.audit().set_observer([shared = shared_](const sandbox::audit_entry& entry) {
                if (entry.is_applied) {
                    const std::scoped_lock lock(shared->mutex);
                    shared->ledger.on_applied(number_in(entry.value_start));
                }
            });
        });
    }

    // Returns the value to write.
    std::string begin(std::string label = {}) {
        const std::scoped_lock lock(shared_->mutex);
        const std::uint64_t number = ++shared_->last;
        shared_->ledger.begin(number, std::move(label));
        return "#" + std::to_string(number);
    }
    // Records the result that the user got for this write.
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

    // 0, which is not a valid number, if there is none.
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
