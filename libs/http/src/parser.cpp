// Both parsers. This is the only file that uses Beast. Beast's parser handles the grammar; the
// limits that it does not enforce (see header_budget) and the sequence of messages are ours.

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>

#include <reprise/http/request_parser.hpp>
#include <reprise/http/response_parser.hpp>

namespace reprise::http {

namespace {

namespace beast_http = boost::beast::http;
using beast_text = boost::beast::string_view;
using beast_error = boost::beast::error_code;

std::string to_string(beast_text text) {
    return {text.data(), text.size()};
}

// The bytes for a parser: the piece that was fed or, if the parser needs more than that piece has,
// our own buffer with the remainder.
class byte_source {
public:
    void borrow(base::byte_view piece) {
        if (gathered_.empty()) {
            borrowed_ = piece;
        } else {
            append(piece);
        }
    }
    void append(base::byte_view piece) {
        gather();
        gathered_.insert(gathered_.end(), piece.begin(), piece.end());
    }
    // Copies the bytes, so that the caller's memory is no longer needed.
    void gather() {
        gathered_.erase(gathered_.begin(), gathered_.begin() + static_cast<std::ptrdiff_t>(used_));
        used_ = 0;
        gathered_.insert(gathered_.end(), borrowed_.begin(), borrowed_.end());
        borrowed_ = {};
    }
    base::byte_view rest() const noexcept {
        return gathered_.empty() ? borrowed_ : base::byte_view(gathered_).subspan(used_);
    }
    void consume(std::size_t size) noexcept {
        if (gathered_.empty()) {
            borrowed_ = borrowed_.subspan(size);
        } else {
            used_ += size;
        }
    }
    // Frees consumed bytes. Views into them become invalid.
    void forget_consumed() noexcept {
        if (used_ == gathered_.size()) {
            gathered_.clear();
            used_ = 0;
        }
    }

private:
    base::byte_view borrowed_;
    std::vector<std::byte> gathered_;
    std::size_t used_ = 0;
};

// The grammar of one message. It stores the head and exposes the body in pieces.
template <bool is_request>
class grammar final : public beast_http::basic_parser<is_request> {
public:
    explicit grammar(std::size_t header_size_max) {
        this->eager(false);  // at most one body piece per put
        this->header_limit(static_cast<std::uint32_t>(header_size_max));
        this->body_limit(boost::none);
    }

    std::string method;
    std::string target;
    response_head head;
    base::byte_view piece;  // the body bytes of the last put

    // With fewer bytes than this, nothing can be decided. Every chunked body ends with at least
    // five bytes after its last data, and Beast asserts that it has five once it sees the beginning
    // of the end.
    std::size_t bite_size_min() const noexcept {
        const bool awaits_chunk =
            this->is_header_done() && this->chunked() && chunk_rest_ == 0 && !this->is_done();
        return awaits_chunk ? 5 : 1;
    }

private:
    void on_request_impl(
        beast_http::verb, beast_text method_text, beast_text target_text, int version,
        beast_error&) override {
        method = to_string(method_text);
        target = to_string(target_text);
        head.minor_version = version >= 11 ? 1 : 0;
    }
    void on_response_impl(int code, beast_text reason, int version, beast_error&) override {
        head.status = code;
        head.reason = to_string(reason);
        head.minor_version = version >= 11 ? 1 : 0;
    }
    void on_field_impl(
        beast_http::field field, beast_text name, beast_text value, beast_error& ec) override {
        if (this->is_header_done()) {
            return;  // a trailer field
        }
        head.headers.push_back({to_string(name), to_string(value)});
        if (field == beast_http::field::transfer_encoding &&
            !equal_ignoring_case(head.headers.back().value, "chunked")) {
            ec = beast_http::error::bad_transfer_encoding;
        }
    }
    void on_header_impl(beast_error&) override {}
    void on_body_init_impl(
        const boost::optional<std::uint64_t>& /*content_length*/, beast_error&) override {}
    std::size_t on_body_impl(beast_text body, beast_error&) override {
        piece = base::as_bytes({body.data(), body.size()});
        return body.size();
    }
    void on_chunk_header_impl(std::uint64_t size, beast_text, beast_error&) override {
        chunk_rest_ = size;
    }
    std::size_t on_chunk_body_impl(std::uint64_t rest, beast_text body, beast_error&) override {
        chunk_rest_ = rest - body.size();
        piece = base::as_bytes({body.data(), body.size()});
        return body.size();
    }
    void on_finish_impl(beast_error&) override {}

