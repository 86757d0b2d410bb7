#include <reprise/asio/error_facts.hpp>

#include <boost/asio/error.hpp>

namespace reprise {

failure_facts describe_error_code(const boost::system::error_code& code) noexcept {
    failure_facts facts = describe_error_code(static_cast<std::error_code>(code));
    if (code == boost::asio::error::eof) {
        facts.safety = retry_safety::maybe;
        facts.fault = failure_fault::other;
    } else if (code == boost::asio::error::host_not_found_try_again) {
        facts.safety = retry_safety::yes;
        facts.fault = failure_fault::other;
    }
    return facts;
}

boost::system::error_code canceled_outcome<boost::system::error_code>::make() noexcept {
    return boost::asio::error::operation_aborted;
}

}  // namespace reprise
