#include "service_worker.hpp"

#include <fmt/format.h>

#include "load.hpp"

namespace reprise::demo {

namespace {

constexpr double select_share = 0.5;
constexpr double prepared_share = 0.5;

[[nodiscard]] std::string select_text() {
    return fmt::format("SELECT RAW d.stamp FROM {} AS d USE KEYS $1", bucket_name);
}

// Inserts a document as long as it is certainly new; later writes replace all or part of it.
[[nodiscard]] std::string change_text(const document_account& account, bool is_partial) {
    if (account.confirmed == 0) {
        return fmt::format(
            "{} INTO {} (KEY, VALUE) VALUES ($1, $2)",
            account.unknown.empty() ? "INSERT" : "UPSERT", bucket_name);
    }
    return is_partial ? fmt::format("UPDATE {} USE KEYS $1 SET stamp = $2.stamp", bucket_name)
                      : fmt::format("UPSERT INTO {} (KEY, VALUE) VALUES ($1, $2)", bucket_name);
}

}  // namespace

void statement_worker::step() {
    document_account& account = *owned_[shop_.below(owned_.size())];
    if (account.confirmed != 0 && shop_.chance(select_share)) {
        select(account);
    } else {
        change(account);
    }
}

// The worker does nothing else in the meantime, so the possible results are known exactly.
void statement_worker::select(const document_account& account) {
    couchbase::query_options options;
    options.readonly = true;
    options.adhoc = !shop_.chance(prepared_share);
    options.positional = {account.key};
    shop_.client.async_query(
        select_text(), options,
        timed([this,
               &account](const std::expected<couchbase::query_result, couchbase::error>& found) {
            if (found) {
                const auto stamp =
                    found->rows.size() == 1 ? stamp_of(found->rows[0].text()) : std::nullopt;
                shop_.wrong_selects += stamp && account.allows(*stamp) ? 0U : 1U;
            }
            rest();
        }));
}

void statement_worker::change(document_account& account) {
    const std::uint64_t stamp = shop_.writes.begin_statement(account.key);
    couchbase::query_options options;
    options.adhoc = !shop_.chance(prepared_share);
    options.client_context_id = to_context(account.key, stamp);
    options.positional = {
        account.key, couchbase::json_text{fmt::format(R"({{"stamp":"{}"}})", to_value(stamp))}};
    shop_.client.async_query(
        change_text(account, shop_.chance(0.5)), options,
        timed([this, &account, stamp](const auto& result) {
            settle(account, stamp, failure_of(result));
            rest();
        }));
}

void browse_worker::step() {
    auto done = timed([this](const auto&) { rest(); });
    switch (turn_++ % 4) {
        case 0: {
            couchbase::analytics_options options;
            options.readonly = true;
            options.positional = {known_[shop_.below(known_.size())]->key};
            shop_.client.async_analytics_query(select_text(), options, std::move(done));
            break;
        }
        case 1:
            shop_.client.async_search(
                search_index_name, couchbase::search_query::match_all(), {.limit = 3},
                std::move(done));
            break;
        case 2:
            shop_.client.bucket(bucket_name)
                .async_view_query(design_name, view_name, {.limit = 3}, std::move(done));
            break;
        default:
            shop_.client.async_management_request(
                {.target = fmt::format("/pools/default/buckets/{}", bucket_name)}, {},
                std::move(done));
            break;
    }
}

}  // namespace reprise::demo
