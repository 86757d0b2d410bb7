#include "http_services/query/run.hpp"

#include <algorithm>
#include <limits>
#include <set>

#include <reprise/json/parse.hpp>
#include <reprise/json/write.hpp>

#include "http_services/query/language.hpp"

namespace reprise::sandbox::detail {

namespace {

document_row make_row(found_document from) {
    document_row row;
    auto parsed = from.is_json ? json::parse(from.value) : std::unexpected(json::parse_error{});
    row.content = parsed ? std::move(parsed->root)
                         : json::value("<binary (" + std::to_string(from.value.size()) + " b)>");
    row.meta = json::object{
        {"id", from.id},
        {"cas", from.cas},
        {"expiration", from.expiry},
        {"flags", from.flags},
        {"type", from.is_json ? "json" : "binary"}};
    row.id = std::move(from.id);
    return row;
}

// Without keys, a plan needs an index that is online: a primary one, or any if there is a WHERE.
bool can_scan(const statement_setting& in, const statement& what, const keyspace& on) {
    return in.is_analytics ||
           std::ranges::any_of(in.with.services.indexes, [&](const query_index& each) {
               return each.on.bucket == on.bucket && each.on.collection_id == on.collection_id &&
                      each.is_online && (each.is_primary || what.where.has_value());
           });
}

// A document whose node is down is not a missing document.
std::optional<statement_error> find_unreachable(
    const statement_setting& in, const keyspace& on, const std::vector<std::string>& ids) {
    for (const std::string& id : ids) {
        if (!is_reachable(in.cluster(), on, id)) {
            return statement_error{
                12008,
                "Error performing bulk get operation - cause: no node is responsible for " + id,
                0,
                {},
                true,
                true};
        }
    }
    return std::nullopt;
}

std::expected<std::vector<std::string>, statement_error> chosen_ids(
    const statement_setting& in, const expression& keys) {
    evaluator evaluate(in.parameters);
    const maybe_value given = evaluate.value_of(keys, {});
    if (evaluate.error()) {
        return std::unexpected(*evaluate.error());
    }
    std::vector<std::string> ids;
    if (const auto one = given ? given->as_string() : std::nullopt) {
        ids.emplace_back(*one);
    } else if (const json::array* many = given ? given->as_array() : nullptr) {
        for (const json::value& each : *many) {
            // Only strings can be document ids.
            if (const auto id = each.as_string()) {
                ids.emplace_back(*id);
            }
        }
    }
    return ids;
}

// ARRAY_RANGE(from, to): produces the integers one at a time.
class range_stream final : public row_stream {
public:
    range_stream(statement what, statement_parameters parameters)
        : what_(std::move(what)), parameters_(std::move(parameters)), evaluate_(parameters_) {
        const auto bound = [this](const expression& of) {
            const maybe_value given = evaluate_.value_of(of, {});
            return given ? given->as_int64().value_or(0) : 0;
        };
        at_ = bound(what_.from.bounds[0]);
        end_ = bound(what_.from.bounds[1]);
        skip_ = what_.offset ? evaluate_.count_of(*what_.offset, "OFFSET") : 0;
        left_ = what_.limit ? evaluate_.count_of(*what_.limit, "LIMIT")
                            : std::numeric_limits<std::uint64_t>::max();
    }

    bool append_next(std::string& out) override {
        while (at_ < end_ && left_ > 0 && !evaluate_.error()) {
            current_ = at_++;
            const row_view row{what_.from.alias, &current_, nullptr};
            if (what_.where && !evaluate_.is_true(*what_.where, row)) {
                continue;
            }
            if (skip_ > 0) {
                --skip_;
                continue;
            }
            --left_;
            const std::size_t size_before = out.size();
            evaluate_.append_row(out, what_.result, row);
            if (evaluate_.error()) {
                out.resize(size_before);
                return false;
            }
            return true;
        }
        return false;
    }

