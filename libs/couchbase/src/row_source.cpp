#include <algorithm>
#include <atomic>
#include <functional>
#include <utility>

#include <reprise/couchbase/streams.hpp>

#include "session.hpp"
#include "stream_reading.hpp"
#include "unsent_request.hpp"

namespace reprise::couchbase::detail {

// Passes rows from the loop to their reader in batches, only when the reader asks for them:
//
//     reader: read_ahead empty -> ask(waiter) -> [loop] take_rows -> batch | the end | wait
//     loop:   on_rows -> take_rows for the waiter;  on_done -> the rest, then the end
//
// One thread at a time uses the reader's part, and only the loop uses the loop's part. Data passes
// between them in the call of the waiter.
class row_source : public std::enable_shared_from_this<row_source> {
public:
    using waiter = std::move_only_function<void()>;

    // Does not keep the client alive: the operations, which own this object, end with the client.
    row_source(const std::weak_ptr<session>& client, call_ticket name)
        : client_(client), ticket_(name) {}

    [[nodiscard]] std::expected<void, error> begin(
        session& client, engine::http_request&& request) {
        is_borrowed_ = is_borrowed(request.outer_allowance);
        request.on_rows = [weak = weak_from_this()] {
            if (const auto self = weak.lock()) {
                self->on_rows();
            }
        };
        const auto refused = client.client().start_http(
            std::move(request),
            [self = shared_from_this()](engine::operation_result&& result) {
                self->on_done(std::move(result));
            },
            ticket_);
        if (refused != net::refusal::none) {
            return std::unexpected(to_error(refused));
        }
        return {};
    }

    // --- the reader ---

    // Returns false while another read waits: the loop may be using the reader's part.
    [[nodiscard]] bool try_begin_read() noexcept { return !is_reading_.exchange(true); }
    void end_read() noexcept { is_reading_.store(false); }

    // The next available row, the end, or an error. Empty: call ask() for more.
    [[nodiscard]] std::optional<std::expected<std::optional<row_view>, error>> try_next() {
        if (cursor_.has_row()) {
            return std::optional(cursor_.take_row());
        }
        if (failure_) {
            return std::unexpected(*failure_);
        }
        if (is_over_) {
            return std::optional<row_view>();
        }
        return std::nullopt;
    }

    // `ready` is called once, on the loop. After that, try_next() returns a value.
    [[nodiscard]] net::refusal ask(session& client, waiter ready) {
        cursor_ = {};
        return client.client().take_rows(
            ticket_,
            [self = shared_from_this(),
             ready = std::move(ready)](std::optional<engine::row_batch> rows) mutable {
                self->waiter_ = std::move(ready);
                self->on_taken(std::move(rows));
            },
            std::exchange(batch_, {}));
    }

    // May be called from any thread.
    void cancel(session& client) noexcept {
        if (!is_ended_.load(std::memory_order_relaxed)) {
            client.client().cancel(ticket_);
        }
    }

    // Whether its request still uses objects that the user's options borrow.
    [[nodiscard]] bool uses_borrowed() const noexcept {
        return is_borrowed_ && !is_ended_.load(std::memory_order_acquire);
    }
    [[nodiscard]] net::loop_number loop() const noexcept { return 0; }
    [[nodiscard]] row_cursor& cursor() noexcept { return cursor_; }
    [[nodiscard]] call_ticket ticket() const noexcept { return ticket_; }
    [[nodiscard]] std::size_t size_peak() const noexcept { return size_peak_; }
    [[nodiscard]] const std::any& metadata() const noexcept { return metadata_; }
    [[nodiscard]] const operation_trace& trace() const noexcept { return trace_; }
    [[nodiscard]] bool is_over() const noexcept { return is_over_; }
    // The error that ended the rows, or else the one that refused the last read.
    [[nodiscard]] const std::optional<error>& failure() const noexcept {
        return failure_ ? failure_ : refused_;
    }
    // A refusal ends nothing: reading may go on.
    void set_refused(std::optional<error> why) { refused_ = std::move(why); }

private:
    // --- the loop ---

