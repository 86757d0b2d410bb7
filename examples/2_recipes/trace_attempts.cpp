/// Spans of a call and its attempts, printed. An adapter for a tracing library has the same shape.

#include <cstdint>
#include <iostream>
#include <memory>
#include <reprise/retry.hpp>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

using namespace std::chrono_literals;

/// One span: yours would hold one of your tracing library and pass everything on.
class printed_span final : public reprise::retry_tracer::span {
public:
    printed_span(std::string_view name, std::string indent)
        : line_(indent + std::string(name)), indent_(std::move(indent)) {}

    const std::string& indent() const { return indent_; }
    void set_attribute(std::string_view name, std::int64_t value) noexcept override {
        line_ += ' ' + std::string(name) + '=' + std::to_string(value);
    }
    void set_attribute(std::string_view name, std::string_view value) noexcept override {
        line_ += ' ' + std::string(name) + '=' + std::string(value);
    }
    void end(bool is_error) noexcept override {
        std::cout << line_ << (is_error ? ": error\n" : ": ok\n");
    }

private:
    std::string line_;
    std::string indent_;
};

class printing_tracer final : public reprise::retry_tracer {
public:
    std::unique_ptr<reprise::retry_tracer::span> start_span(
        std::string_view name, reprise::retry_tracer::span* parent) noexcept override {
        const auto* above = static_cast<printed_span*>(parent);  // We made it.
        return std::make_unique<printed_span>(name, above ? above->indent() + "  " : "");
    }
};

int main() {
    int calls = 0;
    const auto fetch = [&] {
        return ++calls < 3 ? throw std::system_error(make_error_code(std::errc::connection_refused))
                           : 21U;
    };
    // [call]
    const auto rule = reprise::attempts(3).every(10ms).tracer(std::make_shared<printing_tracer>());
    const unsigned price = reprise::retry(rule, {.name = "fetch price"}, fetch);
    // [/call]
    return price == 21 ? 0 : 1;
}