    std::uint64_t chunk_rest_ = 0;  // bytes of the current chunk that have not arrived
};

http_errc name_of(const beast_error& ec, bool is_header_done) noexcept {
    using beast_http::error;
    if (ec == error::header_limit) {
        return http_errc::header_too_large;
    }
    if (ec == error::body_limit) {
        return http_errc::body_too_large;
    }
    if (is_header_done) {
        return http_errc::chunk_invalid;
    }
    if (ec == error::bad_version) {
        return http_errc::version_unsupported;
    }
    if (ec == error::bad_content_length || ec == error::multiple_content_length) {
        return http_errc::content_length_invalid;
    }
    if (ec == error::bad_transfer_encoding) {
        return http_errc::transfer_encoding_unsupported;
    }
    if (ec == error::bad_method || ec == error::bad_target || ec == error::bad_status ||
        ec == error::bad_reason) {
        return http_errc::start_line_invalid;
    }
    return http_errc::header_invalid;
}

enum class step : std::uint8_t { progress, need_more };

// Parses once. Beast limits a header only while it waits for its end in one buffer. It does not
// limit fields fed one at a time, chunk size lines and trailers. So everything outside bodies is
// counted here: `spent` counts since the start of the message or the last body piece.
template <bool is_request>
std::expected<step, http_errc> take_bite(
    grammar<is_request>& rules, byte_source& source, std::size_t& spent,
    std::size_t header_size_max) {
    const base::byte_view rest = source.rest();
    rules.piece = {};
    if (rest.size() < rules.bite_size_min()) {
        return step::need_more;
    }
    beast_error ec;
    const std::size_t size = rules.put(boost::asio::buffer(rest.data(), rest.size()), ec);
    source.consume(size);
    if (ec && ec != beast_http::error::need_more) {
        return std::unexpected(name_of(ec, rules.is_header_done()));
    }
    spent = rules.piece.empty() ? spent + size : 0;
    const bool is_waiting = ec == beast_http::error::need_more;
    if (spent + (is_waiting ? rest.size() - size : 0) > header_size_max) {
        return std::unexpected(http_errc::header_too_large);
    }
    return is_waiting ? step::need_more : step::progress;
}

}  // namespace

// --- requests ------------------------------------------------------------------------------------

class request_parser::machine {
public:
    explicit machine(const parser_limits& limits) : limits_(limits) { begin(); }

    void feed(base::byte_view bytes) {
        if (!failure_) {
            source_.append(bytes);
        }
    }

    std::expected<std::optional<request>, http_errc> next() {
        while (!failure_) {
            const auto bite = take_bite(*rules_, source_, spent_, limits_.header_size_max_bytes);
            if (!bite) {
                failure_ = bite.error();
                break;
            }
            body_.append(base::as_text(rules_->piece));
            source_.forget_consumed();
            if (rules_->is_done()) {
                return finish_request();
            }
            if (*bite == step::need_more) {
                return std::nullopt;
            }
        }
        return std::unexpected(*failure_);
    }

    bool is_at_boundary() const noexcept { return !rules_->got_some() && source_.rest().empty(); }

private:
    void begin() {
        rules_.emplace(limits_.header_size_max_bytes);
        rules_->body_limit(limits_.body_size_max_bytes);
        spent_ = 0;
        body_.clear();
    }

    request finish_request() {
        request done{
            std::move(rules_->method), std::move(rules_->target), std::move(rules_->head.headers),
            std::move(body_),          rules_->keep_alive(),      rules_->head.minor_version};
        begin();
        return done;
    }

    parser_limits limits_;
    byte_source source_;
    std::optional<grammar<true>> rules_;
    std::size_t spent_ = 0;
    std::string body_;
    std::optional<http_errc> failure_;
};

request_parser::request_parser(const parser_limits& limits)
    : machine_(std::make_unique<machine>(limits)) {}
request_parser::request_parser(request_parser&&) noexcept = default;
request_parser& request_parser::operator=(request_parser&&) noexcept = default;
request_parser::~request_parser() = default;

void request_parser::feed(base::byte_view bytes) {
    machine_->feed(bytes);
}

std::expected<std::optional<request>, http_errc> request_parser::next() {
    return machine_->next();
}

bool request_parser::is_at_boundary() const noexcept {
    return machine_->is_at_boundary();
}

// --- responses -----------------------------------------------------------------------------------

class response_parser::machine {
public:
    machine(const parser_limits& limits, response_kind kind) : limits_(limits) { restart(kind); }

