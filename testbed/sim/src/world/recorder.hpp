#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/sim/finding.hpp>
#include <reprise/sim/random.hpp>
#include <reprise/sim/simulation.hpp>

namespace reprise::sim {

// Records a run: always the fingerprint, lines only if they are requested, and the findings of the
// checkers.
class recorder {
public:
    explicit recorder(const run_options& options) : options_(options) {}

    void mix(std::uint64_t value) noexcept {
        fingerprint_ = (fingerprint_ ^ value) * 0x9e3779b97f4a7c15ULL;
        fingerprint_ ^= fingerprint_ >> 29U;
    }
    [[nodiscard]] bool is_tracing() const noexcept { return static_cast<bool>(options_.trace); }
    void line(std::string_view text) const { options_.trace(at, text); }
    void report(checker what, std::optional<std::uint32_t> operation, std::string text) {
        if (findings_.size() < finding_count_max) {
            findings_.push_back({what, at, operation, std::move(text)});
            if (is_tracing()) {
                line("FINDING " + to_string(findings_.back()));
            }
        }
    }
    [[nodiscard]] const std::vector<finding>& findings() const noexcept { return findings_; }
    [[nodiscard]] std::uint64_t fingerprint() const noexcept { return fingerprint_; }

    duration at{};  // virtual time since the start, maintained by the loop

    static constexpr std::size_t finding_count_max = 8;

private:
    const run_options& options_;
    std::uint64_t fingerprint_ = 0x243f6a8885a308d3ULL;
    std::vector<finding> findings_;
};

}  // namespace reprise::sim
