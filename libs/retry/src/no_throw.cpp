#include <reprise/retry/detail/compiler.hpp>

namespace reprise::detail {

bool completes(void (*call)(void*), void* data) noexcept {
#if defined(__cpp_exceptions)
    try {
        call(data);
        return true;
    } catch (...) {
        return false;
    }
#else
    call(data);
    return true;
#endif
}

}  // namespace reprise::detail
