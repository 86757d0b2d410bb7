#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <string_view>

#include <reprise/base/slice.hpp>
#include <reprise/couchbase/cluster.hpp>
#include <reprise/couchbase/results.hpp>
#include <reprise/engine/engine_options.hpp>
#include <reprise/net/client.hpp>
#include <reprise/services/prepared_cache.hpp>

namespace reprise::couchbase::detail {

// Data of the session that its handles use.
struct session_facts {
    std::string bucket{};              // of the connection string
    engine::engine_options options{};  // with those of the connection string, without secrets
};

// State shared by all handles of one client.
class session {
public:
    session(std::unique_ptr<net::client> running, session_facts facts);

    [[nodiscard]] net::client& client() noexcept { return *client_; }
    // The bucket of the connection string.
    [[nodiscard]] const std::string& bucket_name() const noexcept { return facts_.bucket; }
    [[nodiscard]] duration kv_timeout() const noexcept { return facts_.options.kv_timeout; }
    [[nodiscard]] const session_facts& facts() const noexcept { return facts_; }
    // Used only by the engine, on its thread.
    [[nodiscard]] const std::shared_ptr<services::prepared_cache>& prepared() const noexcept {
        return prepared_;
    }
    // Returns an id that no other request of any client has.
    [[nodiscard]] std::string next_context_id();

private:
    // Declared first, because completions that run while the client is destroyed may use them.
    std::shared_ptr<services::prepared_cache> prepared_;
    std::string context_prefix_;
    std::atomic<std::uint64_t> context_last_{0};
    std::unique_ptr<net::client> client_;
    session_facts facts_;
};

struct cluster_access {
    [[nodiscard]] static cluster make(std::shared_ptr<session> shared) noexcept {
        return cluster(std::move(shared));
    }
};

struct stream_access {
    template <class Stream, class Handle>
    [[nodiscard]] static Stream make(Handle&& handle) noexcept {
        return Stream(std::forward<Handle>(handle));
    }
};

// document_bytes holds a slice in its storage.
struct document_bytes_access {
    [[nodiscard]] static document_bytes make(base::slice&& bytes) noexcept;
    [[nodiscard]] static document_bytes copy_of(std::string_view text) {
        return make(base::slice::copy_of(std::as_bytes(std::span{text})));
    }
    [[nodiscard]] static base::slice& slice_of(document_bytes& bytes) noexcept {
        return *std::launder(reinterpret_cast<base::slice*>(bytes.storage_));
    }
    [[nodiscard]] static const base::slice& slice_of(const document_bytes& bytes) noexcept {
        return *std::launder(reinterpret_cast<const base::slice*>(bytes.storage_));
    }
    [[nodiscard]] static void* storage_of(document_bytes& bytes) noexcept { return bytes.storage_; }
};

// The error of a refused start.
[[nodiscard]] error to_error(net::refusal refused);

// Input of cluster::connect, merged from the connection string and the options. The string takes
// precedence.
struct connect_plan {
    engine::engine_options options;
    session_facts facts;
};
[[nodiscard]] std::expected<connect_plan, error> plan_connect(
    std::string_view connection_string, const cluster_options& options);
[[nodiscard]] error to_error(const net::setup_error& failed);
// Creates the handle and starts to connect.
[[nodiscard]] cluster begin_session(std::unique_ptr<net::client> client, session_facts facts);
// Checks that there is exactly one identity. The error names the field.
[[nodiscard]] std::expected<void, error> check_credentials(
    const credentials& identity, const session_facts& facts);

}  // namespace reprise::couchbase::detail
