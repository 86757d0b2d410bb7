#pragma once

/// Cluster, client and load of one run, and the playing of phases on them.

#include <chrono>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>

#include <reprise/couchbase.hpp>
#include <reprise/sandbox_net/embedded_cluster.hpp>

#include "books.hpp"
#include "final_audit.hpp"
#include "load.hpp"
#include "measurements.hpp"
#include "phases.hpp"
#include "report.hpp"
#include "view.hpp"

namespace reprise::demo {

/// open -> play ... -> close.
class demonstration {
public:
    /// Starts the servers, connects, begins the load. The error is for people. `should_stop` ends a
    /// phase before its time.
    [[nodiscard]] static std::expected<std::unique_ptr<demonstration>, std::string> open(
        std::uint64_t seed, std::function<bool()> should_stop);

    /// Plays one phase for `length`, showing `shown.phase` and its times; the figures of the phase
    /// are the result. `elapsed` of `shown` goes on.
    [[nodiscard]] traffic_figures play(
        phase& played, std::chrono::duration<double> length, progress& shown, view& seen_by);

    /// Called with every look, a few times a second.
    void set_on_look(std::function<void()> look) { on_look_ = std::move(look); }

    /// Ends the load and reads everything back.
    [[nodiscard]] audit_result close();

    [[nodiscard]] books& writes() noexcept { return writes_; }
    [[nodiscard]] const load_options& load_settings() const noexcept { return load_options_; }

private:
    demonstration() = default;
    void look(progress& shown, view& seen_by, const std::string& note);

    books writes_;
    measurements measured_;
    load_options load_options_;
    std::mt19937_64 rng_;
    std::function<void()> on_look_;
    std::function<bool()> should_stop_;
    std::chrono::steady_clock::time_point looked_at_{};
    std::uint64_t looked_operations_ = 0;
    std::uint64_t looked_requests_ = 0;
    // The load ends before the client, the client before the servers.
    std::unique_ptr<sandbox::embedded_cluster> servers_;
    std::optional<couchbase::cluster> client_;
    std::unique_ptr<load> users_;
};

}  // namespace reprise::demo
