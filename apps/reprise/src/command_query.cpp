/// `reprise query|analytics|search|view`, with rows printed as they come.

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "commands.hpp"
#include "kv_access.hpp"
#include "output.hpp"

namespace reprise::app {

namespace {

struct service_command_options {
    kv_access_options access;
    std::string text;   // statement, index, or design document
    std::string query;  // of a search; name of a view
    std::string scope;
    std::vector<std::string> arguments;   // JSON, by position
    std::vector<std::string> parameters;  // name=JSON
    bool is_readonly = false;
    bool is_prepared = false;
    bool shows_metrics = false;
    std::uint64_t limit = 0;
};

constexpr const char* service_footer =
    "Rows go to standard output, one on a line, while they come; what the service says of its "
    "work\n"
    "goes to standard error. Without --readonly a statement is sent once: after a broken "
    "connection\n"
    "nobody knows whether it ran.\n"
    "\n"
    "Exit codes: 0 done, 1 failed, 2 wrong usage, 5 timeout.";

[[noreturn]] void fail_with(const couchbase::error& error) {
    fmt::print(stderr, "reprise: {}\n", error.message());
    throw exit_request(error.code() == couchbase::error_condition::timeout ? 5 : 1);
}

[[nodiscard]] std::vector<couchbase::json_fragment> positional(
    const service_command_options& options) {
    std::vector<couchbase::json_fragment> values;
    values.reserve(options.arguments.size());
    for (const std::string& text : options.arguments) {
        values.emplace_back(couchbase::json_text{text});
    }
    return values;
}

[[nodiscard]] std::vector<couchbase::named_value> named(const service_command_options& options) {
    std::vector<couchbase::named_value> values;
    for (const std::string& text : options.parameters) {
        const auto equals = text.find('=');
        if (equals == 0 || equals == std::string::npos) {
            throw usage_error(fmt::format("--param: '{}' is not name=JSON", text));
        }
        values.emplace_back(text.substr(0, equals), couchbase::json_text{text.substr(equals + 1)});
    }
    return values;
}

// Gathers lines and writes them in large pieces, but does not sit on them.
class row_printer {
public:
    void add(std::string_view row) {
        lines_.append(row).push_back('\n');
        const auto now = std::chrono::steady_clock::now();
        if (lines_.size() >= size_max || now - written_ >= time_max) {
            flush();
            written_ = now;
        }
    }
    void flush() {
        print(lines_);
        lines_.clear();
    }

private:
    static constexpr std::size_t size_max = std::size_t{64} * 1024;
    static constexpr std::chrono::milliseconds time_max{100};
    std::string lines_;
    std::chrono::steady_clock::time_point written_{};
};

// Prints the rows as they come; what stands after them.
template <class Stream>
auto print_rows(std::expected<Stream, couchbase::error>&& opened) {
    if (!opened) {
        fail_with(opened.error());
    }
    row_printer out;
    while (true) {
        const auto row = opened->next();
        if (!row) {
            out.flush();
            fail_with(row.error());
        }
        if (!*row) {
            break;
        }
        out.add((*row)->text());
    }
    out.flush();
    auto metadata = opened->metadata();
    if (!metadata) {
        fail_with(metadata.error());
    }
    return std::move(*metadata);
}

void tell(const service_command_options& options, const couchbase::query_metadata& metadata) {
    for (const auto& warning : metadata.warnings) {
        fmt::print(stderr, "warning {}: {}\n", warning.code, warning.message);
    }
    if (!options.shows_metrics) {
        return;
    }
    fmt::print(stderr, "request {}: {}\n", metadata.request_id, metadata.status);
    if (const auto& metrics = metadata.metrics) {
        const auto elapsed = metrics->elapsed_time.value_or(std::chrono::nanoseconds{0});
        fmt::print(
            stderr, "{} rows, {} bytes, {} changes, {:.3f} ms\n", metrics->result_count,
            metrics->result_size, metrics->mutation_count,
            std::chrono::duration<double, std::milli>(elapsed).count());
    }
}

void run_query(const service_command_options& options) {
    const auto opened = open_cluster(options.access);
    const couchbase::query_options asked{
        .timeout = opened.access.timeout,
        .readonly = options.is_readonly,
        .adhoc = !options.is_prepared,
        .positional = positional(options),
        .named = named(options),
        .metrics = options.shows_metrics};
    tell(
        options, print_rows(
                     options.scope.empty() ? opened.cluster.query_stream(options.text, asked)
                                           : opened.cluster.bucket(opened.access.bucket)
                                                 .scope(options.scope)
                                                 .query_stream(options.text, asked)));
}

void run_analytics(const service_command_options& options) {
    const auto opened = open_cluster(options.access);
    const couchbase::analytics_options asked{
        .timeout = opened.access.timeout,
        .readonly = options.is_readonly,
        .positional = positional(options),
        .named = named(options)};
    tell(options, print_rows(opened.cluster.analytics_stream(options.text, asked)));
}

void run_search(const service_command_options& options) {
    const auto opened = open_cluster(options.access);
    couchbase::search_options asked{.timeout = opened.access.timeout};
    if (options.limit != 0) {
        asked.limit = options.limit;
    }
    const auto query = options.query.starts_with('{')
                           ? couchbase::search_query{options.query}
                           : couchbase::search_query::query_string(options.query);
    const auto metadata = print_rows(opened.cluster.search_stream(options.text, query, asked));
    for (const auto& [partition, problem] : metadata.partition_errors) {
        fmt::print(stderr, "partition {}: {}\n", partition, problem);
    }
    fmt::print(
        stderr, "{} hits{}\n", metadata.total_hits,
        metadata.is_partial() ? "; not all partitions answered" : "");
}

void run_view(const service_command_options& options) {
    const auto opened = open_cluster(options.access);
    couchbase::view_options asked{.timeout = opened.access.timeout};
    if (options.limit != 0) {
        asked.limit = options.limit;
    }
    const auto metadata = print_rows(opened.cluster.bucket(opened.access.bucket)
                                         .view_stream(options.text, options.query, asked));
    for (const auto& problem : metadata.errors) {
        fmt::print(stderr, "{}: {}\n", problem.from, problem.reason);
    }
}

using command_body = void (*)(const service_command_options&);

// A command with the options that all have.
std::pair<CLI::App*, std::shared_ptr<service_command_options>> add_command(
    CLI::App& app, const char* name, const char* help, command_body body) {
    auto* command = app.add_subcommand(name, help);
    const auto options = std::make_shared<service_command_options>();
    add_access_options(*command, options->access);
    command->callback([options, body] { body(*options); });
    return {command, options};
}

void add_statement_options(CLI::App& command, service_command_options& options) {
    command.add_option("statement", options.text, "The statement")->required();
    command.add_option("--arg", options.arguments, "JSON for $1, $2, ...; repeatable")
        ->allow_extra_args(false);
    command.add_option("--param", options.parameters, "name=JSON for $name; repeatable")
        ->allow_extra_args(false);
    command.add_flag("--readonly", options.is_readonly, "It must not write, and may be sent again");
    command.add_flag("--metrics", options.shows_metrics, "Say what the service says of its work");
    command.footer(service_footer);
}

}  // namespace

void add_service_commands(CLI::App& app) {
    auto [query, query_options] = add_command(app, "query", "Run a SQL++ statement", run_query);
    add_statement_options(*query, *query_options);
    query->add_option("--scope", query_options->scope, "Scope that unqualified names are in");
    query->add_flag("--prepared", query_options->is_prepared, "Prepare it, run it by its name");

    auto [analytics, analytics_options] =
        add_command(app, "analytics", "Run a statement of the analytics service", run_analytics);
    add_statement_options(*analytics, *analytics_options);

    auto [search, search_options] = add_command(app, "search", "Search an index", run_search);
    search->add_option("index", search_options->text, "The index")->required();
    search->add_option("query", search_options->query, "Query string, or a query as JSON")
        ->required();
    search->add_option("--limit", search_options->limit, "Hits at most");
    search->footer(service_footer);

    auto [view, view_options] = add_command(app, "view", "Read a view of the bucket", run_view);
    view->add_option("design", view_options->text, "The design document")->required();
    view->add_option("view", view_options->query, "The view")->required();
    view->add_option("--limit", view_options->limit, "Rows at most");
    view->footer(service_footer);
}

}  // namespace reprise::app
