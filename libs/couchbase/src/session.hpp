#pragma once

#include <expected>
#include <memory>
#include <string>
#include <string_view>

#include <reprise/base/slice.hpp>
#include <reprise/couchbase/cluster.hpp>
#include <reprise/couchbase/results.hpp>
#include <reprise/net/client.hpp>

namespace reprise::couchbase::detail {

// What all handles of one client share.
class session {
public:
    session(std::unique_ptr<net::client> running, std::string bucket)
        : client_(std::move(running)), bucket_name_(std::move(bucket)) {}

    [[nodiscard]] net::client& client() noexcept { return *client_; }
    // Of the connection string.
    [[nodiscard]] const std::string& bucket_name() const noexcept { return bucket_name_; }

private:
    std::unique_ptr<net::client> client_;
    std::string bucket_name_;
};

struct cluster_access {
    [[nodiscard]] static cluster make(std::shared_ptr<session> shared) noexcept {
        return cluster(std::move(shared));
    }
};

// document_bytes holds a slice in its storage.
struct document_bytes_access {
    [[nodiscard]] static document_bytes make(base::slice&& bytes) noexcept;
    [[nodiscard]] static base::slice& slice_of(document_bytes& bytes) noexcept {
        return *std::launder(reinterpret_cast<base::slice*>(bytes.storage_));
    }
    [[nodiscard]] static const base::slice& slice_of(const document_bytes& bytes) noexcept {
        return *std::launder(reinterpret_cast<const base::slice*>(bytes.storage_));
    }
    [[nodiscard]] static void* storage_of(document_bytes& bytes) noexcept { return bytes.storage_; }
};

// The error behind a refusal.
[[nodiscard]] error to_error(net::refusal refused);

// What cluster::connect needs, from string and options; the string wins.
struct connect_plan {
    net::client_options options;
    std::string bucket;
};
[[nodiscard]] std::expected<connect_plan, error> plan_connect(
    std::string_view connection_string, const cluster_options& options);
[[nodiscard]] error to_error(const net::setup_error& failed);
// Makes the handle and begins to connect.
[[nodiscard]] cluster begin_session(std::unique_ptr<net::client> client, std::string bucket);

}  // namespace reprise::couchbase::detail
