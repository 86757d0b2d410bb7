#include "replica_read.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <reprise/wire/cluster_configuration.hpp>
#include <reprise/wire/vbucket.hpp>

#include "session.hpp"

namespace reprise::couchbase::detail {

// One copy that was read, or the reason why it was not. Number 0 is the active copy.
struct copy_outcome {
    std::uint8_t copy = 0;
    engine::operation_result result;
};

namespace {

constexpr std::string_view lookup_capability = "subdoc.ReplicaRead";

// The result that each copy gives, and the name of the call in errors.
template <class Result>
struct replica_call;
template <>
struct replica_call<get_replica_result> {
    using copy = get_replica_result;
    static constexpr std::string_view name = "get_any_replica";
};
template <>
struct replica_call<replica_list> {
    using copy = get_replica_result;
    static constexpr std::string_view name = "get_all_replicas";
};
template <>
struct replica_call<lookup_in_replica_result> {
    using copy = lookup_in_replica_result;
    static constexpr std::string_view name = "lookup_in_any_replica";
};
template <>
struct replica_call<lookup_replica_list> {
    using copy = lookup_in_replica_result;
    static constexpr std::string_view name = "lookup_in_all_replicas";
};

template <class Copy>
Copy to_copy(copy_outcome&& from, const path_note* paths) {
    engine::operation_result& read = from.result;
    if constexpr (std::is_same_v<Copy, lookup_in_replica_result>) {
        return {
            lookup_in_result{
                to_path_results(std::move(read.paths), *paths),
                cas{read.cas},
                read.is_deleted,
                {read.retry_attempts, std::move(read.history)}},
            from.copy != 0};
    } else {
        return {
            get_result{
                document_bytes_access::make(std::move(read.value)),
                read.flags,
                0,
                cas{read.cas},
                {read.retry_attempts, std::move(read.history)}},
            from.copy != 0};
    }
}

std::string name_of_copy(std::uint8_t copy) {
    return copy == 0 ? "active copy" : "replica " + std::to_string(copy);
}

// The error of a read whose copies all failed. There is at least one.
error combine_failures(const std::vector<copy_outcome>& failed, std::string_view operation) {
    auto info = std::make_shared<error_info>(*failed.front().result.error);
    const auto code_of = [](const copy_outcome& each) { return each.result.ec; };
    const bool is_shared = std::ranges::all_of(
        failed, [&](const copy_outcome& each) { return each.result.ec == info->code; });
    if (!is_shared || info->code == errc::document_not_found) {
        info->code = errc::document_unretrievable;
    }
    info->operation = operation;
    info->detail.clear();
    for (const copy_outcome& each : failed) {
        info->detail.append(info->detail.empty() ? "" : "; ")
            .append(name_of_copy(each.copy))
            .append(": ")
            .append(code_of(each).message());
    }
    return error(std::move(info));
}

error not_in_group(const std::string& group) {
    return {
        errc::document_unretrievable, group.empty()
                                          ? "no preferred_server_group is set"
                                          : "no copy is in the server group '" + group + "'"};
}

error canceled_read() {
    return {errc::request_canceled, "the client is closed"};
}

}  // namespace

std::vector<std::uint8_t> choose_copies(
    const wire::cluster_configuration& map, std::size_t vbucket, read_preference preference,
    std::string_view server_group) {
    std::vector<std::uint8_t> all{0};
    std::vector<std::uint8_t> near;
    for (std::uint8_t copy = 0; copy <= wire::replica_count_max; ++copy) {
        const auto node = copy == 0 ? map.active_node(vbucket) : map.replica_node(vbucket, copy);
        if (!node) {
            continue;
        }
        if (copy != 0) {
            all.push_back(copy);
        }
        if (!server_group.empty() && map.nodes()[*node].server_group == server_group) {
            near.push_back(copy);
        }
    }
    switch (preference) {
        case read_preference::selected_server_group:
            return near;
        case read_preference::selected_server_group_or_all_available:
            return near.empty() ? all : near;
        case read_preference::no_preference:
            break;
    }
    return all;
}

bool has_replica_lookups(const wire::cluster_configuration& map) {
    return map.has_bucket_capability(lookup_capability);
}

// One running call. It lives on the loop of its key and is owned by the completions of its reads.
// It does not keep the client alive: reads end with the client, not the other way round.
template <class Result>
class replica_read : public std::enable_shared_from_this<replica_read<Result>> {
public:
    using copy_type = replica_call<Result>::copy;
    static constexpr bool is_first_enough = std::is_same_v<Result, copy_type>;
    static constexpr bool is_lookup = std::is_same_v<copy_type, lookup_in_replica_result>;

