#include <reprise/sandbox_net/embedded_cluster.hpp>

#include <future>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <reprise/sandbox_net/server.hpp>

namespace reprise::sandbox {

struct embedded_cluster::parts {
    boost::asio::io_context io{1};
    boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work{
        io.get_executor()};
    std::optional<server> front;
    server_addresses addresses;
    std::string username;
    std::string password;
    std::mutex mutex;  // allows one caller at a time; guards `is_stopped`
    bool is_stopped = false;
    std::thread thread;

    // Runs `task` on the server's thread and waits. Returns false after stop().
    bool call(const std::function<void(server&)>& task) {
        const std::lock_guard lock(mutex);
        if (is_stopped) {
            return false;
        }
        std::promise<void> done;
        boost::asio::post(io, [&] {
            try {
                task(*front);
                done.set_value();
            } catch (...) {
                done.set_exception(std::current_exception());
            }
        });
        done.get_future().get();
        return true;
    }

    // Begins an operation that proceeds in steps, and makes the server take the steps.
    std::expected<void, cluster_errc> begin(
        const std::function<std::expected<void, cluster_errc>(cluster&)>& beginning,
        std::chrono::milliseconds interval) {
        std::expected<void, cluster_errc> begun;
        call([&](server& on) {
            begun = beginning(on.cluster());
            if (begun) {
                on.run_rebalance(interval);
            }
            on.notify();
        });
        return begun;
    }

    void stop() noexcept {
        const std::lock_guard lock(mutex);
        if (std::exchange(is_stopped, true)) {
            return;
        }
        boost::asio::post(io, [this] {
            front.reset();
            work.reset();
        });
        thread.join();
    }
};

embedded_cluster::embedded_cluster(std::unique_ptr<parts> made) noexcept
    : parts_(std::move(made)) {}

embedded_cluster::~embedded_cluster() {
    stop();
}

std::expected<std::unique_ptr<embedded_cluster>, std::string> embedded_cluster::start(
    server_options options) {
    if (options.cluster.buckets.empty() && options.cluster.users.empty()) {
        options.cluster.buckets.emplace_back();
        user_options user;
        user.name = "app";
        user.password = "secret";
        options.cluster.users.push_back(std::move(user));
    }
    auto made = std::make_unique<parts>();
    if (!options.cluster.users.empty()) {
        made->username = options.cluster.users.front().name;
        made->password = options.cluster.users.front().password;
    }
    auto front = server::make(made->io, std::move(options));
    if (!front) {
        return std::unexpected(front.error());
    }
    made->front.emplace(*std::move(front));
    made->addresses = made->front->addresses();
    made->thread = std::thread([&io = made->io] { io.run(); });
    return std::unique_ptr<embedded_cluster>(new embedded_cluster(std::move(made)));
}

const server_addresses& embedded_cluster::addresses() const noexcept {
    return parts_->addresses;
}
const std::string& embedded_cluster::username() const noexcept {
    return parts_->username;
}
const std::string& embedded_cluster::password() const noexcept {
    return parts_->password;
}

void embedded_cluster::with_cluster(const std::function<void(cluster&)>& work) {
    parts_->call([&](server& front) {
        work(front.cluster());
        front.notify();
    });
}

std::expected<added_node, std::string> embedded_cluster::add_node() {
    std::expected<added_node, std::string> added =
        std::unexpected(std::string("the cluster is stopped"));
    parts_->call([&](server& front) { added = front.add_node(); });
    return added;
}

std::expected<void, cluster_errc> embedded_cluster::rebalance(
    const rebalance_options& options, std::chrono::milliseconds interval) {
    return parts_->begin(
        [&](cluster& brain) { return brain.topology().begin_rebalance(options); }, interval);
}

std::expected<void, cluster_errc> embedded_cluster::graceful_failover(
    node_id node, std::chrono::milliseconds interval) {
    return parts_->begin(
        [&](cluster& brain) { return brain.topology().begin_graceful_failover(node); }, interval);
}

std::optional<rebalance_progress> embedded_cluster::wait_rebalance(
    std::chrono::milliseconds timeout) {
    // Shared, because the server may call it after the wait is over.
    const auto ended = std::make_shared<std::promise<rebalance_progress>>();
    auto result = ended->get_future();
    const bool is_called = parts_->call([&](server& front) {
        front.when_rebalance_ends(
            [ended](const rebalance_progress& progress) { ended->set_value(progress); });
    });
    if (!is_called || result.wait_for(timeout) != std::future_status::ready) {
        return std::nullopt;
    }
    return result.get();
}

std::expected<certificate_pem, std::string> embedded_cluster::issue_client_certificate(
    std::string_view user) {
    std::expected<certificate_pem, std::string> issued =
        std::unexpected(std::string("the cluster is stopped"));
    parts_->call([&](server& front) { issued = front.issue_client_certificate(user); });
    return issued;
}

std::size_t embedded_cluster::session_count() {
    std::size_t count = 0;
    parts_->call([&](server& front) { count = front.session_count(); });
    return count;
}

void embedded_cluster::stop() noexcept {
    parts_->stop();
}

}  // namespace reprise::sandbox
