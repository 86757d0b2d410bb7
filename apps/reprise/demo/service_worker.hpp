#pragma once

/// The workers of the load that use the HTTP services.

#include <chrono>
#include <cstddef>
#include <vector>

#include "worker.hpp"

namespace reprise::demo {

/// Names that the workers and the cluster share.
inline constexpr const char* search_index_name = "demo-index";
inline constexpr const char* design_name = "demo-design";
inline constexpr const char* view_name = "all";

/// Owns a few documents: reads them with SELECT and changes them with INSERT, UPSERT and UPDATE,
/// some of them prepared. Every change has its own context id, so that the servers' audit shows how
/// often it was applied.
class statement_worker final : public worker {
public:
    statement_worker(
        workshop& shop, std::chrono::microseconds pace, std::vector<document_account*> owned)
        : worker(shop, traffic::http, pace), owned_(std::move(owned)) {}

private:
    void step() override;
    void select(const document_account& account);
    void change(document_account& account);

    std::vector<document_account*> owned_;
};

/// Reads from analytics, search, views and management in rotation. It does not check the results: a
/// view or an index may leave out documents on a node that is down.
class browse_worker final : public worker {
public:
    browse_worker(
        workshop& shop, std::chrono::microseconds pace, std::vector<document_account*> known)
        : worker(shop, traffic::http, pace), known_(std::move(known)) {}

private:
    void step() override;

    std::vector<document_account*> known_;
    std::size_t turn_ = 0;
};

}  // namespace reprise::demo
