#include "index_watch.hpp"

#include <algorithm>
#include <utility>

#include <reprise/retry/blocking.hpp>
#include <reprise/retry/simple_strategy.hpp>

namespace reprise::couchbase::detail {

// Why the indexes cannot be used: the end of the watch, or a reason to look again.
struct unready_indexes {
    error why;
    bool is_final = true;
};

// Found by the retry loop.
[[nodiscard]] failure_facts retry_facts(const unready_indexes& failed) noexcept {
    failure_facts facts;
    facts.safety = failed.is_final ? retry_safety::no : retry_safety::yes;
    return facts;
}

namespace {

constexpr duration first_delay = std::chrono::milliseconds{50};
constexpr duration last_delay = std::chrono::seconds{1};

std::string quoted(const std::string& name) {
    return name.empty() ? "the primary index" : "index '" + name + "'";
}

// Nothing if all indexes are online.
std::optional<unready_indexes> judge(
    const std::vector<query_index>& indexes, const std::vector<std::string>& names) {
    std::optional<unready_indexes> waits_for;
    for (const std::string& name : names) {
        const auto found = std::ranges::find_if(indexes, [&](const query_index& each) {
            return name.empty() ? each.is_primary : each.name == name;
        });
        if (found == indexes.end()) {
            return unready_indexes{{errc::index_not_found, quoted(name) + " does not exist"}};
        }
        if (found->state != "online" && !waits_for) {
            waits_for = unready_indexes{
                {errc::unambiguous_timeout, quoted(name) + " is " + found->state}, false};
        }
    }
    return waits_for;
}

}  // namespace

std::expected<query_index_list_result, error> watch_indexes(
    const std::vector<std::string>& names, duration timeout, retry_clock& clock,
    const std::stop_token& closed, const list_indexes& list) {
    if (names.empty()) {
        return std::unexpected(error(errc::invalid_argument, "names: no index is named"));
    }
    using outcome = std::expected<query_index_list_result, unready_indexes>;
    auto ended = retry(
        unlimited_attempts().exponential(first_delay, last_delay).with_jitter(jitter::equal),
        {.timeout = timeout, .stop = closed, .clock = &clock},
        [&](const attempt& current) -> outcome {
            auto listed = list(current.timeout);
            if (!listed) {
                return std::unexpected(unready_indexes{std::move(listed.error())});
            }
            if (auto unready = judge(listed->indexes, names)) {
                return std::unexpected(*std::move(unready));
            }
            return *std::move(listed);
        });
    if (!ended && closed.stop_requested()) {
        return std::unexpected(
            error(errc::request_canceled, "the client was closed before all indexes were online"));
    }
    if (!ended) {
        return std::unexpected(std::move(ended.error().why));
    }
    return *std::move(ended);
}

}  // namespace reprise::couchbase::detail
