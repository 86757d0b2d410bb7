#include "demonstration.hpp"

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include <reprise/sandbox/services.hpp>

#include "service_worker.hpp"

namespace reprise::demo {

namespace {

using clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr auto tick_interval = 20ms;
constexpr auto look_interval = 250ms;
// Longer than the timeout of any operation.
constexpr auto stop_time_max = 15s;
constexpr auto service_timeout = 5s;

/// The servers' first complaint, which they make on their own thread.
class first_notice {
public:
    void keep(std::string_view text) {
        const std::lock_guard lock(mutex_);
        if (text_.empty()) {
            text_ = text;
        }
    }
    [[nodiscard]] std::string get() const {
        const std::lock_guard lock(mutex_);
        return text_;
    }

private:
    mutable std::mutex mutex_;
    std::string text_;
};

[[nodiscard]] sandbox::server_options make_server_options(
    std::uint64_t seed, const std::shared_ptr<first_notice>& notice) {
    sandbox::server_options options;
    options.on_notice = [notice](std::string_view text) { notice->keep(text); };
    options.cluster.node_count = 4;
    options.cluster.vbucket_count = 256;
    options.cluster.seed = seed;
    // The ledger observes every entry; the log itself is not used.
    options.cluster.audit_entry_count_max = 1024;
    sandbox::bucket_options bucket;
    bucket.name = bucket_name;
    bucket.scopes = {{scope_name, {scratch_name}}};
    options.cluster.buckets = {bucket};
    sandbox::user_options user;
    user.name = "app";
    user.password = "secret";
    options.cluster.users = {user};
    return options;
}

// Creates what the workers need on the servers, and connects the ledger to the audit.
std::expected<void, sandbox::cluster_errc> prepare_servers(
    sandbox::cluster& cluster, write_ledger& writes) {
    cluster.audit().set_observer(
        [to = &writes](const sandbox::audit_entry& entry) { to->on_request(entry); });
    cluster.services().audit().set_observer(
        [to = &writes](const sandbox::service_audit_entry& entry) { to->on_statement(entry); });
    if (auto made = cluster.services().create_search_index(search_index_name, bucket_name); !made) {
        return made;
    }
    return cluster.services().put_view(bucket_name, design_name, view_name);
}

[[nodiscard]] couchbase::cluster_options make_client_options(
    const sandbox::embedded_cluster& servers) {
    couchbase::cluster_options options;
    options.username = servers.username();
    options.password = servers.password();
    options.query_timeout = service_timeout;
    options.analytics_timeout = service_timeout;
    options.search_timeout = service_timeout;
    options.view_timeout = service_timeout;
    options.management_timeout = service_timeout;
    return options;
}

[[nodiscard]] double rate_of(std::uint64_t now, std::uint64_t before, double seconds) {
    return seconds > 0 && now >= before ? static_cast<double>(now - before) / seconds : 0;
}

}  // namespace

std::expected<std::unique_ptr<demonstration>, std::string> demonstration::open(
    std::uint64_t seed, std::function<bool()> should_stop) {
    const auto notice = std::make_shared<first_notice>();
    auto servers = sandbox::embedded_cluster::start(make_server_options(seed, notice));
    if (!servers) {
        return std::unexpected("the cluster cannot start: " + servers.error());
    }
    std::unique_ptr<demonstration> made(new demonstration);
    made->should_stop_ = std::move(should_stop);
    made->random_ = random_generator(seed);
    made->load_options_.seed = seed;
    made->servers_ = std::move(*servers);
    std::expected<void, sandbox::cluster_errc> prepared;
    made->servers_->with_cluster(
        [&](sandbox::cluster& cluster) { prepared = prepare_servers(cluster, made->writes_); });
    if (!prepared) {
        return std::unexpected(
            "the services cannot be prepared: " + std::string(to_string(prepared.error())));
    }
    auto client = couchbase::cluster::connect(
        made->servers_->addresses().connection_string, make_client_options(*made->servers_));
    if (!client) {
        return std::unexpected(client.error().message());
    }
    if (auto ready = client->bucket(bucket_name).wait_until_ready(10s); !ready) {
        const std::string complaint = notice->get();
        return std::unexpected(
            ready.error().message() + (complaint.empty() ? "" : "; the cluster: " + complaint));
    }
    made->client_ = std::move(*client);
    made->users_ =
        std::make_unique<load>(*made->client_, made->load_options_, made->writes_, made->measured_);
    made->users_->start();
    made->looked_at_ = clock::now();
    return made;
}

void demonstration::look(progress& shown, view& seen_by, const std::string& note) {
    const auto now = clock::now();
    shown.note = note;
    shown.sofar = measured_.peek();
    const std::chrono::duration<double> since = now - looked_at_;
    const std::uint64_t operations = shown.sofar.key_value.operations;
    const std::uint64_t requests = shown.sofar.http.operations;
    shown.operations_per_second = rate_of(operations, looked_operations_, since.count());
    shown.requests_per_second = rate_of(requests, looked_requests_, since.count());
    looked_operations_ = operations;
    looked_requests_ = requests;
    looked_at_ = now;
    if (const auto statistics = client_->statistics()) {
        shown.parked = statistics->operations_parked;
    }
    seen_by.on_progress(shown);
    if (on_look_) {
        on_look_();
    }
}

traffic_figures demonstration::play(
    phase& played, std::chrono::duration<double> length, progress& shown, view& seen_by) {
    stage on{*servers_, *users_, writes_, random_, length};
    const auto start = clock::now();
    const auto elapsed_before = shown.elapsed;
    auto look_next = start + look_interval;
    played.begin(on);
    for (auto now = start; now - start < length && !should_stop_(); now = clock::now()) {
        const std::chrono::duration<double> in = now - start;
        shown.elapsed = elapsed_before + in;
        played.tick(on, in / length);
        if (now >= look_next) {
            look_next += look_interval;
            look(shown, seen_by, on.remark());
        }
        std::this_thread::sleep_until(now + tick_interval);
    }
    played.end(on);
    shown.elapsed = elapsed_before + (clock::now() - start);
    shown.sofar = measured_.take();
    shown.note = on.remark();
    const std::chrono::duration<double> took = clock::now() - start;
    shown.operations_per_second = rate_of(shown.sofar.key_value.operations, 0, took.count());
    shown.requests_per_second = rate_of(shown.sofar.http.operations, 0, took.count());
    looked_operations_ = 0;
    looked_requests_ = 0;
    looked_at_ = clock::now();
    seen_by.on_phase_end(shown);
    return shown.sofar;
}

audit_result demonstration::close() {
    const bool has_stopped = users_->stop(stop_time_max);
    return audit_all(*users_, writes_, !has_stopped);
}

}  // namespace reprise::demo
