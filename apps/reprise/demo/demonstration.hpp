#pragma once

/// The cluster, the client and the load of one run, and the phases that run on them.

#include <chrono>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <reprise/couchbase.hpp>
#include <reprise/retry/random_generator.hpp>
#include <reprise/sandbox_net/embedded_cluster.hpp>

#include "final_audit.hpp"
#include "load.hpp"
#include "measurements.hpp"
#include "phases.hpp"
#include "report.hpp"
#include "view.hpp"
#include "write_ledger.hpp"

namespace reprise::demo {

/// Order of use: open -> play ... -> close.
class demonstration {
public:
    /// Starts the servers, connects, and starts the load. The error is a message for people.
    /// `should_stop` ends a phase early.
    [[nodiscard]] static std::expected<std::unique_ptr<demonstration>, std::string> open(
        std::uint64_t seed, std::function<bool()> should_stop);

    /// Plays one phase for `length`, shows `shown.phase` with its times, and returns the figures of
    /// the phase. `shown.elapsed` advances.
    [[nodiscard]] traffic_figures play(
        phase& played, std::chrono::duration<double> length, progress& shown, view& seen_by);

    /// `look` is called a few times per second during a phase.
    void set_on_look(std::function<void()> look) { on_look_ = std::move(look); }
    /// Operations that ended since the last call.
    [[nodiscard]] traffic_figures take_recent() { return measured_.take_recent(); }

    /// Ends the load and reads everything back.
    [[nodiscard]] audit_result close();

    [[nodiscard]] write_ledger& writes() noexcept { return writes_; }
    [[nodiscard]] const load_options& load_settings() const noexcept { return load_options_; }

private:
    demonstration() = default;
    void look(progress& shown, view& seen_by, const std::string& note);

    write_ledger writes_;
    measurements measured_;
    load_options load_options_;
    random_generator random_{0};
    std::function<void()> on_look_;
    std::function<bool()> should_stop_;
    std::chrono::steady_clock::time_point looked_at_{};
    std::uint64_t looked_operations_ = 0;
    std::uint64_t looked_requests_ = 0;
    // The load must end before the client, and the client before the servers.
    std::unique_ptr<sandbox::embedded_cluster> servers_;
    std::optional<couchbase::cluster> client_;
    std::unique_ptr<load> users_;
};

}  // namespace reprise::demo
