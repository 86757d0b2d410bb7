#include "mixed.hpp"

#if defined(__cpp_exceptions)
#error "this source is built without exceptions"
#endif

namespace mixed {

bool run_without_exceptions() {
    int count = 0;
    reprise::standard_strategy strategy;
    const std::error_code ended = reprise::retry(strategy, call{&count, false});
    const auto judged = reprise::fails_if(
        [](const std::error_code& code) { return code.value() != 0; }, call{&count, false});
    return !ended && count == 1 && !judged.judge(ended) &&
           reprise::facts_of(odd_error{}).safety == reprise::retry_safety::yes;
}

}  // namespace mixed
