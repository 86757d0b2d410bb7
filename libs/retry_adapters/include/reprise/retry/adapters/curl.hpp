#pragma once

/// libcurl: one transfer as an operation that `reprise::retry` understands.
/// ```
///     CURL* const curl = curl_easy_init();
///     curl_easy_setopt(curl, CURLOPT_URL, arguments[1]);
///     ...
///     const auto page = reprise::retry(strategy, options, [&](const reprise::attempt& current) {
///         return reprise::adapters::curl_perform(curl, current);
///     });
/// ```
/// Needs libcurl 7.83 or later.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

#include <curl/curl.h>

#include <reprise/retry/adapters/curl_codes.hpp>
#include <reprise/retry/adapters/http_method.hpp>
#include <reprise/retry/adapters/public_url.hpp>
#include <reprise/retry/call_options.hpp>
#include <reprise/retry/detail/compiler.hpp>
#include <reprise/retry/http_facts.hpp>
#include <reprise/retry/outcome.hpp>

#if LIBCURL_VERSION_NUM < 0x075300
#error "this adapter needs libcurl 7.83 or later"
#endif

namespace reprise::adapters {

/// Options of `curl_perform`.
struct curl_options {
    /// Whether the request may be sent twice. Unspecified: the method decides. State `repeatable`
    /// for a POST that carries an idempotency key. libcurl itself sends a request again, also a
    /// POST, if a connection that it reused closes without an answer; `not_repeatable`, here or in
    /// the options of the call, prevents that by a new connection for each request. A share of
    /// yours (CURLOPT_SHARE) is then not used: see `curl_perform`.
    repeatability repeat = repeatability::unspecified;
    /// A longer body fails with CURLE_WRITE_ERROR, which is not retried. In bytes.
    std::size_t body_size_max = std::size_t{64} << 20;
};

/// The end of one transfer.
struct curl_result {
    CURLcode code = CURLE_OK;  ///< What `curl_easy_perform` returned.
    /// The HTTP status; 0 if no answer arrived, and for protocols other than HTTP.
    int status = 0;
    std::string body{};
    std::string retry_after{};  ///< The text of the Retry-After field; empty without one.
    /// The method sent last, after redirects. Empty for protocols other than HTTP.
    std::string method{};
    /// Some bytes of a request were sent. With other protocols: libcurl had a connection.
    bool is_sent = false;
    bool is_redirected = false;  ///< Followed at least one redirect (CURLOPT_FOLLOWLOCATION).
    std::chrono::sys_seconds ended_at{};
    repeatability repeat = repeatability::unspecified;  ///< From the options.

    /// A transfer that libcurl could not finish, or a status of 400 and above.
    [[nodiscard]] bool is_failure() const noexcept { return code != CURLE_OK || status >= 400; }

    /// "HTTP 503", or libcurl's text for its code.
    [[nodiscard]] std::string message() const {
        return code == CURLE_OK ? "HTTP " + std::to_string(status) : curl_easy_strerror(code);
    }

