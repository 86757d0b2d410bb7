#include <utility>

#include <reprise/json/parse.hpp>
#include <reprise/json/write.hpp>
#include <reprise/sandbox.hpp>
#include <reprise/sandbox_net/control_client.hpp>
#include <reprise/sandbox_net/embedded_cluster.hpp>

namespace reprise::sandbox {

test_cluster::test_cluster(std::unique_ptr<embedded_cluster> running) noexcept
    : running_(std::move(running)) {}
test_cluster::test_cluster(test_cluster&&) noexcept = default;
test_cluster& test_cluster::operator=(test_cluster&&) noexcept = default;
test_cluster::~test_cluster() = default;

std::expected<test_cluster, std::string> test_cluster::start(const test_cluster_options& options) {
    server_options full;
    full.cluster.node_count = options.node_count;
    full.cluster.replica_count = options.replica_count;
    full.cluster.seed = options.seed;
    full.tls.is_enabled = options.is_tls_enabled;
    for (const std::string& name : options.buckets) {
        full.cluster.buckets.emplace_back().name = name;
    }
    user_options& user = full.cluster.users.emplace_back();
    user.name = options.username;
    user.password = options.password;
    auto started = embedded_cluster::start(std::move(full));
    if (!started) {
        return std::unexpected(started.error());
    }
    return test_cluster(*std::move(started));
}

const std::string& test_cluster::connection_string() const noexcept {
    return running_->addresses().connection_string;
}
const std::string& test_cluster::connection_string_tls() const noexcept {
    return running_->addresses().connection_string_tls;
}
const std::string& test_cluster::ca_path() const noexcept {
    return running_->addresses().ca_path;
}
const std::string& test_cluster::username() const noexcept {
    return running_->username();
}
const std::string& test_cluster::password() const noexcept {
    return running_->password();
}

std::expected<std::string, std::string> test_cluster::control(std::string_view command) {
    const auto parsed = json::parse(command);
    if (!parsed) {
        return std::unexpected(to_string(parsed.error()));
    }
    const server_addresses& at = running_->addresses();
    const auto answer = call_control({at.control_url, at.control_token}, parsed->root);
    if (!answer) {
        return std::unexpected(answer.error());
    }
    return json::serialize(*answer);
}

void test_cluster::stop() noexcept {
    running_->stop();
}

}  // namespace reprise::sandbox
