#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/system/system_error.hpp>

#include "loop.hpp"

#if defined(REPRISE_STANDALONE_ASIO)
#error "this source uses Boost.Asio"
#endif

namespace mixed {

std::exception_ptr boost_error() {
    return std::make_exception_ptr(
        boost::system::system_error(boost::asio::error::connection_refused));
}

int attempts_with_boost_asio(const std::exception_ptr& error) {
    return count_attempts<boost::asio::io_context>(error);
}

bool is_safe_with_boost_asio(const std::exception_ptr& error) {
    return reprise::outcome_traits<std::exception_ptr>::facts(error).safety ==
           reprise::retry_safety::yes;
}

}  // namespace mixed
