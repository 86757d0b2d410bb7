#pragma once

/// A bounded load of reads and writes on documents of its own, for `reprise bench`.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <reprise/couchbase.hpp>
#include <reprise/retry/driver/metrics_text.hpp>

namespace reprise::app {

struct load_options {
    unsigned read_percent = 90;            ///< 0 to 100; the others are upserts.
    std::vector<std::size_t> sizes{1024};  ///< Of the values, in bytes; used in turn. Not empty.
    std::size_t in_flight = 64;            ///< Operations that each thread keeps running.
    std::size_t key_count = 1000;          ///< Documents of each thread.
    bool is_driven = true;  ///< The client is in thread_mode::caller_drives. False: own_thread.
};

/// Counts of one kind of operation. Other threads may read it while the load runs.
struct operation_figures {
    std::atomic<std::uint64_t> succeeded = 0;
    std::atomic<std::uint64_t> failed = 0;
    std::atomic<std::uint64_t> bytes = 0;  ///< Of values, either way.
    driver::latency_histogram latency;
};

/// One thread's load on a client. Use it on one thread only, in this order: `prepare`, `run`,
/// `clean_up`. `stop` and the figures may be used from any thread. Handlers run on the threads of
/// the client, which may be several.
class key_value_load {
public:
    /// `prefix` starts the keys of all documents.
    key_value_load(
        couchbase::cluster client, couchbase::collection where, load_options options,
        std::string prefix);

    /// Stores every document once. Returns the first error.
    [[nodiscard]] std::optional<couchbase::error> prepare();
    /// Keeps `in_flight` operations running until `stop` is called, then waits for the last one.
    void run();
    void stop() noexcept { is_stopping_.store(true, std::memory_order_relaxed); }
    /// Removes the documents. Returns how many could not be removed.
    [[nodiscard]] std::size_t clean_up();

    [[nodiscard]] const operation_figures& reads() const noexcept { return reads_; }
    [[nodiscard]] const operation_figures& writes() const noexcept { return writes_; }
    /// The first error, for the report; empty if nothing failed. Valid after `run`.
    [[nodiscard]] const std::string& first_error() const noexcept { return first_error_; }

private:
    [[nodiscard]] bool is_stopping() const noexcept {
        return is_stopping_.load(std::memory_order_relaxed);
    }
    // Spreads the reads evenly, so that every hundred operations contain `read_percent` of them.
    [[nodiscard]] bool is_read(std::uint64_t number) const noexcept;
    void start_next();
    void start_read(const std::string& key);
    void start_write(const std::string& key, const couchbase::json_text& value);
    void on_end(operation_figures& figures, duration took, std::size_t bytes);
    void on_error(operation_figures& figures, const couchbase::error& error);

    couchbase::cluster client_;
    couchbase::collection where_;
    load_options options_;
    std::vector<std::string> keys_;
    std::vector<couchbase::json_text> values_;  // one for each size
    std::size_t stored_count_ = 0;              // documents that may exist
    std::atomic<std::uint64_t> started_ = 0;
    std::atomic<std::size_t> open_ = 0;
    std::atomic<bool> is_stopping_ = false;
    operation_figures reads_;
    operation_figures writes_;
    std::mutex error_mutex_;
    std::string first_error_;
};

}  // namespace reprise::app
