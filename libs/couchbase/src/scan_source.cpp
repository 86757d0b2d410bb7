#include <algorithm>
#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <utility>

#include <reprise/couchbase/collection.hpp>
#include <reprise/couchbase/streams.hpp>
#include <reprise/engine/operation_request.hpp>
#include <reprise/engine/operation_result.hpp>
#include <reprise/wire/cluster_configuration.hpp>

#include "scan_schedule.hpp"
#include "scanned_document.hpp"
#include "session.hpp"
#include "stream_reading.hpp"

namespace reprise::couchbase::detail {

// Merges the scans of all vbuckets into one stream. Each is an operation of the engine, which
// retries it; nothing is retried here.
//
//     reader: nothing read ahead -> ask(waiter) -> [loop] a batch | the end | wait
//     loop:   rows of a vbucket arrive -> take them for the waiter
//             a vbucket is complete -> keep its rest, begin the next one
//
// All operations of a stream run on one loop of the client. One thread at a time uses the reader's
// part, and only the loop uses the loop's part. Data passes
// between them in the call of the waiter.
class scan_source : public std::enable_shared_from_this<scan_source> {
public:
    using waiter = std::move_only_function<void()>;

    // Does not keep the client alive: the operations, which own this object, end with the client.
    scan_source(const call_target& target, std::shared_ptr<const scan_request> asked)
        : client_(target.client),
          keyspace_(target.keyspace),
          bucket_(target.bucket),
          loop_(target.client->client().choose_loop()),
          asked_(std::move(asked)),
          deadline_(driver::add_saturated(
              net::steady_now(), asked_->options.timeout.value_or(scan_timeout_default))) {
        if (const auto* sampling = std::get_if<sampling_scan>(&asked_->what)) {
            left_ = sampling->limit;
        }
    }

    // Begins on the loop.
    [[nodiscard]] net::refusal begin(session& client) {
        return client.client().post([self = shared_from_this()] { self->start_more(); }, loop_);
    }

    // --- the reader ---

    // Returns false while another read waits: the loop may be using the reader's part.
    [[nodiscard]] bool try_begin_read() noexcept { return !is_reading_.exchange(true); }
    void end_read() noexcept { is_reading_.store(false); }

    // The next document that is here, the end, or an error. Empty: call ask() for more.
    [[nodiscard]] std::optional<std::expected<std::optional<scanned_document>, error>> try_next() {
        if (left_ == 0) {
            end_early();
        } else if (row_ < batch_.size()) {
            return read_row(batch_[row_++]);
        }
        if (failure_) {
            return std::unexpected(*failure_);
        }
        if (is_over_) {
            return std::optional<scanned_document>();
        }
        return std::nullopt;
    }

    // `ready` is called once, on the loop. After that, try_next() returns a value.
    [[nodiscard]] net::refusal ask(session& client, waiter ready) {
        return client.client().post(
            [self = shared_from_this(), ready = std::move(ready)]() mutable {
                self->waiter_ = std::move(ready);
                self->serve();
            },
            loop_);
    }

    // May be called from any thread.
    void cancel(session& client) noexcept {
        is_left_.store(true, std::memory_order_relaxed);
        if (!is_ended_.load(std::memory_order_relaxed)) {
            (void)client.client().post([self = shared_from_this()] { self->stop(); }, loop_);
        }
    }

    // Whether its scans still use objects that the user's options borrow.
    [[nodiscard]] bool uses_borrowed() const noexcept {
        return is_borrowed(asked_->options.outer_allowance) &&
               !is_ended_.load(std::memory_order_acquire);
    }
    [[nodiscard]] net::loop_number loop() const noexcept { return loop_; }
    [[nodiscard]] bool is_over() const noexcept { return is_over_; }
    [[nodiscard]] const operation_trace& trace() const noexcept { return trace_; }
    // The error that ended the documents, or else the one that refused the last read.
    [[nodiscard]] const std::optional<error>& failure() const noexcept {
        return failure_ ? failure_ : refused_;
    }
    // A refusal ends nothing: reading may go on.
    void set_refused(std::optional<error> why) { refused_ = std::move(why); }

private:
    // A sample has as many documents as it may have: ends the server's part of it.
    void end_early() {
        if (const auto client = client_.lock(); client != nullptr && !is_over_) {
            cancel(*client);
        }
        is_over_ = true;
    }

    std::expected<std::optional<scanned_document>, error> read_row(std::string_view row) {
        auto document = to_document(row, asked_->options.keys_only);
        if (!document) {
            failure_ = document.error();
            return std::unexpected(*failure_);
        }
        if (left_) {
            --*left_;
        }
        return std::optional(std::move(*document));
    }

    // --- the loop ---

