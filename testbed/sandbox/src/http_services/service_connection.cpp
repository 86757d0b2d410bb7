#include <reprise/sandbox/service_connection.hpp>

#include <algorithm>
#include <utility>

#include <reprise/http/encode.hpp>
#include <reprise/http/http_error.hpp>
#include <reprise/http/request_parser.hpp>
#include <reprise/sandbox/services.hpp>

namespace reprise::sandbox {

namespace {

http::header_list to_http(const service_header_list& headers) {
    http::header_list made;
    for (const service_header& each : headers) {
        made.push_back({each.name, each.value});
    }
    return made;
}

void append_text(std::vector<std::byte>& out, std::string_view text) {
    const base::byte_view bytes = base::as_bytes(text);
    out.insert(out.end(), bytes.begin(), bytes.end());
}

}  // namespace

int http_status_of(http::http_errc error) noexcept {
    switch (error) {
        case http::http_errc::header_too_large:
            return 431;
        case http::http_errc::body_too_large:
            return 413;
        case http::http_errc::version_unsupported:
            return 505;
        case http::http_errc::transfer_encoding_unsupported:
            return 501;
        default:  // whatever else is wrong is the client's fault
            return 400;
    }
}

// The states of one connection.
//
//     idle -> (a request) -> idle                 answered whole
//                         -> waiting -> idle      a rule delays the answer
//                         -> sending -> idle      the body is sent in pieces
//                         -> streaming            configurations, until the end
//                         -> silent               a rule withholds the answer; final
//     any  -> closing                             final
class service_connection::machine {
public:
    machine(cluster& owner, service_accept_options options)
        : owner_(owner),
          options_(std::move(options)),
          parser_({.body_size_max_bytes = options_.body_size_max_bytes}) {}

    void on_bytes(time_point now, base::byte_view bytes, std::vector<std::byte>& out) {
        if (state_ == state::streaming || state_ == state::silent || state_ == state::closing) {
            return;
        }
        held_size_ += bytes.size();
        if (state_ != state::idle && held_size_ > held_size_max_bytes) {
            state_ = state::closing;
            return;
        }
        parser_.feed(bytes);
        answer_requests(now, out);
    }

    void on_time(time_point now, std::vector<std::byte>& out) {
        if (state_ == state::waiting && now >= due_) {
            state_ = state::idle;
            send(std::move(answer_), out);
        } else if (state_ == state::idle && now >= due_ && !stray_.empty()) {
            append_text(out, std::exchange(stray_, {}));
        } else if (state_ == state::sending) {
            send_piece(out);
        } else if (state_ == state::streaming) {
            if (const auto text = next_stream_document(owner_, options_.node, stream_)) {
                http::encode_chunk(out, base::as_bytes(*text));
            }
        }
        answer_requests(now, out);
    }

    std::optional<time_point> next_due() const noexcept {
        const bool is_due = state_ == state::waiting || (state_ == state::idle && !stray_.empty());
        return is_due ? std::optional(due_) : std::nullopt;
    }
    bool has_more() const noexcept { return state_ == state::sending; }
    bool is_streaming() const noexcept { return state_ == state::streaming; }
    bool is_closing() const noexcept { return state_ == state::closing; }

private:
    enum class state : std::uint8_t { idle, waiting, sending, streaming, silent, closing };

    // The largest size of requests that wait behind an answer. Bytes.
    static constexpr std::size_t held_size_max_bytes = std::size_t{4} * 1024 * 1024;

    void answer_requests(time_point now, std::vector<std::byte>& out) {
        while (state_ == state::idle) {
            auto next = parser_.next();
            if (!next) {
                return refuse(next.error(), out);
            }
            if (!*next) {
                held_size_ = 0;
                return;
            }
            answer(now, **next, out);
        }
    }

    void refuse(http::http_errc error, std::vector<std::byte>& out) {
        const http::header_list headers{{"Content-Type", "text/plain"}};
        const std::string text = std::string(to_string(error)) + "\n";
        (void)http::encode_response(
            out, {.status = http_status_of(error),
                  .headers = &headers,
                  .body = base::as_bytes(text),
                  .end = http::connection_end::close});
        state_ = state::closing;
    }

