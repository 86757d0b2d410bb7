/// A transaction that is repeated as a whole: libpq PARAMETERS

#include <iostream>
#include <reprise/retry.hpp>
#include <reprise/retry/adapters/libpq.hpp>

int main(int, char** arguments) {
    // [call]
    reprise::adapters::pq_connection database(arguments[1]);
    reprise::standard_strategy strategy;  // One for the whole program.
    const auto sell = [](reprise::adapters::pq_connection& connection) {
        connection.execute("update stock set n = n - 1 where item = $1", {"lamp"});
    };
    const reprise::call_options options{.timeout = std::chrono::seconds{30}};
    reprise::retry(strategy, options, reprise::adapters::pq_transaction(database, sell));
    std::cout << "sold\n";
    // [/call]
}
