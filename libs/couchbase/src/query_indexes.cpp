#include <algorithm>
#include <expected>
#include <memory>
#include <utility>

#include <reprise/couchbase/management.hpp>
#include <reprise/services/query_index_statement.hpp>

#include "index_watch.hpp"
#include "service_calls.hpp"
#include "session.hpp"

namespace reprise::couchbase {
namespace {

detail::service_work make_statement_work(
    const std::shared_ptr<detail::session>& client, std::string_view statement,
    const query_options& options) {
    return detail::make_query_work(client, {}, statement, options, detail::row_mode::kept);
}

std::vector<std::string> names_of_deferred(const std::vector<query_index>& indexes) {
    std::vector<std::string> names;
    for (const query_index& each : indexes) {
        if (each.is_deferred) {
            names.push_back(each.name);
        }
    }
    return names;
}

// Options for the second, third, ... request of a call. What names a request names only one.
query_options options_of(std::size_t number, const query_options& given) {
    query_options made = given;
    if (number > 1 && !made.client_context_id.empty()) {
        made.client_context_id += "/" + std::to_string(number);
    }
    return made;
}

// The client for the next request of a call of several, or why there is none.
template <class Call>
std::expected<std::shared_ptr<detail::session>, error> lock_for_next(const Call& call) {
    auto held = call.client.lock();
    if (held == nullptr) {
        return std::unexpected(error(errc::request_canceled, "the client has ended"));
    }
    if (call.cancellation.is_requested()) {
        return std::unexpected(error(errc::request_canceled, "canceled between two requests"));
    }
    return held;
}

// The list that build_deferred asks for. Builds what it names, and frees itself.
struct deferred_list {
    deferred_list(
        const detail::build_deferred_start& asked, const detail::result_receiver<change_result>& to,
        const detail::step_cancellation& given)
        : client(asked.client),
          on(asked.on),
          options(asked.options),
          deadline(driver::add_saturated(
              net::steady_now(), asked.options.timeout.value_or(engine::timeout_of(
                                     wire::service::query, asked.client->facts().options)))),
          receiver(to),
          cancellation(given) {}

    // Does not keep the client alive: operations end with the client.
    std::weak_ptr<detail::session> client;
    index_target on;
    query_options options;
    time_point deadline;  // of both requests together
    detail::result_receiver<change_result> receiver;
    detail::step_cancellation cancellation;

    static void finish(
        deferred_list* at, std::expected<query_index_list_result, error>&& listed, bool is_inline) {
        const std::unique_ptr<deferred_list> self(at);
        const auto next = self->receiver;
        if (!listed) {
            return next.complete(std::unexpected(std::move(listed.error())), is_inline);
        }
        const auto names = names_of_deferred(listed->indexes);
        if (names.empty()) {
            return next.complete(change_result{std::move(listed->trace)}, is_inline);
        }
        const auto held = lock_for_next(*self);
        if (!held) {
            return next.complete(std::unexpected(held.error()), is_inline);
        }
        query_options rest = options_of(2, self->options);
        rest.timeout = driver::time_left(net::steady_now(), self->deadline);
        detail::start_work<change_result>(
            detail::make_build_indexes_work(*held, self->on, names, rest), next,
            self->cancellation.ticket());
        self->cancellation.apply();
    }
};

// A list of a watch, and the next ones. Frees itself with the last one.
struct watched_list {
    watched_list(
        const detail::watch_start& asked,
        const detail::result_receiver<query_index_list_result>& to,
        const detail::step_cancellation& given)
        : client(asked.client),
          on(asked.on),
          options(asked.options),
          watch(asked.names, asked.timeout, context_now()),
          receiver(to),
          cancellation(given) {}

    // Does not keep the client alive: operations end with the client.
    std::weak_ptr<detail::session> client;
    index_target on;
    query_options options;
    detail::index_watch watch;
    std::size_t list_count = 0;
    detail::result_receiver<query_index_list_result> receiver;
    detail::step_cancellation cancellation;

    static driver::decision_context context_now() {
        return {net::steady_now(), net::random_bits()};
    }

    // The list waits inside the engine, so that it can be canceled there.
    static void start(
        std::unique_ptr<watched_list> self, const std::shared_ptr<detail::session>& held) {
        const duration delay = self->watch.delay();
        const duration left = driver::time_left(net::steady_now(), self->watch.deadline());
        query_options bounded = options_of(++self->list_count, self->options);
        bounded.timeout = std::min(bounded.timeout.value_or(left), left - delay) + delay;
        const auto work = detail::make_list_indexes_work(held, self->on, bounded);
        if (auto& request = work.request->request) {
            request->delay = delay;
        }
        const detail::step_cancellation cancellation = self->cancellation;
        detail::start_work<query_index_list_result>(
            work, detail::result_receiver<query_index_list_result>::to(self.release()),
            cancellation.ticket());
        cancellation.apply();
    }

