#include "view.hpp"

#include <unistd.h>

#include <utility>

#include <fmt/format.h>

namespace reprise::demo {

namespace {

constexpr std::size_t width_max = 110;

[[nodiscard]] std::string clipped(std::string text) {
    if (text.size() > width_max) {
        text.resize(width_max - 3);
        text += "...";
    }
    return text;
}

[[nodiscard]] std::string to_clock(std::chrono::duration<double> time) {
    const auto seconds = static_cast<long>(time.count());
    return fmt::format("{:02}:{:02}", seconds / 60, seconds % 60);
}

[[nodiscard]] std::string figures_line(const progress& now) {
    const figures& of = now.sofar.key_value;
    return fmt::format(
        "{:6.0f} operations/s   parked {:4}   p50 {:>8}   p99 {:>8}   errors {} ({} ambiguous)",
        now.operations_per_second, now.parked, to_text(of.percentile(0.5)),
        to_text(of.percentile(0.99)), of.errors, of.ambiguous);
}

[[nodiscard]] std::string http_line(const progress& now) {
    const figures& of = now.sofar.http;
    return fmt::format(
        "{:6.0f} HTTP/s         retries {:4}  p50 {:>8}   p99 {:>8}   errors {} ({} ambiguous)",
        now.requests_per_second, of.retry_total(), to_text(of.percentile(0.5)),
        to_text(of.percentile(0.99)), of.errors, of.ambiguous);
}

using print_function = std::function<void(std::string_view)>;

class no_view final : public view {
    void on_begin(const std::string&, const std::vector<std::string>&) override {}
    void on_progress(const progress&) override {}
    void on_phase_end(const progress&) override {}
    void on_end() override {}
};

// Prints about one line per second, for logs.
class plain_view final : public view {
public:
    explicit plain_view(print_function print) : print_(std::move(print)) {}

private:
    void on_begin(const std::string& title, const std::vector<std::string>& phases) override {
        print_(title + "\n");
        phases_ = phases;
    }
    void on_progress(const progress& now) override {
        if (now.elapsed - last_ >= std::chrono::seconds{2}) {
            print_line(now, "");
        }
    }
    void on_phase_end(const progress& last) override { print_line(last, " (end)"); }
    void on_end() override { print_("\n"); }

    void print_line(const progress& now, const char* mark) {
        last_ = now.elapsed;
        const std::string retries = to_text(now.sofar.key_value.retries, 3);
        print_(fmt::format(
            "{} {}{}: {}{}{}; {:.0f} HTTP/s, {} retries{}{}\n", to_clock(now.elapsed),
            phases_[now.phase], mark, figures_line(now),
            retries.empty() ? "" : "; retries: ", retries, now.requests_per_second,
            now.sofar.http.retry_total(), now.note.empty() ? "" : "; ", now.note));
    }

    print_function print_;
    std::vector<std::string> phases_;
    std::chrono::duration<double> last_{};
};

// Redraws the same lines; finished output stays above them.
class terminal_view final : public view {
public:
    terminal_view(print_function print, print_function print_control)
        : print_(std::move(print)), print_control_(std::move(print_control)) {}

private:
    void on_begin(const std::string& title, const std::vector<std::string>& phases) override {
        title_ = title;
        phases_ = phases;
        notes_.assign(phases.size(), {});
    }
    void on_progress(const progress& now) override {
        notes_[now.phase] = now.note;
        draw(now);
    }
    void on_phase_end(const progress& last) override {
        notes_[last.phase] = last.note.empty()
                                 ? fmt::format("{} operations", last.sofar.key_value.operations)
                                 : last.note;
    }
    void on_end() override { erase(); }

    void erase() {
        if (const std::size_t lines = std::exchange(lines_, 0); lines != 0) {
            print_control_(fmt::format("\x1b[{}A\x1b[J", lines));
        }
    }
    void draw(const progress& now) {
        std::vector<std::string> lines;
        lines.push_back(
            fmt::format("{}   {} / {}", title_, to_clock(now.elapsed), to_clock(now.total)));
        lines.emplace_back();
        for (std::size_t i = 0; i < phases_.size(); ++i) {
            const char* mark = i < now.phase ? "done" : i == now.phase ? " >> " : "    ";
            lines.push_back(fmt::format("  {} {:<22}{}", mark, phases_[i], notes_[i]));
        }
        lines.emplace_back();
        lines.push_back(figures_line(now));
        lines.push_back("retries  " + to_text(now.sofar.key_value.retries, 4));
        lines.push_back(http_line(now));
        lines.push_back("retries  " + to_text(now.sofar.http.retries, 4));
        erase();
        std::string text;
        lines_ = lines.size();
        for (std::string& line : lines) {
            text += clipped(std::move(line)) + "\n";
        }
        print_(text);
    }

    print_function print_;
    print_function print_control_;
    std::string title_;
    std::vector<std::string> phases_;
    std::vector<std::string> notes_;
    std::size_t lines_ = 0;
};

}  // namespace

view_kind choose_view(bool is_plain, bool is_json) noexcept {
    if (is_json) {
        return view_kind::none;
    }
    return is_plain || ::isatty(STDOUT_FILENO) == 0 ? view_kind::plain : view_kind::terminal;
}

std::unique_ptr<view> make_view(view_kind kind, const run_environment& around) {
    switch (kind) {
        case view_kind::none:
            return std::make_unique<no_view>();
        case view_kind::plain:
            return std::make_unique<plain_view>(around.print);
        case view_kind::terminal:
            break;
    }
    return std::make_unique<terminal_view>(around.print, around.print_control);
}

}  // namespace reprise::demo
