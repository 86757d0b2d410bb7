#pragma once

/// The load generator of the demonstration and the soak run.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include "worker.hpp"

namespace reprise::demo {

/// Names that the load and the phases share.
inline constexpr const char* bucket_name = "travel";
inline constexpr const char* scope_name = "demo";
inline constexpr const char* scratch_name = "scratch";
inline constexpr const char* scratch_prefix = "scratch-";
inline constexpr const char* statement_prefix = "statement-";

struct load_options {
    std::size_t document_workers = 64;
    std::size_t documents_per_worker = 4;
    std::size_t counter_workers = 12;
    std::size_t lock_workers = 12;
    std::size_t lock_documents = 4;
    std::size_t scratch_workers = 6;
    std::size_t statement_workers = 8;
    std::size_t browse_workers = 4;
    /// Average time between two operations of one worker.
    std::chrono::microseconds pace{10'000};
    /// The same for the workers that use the HTTP services.
    std::chrono::microseconds service_pace{20'000};
    std::uint64_t seed = 1;

    [[nodiscard]] std::size_t workers() const noexcept {
        return document_workers + counter_workers + lock_workers + scratch_workers +
               statement_workers + browse_workers;
    }
};

/// Workers on their own thread. Construct, start, stop; after that the accounts can be read.
class load {
public:
    /// The client, the ledger and the measurements must outlive this object.
    load(
        const couchbase::cluster& client, const load_options& options, write_ledger& writes,
        measurements& measured);
    load(const load&) = delete;
    load& operator=(const load&) = delete;
    /// Stops and waits until all operations have ended.
    ~load();

    void start();
    /// Workers start no further operations. Returns once all have ended, or false if some have not
    /// after `time_max`.
    [[nodiscard]] bool stop(std::chrono::milliseconds time_max);

    void set_lock_time(bool is_on) noexcept { shop_.is_lock_time = is_on; }
    [[nodiscard]] std::uint64_t wrong_reads() const noexcept { return shop_.wrong_reads; }
    [[nodiscard]] std::uint64_t wrong_selects() const noexcept { return shop_.wrong_selects; }
    [[nodiscard]] const couchbase::collection& documents() const noexcept {
        return shop_.documents;
    }

    /// Only after `stop`.
    [[nodiscard]] const std::deque<document_account>& document_accounts() const noexcept {
        return document_accounts_;
    }
    [[nodiscard]] const std::deque<counter_account>& counter_accounts() const noexcept {
        return counter_accounts_;
    }

private:
    void make_workers(const load_options& options);
    void make_service_workers(const load_options& options);
    document_account& make_document(std::string key, bool is_kept);

    boost::asio::io_context io_{1};
    std::optional<boost::asio::executor_work_guard<boost::asio::io_context::executor_type>> work_;
    workshop shop_;
    // Deques, because workers keep pointers to their accounts.
    std::deque<document_account> document_accounts_;
    std::deque<counter_account> counter_accounts_;
    std::vector<std::unique_ptr<worker>> workers_;
    std::thread thread_;
};

}  // namespace reprise::demo
