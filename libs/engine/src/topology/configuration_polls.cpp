#include "topology/configuration_polls.hpp"

#include <algorithm>
#include <utility>

#include <reprise/wire/cluster_messages.hpp>

#include "connections/connection_problem.hpp"
#include "connections/kv_connection.hpp"
#include "controlled_backoff.hpp"
#include "operations/response_decoding.hpp"
#include "operations/status_mapping.hpp"

namespace reprise::engine {
namespace {

// The cluster itself has no owners, and some servers have no configuration of it.
bool is_served(const bucket_state& bucket) noexcept {
    return bucket.name.empty() || (bucket.configuration && bucket.configuration->has_owners());
}

}  // namespace

void configuration_polls::want(bucket_state& bucket, time_point now) {
    if (bucket.is_open && !context_.is_closed && !bucket.is_poll_wanted) {
        bucket.is_poll_wanted = true;
        poll(bucket, now);
    }
}

void configuration_polls::poll(bucket_state& bucket, time_point now) {
    if (context_.is_closed) {
        return;
    }
    const auto last = bucket.polls->last();
    if (last) {
        const time_point earliest = driver::add_saturated(last->at, pause_after(*last, bucket));
        if (now < earliest) {
            return context_.wheel.arm(bucket, earliest);
        }
    }
    context_.wheel.arm(bucket, driver::add_saturated(now, context_.options.config_poll_interval));
    kv_connection* asked = choose(bucket, now);
    if (asked != nullptr && bucket.polls->try_begin(last, {now, context_.loop})) {
        ask(bucket, *asked, now);
    }
}

// The configuration that another loop's poll returns is handed to this one, so that loop's poll
// replaces this one's, except where something requested a poll.
duration configuration_polls::pause_after(
    const poll_pace::last_poll& last, const bucket_state& bucket) const {
    const duration floor = context_.options.config_poll_floor;
    if (last.loop == context_.loop || bucket.is_poll_wanted) {
        return floor;
    }
    return is_served(bucket) ? context_.options.config_poll_interval
                             : std::max(floor, controlled_backoff(bucket.polls_without_owners));
}

// Null if no connection is open, since every bootstrap asks for the configuration, or if all
// connections have a pending poll. In that case their answers check `is_poll_wanted`.
kv_connection* configuration_polls::choose(bucket_state& bucket, time_point now) const {
    for (std::size_t step = 0; step < bucket.links.size(); ++step) {
        std::size_t next = bucket.polls->next_link.load();
        kv_connection* candidate = topology_.any_open(bucket, next);
        bucket.polls->next_link.store(next);
        if (candidate == nullptr) {
            return nullptr;
        }
        if (!candidate->poll_opaque ||
            now - candidate->poll_sent >= context_.options.internal_timeout) {
            return candidate;
        }
    }
    return nullptr;
}

void configuration_polls::ask(bucket_state& bucket, kv_connection& connection, time_point now) {
    if (connection.poll_opaque) {
        connection.abandon(*connection.poll_opaque);  // overdue
    }
    wire::get_cluster_config_request request;
    if (bucket.configuration && bucket.configuration->revision().epoch >= 1 &&
        std::in_range<std::int64_t>(bucket.configuration->revision().rev) &&
        connection.features.contains(wire::hello_feature::get_cluster_config_with_known_version)) {
        request.known = bucket.configuration->revision();
    }
    connection.poll_opaque = connection.send_own(
        waiter_kind::configuration, wire::opcode::get_cluster_config, 0, request, context_.actions);
    connection.poll_sent = now;
    bucket.is_poll_wanted = false;
}

// Uses the controlled backoff.
void configuration_polls::poll_soon(bucket_state& bucket, time_point now) {
    if (is_served(bucket)) {
        bucket.polls_without_owners = 0;
        return;
    }
    const time_point due =
        driver::add_saturated(now, controlled_backoff(bucket.polls_without_owners++));
    context_.wheel.arm(bucket, bucket.is_armed() ? std::min(bucket.due(), due) : due);
}

void configuration_polls::on_open(bucket_state& bucket, time_point now) {
    if (!bucket.is_armed()) {
        context_.wheel.arm(
            bucket, driver::add_saturated(now, context_.options.config_poll_interval));
    }
    poll_soon(bucket, now);
}

void configuration_polls::on_answer(
    kv_connection& connection, const wire::frame_view& frame, time_point now) {
    connection.poll_opaque.reset();
    bucket_state& bucket = *connection.link->bucket;
    const endpoint_record& asked = *connection.link->endpoint;
    if (wire::is_success(frame.status())) {
        bucket.poll_retries = 0;
    }
    // An empty value means that the client already has the newest configuration.
    if (frame.status() == wire::status::success && !frame.value().empty()) {
        const auto text = inflated_text(frame);
        if (!text ||
            topology_.apply(bucket, *text, asked.host, now) == configuration_effect::unreadable) {
            on_unreadable(bucket, asked, now);
        }
    } else if (!wire::is_success(frame.status())) {
        on_refused(bucket, asked, frame.status(), now);
    }
    poll_soon(bucket, now);
    if (bucket.is_poll_wanted) {
        poll(bucket, now);
    }
}

void configuration_polls::on_refused(
    bucket_state& bucket, const endpoint_record& asked, wire::status status, time_point now) {
    bucket.configuration_problem = asked.name + ": " + configuration_refusal(status);
    response_facts facts;
    facts.kind = operation_kind::noop;
    facts.status = status;
    facts.error_map = asked.error_map.get();
    const response_outcome outcome = classify(facts);
    if (outcome.kind != outcome_kind::retry) {
        return;
    }
    retry_case failed;
    failed.reason = outcome.reason;
    failed.stage = attempt_stage::response;
    failed.status = static_cast<std::uint16_t>(status);
    failed.own_error = outcome.error;
    on_failed(bucket, asked, failed, now);
}

void configuration_polls::on_unreadable(
    bucket_state& bucket, const endpoint_record& asked, time_point now) {
    retry_case failed;
    failed.reason = retry_reason::unknown;
    failed.stage = attempt_stage::response;
    failed.own_error = errc::decoding_failure;
    on_failed(bucket, asked, failed, now);
}

void configuration_polls::on_lost(
    bucket_state& bucket, const endpoint_record& asked, time_point now) {
    retry_case failed;
    failed.reason = retry_reason::socket_closed_while_in_flight;
    failed.stage = attempt_stage::network;
    on_failed(bucket, asked, failed, now);
}

// A failed poll is not repeated, since the next poll goes to the next node. Only failures that are
// always retried are repeated sooner.
void configuration_polls::on_failed(
    bucket_state& bucket, const endpoint_record& asked, const retry_case& failed, time_point now) {
    const auto delay =
        judge_.decide({"get_cluster_config", asked, bucket.poll_retries}, failed, now);
    if (delay && bucket.is_open && !context_.is_closed) {
        ++bucket.poll_retries;
        context_.wheel.arm(bucket, driver::add_saturated(now, *delay));
    }
}

}  // namespace reprise::engine
