// The reference for http_stream_bench: curl reads the same answers and discards every byte. Its
// buffer has the size that the curl program uses.

#include <cstdlib>
#include <string>

#include <curl/curl.h>

#include "stream_reading.hpp"

namespace {

constexpr long buffer_size = 102'400;

std::size_t drop(char*, std::size_t size, std::size_t count, void* seen) {
    *static_cast<std::uint64_t*>(seen) += size * count;
    return size * count;
}

// Returns the size of the answer's body in bytes.
std::uint64_t read_answer(CURL* curl, const std::string& shape, std::uint64_t row_count) {
    const std::string body =
        R"({"statement":")" + bench::stream_statement(shape, row_count) + R"("})";
    std::uint64_t seen = 0;
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body.c_str());
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, &drop);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, &seen);
    long status = 0;
    if (curl_easy_perform(curl) != CURLE_OK ||
        curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status) != CURLE_OK || status != 200) {
        std::fputs("curl failed\n", stderr);
        std::exit(1);
    }
    return seen;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 4) {
        std::fputs("usage: http_curl_client QUERY_PORT SHAPE ROWS\n", stderr);
        return 2;
    }
    const std::string url = std::string("http://127.0.0.1:") + argv[1] + "/query/service";
    const std::string shape = argv[2];
    const auto row_count = std::strtoull(argv[3], nullptr, 10);
    curl_global_init(CURL_GLOBAL_DEFAULT);
    CURL* const curl = curl_easy_init();
    curl_slist* const headers = curl_slist_append(nullptr, "Content-Type: application/json");
    curl_easy_setopt(curl, CURLOPT_URL, url.c_str());
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(curl, CURLOPT_PROXY, "");
    curl_easy_setopt(curl, CURLOPT_BUFFERSIZE, buffer_size);
    read_answer(curl, shape, row_count / 10 + 1);  // opens the connection and warms up the memory
    const bench::process_reading begin;
    const auto size = static_cast<double>(read_answer(curl, shape, row_count));
    const bench::process_reading end;
    std::printf(
        "{\"body_bytes\": %.0f, \"cpu_ns_per_byte\": %.4f, \"mb_per_second\": %.1f, "
        "\"memory_peak_kib\": %ld}\n",
        size, (end.cpu - begin.cpu) * 1e9 / size, size / (end.wall - begin.wall) / 1e6,
        bench::memory_peak_kib());
    curl_slist_free_all(headers);
    curl_easy_cleanup(curl);
    curl_global_cleanup();
}
