#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include <boost/asio/ssl/context.hpp>

#include <reprise/engine/driver_action.hpp>
#include <reprise/engine/engine_options.hpp>

#include "connection_owner.hpp"
#include "name_resolver.hpp"

namespace reprise::net {

class driver;

// The connections of a driver, with what they need: names and TLS. Reports to the engine what
// happens to them; each report ends with an iteration of the driver.
class connection_table final : public connection_owner {
public:
    // `at` owns the table. `options` must outlive it. `tls` is null unless the engine uses TLS; the
    // loops of a client share it.
    connection_table(
        driver& at, const engine::engine_options& options,
        std::shared_ptr<boost::asio::ssl::context> tls, std::unique_ptr<name_resolver> resolver);

    void open(engine::connect_action&& action);
    // Null if there is no such connection any more.
    [[nodiscard]] connection* find(engine::connection_id id) const noexcept;
    // "address:port" of this side. Empty if the connection is not open.
    [[nodiscard]] std::string local_address(engine::connection_id id) const;
    // Drops all connections without a report.
    void clear() noexcept {
        found_last_ = nullptr;
        connections_.clear();
    }
    // Lets go of everything that belongs to the context of the executor.
    void forget_context() noexcept;

    // --- what connections use and report (contracts: connection_owner.hpp) ---

    [[nodiscard]] std::shared_ptr<connection_owner> hold() override;
    [[nodiscard]] const serial_executor& executor() const noexcept override;
    [[nodiscard]] name_resolver& resolver() noexcept override { return *resolver_; }
    [[nodiscard]] boost::asio::ssl::context& tls_context() noexcept override {
        return *tls_context_;
    }
    [[nodiscard]] const std::shared_ptr<boost::asio::ssl::context>& shared_tls() const noexcept {
        return tls_context_;
    }
    [[nodiscard]] bool is_tls_verified() const noexcept override {
        return options_.tls.is_verified;
    }
    [[nodiscard]] duration connect_timeout() const noexcept override {
        return options_.connect_timeout;
    }
    void set_socket_options(stream_socket& socket) noexcept override;
    void on_connected(connection& from) override;
    void on_connect_failed(
        connection& from, engine::connect_failure failure, std::string_view text) override;
    void on_bytes(connection& from, const base::block_ref& owner, base::byte_view bytes) override;
    [[nodiscard]] engine::read_place place_to_read(connection& from) override;
    void on_written(connection& from, std::size_t size) override;
    void on_closed(
        connection& from, engine::close_reason reason, std::size_t unwritten_size) override;
    [[nodiscard]] base::byte_views begin_write(connection& from) override;

private:
    void erase(engine::connection_id id) noexcept;

    driver& driver_;
    const engine::engine_options& options_;
    std::shared_ptr<boost::asio::ssl::context> tls_context_;
    std::unique_ptr<name_resolver> resolver_;
    std::unordered_map<std::uint64_t, std::shared_ptr<connection>> connections_;
    mutable connection* found_last_ = nullptr;  // writes are often to the same one
};

}  // namespace reprise::net
