#include "connection.hpp"

#include <algorithm>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/error.hpp>

#include <reprise/wire/cluster_node.hpp>

#include "connection_owner.hpp"
#include "descriptors.hpp"
#include "gathered_buffers.hpp"
#include "name_resolver.hpp"
#include "tls_context.hpp"

namespace reprise::net {

namespace asio = boost::asio;
using boost::system::error_code;

namespace {

// Limits the addresses that are tried, because each gets a share of the timeout.
constexpr std::size_t address_count_max = 8;

// How many turns of the loop a request waits for bytes that have arrived, at most about a
// millisecond. Reading them takes two or three, unless another thread waits for the sockets.
constexpr int flush_turns_max = 1000;

// Parts of one write to the socket, and of one that Asio keeps: a request and its large value.
constexpr std::size_t part_count_max = 32;
constexpr std::size_t kept_part_count_max = 2;

// A read of this size may belong to an answer that is larger. TLS returns at most 16 KiB.
constexpr std::size_t large_read_size_min = std::size_t{8} * 1024;

}  // namespace

connection::connection(connection_owner& owner, engine::connect_action target)
    : owner_(owner),
      target_(std::move(target)),
      socket_(owner.executor()),
      timer_(owner.executor()) {
    blocks_.set_read_size_max(target_.read_size_max);
}

// Binds the function and keeps everything alive that it uses.
template <class Function>
auto connection::guarded(Function function) {
    return [owner_alive = owner_.hold(), self = shared_from_this(),
            function = std::move(function)](auto&&... arguments) mutable {
        function(*self, std::forward<decltype(arguments)>(arguments)...);
    };
}

void connection::open() {
    // The resolver may answer from inside the call, but the engine must not see the answer before
    // its iteration ends.
    owner_.resolver().find_addresses(
        target_.host, target_.port,
        [weak = weak_from_this(), executor = owner_.executor()](name_resolver::addresses found) {
            const auto self = weak.lock();
            if (self == nullptr) {
                return;
            }
            asio::post(executor, self->guarded([found = std::move(found)](connection& at) mutable {
                at.on_addresses(std::move(found.endpoints), found.failure);
            }));
        });
}

void connection::on_addresses(std::vector<tcp::endpoint> endpoints, std::string_view failure) {
    if (phase_ != phase::resolving) {
        return;
    }
    if (endpoints.empty()) {
        // The resolver needs its own sockets and does not report if it got none.
        if (is_out_of_descriptors()) {
            fail(engine::connect_failure::no_descriptors, {});
        } else {
            fail(engine::connect_failure::name_not_found, failure);
        }
        return;
    }
    endpoints_ = std::move(endpoints);
    if (endpoints_.size() > address_count_max) {
        endpoints_.resize(address_count_max);
    }
    phase_ = phase::connecting;
    connect_next();
}

void connection::connect_next() {
    if (endpoint_ == endpoints_.size()) {
        fail(last_failure_, last_text_);
        return;
    }
    error_code ec;
    (void)socket_.close(ec);
    is_address_late_ = false;
    // An address that does not answer must leave time for the others.
    timer_.expires_after(owner_.connect_timeout() / static_cast<std::int64_t>(endpoints_.size()));
    timer_.async_wait(guarded([at_endpoint = endpoint_](connection& at, const error_code& failed) {
        if (!failed && at.phase_ == phase::connecting && at.endpoint_ == at_endpoint) {
            at.is_address_late_ = true;
            at.close_socket();  // cancels the connect
        }
    }));
    socket_.async_connect(
        endpoints_[endpoint_],
        guarded([](connection& at, const error_code& failed) { at.on_connect(failed); }));
}

void connection::on_connect(const error_code& ec) {
    timer_.cancel();
    if (phase_ != phase::connecting) {
        fail(engine::connect_failure::canceled, "closed while connecting");
        return;
    }
    if (ec || is_address_late_) {
        last_failure_ =
            is_address_late_ ? engine::connect_failure::timed_out : classify_connect(ec);
        note_address(ec);
        ++endpoint_;
        connect_next();
        return;
    }
    owner_.set_socket_options(socket_);
    error_code ignored;
    (void)socket_.non_blocking(true, ignored);  // for write_at_once
    if (target_.transport == wire::transport::tls) {
        begin_handshake();
    } else {
        become_open();
    }
}

// Adds what the failure code does not show: the address tried, or the system's message.
void connection::note_address(const error_code& ec) {
    last_text_ = endpoints_[endpoint_].address().to_string();
    if (last_text_ == target_.host) {
        last_text_.clear();
    }
    if (last_failure_ == engine::connect_failure::other) {
        last_text_.append(last_text_.empty() ? "" : ": ").append(ec.message());
    }
}

void connection::begin_handshake() {
    phase_ = phase::handshaking;
    tls_ = std::make_unique<tls_stream>(socket_, owner_.tls_context());
    if (!set_server_name(
            tls_->native_handle(), target_.server_name, owner_.is_tls_verified(),
            target_.other_name)) {
        fail(engine::connect_failure::tls_protocol, "the server's name cannot be verified");
        return;
    }
    tls_->async_handshake(
        asio::ssl::stream_base::client,
        guarded([](connection& at, const error_code& failed) { at.on_handshake(failed); }));
}

void connection::on_handshake(const error_code& ec) {
    if (phase_ != phase::handshaking) {
        fail(engine::connect_failure::canceled, "closed in the TLS handshake");
    } else if (ec) {
        const auto failed = classify_handshake(tls_->native_handle(), ec);
        fail(failed.failure, failed.text);
    } else {
        become_open();
    }
}

void connection::become_open() {
    phase_ = phase::open;
    endpoints_ = {};
    read();
    owner_.on_connected(*this);
}

void connection::fail(engine::connect_failure failure, std::string_view text) {
    phase_ = phase::done;
    close_socket();
    owner_.on_connect_failed(*this, failure, text);
}

void connection::close() {
    switch (phase_) {
        case phase::resolving:
            phase_ = phase::closing;
            asio::post(owner_.executor(), guarded([](connection& at) {
                           at.fail(engine::connect_failure::canceled, "closed while resolving");
                       }));
            break;
        case phase::connecting:
        case phase::handshaking:
            phase_ = phase::closing;  // the outstanding handler checks it
            timer_.cancel();
            close_socket();
            break;
        case phase::open:
            begin_end(engine::close_reason::requested);
            if (!is_reading_ && !is_writing_) {  // paused: no handler will run
                asio::post(owner_.executor(), guarded([](connection& at) { at.end_if_quiet(); }));
            }
            break;
        case phase::closing:
        case phase::done:
            break;
    }
}

// Keeps alive what a read uses, and passes it on to the next one: taking new references for each
// read would cost more than the rest of its start.
class connection::read_handler {
public:
    read_handler(
        std::shared_ptr<connection_owner> owner, std::shared_ptr<connection> reader) noexcept
        : owner_alive_(std::move(owner)), reader_(std::move(reader)) {}

