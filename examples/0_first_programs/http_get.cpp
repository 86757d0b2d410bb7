#include <iostream>
#include <reprise/retry.hpp>
#include <reprise/retry/adapters/curl.hpp>

int main(int, char** arguments) {
    CURL* const curl = curl_easy_init();
    curl_easy_setopt(curl, CURLOPT_URL, arguments[1]);
    const std::string url = reprise::adapters::public_url(arguments[1]);
    const auto rule = reprise::attempts(3).observer(reprise::log_to(std::clog));
    const auto page = reprise::retry(
        rule, {.timeout = std::chrono::seconds{2}, .name = url},
        [&](const reprise::attempt& a) { return reprise::adapters::curl_perform(curl, a); });
    std::cout << page.status << ' ' << page.body << '\n';
    curl_easy_cleanup(curl);
}