    const std::optional<statement_error>& error() const noexcept override {
        return evaluate_.error();
    }

private:
    statement what_;
    statement_parameters parameters_;
    evaluator evaluate_;
    json::value current_;
    std::int64_t at_ = 0;
    std::int64_t end_ = 0;
    std::uint64_t skip_ = 0;
    std::uint64_t left_ = 0;
};

// A row with its ORDER BY keys and its original position.
struct sorted_row {
    std::vector<maybe_value> keys;
    std::size_t place = 0;
    document_row row;
};

// ORDER BY may use aliases of the projection.
void replace_aliases(expression& in, const projection& by) {
    if (in.what == expression_kind::name) {
        const auto found = std::ranges::find_if(by.items, [&in](const projection_item& item) {
            return !item.is_star && item.alias == in.text;
        });
        if (found != by.items.end()) {
            in = expression(found->value);
        }
        return;
    }
    for (expression& each : in.operands) {
        replace_aliases(each, by);
    }
}

// Sorts by ORDER BY. MISSING sorts first; equal rows keep their order.
void sort_rows(evaluator& evaluate, statement& what, std::vector<document_row>& rows) {
    if (what.order.empty()) {
        return;
    }
    for (order_term& term : what.order) {
        replace_aliases(term.by, what.result);
    }
    std::vector<sorted_row> sorted;
    for (document_row& row : rows) {
        std::vector<maybe_value> keys;
        keys.reserve(what.order.size());
        const row_view view{what.from.alias, &row.content, &row.meta};
        for (const order_term& term : what.order) {
            keys.push_back(evaluate.value_of(term.by, view));
        }
        sorted.push_back({std::move(keys), sorted.size(), std::move(row)});
    }
    std::ranges::sort(sorted, [&what](const sorted_row& left, const sorted_row& right) {
        for (std::size_t i = 0; i < what.order.size(); ++i) {
            const maybe_value& a = left.keys[i];
            const maybe_value& b = right.keys[i];
            const int sign = a && b ? collate(*a, *b) : int{a.has_value()} - int{b.has_value()};
            if (sign != 0) {
                return what.order[i].is_descending ? sign > 0 : sign < 0;
            }
        }
        return left.place < right.place;
    });
    rows.clear();
    for (sorted_row& each : sorted) {
        rows.push_back(std::move(each.row));
    }
}

// Applies OFFSET and LIMIT to the finished rows.
void cut_rows(evaluator& evaluate, const statement& what, std::vector<json::value>& rows) {
    if (what.offset) {
        const std::uint64_t skipped = evaluate.count_of(*what.offset, "OFFSET");
        const auto count = std::min<std::uint64_t>(skipped, rows.size());
        rows.erase(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(count));
    }
    if (what.limit) {
        const std::uint64_t kept = evaluate.count_of(*what.limit, "LIMIT");
        rows.resize(std::min<std::uint64_t>(kept, rows.size()));
    }
}

// Keeps the first of equal rows.
void drop_repeated(std::vector<json::value>& rows) {
    const auto is_less = [](const json::value* left, const json::value* right) {
        return collate(*left, *right) < 0;
    };
    std::set<const json::value*, decltype(is_less)> seen(is_less);
    std::vector<json::value> kept;
    for (const json::value& row : rows) {
        if (seen.insert(&row).second) {
            kept.push_back(row);
        }
    }
    rows = std::move(kept);
}

std::expected<std::vector<document_row>, statement_error> source_rows(
    const statement_setting& in, const statement& what) {
    std::vector<document_row> rows;
    if (what.from.what == source_kind::documents) {
        const auto on = resolve_keyspace(in, what);
        return on ? find_rows(in, what, *on)
                  : std::expected<std::vector<document_row>, statement_error>(
                        std::unexpected(on.error()));
    }
    if (what.from.what == source_kind::none) {
        rows.push_back({});
        return rows;
    }
    evaluator evaluate(in.parameters);
    for (json::value& each : index_rows(in)) {
        if (!what.where || evaluate.is_true(*what.where, {what.from.alias, &each, nullptr})) {
            rows.push_back({{}, std::move(each), {}});
        }
    }
    if (evaluate.error()) {
        return std::unexpected(*evaluate.error());
    }
    return rows;
}

}  // namespace

void statement_result::add_row(std::string_view text) {
    rows += row_count++ == 0 ? "" : ",";
    rows += text;
    row_size += text.size();
}

statement_result refuse_statement(statement_error error) {
    statement_result result;
    result.errors.push_back(std::move(error));
    return result;
}

std::expected<std::vector<document_row>, statement_error> find_rows(
    const statement_setting& in, const statement& what, const keyspace& on) {
    std::vector<std::string> ids;
    if (what.from.keys) {
        auto chosen = chosen_ids(in, *what.from.keys);
        if (!chosen) {
            return std::unexpected(chosen.error());
        }
        ids = *std::move(chosen);
        if (auto problem = find_unreachable(in, on, ids); problem && !in.is_analytics) {
            return std::unexpected(*std::move(problem));
        }
    } else if (can_scan(in, what, on)) {
        ids = document_ids(in.cluster(), on, in.with.now);
    } else {
        return std::unexpected(statement_error{
            4000,
            "No index available on keyspace " + on.path() +
                " that matches your query. Use CREATE PRIMARY INDEX ON " + on.path() +
                " to create a primary index, or check that your expected index is online.",
            0,
            {}});
    }
    evaluator evaluate(in.parameters);
    std::vector<document_row> rows;
    for (const std::string& id : ids) {
        auto found = read_document(in.cluster(), on, id, in.with.now);
        if (!found) {
            continue;
        }
        document_row row = make_row(*std::move(found));
        if (!what.where ||
            evaluate.is_true(*what.where, {what.from.alias, &row.content, &row.meta})) {
            rows.push_back(std::move(row));
        }
    }
    if (evaluate.error()) {
        return std::unexpected(*evaluate.error());
    }
    return rows;
}

statement_result run_select(const statement_setting& in, statement what) {
    statement_result result;
    result.signature = signature_of(what.result);
    if (what.from.what == source_kind::range) {
        // Its rows are produced while the peer reads, so clauses that need all rows are not
        // possible.
        if (!what.order.empty()) {
            return refuse_statement(not_in_sandbox("ORDER BY over ARRAY_RANGE"));
        }
        if (what.result.is_distinct) {
            return refuse_statement(not_in_sandbox("DISTINCT over ARRAY_RANGE"));
        }
        if (what.result.items.front().value.what == expression_kind::count_all) {
            return refuse_statement(not_in_sandbox("COUNT(*) over ARRAY_RANGE"));
        }
        result.more = std::make_unique<range_stream>(std::move(what), in.parameters);
        return result;
    }
    auto found = source_rows(in, what);
    if (!found) {
        result.errors.push_back(std::move(found.error()));
        return result;
    }
    evaluator evaluate(in.parameters);
    std::vector<json::value> rows;
    const projection_item& first = what.result.items.front();
    if (first.value.what == expression_kind::count_all) {
        const json::value count = found->size();
        rows.push_back(what.result.is_raw ? count : json::object{{first.alias, count}});
    } else {
        sort_rows(evaluate, what, *found);
        rows.reserve(found->size());
        for (const document_row& row : *found) {
            const bool has_row = what.from.what != source_kind::none;
            rows.push_back(evaluate.row_of(
                what.result, {what.from.alias, has_row ? &row.content : nullptr,
                              row.meta.is_null() ? nullptr : &row.meta}));
        }
    }
    if (what.result.is_distinct) {
        drop_repeated(rows);
    }
    cut_rows(evaluate, what, rows);
    if (evaluate.error()) {
        result.errors.push_back(*evaluate.error());
        return result;
    }
    for (const json::value& row : rows) {
        result.add_row(json::serialize(row));
    }
    return result;
}

}  // namespace reprise::sandbox::detail
