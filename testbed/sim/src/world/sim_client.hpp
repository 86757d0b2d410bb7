#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include <reprise/engine/client_engine.hpp>
#include <reprise/retry/token_bucket.hpp>
#include <reprise/services/prepared_cache.hpp>

#include "world/id_table.hpp"
#include "world/operation_records.hpp"
#include "world/sim_loops.hpp"
#include "world/strategies.hpp"

namespace reprise::sim {

class world;

// Drives the engines of one client, one for each of its loops, like a socket driver: carries out
// their actions, passes them the time, and starts operations. Each event is one iteration of all
// loops, at whose end each loop has taken what the others found out.
class sim_client {
public:
    sim_client(world& owner, std::uint32_t number);
    ~sim_client();
    sim_client(const sim_client&) = delete;
    sim_client& operator=(const sim_client&) = delete;

    sim_loops& loops() noexcept { return loops_; }
    // The loop of the operation: that of its key. Calls run on the first one.
    std::size_t loop_of(const operation_record& record) const;
    const planned_client& plan() const noexcept { return plan_; }

    void start(operation_record& record);
    void cancel(operation_record& record);
    void take_rows(operation_record& record);
    void close();
    void on_timer();
    // Its thread is stalled: the timer fires when it continues.
    void wait_for_timer(time_point now) {
        armed_for_ = armed_for_ == now ? std::optional(stalled_until) : armed_for_;
    }
    void on_wake();
    void on_name_found(std::size_t loop);
    void on_key_derived(std::uint64_t derivation);
    void on_strategy_answer(std::uint64_t question);
    // Carries out actions until none is left at this time, then arms the timer.
    void run_engine();
    void destroy();
    void wake_later();

    // The operation number for an engine's id; the one being started if the id is new.
    std::uint32_t number_of(std::uint64_t id) { return names_.at_or_add(id, starting_); }

    bool is_closed() const noexcept { return is_closed_; }
    time_point stalled_until{};   // its thread does nothing before this time
    std::uint64_t client_id = 0;  // as sent in HELLO; 0 until the first request
    std::shared_ptr<token_bucket> bucket;
    std::uint32_t open_count = 0;  // operations started but not completed

private:
    engine::engine_options make_options();
    engine::operation_request make_request(const operation_record& record);
    // sim_client_calls.cpp
    void start_call(operation_record& record);
    engine::http_request make_call(operation_record& record);
    engine::http_request make_statement(const operation_record& record);
    void on_rows(operation_record& record);
    // Where requests of both kinds have their strategy.
    static auto& terms_of(engine::operation_request& request) { return request.terms(); }
    static auto& terms_of(engine::http_request& request) { return request; }
    // The fields of requests of both kinds, and the record of their start.
    template <class Request, class Plan>
    void fill_usual(Request& request, const Plan& plan, const operation_record& record) const {
        if (plan.timeout != duration::zero()) {
            request.timeout = plan.timeout;
        }
        auto& terms = terms_of(request);
        if (plan.strategy) {
            terms.strategy = strategies_[static_cast<std::size_t>(*plan.strategy)];
        }
        terms.user_data =
            std::shared_ptr<const std::any>(std::shared_ptr<const std::any>{}, &record.name);
    }
    void note_start(operation_record& record, duration timeout);
    void fill_write(engine::operation_request& request, const operation_record& record) const;
    void perform(std::size_t loop, const engine::driver_action& action);
    std::uint16_t key_value_port() const noexcept;
    std::vector<wire::bootstrap_address> lie_about_names();
    void on_done(std::uint32_t number, engine::operation_result&& result);
    void make_loops();
    // One round. Returns whether one of the loops had something to do.
    [[nodiscard]] bool run_loops();

    world& world_;
    const planned_client& plan_;
    std::uint32_t number_;
    bool is_closed_ = false;
    bool is_wake_planned_ = false;
    std::vector<std::shared_ptr<observed_strategy>> strategies_;
    sim_loops loops_;
    engine::action_list actions_;
    std::optional<time_point> armed_for_;
    // In progress, by the engine's id and the loop.
    std::map<std::uint64_t, wire::key_derivation> derivations_;
    id_table names_;  // by the engine's id
    std::uint32_t starting_ = 0;
    std::array<std::shared_ptr<services::prepared_cache>, prepared_choice_count> prepared_;
    std::vector<std::uint64_t> cas_;  // the newest seen, by collection and key
};

}  // namespace reprise::sim