    void answer(time_point now, http::request& request, std::vector<std::byte>& out) {
        is_kept_alive_ = request.is_kept_alive;
        service_request asked;
        asked.service = options_.service;
        asked.method = std::move(request.method);
        asked.target = std::move(request.target);
        for (http::header& each : request.headers) {
            asked.headers.push_back({std::move(each.name), std::move(each.value)});
        }
        asked.body = std::move(request.body);
        asked.certificate_user = options_.certificate_user;
        service_answer made = handle_service(owner_, options_.node, asked, now);
        if (made.disturbance) {
            disturb(now, std::move(made), out);
        } else {
            send(std::move(made.response), out);
        }
    }

    void disturb(time_point now, service_answer made, std::vector<std::byte>& out) {
        const service_fault_effect& effect = *made.disturbance;
        service_response& response = made.response;
        if (const auto* delay = std::get_if<fault_delay>(&effect)) {
            due_ = now + delay->delay;
            answer_ = std::move(response);
            state_ = state::waiting;
        } else if (std::holds_alternative<fault_no_answer>(effect)) {
            state_ = state::silent;
        } else if (
            std::holds_alternative<fault_close_before>(effect) ||
            std::holds_alternative<fault_close_after>(effect)) {
            state_ = state::closing;
        } else if (std::holds_alternative<service_fault_close_after_headers>(effect)) {
            send_start(std::move(response), 0, out);
        } else if (const auto* middle = std::get_if<service_fault_close_mid_body>(&effect)) {
            send_start(std::move(response), middle->size_bytes, out);
        } else if (const auto* wrong = std::get_if<service_fault_wrong_length>(&effect)) {
            send_wrong_length(std::move(response), wrong->difference, out);
        } else if (std::holds_alternative<service_fault_bad_chunk>(effect)) {
            send_bad_chunk(std::move(response), out);
        } else if (const auto* unasked = std::get_if<service_fault_unasked_encoding>(&effect)) {
            response.headers.push_back({"Content-Encoding", unasked->encoding});
            send(std::move(response), out);
        } else if (const auto* first = std::get_if<service_fault_continue_first>(&effect)) {
            for (std::size_t i = 0; i < first->count; ++i) {
                append_text(out, "HTTP/1.1 100 Continue\r\n\r\n");
            }
            send(std::move(response), out);
        } else if (const auto* stray = std::get_if<service_fault_stray_bytes>(&effect)) {
            send_with_stray_bytes(now, std::move(response), *stray, out);
        } else {
            send(std::move(response), out);  // created by the rule
        }
    }

    // --- correct answers -----------------------------------------------------------------------

    void send(service_response response, std::vector<std::byte>& out) {
        const bool is_chunked = response.more || response.continues;
        const bool is_last = !is_kept_alive_ || response.continues;
        const http::header_list headers = to_http(response.headers);
        const auto written = http::encode_response(
            out,
            {.status = response.status,
             .headers = &headers,
             .body = base::as_bytes(response.body),
             .framing = is_chunked ? http::body_framing::chunked : http::body_framing::with_length,
             .end = is_last ? http::connection_end::close : http::connection_end::keep_alive});
        if (!written) {
            // A rule specified a status or a header that cannot be encoded; report it to the peer.
            (void)http::encode_response(out, {.status = 500, .end = http::connection_end::close});
            state_ = state::closing;
        } else if (response.continues) {
            stream_ = *std::move(response.continues);
            state_ = state::streaming;
        } else if (response.more) {
            body_ = std::move(response.more);
            state_ = state::sending;
        } else {
            after_answer();
        }
    }

    void send_piece(std::vector<std::byte>& out) {
        piece_.clear();
        const bool is_more = body_->append_next(piece_);
        http::encode_chunk(out, base::as_bytes(piece_));
        if (!is_more) {
            http::encode_last_chunk(out);
            body_.reset();
            after_answer();
        }
    }

    void after_answer() noexcept { state_ = is_kept_alive_ ? state::idle : state::closing; }

    // --- corrupted answers ---------------------------------------------------------------------

    // Collects the start of a streamed body, as much as the rules below need.
    static void gather(service_response& response, std::size_t size) {
        while (response.more && response.body.size() < size) {
            if (!response.more->append_next(response.body)) {
                response.more.reset();
            }
        }
    }

