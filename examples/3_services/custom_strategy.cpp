// Three ways to choose which failures are retried. With a cluster of its own:
//
//     reprise sandbox run --bucket travel --user app --password secret -- custom_strategy

#include <any>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>

#include <reprise/couchbase.hpp>

namespace couchbase = reprise::couchbase;
using couchbase::plain_text;
using namespace std::chrono_literals;

// The default strategy with one answer changed: operations on locked documents fail at once.
std::shared_ptr<couchbase::retry_strategy> impatient() {
    return couchbase::overriding(
        std::make_shared<couchbase::fail_fast_on_terminal_error_strategy>(),
        {{couchbase::retry_reason::kv_locked, couchbase::retry_action::no()}});
}

// A strategy of our own. It sees what the caller attached to the call: robots do not wait.
class people_first final : public couchbase::fail_fast_on_terminal_error_strategy {
public:
    void retry_after(
        const couchbase::retry_question& question, couchbase::retry_sink& sink) override {
        const auto* who = question.at.user_data_as<std::string>();
        if (who != nullptr && *who == "robot") {
            sink.answer(couchbase::retry_action::no());
        } else {
            fail_fast_on_terminal_error_strategy::retry_after(question, sink);
        }
    }
};

int main() {
    const char* where = std::getenv("REPRISE_CONNECT");
    auto cluster = couchbase::cluster::connect(
        where ? where : "couchbase://127.0.0.1",
        {.username = "app", .password = "secret", .strategy = impatient()});
    if (!cluster) {
        std::cerr << cluster.error() << '\n';
        return 2;
    }
    auto airlines = cluster->bucket("travel").default_collection();
    if (auto stored = airlines.upsert("airline_10", plain_text{"Reprise Air"}); !stored) {
        std::cerr << stored.error() << '\n';
        return 1;
    }
    auto locked = airlines.get_and_lock("airline_10", 15s);
    if (!locked) {
        std::cerr << locked.error() << '\n';
        return 1;
    }

    // The client's strategy fails at once.
    auto at_once = airlines.upsert("airline_10", plain_text{"Other Air"});
    std::cout << "impatient: " << at_once.error() << '\n';

    // Another strategy for one call: this one retries until the timeout.
    auto waits = std::make_shared<couchbase::best_effort_strategy>();
    auto in_vain = airlines.upsert(
        "airline_10", plain_text{"Other Air"}, {.timeout = 50ms, .strategy = waits});
    std::cout << "best effort: " << in_vain.error().code().message() << " after "
              << in_vain.error().retry_attempts() << " retries\n";

    auto robot = airlines.upsert(
        "airline_10", plain_text{"Robot Air"},
        {.strategy = std::make_shared<people_first>(),
         .user_data = std::make_shared<const std::any>(std::string("robot"))});
    std::cout << "robot: " << robot.error().code().message() << '\n';
    return at_once || in_vain || robot ? 1 : 0;
}
