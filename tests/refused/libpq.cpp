// Transactions of the libpq adapter. See check_refused.py.

#include <functional>
#include <optional>
#include <reprise/retry.hpp>
#include <reprise/retry/adapters/libpq.hpp>
#include <string>
#include <system_error>
#include <utility>

using reprise::adapters::pq_connection;
using reprise::adapters::pq_transaction;

pq_connection database("host=/nowhere");

// refused: a_transaction_whose_body_returns_an_error_code
// message: a transaction is committed whatever its body returns, but this result can report a
// message: failure; let the body throw if it fails, which rolls back, and return what it found
const auto sell = [](pq_connection&) { return std::make_error_code(std::errc::timed_out); };
const auto result = reprise::retry(reprise::attempts(3), pq_transaction(database, sell));

// refused: a_transaction_whose_body_returns_something_like_expected
// message: a transaction is committed whatever its body returns
struct expected {
    [[nodiscard]] bool has_value() const { return true; }
    [[nodiscard]] std::error_code error() const { return {}; }
};
const auto sell = [](pq_connection&) { return expected{}; };
const auto result = reprise::retry(reprise::attempts(3), pq_transaction(database, sell));

// refused: a_transaction_whose_body_returns_an_error_code_in_a_pair
// message: a transaction is committed whatever its body returns
const auto sell = [](pq_connection&) { return std::pair<std::error_code, int>{}; };
const auto result = reprise::retry(reprise::attempts(3), pq_transaction(database, sell));

// refused: a_predicate_of_a_transaction
// message: this operation states that none of its values is a failure
const auto sell = [](pq_connection&) { return 1; };
const auto is_nothing = [](int count) { return count == 0; };
const int result = reprise::retry(
    reprise::attempts(3), reprise::fails_if(is_nothing, pq_transaction(database, sell)));

// refused: a_predicate_of_a_reference_to_a_transaction
// message: this operation states that none of its values is a failure
pq_transaction transaction(database, [](pq_connection&) { return 1; });
const auto is_nothing = [](int count) { return count == 0; };
const int result =
    reprise::retry(reprise::attempts(3), reprise::fails_if(is_nothing, std::ref(transaction)));

// accepted: transactions_whose_bodies_return_plain_values
// flags: -Wall -Wextra -Werror
void sell_in_every_way() {
    const auto retried = [](auto body) {
        return reprise::retry(reprise::attempts(3), pq_transaction(database, body));
    };
    retried([](pq_connection&) {});
    static_cast<void>(retried([](pq_connection&) { return false; }));
    static_cast<void>(retried([](pq_connection&) { return -1; }));
    static_cast<void>(retried([](pq_connection&) { return std::optional<std::string>(); }));
    static_cast<void>(retried([](pq_connection& on) { return on.execute("select 1"); }));
    pq_transaction transaction(database, [](pq_connection&) { return false; });
    static_cast<void>(reprise::retry(reprise::attempts(3), std::ref(transaction)));
}