    static void finish(watched_list* at, detail::index_watch::result&& listed, bool is_inline) {
        std::unique_ptr<watched_list> self(at);
        const auto next = self->receiver;
        if (auto ended = self->watch.on_listed(std::move(listed), context_now())) {
            return next.complete(*std::move(ended), is_inline);
        }
        const auto held = lock_for_next(*self);
        if (!held) {
            return next.complete(std::unexpected(held.error()), is_inline);
        }
        start(std::move(self), *held);
    }
};

}  // namespace

namespace detail {

std::expected<query_index_list_result, error> read_indexes(query_result&& answer) {
    query_index_list_result result;
    result.indexes.reserve(answer.rows.size());
    for (const row_view row : answer.rows) {
        auto parsed = services::parse_query_index(row.text());
        if (!parsed) {
            return std::unexpected(
                unreadable_answer(to_string(parsed.error()), std::move(answer.trace)));
        }
        result.indexes.push_back(std::move(*parsed));
    }
    result.trace = std::move(answer.trace);
    return result;
}

template std::expected<query_index_list_result, error> run_work(const service_work&);
template void start_work(
    const service_work&, const result_receiver<query_index_list_result>&, call_ticket);

service_work make_create_index_work(
    const std::shared_ptr<session>& client, const index_target& on, const query_index& index,
    const query_options& options) {
    return make_statement_work(client, services::make_create_index_statement(on, index), options);
}

service_work make_drop_index_work(
    const std::shared_ptr<session>& client, const index_target& on, std::string_view name,
    const query_options& options) {
    return make_statement_work(client, services::make_drop_index_statement(on, name), options);
}

service_work make_build_indexes_work(
    const std::shared_ptr<session>& client, const index_target& on,
    const std::vector<std::string>& names, const query_options& options) {
    return make_statement_work(client, services::make_build_index_statement(on, names), options);
}

service_work make_list_indexes_work(
    const std::shared_ptr<session>& client, const index_target& on, const query_options& options) {
    return make_statement_work(
        client, services::make_list_indexes_statement(on),
        services::make_list_indexes_options(on, options));
}

void build_deferred_start::operator()(
    const result_receiver<change_result>& receiver, const step_cancellation& cancellation) const {
    auto list = std::make_unique<deferred_list>(*this, receiver, cancellation);
    start_work<query_index_list_result>(
        make_list_indexes_work(client, on, options),
        result_receiver<query_index_list_result>::to(list.release()), cancellation.ticket());
}

void watch_start::operator()(
    const result_receiver<query_index_list_result>& receiver,
    const step_cancellation& cancellation) const {
    if (names.empty()) {
        return receiver.complete(std::unexpected(argument_error("names: no index is named")), true);
    }
    watched_list::start(std::make_unique<watched_list>(*this, receiver, cancellation), client);
}

}  // namespace detail

std::expected<change_result, error> query_index_manager::create(
    const query_index& index, const query_options& options) const {
    return detail::run_work<change_result>(
        detail::make_create_index_work(client_, on_, index, options));
}

std::expected<change_result, error> query_index_manager::create_primary(
    const query_options& options) const {
    return create({.is_primary = true}, options);
}

std::expected<change_result, error> query_index_manager::drop(
    std::string_view name, const query_options& options) const {
    return detail::run_work<change_result>(
        detail::make_drop_index_work(client_, on_, name, options));
}

std::expected<change_result, error> query_index_manager::drop_primary(
    const query_options& options) const {
    return drop({}, options);
}

std::expected<change_result, error> query_index_manager::build(
    const std::vector<std::string>& names, const query_options& options) const {
    return detail::run_work<change_result>(
        detail::make_build_indexes_work(client_, on_, names, options));
}

std::expected<change_result, error> query_index_manager::build_deferred(
    const query_options& options) const {
    return detail::await_started<change_result>(
        client_, [&](const detail::result_receiver<change_result>& receiver) {
            detail::build_deferred_start{client_, on_, options}(receiver, {});
        });
}

std::expected<query_index_list_result, error> query_index_manager::list(
    const query_options& options) const {
    return detail::run_work<query_index_list_result>(
        detail::make_list_indexes_work(client_, on_, options));
}

std::expected<query_index_list_result, error> query_index_manager::watch(
    const std::vector<std::string>& names, duration timeout, const query_options& options) const {
    return detail::await_started<query_index_list_result>(
        client_, [&](const detail::result_receiver<query_index_list_result>& receiver) {
            detail::watch_start{client_, on_, names, timeout, options}(receiver, {});
        });
}

}  // namespace reprise::couchbase