    // Begins the scans that may begin now. Without a map, the first vbucket is scanned alone: its
    // operation waits for the bucket.
    void start_more() {
        const auto client = client_.lock();
        if (client == nullptr || is_stopped_ || is_left_.load(std::memory_order_relaxed)) {
            return;
        }
        if (!schedule_) {
            make_schedule(*client);
        }
        if (!schedule_) {
            if (running_.empty()) {
                start(*client, 0);
            }
            return;
        }
        while (waiting_size_bytes_ < stream_size_max_bytes_default && !is_stopped_) {
            const auto vbucket = schedule_->next();
            if (!vbucket) {
                return;
            }
            start(*client, *vbucket);
        }
    }

    void make_schedule(session& client) {
        wire::cluster_configuration_ptr map;
        // Never refused inside an iteration of the loop.
        (void)client.client().inspect(
            [&](const engine::client_engine& engine) { map = engine.configuration(*bucket_); });
        if (map == nullptr || map->vbucket_count() == 0) {
            return;
        }
        std::vector<std::optional<std::size_t>> owners;
        for (std::size_t vbucket = 0; vbucket < map->vbucket_count(); ++vbucket) {
            const auto node = map->active_node(vbucket);
            owners.push_back(node ? std::optional<std::size_t>(*node) : std::nullopt);
        }
        schedule_.emplace(std::move(owners), asked_->options.concurrency);
        if (is_first_begun_) {
            schedule_->begin(0);
            if (running_.empty()) {
                schedule_->end(0);
            }
        }
    }

    void start(session& client, std::uint16_t vbucket) {
        is_first_begun_ = true;
        const net::ticket ticket = client.client().reserve_ticket();
        running_.emplace(ticket, vbucket);
        engine::vbucket_scan scan{.asked = asked_, .vbucket = wire::vbucket_id{vbucket}};
        scan.on_rows = [weak = weak_from_this(), ticket] {
            if (const auto self = weak.lock()) {
                self->on_rows(ticket);
            }
        };
        engine::operation_request request;
        request.kind = engine::operation_kind::range_scan;
        request.scan = std::move(scan);
        request.timeout = duration::max();
        request.deadline = deadline_;
        request.terms().strategy = asked_->options.strategy;
        request.terms().user_data = asked_->options.user_data;
        request.outer_allowance = asked_->options.outer_allowance.get();
        const auto refused = client.client().start_on(
            loop_, keyspace_, std::move(request),
            [self = shared_from_this(), ticket](engine::operation_result&& result) {
                self->on_done(ticket, std::move(result));
            },
            ticket);
        if (refused != net::refusal::none) {
            running_.erase(ticket);
            fail(to_error(refused));
        }
    }

    void on_rows(net::ticket from) {
        ready_.push_back(from);
        start_more();  // the map is known by now
        serve();
    }

    void on_done(net::ticket from, engine::operation_result&& result) {
        const auto ended = running_.find(from);
        if (schedule_) {
            schedule_->end(ended->second);
        }
        running_.erase(ended);
        std::erase(ready_, from);
        if (!result.scan->rows.empty()) {
            keep(std::move(result.scan->rows));
        }
        collected_.retry_attempts += result.retry_attempts;
        if (result.history) {
            collected_.history = std::move(result.history);
        }
        if (result.ec) {
            fail(error(std::move(result.error)));
        }
        start_more();
        serve();
    }

    // The first failure ends the stream. Its trace is that of the vbucket that failed.
    void fail(error&& why) {
        if (!ended_by_) {
            ended_by_ = std::move(why);
        }
        stop();
    }

    // Ends all scans. Rows that are here can still be read.
    void stop() {
        is_stopped_ = true;
        const auto client = client_.lock();
        if (client == nullptr) {
            return;
        }
        for (const auto& [ticket, vbucket] : running_) {
            client->client().cancel(ticket);
        }
        if (running_.empty()) {
            serve();
        }
    }

    void keep(engine::row_batch&& rows) {
        waiting_size_bytes_ += rows.size_bytes();
        waiting_.push_back(std::move(rows));
    }

    // Gives a waiting reader what has arrived.
    void serve() {
        const bool has_stopped = is_stopped_ || is_left_.load(std::memory_order_relaxed);
        const bool is_ended = running_.empty() && (has_stopped || is_complete());
        is_ended_.store(is_ended, std::memory_order_release);
        if (!waiter_) {
            return;
        }
        if (!waiting_.empty()) {
            batch_ = std::move(waiting_.front());
            waiting_.pop_front();
            waiting_size_bytes_ -= batch_.size_bytes();
            row_ = 0;
        } else {
            if (take_ready() || !is_ended) {
                return;  // continued in on_taken, or when rows arrive
            }
            end_reading();
        }
        auto ready = std::exchange(waiter_, nullptr);
        start_more();
        ready();
    }

