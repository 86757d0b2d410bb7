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
#include <unordered_map>

#include <reprise/engine/client_engine.hpp>
#include <reprise/retry/driver/admission.hpp>
#include <reprise/wire/service.hpp>

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
    [[nodiscard]] retry_budget* of(wire::service service) const noexcept {
        return by_service_[static_cast<std::size_t>(service)];
    }

private:
    std::optional<token_bucket_budget> of_client_;
    service_budgets of_services_;
    std::array<retry_budget*, wire::service_count> by_service_{};
};

// Why a node cannot be used, whatever is sent there.
struct node_terminal_state {
    std::atomic<bool> is_auth_refused{false};
    // The refusal came over TLS from a server with a verified certificate.
    std::atomic<bool> is_refusal_proven{false};
    std::atomic<bool> is_tls_failed{false};
};

// Likewise of a bucket.
struct bucket_terminal_state {
    std::atomic<bool> is_access_denied{false};
    std::atomic<bool> was_open{false};  // some node has selected it
};

// Terminal states by name. The loop that meets one sets or clears it, and all loops read it. A
// state is kept as long as a loop knows the node or the bucket.
class terminal_states {
public:
    // `name`: "host:port".
    [[nodiscard]] std::shared_ptr<node_terminal_state> of_node(std::string_view name);
    [[nodiscard]] std::shared_ptr<bucket_terminal_state> of_bucket(std::string_view name);

private:
    static constexpr std::size_t sweep_size_min = 64;
    template <class State>
    struct state_map {
        std::unordered_map<std::string, std::weak_ptr<State>> by_name;
        std::size_t sweep_size = sweep_size_min;  // look for states that no loop knows at this size
    };
    template <class State>
    std::shared_ptr<State> find(state_map<State>& in, std::string_view name);

    std::mutex mutex_;
    state_map<node_terminal_state> nodes_;
    state_map<bucket_terminal_state> buckets_;
};

// What all loops of one client share; everything else exists once for each loop
// (engine_context.hpp). Any thread may use `waiting`, `budgets` and `terminal`. The options never
// change. The credentials change only while no loop runs: today there is one loop, and it is the
// one that replaces them.
struct client_state {
    client_state(engine_options given, credentials who)
        : options(std::move(given)),
          identity(std::move(who)),
          waiting(options.parked_count_max),
          budgets(options) {}
    client_state(const client_state&) = delete;
    client_state& operator=(const client_state&) = delete;

    const engine_options options;
    credentials identity;
    std::uint32_t identity_number = 1;  // counts replacements
    waiting_places waiting;
    client_budgets budgets;
    terminal_states terminal;
};

}  // namespace reprise::engine
