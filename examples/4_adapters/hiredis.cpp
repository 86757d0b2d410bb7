/// A value from Redis, also while the server restarts: hiredis PORT

#include <iostream>
#include <reprise/retry.hpp>
#include <reprise/retry/adapters/hiredis.hpp>

int main(int, char** arguments) {
    // [call]
    reprise::adapters::redis_connection redis({"127.0.0.1", std::stoi(arguments[1])});
    reprise::standard_strategy strategy;  // One for the whole program.
    const reprise::call_options options{.timeout = std::chrono::seconds{30}};
    const auto name = reprise::retry(strategy, options, [&](const reprise::attempt& current) {
        return redis.command(current, {"GET", "name"});
    });
    std::cout << std::string_view(name->str, name->len) << '\n';
    // [/call]
}