    void end_reading() {
        trace_ = collected_;
        if (ended_by_) {
            failure_ = std::move(ended_by_);
        } else if (!is_complete()) {
            failure_ = error(errc::request_canceled, "canceled by the caller");
        } else {
            is_over_ = true;
        }
    }

    [[nodiscard]] bool is_complete() const noexcept { return schedule_ && !schedule_->has_more(); }

    // Takes the rows of a vbucket that has some. Returns false if there is none.
    bool take_ready() {
        const auto client = client_.lock();
        if (is_taking_) {
            return true;
        }
        if (ready_.empty() || client == nullptr) {
            return false;
        }
        const net::ticket from = ready_.front();
        ready_.pop_front();
        is_taking_ = client->client().take_rows(
                         from,
                         [self = shared_from_this()](std::optional<engine::row_batch> rows) {
                             self->on_taken(std::move(rows));
                         },
                         {}, loop_) == net::refusal::none;
        return is_taking_;
    }

    void on_taken(std::optional<engine::row_batch> rows) {
        is_taking_ = false;
        if (rows && !rows->empty()) {
            keep(std::move(*rows));
        }
        serve();
    }

    const std::weak_ptr<session> client_;
    const net::keyspace_number keyspace_;
    const std::shared_ptr<const std::string> bucket_;
    const net::loop_number loop_;
    const std::shared_ptr<const scan_request> asked_;
    const time_point deadline_;
    std::atomic<bool> is_ended_{false};
    std::atomic<bool> is_reading_{false};
    std::atomic<bool> is_left_{false};  // no further scan begins; the loop stops the others soon

    // Used by the reader, except while it waits.
    engine::row_batch batch_;
    std::size_t row_ = 0;                // the next one in the batch
    std::optional<std::uint64_t> left_;  // documents that a sample may still return
    std::optional<error> failure_;
    std::optional<error> refused_;
    operation_trace trace_;
    bool is_over_ = false;

    // Used by the loop.
    waiter waiter_;
    std::optional<scan_schedule> schedule_;  // empty until the map is known
    bool is_first_begun_ = false;
    std::map<net::ticket, std::uint16_t> running_;  // the vbuckets that are being scanned
    std::deque<net::ticket> ready_;                 // those of them that have rows to take
    bool is_taking_ = false;
    std::deque<engine::row_batch> waiting_;  // rows that the reader has not asked for
    std::size_t waiting_size_bytes_ = 0;
    operation_trace collected_;
    std::optional<error> ended_by_;
    bool is_stopped_ = false;
};

std::expected<std::optional<scanned_document>, error> next_document(const scan_handle& scan) {
    return read_next<scanned_document>(scan);
}

void start_next_document(
    const scan_handle& scan, const result_receiver<std::optional<scanned_document>>& receiver) {
    start_reading(scan, receiver);
}

void cancel_scan(const scan_handle& scan) noexcept {
    scan.source->cancel(*scan.client);
}

void leave_scan(const scan_handle& scan) noexcept {
    leave(scan);
}

std::move_only_function<void()> make_cancel(const scan_handle& scan) {
    return [client = std::weak_ptr(scan.client), source = std::weak_ptr(scan.source)] {
        const auto held = client.lock();
        const auto at = source.lock();
        if (held != nullptr && at != nullptr) {
            at->cancel(*held);
        }
    };
}

std::expected<operation_trace, error> finish_scan(const scan_handle& scan) {
    if (scan.source->failure()) {
        return std::unexpected(*scan.source->failure());
    }
    if (!scan.source->is_over()) {
        return std::unexpected(
            error(errc::invalid_argument, "the trace is available after the last document"));
    }
    return scan.source->trace();
}

}  // namespace reprise::couchbase::detail

namespace reprise::couchbase {

std::expected<scan_stream, error> collection::scan(
    const scan_kind& what, const scan_options& options) const {
    auto asked = std::make_shared<detail::scan_request>(what, options);
    if (const char* why = engine::why_invalid(*asked); why != nullptr) {
        return std::unexpected(error(errc::invalid_argument, why));
    }
    if (auto* sampling = std::get_if<sampling_scan>(&asked->what); sampling && !sampling->seed) {
        sampling->seed = static_cast<std::uint32_t>(net::random_bits());
    }
    auto source = std::make_shared<detail::scan_source>(target_, std::move(asked));
    const auto refused = source->begin(*target_.client);
    if (refused != net::refusal::none) {
        return std::unexpected(detail::to_error(refused));
    }
    return detail::stream_access::make<scan_stream>(
        detail::scan_handle{target_.client, std::move(source)});
}

}  // namespace reprise::couchbase
