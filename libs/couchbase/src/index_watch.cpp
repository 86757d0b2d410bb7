#include "index_watch.hpp"

#include <algorithm>
#include <utility>

namespace reprise::couchbase::detail {

namespace {

// Why the indexes cannot be used: the end of the watch, or a reason to look again.
struct unready_indexes {
    error why;
    bool is_final = true;
};

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

index_watch::index_watch(
    std::vector<std::string> names, duration timeout, const driver::decision_context& at)
    : names_(std::move(names)),
      strategy_(
          unlimited_attempts().exponential(first_delay, last_delay).with_jitter(jitter::equal)),
      session_(strategy_, options_) {
    session_.set_deadline(driver::add_saturated(at.now, driver::at_least_zero(timeout)));
    delay_ = session_.on_start(at);
    session_.start_attempt(at);
}

std::optional<index_watch::result> index_watch::on_listed(
    result&& listed, const driver::decision_context& at) {
    if (!listed) {
        return std::move(listed);
    }
    auto unready = judge(listed->indexes, names_);
    if (!unready) {
        session_.on_success(at);
        return std::move(listed);
    }
    failure_facts facts;
    facts.safety = unready->is_final ? retry_safety::no : retry_safety::yes;
    const driver::retry_step step = session_.on_failure(facts, at);
    if (!step.is_retry) {
        return std::unexpected(std::move(unready->why));
    }
    delay_ = step.wait;
    session_.start_attempt(at);
    return std::nullopt;
}

}  // namespace reprise::couchbase::detail
