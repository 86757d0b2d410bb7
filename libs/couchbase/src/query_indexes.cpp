#include <algorithm>
#include <utility>

#include <reprise/couchbase/management.hpp>
#include <reprise/services/query_index_statement.hpp>

#include "index_watch.hpp"
#include "service_calls.hpp"
#include "session.hpp"

namespace reprise::couchbase {
namespace {

services::index_keyspace to_keyspace(const index_target& on) {
    return {on.bucket, on.scope, on.collection};
}

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

// The list that build_deferred asks for. Builds what it names, and frees itself.
struct deferred_list final : detail::result_receiver<query_index_list_result> {
    // Does not keep the client alive: operations end with the client.
    std::weak_ptr<detail::session> client{};
    index_target on{};
    query_options options{};
    detail::result_receiver<change_result>* receiver = nullptr;
    detail::call_ticket ticket = 0;

    static void finish(
        detail::result_receiver<query_index_list_result>* base,
        std::expected<query_index_list_result, error>&& listed, bool is_inline) {
        const std::unique_ptr<deferred_list> self(static_cast<deferred_list*>(base));
        auto* const next = self->receiver;
        if (!listed) {
            return next->complete(next, std::unexpected(std::move(listed.error())), is_inline);
        }
        const auto names = names_of_deferred(listed->indexes);
        if (names.empty()) {
            return next->complete(next, change_result{std::move(listed->trace)}, is_inline);
        }
        const auto held = self->client.lock();
        if (held == nullptr) {
            return next->complete(
                next, std::unexpected(error(errc::request_canceled, "the client has ended")),
                is_inline);
        }
        detail::start_work<change_result>(
            detail::make_build_indexes_work(held, self->on, names, self->options), next,
            self->ticket);
    }
};

}  // namespace

namespace detail {

std::expected<query_index_list_result, error> read_indexes(query_result&& answer) {
    query_index_list_result result;
    result.indexes.reserve(answer.rows.size());
    for (const row_view row : answer.rows) {
        auto parsed = services::parse_query_index_row(row.text());
        if (!parsed) {
            return std::unexpected(
                unreadable_answer(to_string(parsed.error()), std::move(answer.trace)));
        }
        query_index made;
        made.on = {parsed->on.bucket, parsed->on.scope, parsed->on.collection};
        made.name = std::move(parsed->name);
        made.is_primary = parsed->is_primary;
        made.keys = std::move(parsed->keys);
        made.condition = std::move(parsed->condition);
        made.is_deferred = parsed->state == "deferred";
        made.state = std::move(parsed->state);
        result.indexes.push_back(std::move(made));
    }
    result.trace = std::move(answer.trace);
    return result;
}

template std::expected<query_index_list_result, error> run_work(const service_work&);
template void start_work(
    const service_work&, result_receiver<query_index_list_result>*, call_ticket);

service_work make_create_index_work(
    const std::shared_ptr<session>& client, const index_target& on, const query_index& index,
    const query_options& options) {
    services::query_index_definition asked;
    asked.on = to_keyspace(on);
    asked.name = index.name;
    asked.is_primary = index.is_primary;
    asked.keys = index.keys;
    asked.condition = index.condition;
    asked.is_deferred = index.is_deferred;
    asked.replica_count = index.replica_count;
    return make_statement_work(client, services::make_create_index_statement(asked), options);
}

service_work make_drop_index_work(
    const std::shared_ptr<session>& client, const index_target& on, std::string_view name,
    const query_options& options) {
    return make_statement_work(
        client, services::make_drop_index_statement(to_keyspace(on), name), options);
}

service_work make_build_indexes_work(
    const std::shared_ptr<session>& client, const index_target& on,
    const std::vector<std::string>& names, const query_options& options) {
    return make_statement_work(
        client, services::make_build_index_statement(to_keyspace(on), names), options);
}

service_work make_list_indexes_work(
    const std::shared_ptr<session>& client, const index_target& on, const query_options& options) {
    const auto asked = services::make_list_indexes_request(to_keyspace(on));
    query_options readonly = options;
    readonly.readonly = true;
    for (const auto& each : asked.parameters) {
        readonly.named.emplace_back(each.name, json_text{each.json});
    }
    for (const auto& each : asked.args) {
        readonly.positional.emplace_back(json_text{each});
    }
    return make_statement_work(client, asked.statement, readonly);
}

void build_deferred_start::operator()(
    result_receiver<change_result>* receiver, call_ticket ticket) const {
    auto list = std::make_unique<deferred_list>();
    list->complete = &deferred_list::finish;
    list->client = client;
    list->on = on;
    list->options = options;
    list->receiver = receiver;
    list->ticket = ticket;
    start_work<query_index_list_result>(
        make_list_indexes_work(client, on, options), list.release(), ticket);
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
        client_, [&](detail::result_receiver<change_result>* receiver) {
            detail::build_deferred_start{client_, on_, options}(receiver, 0);
        });
}

std::expected<query_index_list_result, error> query_index_manager::list(
    const query_options& options) const {
    return detail::run_work<query_index_list_result>(
        detail::make_list_indexes_work(client_, on_, options));
}

std::expected<query_index_list_result, error> query_index_manager::watch(
    const std::vector<std::string>& names, duration timeout, const query_options& options) const {
    const auto list_in = [&](duration left) {
        query_options bounded = options;
        bounded.timeout = std::min(options.timeout.value_or(left), left);
        return list(bounded);
    };
    return detail::watch_indexes(
        names, timeout, retry_clock::real(), client_->client().closed(), list_in);
}

}  // namespace reprise::couchbase
