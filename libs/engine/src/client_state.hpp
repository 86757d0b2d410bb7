#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <reprise/engine/client_engine.hpp>
#include <reprise/retry/driver/admission.hpp>
#include <reprise/wire/cluster_configuration.hpp>
#include <reprise/wire/service.hpp>

#include "connections/login_pace.hpp"
#include "limited_places.hpp"
#include "loop_notes.hpp"
#include "named_states.hpp"
#include "operations/decision_log.hpp"
#include "topology/node_breaker.hpp"

namespace reprise::engine {

// How many operations wait, of all services, and how many may. A loop asks before it takes a
// place, so N loops may exceed the bound by at most N - 1.
class waiting_places {
public:
    explicit waiting_places(std::size_t count_max) noexcept : count_max_(count_max) {}

    [[nodiscard]] bool has_place() const noexcept { return count() < count_max_; }
    [[nodiscard]] std::size_t count() const noexcept {
        return count_.load(std::memory_order_relaxed);
    }
    void take() noexcept { count_.fetch_add(1, std::memory_order_relaxed); }
    void release() noexcept { count_.fetch_sub(1, std::memory_order_relaxed); }

private:
    std::atomic<std::size_t> count_{0};
    std::size_t count_max_;
};

// The budgets that pay for retries: one of the client, and those of services that have their own.
class client_budgets {
public:
    explicit client_budgets(const engine_options& options);
    client_budgets(const client_budgets&) = delete;
    client_budgets& operator=(const client_budgets&) = delete;

    // The service's own, or else the client's. Null: nothing limits its retries.
    [[nodiscard]] driver::retry_budget* of(wire::service service) const noexcept {
        return by_service_[static_cast<std::size_t>(service)];
    }

private:
    std::optional<driver::token_bucket_budget> of_client_;
    service_budgets of_services_;
    std::array<driver::retry_budget*, wire::service_count> by_service_{};
};

// A text that one loop writes and all loops read.
class shared_text {
public:
    void set(std::string text) {
        const std::lock_guard lock(mutex_);
        text_ = std::move(text);
    }
    [[nodiscard]] std::string get() const {
        const std::lock_guard lock(mutex_);
        return text_;
    }

private:
    mutable std::mutex mutex_;
    std::string text_;
};

// Why a node cannot be used, whatever is sent there.
struct node_terminal_state {
    std::atomic<bool> is_auth_refused{false};
    // The refusal came over TLS from a server with a verified certificate.
    std::atomic<bool> is_refusal_proven{false};
    std::atomic<bool> is_tls_failed{false};
    shared_text refusal;  // why a flag was last set, in words
};

// Likewise of a bucket.
struct bucket_terminal_state {
    std::atomic<bool> is_access_denied{false};
    std::atomic<bool> was_open{false};  // some node has selected it
    // How many loops have concluded that no node has it.
    std::atomic<std::uint32_t> missing_loop_count{0};
    shared_text access_problem;  // why access is denied or the bucket is missing
};

// Terminal states by name. The loop that meets one sets or clears it and posts a note; all loops
// read it.
class terminal_states {
public:
    // `name`: "host:port".
    [[nodiscard]] std::shared_ptr<node_terminal_state> of_node(std::string_view name) {
        return nodes_.find(name);
    }
    [[nodiscard]] std::shared_ptr<bucket_terminal_state> of_bucket(std::string_view name) {
        return buckets_.find(name);
    }

private:
    named_states<node_terminal_state> nodes_;
    named_states<bucket_terminal_state> buckets_;
};

// When a bucket's configuration was last polled, and by which loop. The floor between two polls and
// the rotation over the nodes are the client's, not each loop's.
class poll_pace {
public:
    struct last_poll {
        time_point at{};
        std::size_t loop = 0;
    };
    [[nodiscard]] std::optional<last_poll> last() const {
        const std::lock_guard lock(mutex_);
        return last_;
    }
    // Returns false if another loop has polled since `seen`.
    [[nodiscard]] bool try_begin(const std::optional<last_poll>& seen, last_poll next) {
        const std::lock_guard lock(mutex_);
        if (last_.has_value() != seen.has_value() || (last_ && last_->at != seen->at)) {
            return false;
        }
        last_ = next;
        return true;
    }
    // The position in the rotation of the nodes.
    std::atomic<std::size_t> next_link{0};

private:
    mutable std::mutex mutex_;
    std::optional<last_poll> last_;
};

// The newest configuration of a bucket that a loop has applied.
class newest_configuration {
public:
    // Keeps the newer one and returns it.
    [[nodiscard]] wire::cluster_configuration_ptr offer(wire::cluster_configuration_ptr received) {
        const std::lock_guard lock(mutex_);
        const bool is_older = newest_ && received->revision() < newest_->revision();
        if (!is_older || newest_->vbucket_count() == 0) {
            newest_ = std::move(received);
        }
        return newest_;
    }
    // Null: no loop has applied one yet.
    [[nodiscard]] wire::cluster_configuration_ptr get() const {
        const std::lock_guard lock(mutex_);
        return newest_;
    }

private:
    mutable std::mutex mutex_;
    wire::cluster_configuration_ptr newest_;
};

// The client's credentials. Any loop reads them for a login; one replaces them.
class shared_identity {
public:
    explicit shared_identity(credentials who) : who_(std::move(who)) {}

    [[nodiscard]] credentials get() const {
        const std::lock_guard lock(mutex_);
        return who_;
    }
    // Counts replacements.
    [[nodiscard]] std::uint32_t number() const noexcept { return number_.load(); }
    void replace(credentials who) {
        const std::lock_guard lock(mutex_);
        who_ = std::move(who);
        ++number_;
    }

private:
    mutable std::mutex mutex_;
    credentials who_;
    std::atomic<std::uint32_t> number_{1};
};

// State shared by all loops of one client; everything else exists once for each loop
// (engine_context.hpp). Any thread may use it. The options never change.
struct client_state {
    // At most two keys are derived at once, so that servers cannot occupy the machine.
    static constexpr std::size_t derivation_count_max = 2;

    client_state(engine_options given, credentials who)
        : options(std::move(given)),
          identity(std::move(who)),
          waiting(options.parked_count_max),
          budgets(options),
          decisions(options.log, options.log_decisions_per_second_max),
          notes(options.io_threads) {}
    client_state(const client_state&) = delete;
    client_state& operator=(const client_state&) = delete;

    const engine_options options;
    shared_identity identity;
    waiting_places waiting;
    client_budgets budgets;
    terminal_states terminal;
    named_states<login_pace> logins;                    // by node
    named_states<node_breaker> breakers;                // by node
    named_states<poll_pace> polls;                      // by bucket
    named_states<newest_configuration> configurations;  // by bucket
    limited_places derivations{derivation_count_max};
    decision_log decisions;
    loop_notes notes;
    std::atomic<std::size_t> joined_count{0};     // loops that have been created
    std::atomic<std::uint64_t> client_number{0};  // sent in HELLO; the first loop draws it
};

}  // namespace reprise::engine
