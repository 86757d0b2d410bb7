#include "name_resolver.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <unordered_map>
#include <utility>

#include <ares.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/time.h>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

// ares.h needs the system's header for the SRV type.
#include <arpa/nameser.h>

// c-ares 1.28 deprecates functions whose successors Debian 12 does not have yet.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace reprise::net {

namespace asio = boost::asio;
using boost::system::error_code;

namespace {

// A c-ares socket that the loop watches. c-ares closes it; this object only releases it.
struct watched_socket {
    explicit watched_socket(const asio::any_io_executor& executor, int number)
        : descriptor(executor, number) {}
    ~watched_socket() { let_go(); }
    void let_go() {
        if (descriptor.is_open()) {
            descriptor.release();  // outstanding waits end as aborted
        }
    }

    asio::posix::stream_descriptor descriptor;
    bool wants_read = false;
    bool wants_write = false;
    bool is_reading = false;  // a wait is outstanding
    bool is_writing = false;
};

}  // namespace

struct name_resolver::state : std::enable_shared_from_this<name_resolver::state> {
    state(const asio::any_io_executor& on, bool only_ipv4)
        : executor(on), timer(on), ipv4_only(only_ipv4) {}
    ~state() {
        if (channel != nullptr) {
            ares_destroy(channel);
        }
    }

    void on_socket(int number, bool readable, bool writable);
    void watch(const std::shared_ptr<watched_socket>& socket);
    template <class Call>
    void enter(Call call);
    void stop();
    void process(ares_socket_t readable, ares_socket_t writable);
    void arm();

    asio::any_io_executor executor;
    asio::steady_timer timer;
    ares_channel channel = nullptr;
    bool ipv4_only;
    bool is_stopped = false;
    bool is_inside = false;  // inside a call of c-ares, which may run callbacks
    std::unordered_map<int, std::shared_ptr<watched_socket>> sockets;
};

void name_resolver::state::on_socket(int number, bool readable, bool writable) {
    if (!readable && !writable) {
        // Releases it now and not with its last owner: c-ares closes it next, and the number may be
        // reused.
        if (const auto found = sockets.find(number); found != sockets.end()) {
            found->second->let_go();
            sockets.erase(found);
        }
        return;
    }
    auto& socket = sockets[number];
    if (socket == nullptr) {
        socket = std::make_shared<watched_socket>(executor, number);
    }
    socket->wants_read = readable;
    socket->wants_write = writable;
    watch(socket);
}

void name_resolver::state::watch(const std::shared_ptr<watched_socket>& socket) {
    const auto wait = [this, &socket](bool watched_socket::* flag, bool for_write) {
        if (std::exchange((*socket).*flag, true)) {
            return;
        }
        socket->descriptor.async_wait(
            for_write ? asio::posix::descriptor_base::wait_write
                      : asio::posix::descriptor_base::wait_read,
            [self = weak_from_this(), held = std::weak_ptr(socket), flag,
             for_write](const error_code& ec) {
                const auto owner = self.lock();
                const auto at = held.lock();
                if (ec || !owner || !at) {
                    return;
                }
                (*at).*flag = false;
                const int number = at->descriptor.native_handle();
                owner->process(
                    for_write ? ARES_SOCKET_BAD : number, for_write ? number : ARES_SOCKET_BAD);
                const auto found = owner->sockets.find(number);
                if (found != owner->sockets.end() && found->second == at) {
                    owner->watch(at);
                }
            });
    };
    if (socket->wants_read) {
        wait(&watched_socket::is_reading, false);
    }
    if (socket->wants_write) {
        wait(&watched_socket::is_writing, true);
    }
}

// Calls c-ares. A callback may stop or destroy the resolver. c-ares frees a query only after its
// callback and must not cancel it before that, so a stop from inside takes effect when the call
// ends.
template <class Call>
void name_resolver::state::enter(Call call) {
    const auto self = shared_from_this();
    const bool was_inside = std::exchange(is_inside, true);
    call();
    is_inside = was_inside;
    if (is_stopped && !is_inside) {
        ares_cancel(channel);
    }
    arm();
}

void name_resolver::state::stop() {
    if (!std::exchange(is_stopped, true)) {
        enter([] {});
    }
}

void name_resolver::state::process(ares_socket_t readable, ares_socket_t writable) {
    enter([&] { ares_process_fd(channel, readable, writable); });
}

void name_resolver::state::arm() {
    timeval left{};
    if (is_stopped || ares_timeout(channel, nullptr, &left) == nullptr) {
        timer.cancel();
        return;
    }
    timer.expires_after(
        std::chrono::seconds{left.tv_sec} + std::chrono::microseconds{left.tv_usec + 1000});
    timer.async_wait([self = weak_from_this()](const error_code& ec) {
        if (const auto owner = self.lock(); owner && !ec) {
            owner->process(ARES_SOCKET_BAD, ARES_SOCKET_BAD);
        }
    });
}

