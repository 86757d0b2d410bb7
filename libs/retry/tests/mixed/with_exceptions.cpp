/// A program of two sources, one with exceptions and one without, that links the ordinary library.
/// Both use the same templates. The linker keeps one of two functions of the same name, so theirs
/// have different names: otherwise this source could run code that catches nothing.

#include <cstdio>

#include "mixed.hpp"

namespace mixed {

reprise::failure_facts retry_facts(const odd_error& error) {
    return error.is_odd ? throw std::runtime_error("odd")
                        : reprise::failure_facts{.safety = reprise::retry_safety::yes};
}

std::error_code call::operator()() const {
    if (++*count < 3 && throws) {
        throw std::system_error(make_error_code(std::errc::connection_refused));
    }
    return {};
}

}  // namespace mixed

int main() {
    using namespace std::chrono_literals;
    int failures = 0;
    const auto check = [&](bool holds, const char* what) {
        if (!holds) {
            std::fprintf(stderr, "FAILED: %s\n", what);
            ++failures;
        }
    };
    check(mixed::run_without_exceptions(), "the source without exceptions retries");
    check(reprise::facts_of(mixed::odd_error{true}) == reprise::failure_facts{}, "no facts");
    int count = 0;
    reprise::standard_strategy strategy({.backoff = {.base = 1ms}});
    try {
        check(!reprise::retry(strategy, mixed::call{&count, true}), "the third attempt succeeds");
    } catch (const std::system_error&) {
        check(false, "what an attempt throws is retried");
    }
    check(count == 3, "three attempts");
    return failures;
}