    // Sends a correct head and this many bytes of the body.
    void send_start(service_response response, std::size_t size, std::vector<std::byte>& out) {
        const bool is_chunked = response.more || response.continues;
        gather(response, size);
        const base::byte_view body = base::as_bytes(response.body);
        const http::header_list headers = to_http(response.headers);
        std::vector<std::byte> whole;
        (void)http::encode_response(
            whole, {.status = response.status,
                    .headers = &headers,
                    .body = is_chunked ? base::byte_view{} : body,
                    .framing = is_chunked ? http::body_framing::chunked
                                          : http::body_framing::with_length});
        const base::byte_view kept = body.first(std::min(size, body.size()));
        if (is_chunked) {
            out.insert(out.end(), whole.begin(), whole.end());
            http::encode_chunk(out, kept);
        } else {
            const std::size_t head_size = whole.size() - std::min(whole.size(), body.size());
            out.insert(
                out.end(), whole.begin(),
                whole.begin() + static_cast<std::ptrdiff_t>(head_size + kept.size()));
        }
        state_ = state::closing;
    }

    void send_head(
        const service_response& response, std::string_view framing, std::vector<std::byte>& out) {
        append_text(
            out, "HTTP/1.1 " + std::to_string(response.status) + " " +
                     std::string(http::reason_phrase(response.status)) + "\r\n");
        for (const service_header& each : response.headers) {
            append_text(out, each.name + ": " + each.value + "\r\n");
        }
        append_text(out, framing);
        append_text(out, "\r\n\r\n");
    }

    void send_wrong_length(
        service_response response, std::int64_t difference, std::vector<std::byte>& out) {
        if (response.more || response.continues) {
            return send(std::move(response), out);
        }
        const auto size = static_cast<std::int64_t>(response.body.size());
        send_head(
            response,
            "Content-Length: " + std::to_string(std::max<std::int64_t>(size + difference, 0)), out);
        append_text(out, response.body);
        state_ = state::closing;
    }

    void send_with_stray_bytes(
        time_point now, service_response response, const service_fault_stray_bytes& stray,
        std::vector<std::byte>& out) {
        if (response.more || response.continues) {
            return send(std::move(response), out);
        }
        append_text(out, stray.before);
        send(std::move(response), out);
        if (stray.pause == std::chrono::nanoseconds{0}) {
            append_text(out, stray.after);
        } else {
            due_ = now + stray.pause;
            stray_ = stray.after;
        }
    }

    void send_bad_chunk(service_response response, std::vector<std::byte>& out) {
        gather(response, 1);
        send_head(response, "Transfer-Encoding: chunked", out);
        const std::size_t half = response.body.size() / 2;
        const std::string_view body = response.body;
        http::encode_chunk(out, base::as_bytes(body.substr(0, half)));
        append_text(out, "not a size\r\n");
        append_text(out, body.substr(half));
        append_text(out, "\r\n");
        state_ = state::closing;
    }

    cluster& owner_;
    service_accept_options options_;
    http::request_parser parser_;
    state state_ = state::idle;
    bool is_kept_alive_ = true;
    std::size_t held_size_ = 0;
    time_point due_{};
    service_response answer_;
    std::string stray_;  // sent at `due_` while idle
    std::unique_ptr<body_source> body_;
    std::string piece_;
    management_response::stream stream_;
};

service_connection::service_connection(cluster& owner, service_accept_options options)
    : machine_(std::make_unique<machine>(owner, std::move(options))) {}
service_connection::service_connection(service_connection&&) noexcept = default;
service_connection& service_connection::operator=(service_connection&&) noexcept = default;
service_connection::~service_connection() = default;

void service_connection::on_bytes(
    time_point now, base::byte_view bytes, std::vector<std::byte>& out) {
    machine_->on_bytes(now, bytes, out);
}

void service_connection::on_time(time_point now, std::vector<std::byte>& out) {
    machine_->on_time(now, out);
}

std::optional<time_point> service_connection::next_due() const noexcept {
    return machine_->next_due();
}

bool service_connection::has_more() const noexcept {
    return machine_->has_more();
}

bool service_connection::is_streaming() const noexcept {
    return machine_->is_streaming();
}

bool service_connection::is_closing() const noexcept {
    return machine_->is_closing();
}

}  // namespace reprise::sandbox
