#include "load.hpp"

#include <fmt/format.h>

#include "service_worker.hpp"

namespace reprise::demo {

load::load(
    const couchbase::cluster& client, const load_options& options, write_ledger& writes,
    measurements& measured)
    : work_(boost::asio::make_work_guard(io_)),
      shop_{
          .io = io_,
          .client = client,
          .documents = client.bucket(bucket_name).default_collection(),
          .scratch = client.bucket(bucket_name).scope(scope_name).collection(scratch_name),
          .writes = writes,
          .measured = measured,
          .random = random_generator(options.seed),
          .pace = options.pace} {
    make_workers(options);
    make_service_workers(options);
}

load::~load() {
    shop_.is_stopping = true;
    work_.reset();
    if (thread_.joinable()) {
        thread_.join();
    }
}

document_account& load::make_document(std::string key, bool is_kept) {
    document_account& made = document_accounts_.emplace_back();
    made.key = std::move(key);
    made.is_kept = is_kept;
    return made;
}

void load::make_workers(const load_options& options) {
    for (std::size_t i = 0; i < options.document_workers; ++i) {
        std::vector<document_account*> owned;
        owned.reserve(options.documents_per_worker);
        for (std::size_t j = 0; j < options.documents_per_worker; ++j) {
            owned.push_back(&make_document(fmt::format("document-{}-{}", i, j), true));
        }
        workers_.push_back(std::make_unique<document_worker>(shop_, std::move(owned)));
    }
    for (std::size_t i = 0; i < options.counter_workers; ++i) {
        counter_account& made = counter_accounts_.emplace_back();
        made.key = fmt::format("counter-{}", i);
        workers_.push_back(std::make_unique<counter_worker>(shop_, made));
    }
    std::vector<document_account*> shared;
    shared.reserve(options.lock_documents);
    for (std::size_t i = 0; i < options.lock_documents; ++i) {
        shared.push_back(&make_document(fmt::format("lock-{}", i), true));
    }
    for (std::size_t i = 0; i < options.lock_workers && !shared.empty(); ++i) {
        workers_.push_back(
            std::make_unique<lock_worker>(shop_, shared, i < shared.size() ? shared[i] : nullptr));
    }
    for (std::size_t i = 0; i < options.scratch_workers; ++i) {
        auto& account = make_document(fmt::format("{}{}", scratch_prefix, i), false);
        workers_.push_back(std::make_unique<scratch_worker>(shop_, account));
    }
}

void load::make_service_workers(const load_options& options) {
    std::vector<document_account*> all;
    all.reserve(options.statement_workers * options.documents_per_worker);
    for (std::size_t i = 0; i < options.statement_workers; ++i) {
        std::vector<document_account*> owned;
        owned.reserve(options.documents_per_worker);
        for (std::size_t j = 0; j < options.documents_per_worker; ++j) {
            auto& account = make_document(fmt::format("{}{}-{}", statement_prefix, i, j), true);
            account.is_by_statement = true;
            owned.push_back(&account);
            all.push_back(&account);
        }
        workers_.push_back(
            std::make_unique<statement_worker>(shop_, options.service_pace, std::move(owned)));
    }
    for (std::size_t i = 0; i < options.browse_workers && !all.empty(); ++i) {
        workers_.push_back(std::make_unique<browse_worker>(shop_, options.service_pace * 2, all));
    }
}

void load::start() {
    for (const auto& one : workers_) {
        one->begin();
    }
    thread_ = std::thread([this] { io_.run(); });
}

bool load::stop(std::chrono::milliseconds time_max) {
    shop_.is_stopping = true;
    const auto end = std::chrono::steady_clock::now() + time_max;
    while (shop_.workers_active != 0 && std::chrono::steady_clock::now() < end) {
        std::this_thread::sleep_for(std::chrono::milliseconds{2});
    }
    if (shop_.workers_active != 0) {
        return false;
    }
    work_.reset();
    if (thread_.joinable()) {
        thread_.join();
    }
    return true;
}

}  // namespace reprise::demo
