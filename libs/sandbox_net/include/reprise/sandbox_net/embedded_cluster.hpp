#pragma once

#include <expected>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <reprise/sandbox/cluster.hpp>
#include <reprise/sandbox_net/certificates.hpp>
#include <reprise/sandbox_net/server_options.hpp>

namespace reprise::sandbox {

struct server_addresses;

// A server with a thread of its own, for tests, examples and the command line.
//
//     auto cluster = embedded_cluster::start({.cluster = {...}}).value();
//     connect(cluster->addresses().connection_string);
//
// All members may be called from any thread, but not from inside `with_cluster` or `on_notice`.
class embedded_cluster {
public:
    // Returns once everything listens. A cluster without buckets and users gets the bucket
    // "default" and the user "app" with the password "secret". The error is for people.
    static std::expected<std::unique_ptr<embedded_cluster>, std::string> start(
        server_options options = {});
    embedded_cluster(const embedded_cluster&) = delete;
    embedded_cluster& operator=(const embedded_cluster&) = delete;
    // Stops: closes all connections, removes the authority's file, ends the thread.
    ~embedded_cluster();

    // Include server.hpp to look inside. Valid as long as this object, also after stop().
    const server_addresses& addresses() const noexcept;
    // The first user's.
    const std::string& username() const noexcept;
    const std::string& password() const noexcept;

    // Runs `work` on the server's thread between two requests, waits for it, then sends what the
    // changes made due. Does nothing after stop(). What `work` throws is thrown here.
    void with_cluster(const std::function<void(cluster&)>& work);

    std::expected<certificate_pem, std::string> issue_client_certificate(std::string_view user);
    std::size_t session_count();

    // Doing so twice does no harm.
    void stop() noexcept;

private:
    struct parts;
    explicit embedded_cluster(std::unique_ptr<parts> made) noexcept;

    std::unique_ptr<parts> parts_;
};

}  // namespace reprise::sandbox