    void restart(response_kind kind) {
        kind_ = kind;
        begin();
        informational_count_ = 0;
        is_head_shown_ = false;
        is_complete_ = false;
    }

    void feed(base::byte_view bytes) { source_.borrow(bytes); }

    std::expected<response_event, http_errc> next() {
        if (failure_) {
            return std::unexpected(*failure_);
        }
        if (is_complete_) {
            if (!source_.rest().empty()) {
                return fail(http_errc::unexpected_data);
            }
            return response_event::complete;
        }
        source_.forget_consumed();
        while (!rules_->is_done()) {
            const auto bite = take_bite(*rules_, source_, spent_, limits_.header_size_max_bytes);
            if (!bite) {
                return fail(bite.error());
            }
            if (rules_->is_header_done() && !is_head_shown_) {
                if (!is_informational()) {
                    return show_head();
                }
                if (++informational_count_ > informational_count_max) {
                    return fail(http_errc::too_many_informational);
                }
                begin();  // a parser handles only one message
                continue;
            }
            if (!rules_->piece.empty()) {
                return response_event::body;
            }
            if (*bite == step::need_more) {
                source_.gather();
                return response_event::need_more;
            }
        }
        return complete();
    }

    std::expected<response_event, http_errc> finish() {
        if (failure_) {
            return std::unexpected(*failure_);
        }
        if (is_complete_ || rules_->is_done()) {
            return complete();
        }
        if (!rules_->got_some()) {
            return fail(
                informational_count_ > 0 ? http_errc::message_truncated : http_errc::no_message);
        }
        beast_error ec;
        rules_->put_eof(ec);
        if (ec) {
            return fail(http_errc::message_truncated);
        }
        return complete();
    }

    const response_head& head() const noexcept { return rules_->head; }
    base::byte_view body() const noexcept { return rules_->piece; }
    bool is_kept_alive() const noexcept {
        return !failure_ && is_complete_ && rules_->head.status != 101 && rules_->keep_alive();
    }

private:
    static constexpr int informational_count_max = 16;

    void begin() {
        rules_.emplace(limits_.header_size_max_bytes);
        rules_->skip(kind_ == response_kind::to_head);
        spent_ = 0;
    }

    bool is_informational() const noexcept {
        return rules_->head.status / 100 == 1 && rules_->head.status != 101;
    }

    response_event show_head() {
        if (const auto length = rules_->content_length()) {
            rules_->head.content_length = *length;
        }
        is_head_shown_ = true;
        spent_ = 0;
        return response_event::head;
    }

    response_event complete() {
        is_complete_ = true;
        source_.gather();
        source_.forget_consumed();
        return response_event::complete;
    }

    std::expected<response_event, http_errc> fail(http_errc error) {
        failure_ = error;
        return std::unexpected(error);
    }

    parser_limits limits_;
    response_kind kind_ = response_kind::with_body;
    byte_source source_;
    std::optional<grammar<false>> rules_;
    std::size_t spent_ = 0;
    int informational_count_ = 0;
    bool is_head_shown_ = false;
    bool is_complete_ = false;
    std::optional<http_errc> failure_;
};

response_parser::response_parser(const parser_limits& limits, response_kind kind)
    : machine_(std::make_unique<machine>(limits, kind)) {}
response_parser::response_parser(response_parser&&) noexcept = default;
response_parser& response_parser::operator=(response_parser&&) noexcept = default;
response_parser::~response_parser() = default;

void response_parser::feed(base::byte_view bytes) {
    machine_->feed(bytes);
}
std::expected<response_event, http_errc> response_parser::next() {
    return machine_->next();
}
std::expected<response_event, http_errc> response_parser::finish() {
    return machine_->finish();
}
const response_head& response_parser::head() const noexcept {
    return machine_->head();
}
base::byte_view response_parser::body() const noexcept {
    return machine_->body();
}
bool response_parser::is_kept_alive() const noexcept {
    return machine_->is_kept_alive();
}
void response_parser::restart(response_kind kind) {
    machine_->restart(kind);
}

}  // namespace reprise::http
