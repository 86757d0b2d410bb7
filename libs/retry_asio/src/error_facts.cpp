#include <reprise/asio/error_facts.hpp>

#if !defined(REPRISE_STANDALONE_ASIO)

#include <boost/asio/error.hpp>

namespace reprise {

failure_facts detail::describe_error_code(const boost::system::error_code& code) noexcept {
    return detail::describe_error_code(static_cast<std::error_code>(code));
}

boost::system::error_code driver::unattempted_outcome<boost::system::error_code>::make(
    refusal_reason why) noexcept {
    if (why == refusal_reason::circuit_open) {
        return detail::unattempted_error(why);
    }
    return boost::asio::error::operation_aborted;
}

}  // namespace reprise

#endif