    replica_read(
        const call_target& target, engine::operation_request&& request, path_note_ptr&& paths,
        const result_receiver<Result>& receiver, step_cancellation&& cancellation)
        : client_(target.client),
          keyspace_(target.keyspace),
          bucket_(target.bucket),
          loop_(target.client->client().loop_of(request.key.text())),
          request_(std::move(request)),
          paths_(std::move(paths)),
          receiver_(receiver),
          cancellation_(std::move(cancellation)),
          ticket_(
              cancellation_.ticket() != 0 ? cancellation_.ticket()
                                          : target.client->client().reserve_ticket()) {}

    [[nodiscard]] net::loop_number loop() const noexcept { return loop_; }

    // Runs on the loop. The map determines the number of copies; without a map, the call waits for
    // the bucket.
    void begin() {
        const auto client = client_.lock();
        if (client == nullptr) {
            return finish(std::unexpected(canceled_read()));
        }
        if (has_map(*client)) {
            return read_copies(*client);
        }
        engine::operation_request wait = request_;
        wait.kind = engine::operation_kind::noop;
        wait.key = {};
        start(
            *client, std::move(wait),
            [self = this->shared_from_this()](engine::operation_result&& result) {
                self->on_ready(std::move(result));
            });
    }

private:
    void on_ready(engine::operation_result&& result) {
        const auto client = client_.lock();
        if (client == nullptr || result.ec) {
            return finish(
                std::unexpected(result.error ? error(std::move(result.error)) : canceled_read()));
        }
        if (cancellation_.is_requested()) {
            return finish(std::unexpected(
                error(errc::request_canceled, "canceled before its copies were read")));
        }
        read_copies(*client);
    }

    [[nodiscard]] wire::cluster_configuration_ptr map_of(session& client) const {
        wire::cluster_configuration_ptr map;
        // Never refused inside an iteration of the loop.
        (void)client.client().inspect(
            [&](const engine::client_engine& engine) { map = engine.configuration(*bucket_); });
        return map;
    }
    [[nodiscard]] bool has_map(session& client) const { return map_of(client) != nullptr; }

    [[nodiscard]] std::vector<std::uint8_t> copies_in_map(session& client) const {
        const auto map = map_of(client);
        if (map == nullptr || map->vbucket_count() == 0) {
            return {0};
        }
        const auto vbucket = wire::vbucket_of(request_.key.text(), map->vbucket_count());
        return choose_copies(
            *map, vbucket.value, request_.preference,
            client.facts().options.preferred_server_group);
    }

    void read_copies(session& client) {
        if (const auto map = map_of(client);
            is_lookup && map != nullptr && !has_replica_lookups(*map)) {
            return finish(std::unexpected(
                error(errc::feature_not_available, "the bucket has no lookups in replicas")));
        }
        const std::vector<std::uint8_t> copies = copies_in_map(client);
        if (copies.empty()) {
            return finish(
                std::unexpected(not_in_group(client.facts().options.preferred_server_group)));
        }
        open_count_ = copies.size();
        for (const std::uint8_t copy : copies) {
            engine::operation_request read = request_;
            if (copy != 0) {
                read.kind = is_lookup ? engine::operation_kind::lookup_in_replica
                                      : engine::operation_kind::get_replica;
            }
            read.replica = copy;
            start(
                client, std::move(read),
                [self = this->shared_from_this(), copy](engine::operation_result&& result) {
                    self->on_copy({copy, std::move(result)});
                });
        }
    }

