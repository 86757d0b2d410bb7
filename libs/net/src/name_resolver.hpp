#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <reprise/net/client.hpp>
#include <reprise/wire/cluster_node.hpp>

namespace reprise::net {

// Asks name servers through c-ares, on the loop: nothing blocks, except that the system's hosts
// file is read. Used from the loop only.
class name_resolver {
public:
    // In the order to be tried; empty with the reason.
    struct addresses {
        std::vector<boost::asio::ip::tcp::endpoint> endpoints;
        std::string failure;
    };
    using address_callback = std::function<void(addresses)>;
    using srv_callback = std::function<void(std::vector<wire::bootstrap_address>)>;

    [[nodiscard]] static std::expected<std::unique_ptr<name_resolver>, setup_error> make(
        const boost::asio::any_io_executor& executor, const dns_options& options);
    ~name_resolver();

    // The callback comes once: from inside the call, later, or from `stop`. It may stop or destroy
    // the resolver. An address is its own answer.
    void find_addresses(const std::string& host, std::uint16_t port, address_callback done);
    // Sorted by priority, then by weight; empty if there are none or nobody answered.
    void find_srv(const std::string& name, srv_callback done);
    // Ends all questions with a failure and asks none any more. From inside a callback they end
    // when that one has returned.
    void stop();

    struct state;  // named by the callbacks given to c-ares

private:
    explicit name_resolver(std::shared_ptr<state> shared) noexcept : state_(std::move(shared)) {}
    std::shared_ptr<state> state_;
};

}  // namespace reprise::net
