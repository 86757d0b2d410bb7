#pragma once

/// Lets a command poll for SIGINT, SIGTERM and SIGHUP, so that it can end with its results so far.

namespace reprise::app {

/// Whether the program was started to survive its terminal, as by nohup.
[[nodiscard]] bool is_hangup_ignored() noexcept;

/// From construction on, records the first of these signals; a second SIGINT or SIGTERM ends the
/// program at once by its default action. Only one may exist at a time.
class interrupt_watch {
public:
    interrupt_watch() noexcept;
    interrupt_watch(const interrupt_watch&) = delete;
    interrupt_watch& operator=(const interrupt_watch&) = delete;
    ~interrupt_watch();

    /// The number of the received signal; 0: none.
    [[nodiscard]] int number() const noexcept;
    [[nodiscard]] bool has_come() const noexcept { return number() != 0; }
};

}  // namespace reprise::app