    void operator()(const error_code& ec, std::size_t size) {
        connection& at = *reader_;
        if (at.on_read(ec, size)) {
            at.read_with(std::move(*this));
        }
    }

private:
    std::shared_ptr<connection_owner> owner_alive_;
    std::shared_ptr<connection> reader_;
};

void connection::read() {
    read_with(read_handler(owner_.hold(), shared_from_this()));
}

void connection::read_with(read_handler&& handler) {
    const auto space = is_large_read_ ? space_after_large_read() : blocks_.space();
    const auto buffer = asio::buffer(space.data(), space.size());
    auto done = stored_handler(read_memory_, std::move(handler));
    is_reading_ = true;
    if (tls_) {
        tls_->async_read_some(buffer, std::move(done));
    } else {
        socket_.async_read_some(buffer, std::move(done));
    }
}

bool connection::on_read(const error_code& ec, std::size_t size) {
    is_reading_ = false;
    if (phase_ != phase::open) {
        end_if_quiet();
        return false;
    }
    if (ec) {
        begin_end(reason_of(ec));
        end_if_quiet();
        return false;
    }
    is_in_read_ = true;
    if (is_large_read_) [[unlikely]] {
        report_after_large_read(size);
    } else {
        const auto bytes = blocks_.received(size);
        owner_.on_bytes(*this, blocks_.block(), bytes);
    }
    is_large_read_ = size >= large_read_size_min;
    is_in_read_ = false;
    if (phase_ != phase::open) {
        end_if_quiet();
        return false;
    }
    return is_reading_wanted_;
}

// Asking for a place costs more than a small answer, and only a large one can have it.
base::mutable_byte_view connection::space_after_large_read() {
    place_ = owner_.place_to_read(*this);
    return place_.bytes.empty() ? blocks_.space() : place_.bytes;
}

void connection::report_after_large_read(std::size_t size) {
    const engine::read_place place = std::exchange(place_, {});
    if (place.bytes.empty()) {
        const auto bytes = blocks_.received(size);
        owner_.on_bytes(*this, blocks_.block(), bytes);
    } else {
        owner_.on_bytes(*this, place.block, place.bytes.first(size));
    }
}

void connection::set_reading(bool is_wanted, std::size_t size_max) {
    is_reading_wanted_ = is_wanted;
    blocks_.set_read_size_max(size_max);
    // Not from inside on_read: the block is still in use there, and reading continues at its end.
    if (is_wanted && phase_ == phase::open && !is_reading_ && !is_in_read_) {
        read();
    }
}

void connection::flush() {
    if (phase_ != phase::open || is_writing_) {
        return;
    }
    const base::byte_views parts = owner_.begin_write(*this);
    if (parts.empty()) {
        return;
    }
    const std::size_t size = base::total_size(parts);
    const std::size_t written = tls_ ? 0 : write_at_once(parts);
    if (written == size) {
        unwritten_size_ = 0;
        owner_.on_written(*this, written);
        return;
    }
    write_size_ = size - written;
    is_writing_ = true;
    const gathered_buffers<kept_part_count_max> rest(parts, written);
    auto done = stored_handler(
        write_memory_, guarded([](connection& at, const error_code& ec, std::size_t done_size) {
            at.on_write(ec, done_size);
        }));
    if (tls_) {
        tls_->async_write_some(rest, std::move(done));
    } else {
        socket_.async_write_some(rest, std::move(done));
    }
    if (written > 0) {
        owner_.on_written(*this, written);
    }
}

// Returns how many bytes fit into the socket's buffer. If none do, or if the connection is broken,
// the asynchronous write that follows reports it.
std::size_t connection::write_at_once(base::byte_views parts) {
    error_code ignored;
    if (parts.size() == 1) {
        const base::byte_view bytes = parts.front();
        return socket_.write_some(asio::buffer(bytes.data(), bytes.size()), ignored);
    }
    std::size_t written = 0;
    while (true) {
        const gathered_buffers<part_count_max> next(parts, written);
        const std::size_t taken = socket_.write_some(next, ignored);
        written += taken;
        if (taken == 0 || taken < asio::buffer_size(next)) {
            return written;
        }
    }
}

void connection::flush_when_read() {
    flush_turns_left_ = flush_turns_max;
    flush_later();
}

// One turn is the least: the handler of a read that is complete may be waiting to run.
void connection::flush_later() {
    --flush_turns_left_;
    const bool was_quiet = !has_unread_bytes();
    asio::post(
        owner_.executor(), guarded([was_quiet](connection& at) {
            const bool is_read_due = at.is_reading_wanted_ && at.is_reading_;
            const bool is_quiet = was_quiet && !at.has_unread_bytes();
            if (at.phase_ == phase::open && is_read_due && !is_quiet && at.flush_turns_left_ > 0) {
                at.flush_later();
            } else {
                at.flush();
            }
        }));
}

// Whether the peer has sent bytes that were not reported yet.
bool connection::has_unread_bytes() const noexcept {
    error_code ignored;
    if (socket_.available(ignored) > 0) {
        return true;
    }
    if (!tls_) {
        return false;
    }
    SSL* const session = tls_->native_handle();
    return SSL_has_pending(session) == 1 || BIO_ctrl_pending(SSL_get_rbio(session)) > 0;
}

void connection::on_write(const error_code& ec, std::size_t size) {
    is_writing_ = false;
    // TLS may have sent a part of what it accepted. Only a plain socket reports what was not sent.
    unwritten_size_ = tls_ ? 0 : write_size_ - size;
    if (size > 0) {
        owner_.on_written(*this, size);
    }
    if (phase_ != phase::open) {
        end_if_quiet();
    } else if (ec) {
        begin_end(reason_of(ec));
        end_if_quiet();
    } else {
        unwritten_size_ = 0;
        flush();
    }
}

engine::close_reason connection::reason_of(const error_code& ec) const noexcept {
    namespace error = asio::error;
    if (ec == error::eof) {
        return engine::close_reason::end_of_stream;
    }
    // Anyone on the path can truncate a TLS stream: its end completes no body.
    if (ec == error::connection_reset || ec == error::broken_pipe ||
        ec == asio::ssl::error::stream_truncated) {
        return engine::close_reason::reset;
    }
    return is_tls_alert(ec) ? engine::close_reason::tls_alert : engine::close_reason::io_error;
}

void connection::begin_end(engine::close_reason reason) {
    phase_ = phase::closing;
    end_reason_ = reason;
    close_socket();
}

// Reports the end only when no handler can run any more: a write may be complete although its
// handler has not run, and then its bytes were sent.
void connection::end_if_quiet() {
    if (phase_ == phase::closing && !is_reading_ && !is_writing_) {
        phase_ = phase::done;
        owner_.on_closed(*this, end_reason_, unwritten_size_);
    }
}

std::string connection::local_address() const {
    error_code ec;
    const auto at = socket_.local_endpoint(ec);
    return ec || phase_ != phase::open ? std::string()
                                       : wire::to_host_port(at.address().to_string(), at.port());
}

std::string connection::peer_address() const {
    error_code ec;
    const auto at = socket_.remote_endpoint(ec);
    return ec ? std::string() : at.address().to_string();
}

void connection::close_socket() noexcept {
    error_code ignored;
    (void)socket_.close(ignored);
}

}  // namespace reprise::net
