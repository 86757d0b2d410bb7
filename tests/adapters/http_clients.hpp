#pragma once

/// The same request through both HTTP adapters, so that one set of tests covers both.

#include <memory>
#include <string>

#include <curl/curl.h>
#include <boost/beast/http.hpp>

#include <reprise/retry/adapters/beast.hpp>
#include <reprise/retry/adapters/curl.hpp>

namespace adapters {

struct curl_client {
    using result = reprise::adapters::curl_result;

    std::string method;
    std::string port;
    reprise::repeatability repeat = reprise::repeatability::unspecified;

    [[nodiscard]] result operator()(const reprise::attempt& current) const {
        const std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> curl(
            curl_easy_init(), curl_easy_cleanup);
        curl_easy_setopt(curl.get(), CURLOPT_URL, ("http://127.0.0.1:" + port + "/r").c_str());
        if (method == "POST") {
            curl_easy_setopt(curl.get(), CURLOPT_POSTFIELDS, "n=1");
        }
        curl_easy_setopt(curl.get(), CURLOPT_NOBODY, method == "HEAD" ? 1L : 0L);
        return reprise::adapters::curl_perform(curl.get(), current, {.repeat = repeat});
    }
    [[nodiscard]] static int status(const result& from) { return from.status; }
    [[nodiscard]] static std::string body(const result& from) { return from.body; }
};

struct beast_client {
    using result = reprise::adapters::beast_result<>;

    std::string method;
    std::string port;
    reprise::repeatability repeat = reprise::repeatability::unspecified;

    [[nodiscard]] boost::beast::http::request<boost::beast::http::string_body> request() const {
        namespace http = boost::beast::http;
        http::request<http::string_body> made{http::string_to_verb(method), "/r", 11};
        made.set(http::field::host, "127.0.0.1");
        if (method == "POST") {
            made.body() = "n=1";
        }
        return made;
    }
    [[nodiscard]] result operator()(const reprise::attempt& current) const {
        return reprise::adapters::beast_fetch({"127.0.0.1", port}, request(), current, repeat);
    }
    [[nodiscard]] static int status(const result& from) {
        return from.error.failed() ? 0 : static_cast<int>(from.response.result_int());
    }
    [[nodiscard]] static std::string body(const result& from) { return from.response.body(); }
};

}  // namespace adapters