namespace {

void on_ares_socket(void* data, ares_socket_t number, int readable, int writable) {
    static_cast<name_resolver::state*>(data)->on_socket(number, readable != 0, writable != 0);
}

struct address_question {
    name_resolver::address_callback done;
    std::uint16_t port = 0;
};

std::optional<asio::ip::tcp::endpoint> to_endpoint(const sockaddr& address, std::uint16_t port) {
    if (address.sa_family == AF_INET) {
        const auto& ipv4 = reinterpret_cast<const sockaddr_in&>(address);
        return asio::ip::tcp::endpoint(asio::ip::address_v4(ntohl(ipv4.sin_addr.s_addr)), port);
    }
    if (address.sa_family == AF_INET6) {
        const auto& ipv6 = reinterpret_cast<const sockaddr_in6&>(address);
        asio::ip::address_v6::bytes_type bytes;
        std::copy_n(ipv6.sin6_addr.s6_addr, bytes.size(), bytes.begin());
        return asio::ip::tcp::endpoint(asio::ip::address_v6(bytes, ipv6.sin6_scope_id), port);
    }
    return std::nullopt;
}

void on_ares_addresses(void* data, int status, int, ares_addrinfo* found) {
    const std::unique_ptr<address_question> question(static_cast<address_question*>(data));
    name_resolver::addresses result;
    if (status != ARES_SUCCESS) {
        result.failure = ares_strerror(status);
    } else {
        for (const auto* node = found->nodes; node != nullptr; node = node->ai_next) {
            if (const auto endpoint = to_endpoint(*node->ai_addr, question->port)) {
                result.endpoints.push_back(*endpoint);
            }
        }
        if (result.endpoints.empty()) {
            result.failure = "the name has no address";
        }
    }
    if (found != nullptr) {
        ares_freeaddrinfo(found);
    }
    question->done(std::move(result));
}

void on_ares_srv(void* data, int status, int, unsigned char* reply, int size) {
    const std::unique_ptr<name_resolver::srv_callback> done(
        static_cast<name_resolver::srv_callback*>(data));
    std::vector<wire::bootstrap_address> result;
    ares_srv_reply* records = nullptr;
    if (status == ARES_SUCCESS && ares_parse_srv_reply(reply, size, &records) == ARES_SUCCESS) {
        std::vector<const ares_srv_reply*> sorted;
        for (const auto* record = records; record != nullptr; record = record->next) {
            sorted.push_back(record);
        }
        std::ranges::sort(sorted, [](const auto* left, const auto* right) {
            return left->priority != right->priority ? left->priority < right->priority
                                                     : left->weight > right->weight;
        });
        for (const auto* record : sorted) {
            const std::string_view host = record->host;
            result.push_back({std::string(host == "." ? "" : host), record->port});
        }
    }
    if (records != nullptr) {
        ares_free_data(records);
    }
    (*done)(std::move(result));
}

bool is_library_ready() {
    // Once per process. c-ares keeps no state per thread.
    static const int status = ares_library_init(ARES_LIB_INIT_ALL);
    return status == ARES_SUCCESS;
}

}  // namespace

std::expected<std::unique_ptr<name_resolver>, setup_error> name_resolver::make(
    const asio::any_io_executor& executor, const couchbase::cluster_options& options,
    int try_count) {
    if (!is_library_ready()) {
        return std::unexpected(
            setup_error{setup_errc::name_service, "c-ares cannot be initialised"});
    }
    auto shared = std::make_shared<state>(executor, options.force_ipv4);
    ares_options settings{};
    settings.timeout = static_cast<int>(std::clamp<std::int64_t>(
        std::chrono::ceil<std::chrono::milliseconds>(options.dns_timeout).count(), 1, 60'000));
    settings.tries = try_count;
    settings.sock_state_cb = &on_ares_socket;
    settings.sock_state_cb_data = shared.get();
    int status = ares_init_options(
        &shared->channel, &settings, ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_SOCK_STATE_CB);
    if (status == ARES_SUCCESS && !options.dns_servers.empty()) {
        status = ares_set_servers_ports_csv(shared->channel, options.dns_servers.c_str());
    }
    if (status != ARES_SUCCESS) {
        return std::unexpected(setup_error{
            setup_errc::name_service,
            "name servers '" + options.dns_servers + "': " + ares_strerror(status)});
    }
    return std::unique_ptr<name_resolver>(new name_resolver(std::move(shared)));
}

name_resolver::~name_resolver() {
    stop();
}

void name_resolver::find_addresses(
    const std::string& host, std::uint16_t port, address_callback done) {
    error_code ec;
    const auto address = asio::ip::make_address(host, ec);
    if (!ec) {
        done({{{address, port}}, {}});
        return;
    }
    if (state_->is_stopped) {
        done({{}, "stopped"});
        return;
    }
    ares_addrinfo_hints hints{};
    hints.ai_family = state_->ipv4_only ? AF_INET : AF_UNSPEC;
    hints.ai_socktype = SOCK_STREAM;
    auto question = std::make_unique<address_question>(std::move(done), port);
    state_->enter([&, channel = state_->channel] {
        ares_getaddrinfo(
            channel, host.c_str(), nullptr, &hints, &on_ares_addresses, question.release());
    });
}

void name_resolver::find_srv(const std::string& name, srv_callback done) {
    if (state_->is_stopped) {
        done({});
        return;
    }
    auto question = std::make_unique<srv_callback>(std::move(done));
    state_->enter([&, channel = state_->channel] {
        ares_query(channel, name.c_str(), ns_c_in, ns_t_srv, &on_ares_srv, question.release());
    });
}

void name_resolver::stop() {
    state_->stop();
}

}  // namespace reprise::net

#pragma GCC diagnostic pop