    template <class Done>
    void start(session& client, engine::operation_request&& request, Done done) {
        const auto refused = client.client().start_on(
            loop_, keyspace_, std::move(request), std::move(done), ticket_);
        if (refused != net::refusal::none) {
            finish(std::unexpected(to_error(refused)));
        }
    }

    void on_copy(copy_outcome&& outcome) {
        --open_count_;
        auto& list = outcome.result.ec ? failed_ : read_;
        list.push_back(std::move(outcome));
        if (!receiver_) {
            return;
        }
        if constexpr (is_first_enough) {
            if (!read_.empty() && open_count_ > 0) {
                return end_others();
            }
        }
        if (open_count_ == 0) {
            finish_all();
        }
    }

    // The call ends after them, because they use what its options point to.
    void end_others() {
        if (const auto client = std::exchange(is_ending_, true) ? nullptr : client_.lock()) {
            client->client().cancel(ticket_);  // which all reads have
        }
    }

    void finish_all() {
        std::ranges::sort(failed_, {}, &copy_outcome::copy);
        if (read_.empty()) {
            return finish(std::unexpected(combine_failures(failed_, replica_call<Result>::name)));
        }
        if constexpr (is_first_enough) {
            finish(to_copy<copy_type>(std::move(read_.front()), paths_.get()));
        } else {
            std::ranges::sort(read_, {}, &copy_outcome::copy);
            Result all;
            all.reserve(read_.size());
            for (copy_outcome& each : read_) {
                all.push_back(to_copy<copy_type>(std::move(each), paths_.get()));
            }
            finish(std::move(all));
        }
    }

    void finish(std::expected<Result, error>&& result) {
        if (const auto receiver = std::exchange(receiver_, std::nullopt)) {
            receiver->complete(std::move(result), false);
        }
    }

    std::weak_ptr<session> client_;
    std::uint32_t keyspace_;
    std::shared_ptr<const std::string> bucket_;
    net::loop_number loop_;
    engine::operation_request request_;
    std::shared_ptr<const path_note> paths_;
    std::optional<result_receiver<Result>> receiver_;  // empty once it was notified
    step_cancellation cancellation_;                   // by the caller
    call_ticket ticket_;                               // shared by all reads
    std::size_t open_count_ = 0;
    bool is_ending_ = false;  // one copy was enough
    std::vector<copy_outcome> read_;
    std::vector<copy_outcome> failed_;
};

template <class Result>
void start_replica_read(
    const call_target& target, engine::operation_request&& request, path_note_ptr&& paths,
    const result_receiver<Result>& receiver, step_cancellation&& cancellation) {
    // One deadline for the wait and the reads.
    request.deadline = driver::add_saturated(
        net::steady_now(), request.timeout.value_or(target.client->kv_timeout()));
    auto read = std::make_shared<replica_read<Result>>(
        target, std::move(request), std::move(paths), receiver, std::move(cancellation));
    if (const auto refused = target.client->client().post([read] { read->begin(); }, read->loop());
        refused != net::refusal::none) {
        receiver.complete(std::unexpected(to_error(refused)), true);
    }
}

template void start_replica_read(
    const call_target&, engine::operation_request&&, path_note_ptr&&,
    const result_receiver<get_replica_result>&, step_cancellation&&);
template void start_replica_read(
    const call_target&, engine::operation_request&&, path_note_ptr&&,
    const result_receiver<replica_list>&, step_cancellation&&);
template void start_replica_read(
    const call_target&, engine::operation_request&&, path_note_ptr&&,
    const result_receiver<lookup_in_replica_result>&, step_cancellation&&);
template void start_replica_read(
    const call_target&, engine::operation_request&&, path_note_ptr&&,
    const result_receiver<lookup_replica_list>&, step_cancellation&&);

}  // namespace reprise::couchbase::detail