    /// Safe to repeat: name resolution, connection and TLS handshake failures, a timeout before
    /// anything was sent, and the statuses 408 and 429. Repeated only for requests that may be sent
    /// twice: other timeouts, broken connections, truncated answers and 5xx. Never repeated: other
    /// 4xx, bad URLs, untrusted certificates, and what your own callbacks ended.
    ///
    /// A server may execute a POST before it redirects (303), and libcurl reports neither the
    /// status nor the method of that first request. After a redirect, 408 and 429 are therefore
    /// repeated only for requests that may be sent twice. A GET after a redirect is repeated only
    /// if you state that the request is repeatable: it may have been a POST before.
    ///
    /// With protocols other than HTTP (FTP, SMTP, ...) libcurl does not report what was sent. Once
    /// it has a connection, a failure is repeated only if you state that the transfer is
    /// repeatable.
    [[nodiscard]] failure_facts retry_facts() const noexcept;
};

namespace detail {

/// Facts of libcurl's code, if there is no HTTP status.
[[nodiscard]] inline failure_facts curl_code_facts(CURLcode code, bool is_sent) noexcept {
    failure_facts facts{
        .safety = retry_safety::no,
        .fault = failure_fault::other,
        .code = static_cast<std::uint32_t>(code)};
    if (const auto* const row = reprise::detail::find_row(curl_rows, static_cast<int>(code))) {
        const bool is_late = is_sent && row->safety == retry_safety::yes;
        facts.safety = is_late ? retry_safety::maybe : row->safety;
        facts.timeout = row->timeout;
        facts.fault = row->fault;
    }
    return facts;
}

struct curl_body {
    std::string* text;
    std::size_t size_max;
};

inline std::size_t append_curl_body(char* data, std::size_t, std::size_t size, void* to) noexcept {
    const auto& body = *static_cast<curl_body*>(to);
    if (size > body.size_max - body.text->size()) {
        return size + 1;  // Any number but `size` ends the transfer with CURLE_WRITE_ERROR.
    }
    return reprise::detail::guarded(size + 1, [&] {
        body.text->append(data, size);
        return size;
    });
}

/// The options that one transfer sets. At its end they get libcurl's defaults again, so that
/// nothing points to objects that are gone.
class curl_transfer_options {
public:
    /// Both must outlive the object.
    curl_transfer_options(
        CURL* handle, curl_body& body, duration limit, repeatability repeat) noexcept
        : handle_(handle),
          is_limited_(limit < std::chrono::hours{24 * 20}),
          needs_connection_(repeat == repeatability::not_repeatable) {
        curl_easy_setopt(handle_, CURLOPT_WRITEFUNCTION, append_curl_body);
        curl_easy_setopt(handle_, CURLOPT_WRITEDATA, &body);
        if (is_limited_) {  // libcurl's limit is 32 bits of milliseconds, and 0 means none.
            const auto time = std::chrono::ceil<std::chrono::milliseconds>(limit);
            const auto count = std::max<std::int64_t>(1, time.count());
            curl_easy_setopt(handle_, CURLOPT_TIMEOUT_MS, static_cast<long>(count));
        }
        if (needs_connection_) {
            curl_easy_setopt(handle_, CURLOPT_FRESH_CONNECT, 1L);
            curl_easy_setopt(handle_, CURLOPT_FORBID_REUSE, 1L);  // Also not after a redirect.
        }
    }
    ~curl_transfer_options() {
        curl_easy_setopt(handle_, CURLOPT_WRITEFUNCTION, nullptr);  // libcurl's own, which writes
        curl_easy_setopt(handle_, CURLOPT_WRITEDATA, stdout);       // to a stream.
        if (is_limited_) {
            curl_easy_setopt(handle_, CURLOPT_TIMEOUT_MS, 0L);
        }
        if (needs_connection_) {
            curl_easy_setopt(handle_, CURLOPT_FRESH_CONNECT, 0L);
            curl_easy_setopt(handle_, CURLOPT_FORBID_REUSE, 0L);
        }
    }
    curl_transfer_options(const curl_transfer_options&) = delete;
    curl_transfer_options& operator=(const curl_transfer_options&) = delete;

private:
    CURL* handle_;
    bool is_limited_;
    bool needs_connection_;
};

/// While one exists, the handle has no idle connections. CURLOPT_FRESH_CONNECT counts only for the
/// first request of a transfer: the next one, after a redirect or a challenge to authenticate,
/// could take a connection that an earlier transfer left in the handle or in a share.
class curl_empty_pool {
public:
    explicit curl_empty_pool(CURL* handle) noexcept : handle_(handle), share_(curl_share_init()) {
        is_set_ =
            share_ != nullptr &&
            curl_share_setopt(share_, CURLSHOPT_SHARE, CURL_LOCK_DATA_CONNECT) == CURLSHE_OK &&
            curl_easy_setopt(handle_, CURLOPT_SHARE, share_) == CURLE_OK;
    }
    ~curl_empty_pool() {
        if (is_set_) {
            curl_easy_setopt(handle_, CURLOPT_SHARE, nullptr);
        }
        curl_share_cleanup(share_);  // Fails while a handle uses it. Closes its connections.
    }
    curl_empty_pool(const curl_empty_pool&) = delete;
    curl_empty_pool& operator=(const curl_empty_pool&) = delete;

