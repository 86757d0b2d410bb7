/// A download with Boost.Beast from a server on the loopback: beast PORT

#include <iostream>
#include <reprise/retry.hpp>
#include <reprise/retry/adapters/beast.hpp>

int main(int, char** arguments) {
    // [call]
    namespace http = boost::beast::http;
    http::request<http::empty_body> request{http::verb::get, "/report", 11};
    request.set(http::field::host, "127.0.0.1");
    reprise::standard_strategy strategy;  // One for the whole program.
    const reprise::call_options options{.timeout = std::chrono::seconds{30}};
    const auto page = reprise::retry(strategy, options, [&](const reprise::attempt& current) {
        return reprise::adapters::beast_fetch({"127.0.0.1", arguments[1]}, request, current);
    });
    std::cout << page.response.body() << '\n';
    // [/call]
}
