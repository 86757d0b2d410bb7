#include <iostream>
#include <reprise/retry.hpp>
#include <reprise/retry/adapters/curl.hpp>

int main(int, char** arguments) {
    CURL* const curl = curl_easy_init();
    curl_easy_setopt(curl, CURLOPT_URL, arguments[1]);
    reprise::standard_strategy strategy;
    const auto page = reprise::retry(strategy, [&](const reprise::attempt& current) {
        return reprise::adapters::curl_perform(curl, current);
    });
    std::cout << page.status << ' ' << page.body << '\n';
    curl_easy_cleanup(curl);
}