    /// False if there was no memory for it.
    [[nodiscard]] bool is_set() const noexcept { return is_set_; }

private:
    CURL* handle_;
    CURLSH* share_;
    bool is_set_ = false;
};

/// Older versions of libcurl report schemes in upper case.
[[nodiscard]] constexpr bool is_http_scheme(std::string_view scheme) noexcept {
    return scheme == "HTTP" || scheme == "HTTPS" || scheme == "http" || scheme == "https";
}

inline void read_curl_answer(CURL* handle, curl_result& result) {
    long number = 0;
    curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &number);
    result.status = static_cast<int>(number);
    curl_easy_getinfo(handle, CURLINFO_REQUEST_SIZE, &number);
    result.is_sent = number > 0;
    curl_easy_getinfo(handle, CURLINFO_REDIRECT_COUNT, &number);
    result.is_redirected = number > 0;
    const char* method = nullptr;
    curl_easy_getinfo(handle, CURLINFO_EFFECTIVE_METHOD, &method);
    result.method = method != nullptr ? method : "";
    const char* scheme = nullptr;  // Null before there is a connection.
    curl_easy_getinfo(handle, CURLINFO_SCHEME, &scheme);
    if (scheme != nullptr && !is_http_scheme(scheme)) {
        result.is_sent = true;  // The size is that of HTTP requests,
        result.method.clear();  // every upload has the method "PUT",
        result.status = 0;      // and the last answer may be one that libcurl ignores.
    }
    curl_header* header = nullptr;
    if (curl_easy_header(handle, "Retry-After", 0, CURLH_HEADER, -1, &header) == CURLHE_OK) {
        result.retry_after = header->value;
    }
}

}  // namespace detail

inline failure_facts curl_result::retry_facts() const noexcept {
    const bool has_bad_status =
        status >= 400 && (code == CURLE_OK || code == CURLE_HTTP_RETURNED_ERROR);
    const failure_facts of_status = http_facts(status, retry_after, ended_at);
    failure_facts facts = has_bad_status ? of_status : detail::curl_code_facts(code, is_sent);
    facts.minimum_wait = of_status.minimum_wait;  // Also if the rest of the answer was lost.
    if (!is_sent) {
        return facts;
    }
    if (is_redirected && facts.safety == retry_safety::yes) {
        facts.safety = retry_safety::maybe;  // A 429 refuses the last request, not the first.
    }
    const bool is_first_unknown = is_redirected && method == "GET";
    return facts_after_sending(facts, is_first_unknown ? std::string_view() : method, repeat);
}

/// Performs one transfer with `handle`, whose options are yours, and collects the body. It has the
/// time that is left of the attempt. Some options are set for the transfer and have libcurl's
/// default values afterwards: CURLOPT_WRITEFUNCTION, CURLOPT_WRITEDATA, if the attempt has a limit
/// CURLOPT_TIMEOUT_MS, and for a request that is not repeatable CURLOPT_FRESH_CONNECT,
/// CURLOPT_FORBID_REUSE and CURLOPT_SHARE. Set them again for a transfer of your own. A request
/// body must be one that libcurl can send again (CURLOPT_COPYPOSTFIELDS or CURLOPT_POSTFIELDS; a
/// read callback must start from the beginning).
///
/// A request that is not repeatable does not use a share of yours, neither its connections nor its
/// cookies and TLS sessions. State the cookies that it needs (CURLOPT_COOKIE), or use a handle that
/// keeps its own.
[[nodiscard]] inline curl_result curl_perform(
    CURL* handle, const attempt& current, const curl_options& options = {}) {
    curl_result result;
    result.repeat = current.stated_or_mark(options.repeat);
    std::optional<detail::curl_empty_pool> pool;
    if (result.repeat == repeatability::not_repeatable && !pool.emplace(handle).is_set()) {
        result.code = CURLE_OUT_OF_MEMORY;
        return result;
    }
    detail::curl_body body{&result.body, options.body_size_max};
    const detail::curl_transfer_options set(handle, body, current.time_left(), result.repeat);
    result.code = curl_easy_perform(handle);
    result.ended_at = current.calendar_time();
    detail::read_curl_answer(handle, result);
    return result;
}

}  // namespace reprise::adapters

template <>
struct reprise::outcome_traits<reprise::adapters::curl_result> {
    [[nodiscard]] static bool is_failure(const adapters::curl_result& result) noexcept {
        return result.is_failure();
    }
    [[nodiscard]] static failure_facts facts(const adapters::curl_result& result) noexcept {
        return result.retry_facts();
    }
};
