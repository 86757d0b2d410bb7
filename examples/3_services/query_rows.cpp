// Runs statements: rows one by one, parameters, a prepared statement, another retry strategy for
// one call. With a cluster of its own:
//
//     reprise sandbox run --user app --password secret -- query_rows

#include <cstdlib>
#include <iostream>
#include <memory>

#include <reprise/couchbase.hpp>

namespace couchbase = reprise::couchbase;
using namespace std::chrono_literals;

// Reads rows as they arrive. The server waits for a slow reader.
bool print_rows(const couchbase::cluster& cluster) {
    // [rows]
    auto rows = cluster.query_stream(
        "SELECT n, $greeting AS hello FROM ARRAY_RANGE(0, 3) AS n",
        {.readonly = true, .named = {{"greeting", "bonjour"}}, .metrics = true});
    if (!rows) {
        std::cerr << rows.error() << '\n';
        return false;
    }
    for (const auto& row : *rows) {
        if (!row) {                            // the rows so far are not all rows
            std::cerr << row.error() << '\n';  // with every attempt
            return false;
        }
        std::cout << row->text() << '\n';
    }
    auto about = rows->finish();
    // [/rows]
    return about && about->metrics && about->metrics->result_count == 3;
}

// The first call prepares the statement, later calls run it by its name. With this strategy the
// client retries until the timeout, even after a refused password that may be corrected meanwhile.
bool print_sum(const couchbase::cluster& cluster, int left, int right) {
    auto sum = cluster.query(
        "SELECT RAW $1 + $2", {.timeout = 10s,
                               .readonly = true,
                               .adhoc = false,
                               .positional = {left, right},
                               .strategy = std::make_shared<couchbase::best_effort_strategy>()});
    if (!sum) {
        std::cerr << sum.error() << '\n';
        return false;
    }
    std::cout << sum->rows[0].as<int>().value() << '\n';
    return true;
}

int main() {
    const char* where = std::getenv("REPRISE_CONNECT");
    auto cluster = couchbase::cluster::connect(
        where ? where : "couchbase://127.0.0.1", {.username = "app", .password = "secret"});
    if (!cluster) {
        std::cerr << cluster.error() << '\n';
        return 2;
    }
    return print_rows(*cluster) && print_sum(*cluster, 40, 2) && print_sum(*cluster, 1, 2) ? 0 : 1;
}