    void on_rows() {
        const auto client = client_.lock();
        if (waiter_ && client) {
            static_cast<void>(client->client().take_rows(
                ticket_,
                [self = shared_from_this()](std::optional<engine::row_batch> rows) {
                    self->on_taken(std::move(rows));
                },
                std::exchange(spare_, {})));
        }
    }

    void on_taken(std::optional<engine::row_batch> rows) {
        if (rows && !rows->empty()) {
            waiting_.push_back(std::move(*rows));
        } else if (rows) {
            spare_ = std::move(*rows);  // reuses its memory for the next batch
        }
        notify();
    }

    void on_done(engine::operation_result&& result) {
        if (!result.http->rows.empty()) {
            waiting_.push_back(std::move(result.http->rows));
        }
        ended_ = std::move(result);
        is_ended_.store(true, std::memory_order_release);
        notify();
    }

    // Passes the next batch to a waiting reader.
    void notify() {
        if (!waiter_) {
            return;
        }
        if (!waiting_.empty()) {
            batch_ = std::move(waiting_.front());
            waiting_.erase(waiting_.begin());
            size_peak_ = std::max(size_peak_, batch_.size_bytes());
            const auto rows = batch_.rows();
            cursor_ = {rows.data(), rows.data() + rows.size()};
        } else if (!ended_) {
            return;
        } else {
            trace_ = {ended_->retry_attempts, ended_->history};
            if (ended_->ec) {
                failure_ = to_service_error(*ended_);
            } else {
                metadata_ = std::move(ended_->http->metadata);
                is_over_ = true;
            }
        }
        auto ready = std::exchange(waiter_, nullptr);
        ready();
    }

    const std::weak_ptr<session> client_;
    const call_ticket ticket_;
    bool is_borrowed_ = false;  // set before it begins
    std::atomic<bool> is_ended_{false};
    std::atomic<bool> is_reading_{false};

    // Used by the reader, except while it waits.
    engine::row_batch batch_;
    row_cursor cursor_;  // into the batch
    std::optional<error> failure_;
    std::optional<error> refused_;
    std::any metadata_;  // once all rows are read
    operation_trace trace_;
    bool is_over_ = false;
    std::size_t size_peak_ = 0;

    // Used by the loop.
    waiter waiter_;
    std::vector<engine::row_batch> waiting_;
    engine::row_batch spare_;
    std::optional<engine::operation_result> ended_;
};

std::expected<row_handle, error> open_rows(const service_work& work) {
    auto request = take_request(work);
    if (!request) {
        return std::unexpected(std::move(request.error()));
    }
    auto source = std::make_shared<row_source>(work.client, work.client->client().reserve_ticket());
    if (auto begun = source->begin(*work.client, std::move(*request)); !begun) {
        return std::unexpected(std::move(begun.error()));
    }
    row_cursor& cursor = source->cursor();
    return row_handle{work.client, std::move(source), &cursor};
}

std::expected<std::optional<row_view>, error> next_row(const row_handle& rows) {
    return read_next<row_view>(rows);
}

void start_next_row(
    const row_handle& rows, const result_receiver<std::optional<row_view>>& receiver) {
    start_reading(rows, receiver);
}

void cancel_rows(const row_handle& rows) noexcept {
    rows.source->cancel(*rows.client);
}

void leave_rows(const row_handle& rows) noexcept {
    leave(rows);
}

call_ticket ticket_of(const row_handle& rows) noexcept {
    return rows.source->ticket();
}

std::size_t buffered_size_peak(const row_handle& rows) noexcept {
    return rows.source->size_peak();
}

template <class Metadata>
std::expected<Metadata, error> finish_rows(const row_handle& rows) {
    const row_source& source = *rows.source;
    if (source.failure()) {
        return std::unexpected(*source.failure());
    }
    if (!source.is_over()) {
        return std::unexpected(error(
            make_error_code(errc::invalid_argument), "metadata is available after the last row"));
    }
    return metadata_in<Metadata>(source.metadata());
}

const operation_trace& trace_of(const row_handle& rows) noexcept {
    return rows.source->trace();
}

template std::expected<query_metadata, error> finish_rows(const row_handle&);
template std::expected<search_metadata, error> finish_rows(const row_handle&);
template std::expected<view_metadata, error> finish_rows(const row_handle&);

}  // namespace reprise::couchbase::detail
