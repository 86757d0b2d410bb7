#pragma once

/// Lets a command poll for SIGINT and SIGTERM, so that it can end with its results so far.

namespace reprise::app {

/// From construction on, records the first SIGINT or SIGTERM; a second one ends the program at once
/// by its default action. Only one may exist at a time.
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
