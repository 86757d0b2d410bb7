#include <reprise/retry/driver/async_clock.hpp>
#include <reprise/retry/retry_errc.hpp>

namespace reprise::driver {

wake_target::~wake_target() = default;
async_clock::~async_clock() = default;

async_clock* async_clock_of(retry_clock* clock) {
    if (clock == nullptr || clock == &retry_clock::real()) {
        return nullptr;
    }
    auto* const found = dynamic_cast<async_clock*>(clock);
    if (found == nullptr) {
        detail::throw_invalid_settings({"clock", "an asynchronous loop needs an async_clock"});
    }
    return found;
}

}  // namespace reprise::driver
