#pragma once

/// SIGINT and SIGTERM as something a command can ask for, so that it ends with what it has so far.

namespace reprise::app {

/// From its construction on the first SIGINT or SIGTERM is only noted; a second one ends the
/// program at once, as if nobody watched. One at a time.
class interrupt_watch {
public:
    interrupt_watch() noexcept;
    interrupt_watch(const interrupt_watch&) = delete;
    interrupt_watch& operator=(const interrupt_watch&) = delete;
    ~interrupt_watch();

    /// The number of the signal that came; 0: none.
    [[nodiscard]] int number() const noexcept;
    [[nodiscard]] bool has_come() const noexcept { return number() != 0; }
};

}  // namespace reprise::app
