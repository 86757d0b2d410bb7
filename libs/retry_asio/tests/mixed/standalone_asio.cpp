#include <asio/io_context.hpp>

#include "loop.hpp"

#if !defined(REPRISE_STANDALONE_ASIO)
#error "this source uses the standalone Asio"
#endif

namespace mixed {

int attempts_with_standalone_asio(const std::exception_ptr& error) {
    return count_attempts<asio::io_context>(error);
}

bool is_safe_with_standalone_asio(const std::exception_ptr& error) {
    return reprise::outcome_traits<std::exception_ptr>::facts(error).safety ==
           reprise::retry_safety::yes;
}

}  // namespace mixed
