/// A download with libcurl that waits as long as a 429 asks for: curl URL

#include <iostream>
#include <reprise/retry.hpp>
#include <reprise/retry/adapters/curl.hpp>

int main(int, char** arguments) {
    // [call]
    curl_global_init(CURL_GLOBAL_DEFAULT);
    CURL* const curl = curl_easy_init();
    curl_easy_setopt(curl, CURLOPT_URL, arguments[1]);
    reprise::standard_strategy strategy;  // One for the whole program.
    const reprise::call_options options{.timeout = std::chrono::seconds{30}};
    const auto page = reprise::retry(strategy, options, [&](const reprise::attempt& current) {
        return reprise::adapters::curl_perform(curl, current);
    });
    std::cout << page.status << ' ' << page.body << '\n';
    // [/call]
}
