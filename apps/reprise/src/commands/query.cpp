/// `reprise query|analytics|search|view`; rows are printed as they arrive.

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <reprise/base/printable.hpp>
#include <reprise/json/write.hpp>

#include "commands/codes.hpp"
#include "commands/commands.hpp"
#include "kv_access.hpp"
#include "output/error_report.hpp"
#include "output/output.hpp"

namespace reprise::app {

namespace {

struct service_command_options {
    kv_access_options access;
    std::string text;   // statement, index, or design document
    std::string query;  // query of a search; name of a view
    std::string scope;
    std::vector<std::string> arguments;   // JSON, positional
    std::vector<std::string> parameters;  // name=JSON
    bool is_readonly = false;
    bool is_prepared = false;
    bool shows_metrics = false;
    bool is_json = false;
    std::uint64_t limit = 0;
};

constexpr const char* rows_footer =
    "Rows go to standard output as they arrive, one per line; warnings and metrics go to\n"
    "standard error. With --json the output is one object: rows, metadata, and the error if there\n"
    "is one. Without --readonly a statement is sent only once: after a broken connection it is\n"
    "unknown whether it ran.\n";

[[nodiscard]] std::string service_footer(std::string_view examples) {
    using enum exit_code;
    return fmt::format(
        "{}\n{}\nExamples:\n{}", rows_footer,
        exit_code_help({not_found, conflict, timeout, no_access, server_error}), examples);
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

// Collects rows and writes them in large pieces, but without delay. As JSON they are the member
// `rows` of an object that `end` completes.
class row_printer {
public:
    explicit row_printer(bool is_json) : is_json_(is_json), text_(is_json ? "{\"rows\": [" : "") {}

    void add(std::string_view row) {
        if (is_json_) {
            text_.append(is_first_ ? "\n  " : ",\n  ").append(row);
        } else {
            text_.append(row).push_back('\n');
        }
        is_first_ = false;
        const auto now = std::chrono::steady_clock::now();
        if (text_.size() >= size_max || now - written_ >= time_max) {
            flush();
            written_ = now;
        }
    }
    // `member` is the rest of the JSON object: "\"error\": {...}".
    void end(std::string_view member) {
        if (is_json_) {
            text_.append(is_first_ ? "],\n" : "\n],\n").append(member).append("}\n");
        }
        flush();
    }

private:
    void flush() {
        is_json_ ? print(text_) : print_document(text_);
        text_.clear();
    }

    static constexpr std::size_t size_max = std::size_t{64} * 1024;
    static constexpr std::chrono::milliseconds time_max{100};
    bool is_json_;
    bool is_first_ = true;
    std::string text_;
    std::chrono::steady_clock::time_point written_{};
};

[[noreturn]] void end_with(row_printer& out, bool is_json, const couchbase::error& error) {
    if (!is_json) {
        out.end({});
        throw operation_failure(error);
    }
    out.end("\"error\": " + to_json(error));
    complain(error.message());
    throw exit_request(exit_code_of(error.code()));
}

void write_json(json::writer& out, const couchbase::query_metrics& metrics) {
    const auto elapsed = metrics.elapsed_time.value_or(std::chrono::nanoseconds{0});
    out.begin_object();
    out.member("rows", metrics.result_count);
    out.member("bytes", metrics.result_size);
    out.member("changes", metrics.mutation_count);
    out.member("elapsed_ms", std::chrono::duration<double, std::milli>(elapsed).count());
    out.end_object();
}

void write_json(json::writer& out, const couchbase::query_metadata& metadata) {
    out.member("status", metadata.status);
    out.member("request_id", metadata.request_id);
    if (metadata.metrics) {
        out.key("metrics");
        write_json(out, *metadata.metrics);
    }
    out.key("warnings").begin_array();
    for (const auto& warning : metadata.warnings) {
        out.begin_object();
        out.member("code", warning.code);
        out.member("message", warning.message);
        out.end_object();
    }
    out.end_array();
}

void write_json(json::writer& out, const couchbase::search_metadata& metadata) {
    out.member("total_hits", metadata.total_hits);
    out.member("partial", metadata.is_partial());
    out.key("partition_errors").begin_object();
    for (const auto& [partition, problem] : metadata.partition_errors) {
        out.member(partition, problem);
    }
    out.end_object();
}

void write_json(json::writer& out, const couchbase::view_metadata& metadata) {
    if (metadata.total_rows) {
        out.member("total_rows", *metadata.total_rows);
    }
    out.key("errors").begin_array();
    for (const auto& problem : metadata.errors) {
        out.begin_object();
        out.member("from", problem.from);
        out.member("reason", problem.reason);
        out.end_object();
    }
    out.end_array();
}

void print_metadata(
    const service_command_options& options, const couchbase::query_metadata& metadata) {
    for (const auto& warning : metadata.warnings) {
        print_aside(
            fmt::format("warning {}: {}\n", warning.code, base::printable(warning.message)));
    }
    if (!options.shows_metrics) {
        return;
    }
    print_aside(fmt::format(
        "request {}: {}\n", base::printable(metadata.request_id),
        base::printable(metadata.status)));
    if (const auto& metrics = metadata.metrics) {
        const auto elapsed = metrics->elapsed_time.value_or(std::chrono::nanoseconds{0});
        print_aside(fmt::format(
            "{} rows, {} bytes, {} changes, {:.3f} ms\n", metrics->result_count,
            metrics->result_size, metrics->mutation_count,
            std::chrono::duration<double, std::milli>(elapsed).count()));
    }
}

void print_metadata(const service_command_options&, const couchbase::search_metadata& metadata) {
    for (const auto& [partition, problem] : metadata.partition_errors) {
        print_aside(fmt::format(
            "partition {}: {}\n", base::printable(partition), base::printable(problem)));
    }
    print_aside(fmt::format(
        "{} hits{}\n", metadata.total_hits,
        metadata.is_partial() ? "; not all partitions answered" : ""));
}

void print_metadata(const service_command_options&, const couchbase::view_metadata& metadata) {
    for (const auto& problem : metadata.errors) {
        print_aside(fmt::format(
            "{}: {}\n", base::printable(problem.from), base::printable(problem.reason)));
    }
}

// Prints the rows as they arrive, then the service's metadata.
template <class Stream>
void print_answer(
    const service_command_options& options, std::expected<Stream, couchbase::error>&& opened) {
    row_printer out(options.is_json);
    if (!opened) {
        end_with(out, options.is_json, opened.error());
    }
    while (true) {
        const auto row = opened->next();
        if (!row) {
            end_with(out, options.is_json, row.error());
        }
        if (!*row) {
            break;
        }
        out.add((*row)->text());
    }
    const auto metadata = opened->finish();
    if (!metadata) {
        end_with(out, options.is_json, metadata.error());
    }
    std::string text;
    json::writer writer(text, json::layout::indented);
    writer.begin_object();
    write_json(writer, *metadata);
    writer.end_object();
    out.end("\"metadata\": " + text);
    if (!options.is_json) {
        print_metadata(options, *metadata);
    }
}

// Statements that begin with these words change nothing; others may.
[[nodiscard]] access_kind kind_of(const service_command_options& options) {
    constexpr std::array<std::string_view, 7> harmless{"select", "with",  "from",  "explain",
                                                       "advise", "infer", "values"};
    const std::size_t first = options.text.find_first_not_of(" \t\r\n(");
    const std::string_view rest =
        std::string_view(options.text).substr(std::min(first, options.text.size()));
    const auto is_letter = [](char each) {
        return (each >= 'a' && each <= 'z') || (each >= 'A' && each <= 'Z');
    };
    const std::string word = plain_name(
        rest.substr(0, std::size_t(std::ranges::find_if_not(rest, is_letter) - rest.begin())));
    return options.is_readonly || std::ranges::find(harmless, word) != harmless.end()
               ? access_kind::reads
               : access_kind::writes;
}

void run_query(const service_command_options& options) {
    const auto opened = open_cluster(options.access, kind_of(options));
    const couchbase::query_options asked{
        .timeout = opened.access.timeout,
        .readonly = options.is_readonly,
        .adhoc = !options.is_prepared,
        .positional = positional(options),
        .named = named(options),
        .metrics = options.shows_metrics};
    print_answer(
        options, options.scope.empty() ? opened.cluster.query_stream(options.text, asked)
                                       : opened.cluster.bucket(opened.access.bucket)
                                             .scope(options.scope)
                                             .query_stream(options.text, asked));
}

void run_analytics(const service_command_options& options) {
    const auto opened = open_cluster(options.access, kind_of(options));
    const couchbase::analytics_options asked{
        .timeout = opened.access.timeout,
        .readonly = options.is_readonly,
        .positional = positional(options),
        .named = named(options)};
    print_answer(options, opened.cluster.analytics_stream(options.text, asked));
}

void run_search(const service_command_options& options) {
    const auto opened = open_cluster(options.access, access_kind::reads);
    couchbase::search_options asked{.timeout = opened.access.timeout};
    if (options.limit != 0) {
        asked.limit = options.limit;
    }
    const auto query = options.query.starts_with('{')
                           ? couchbase::search_query{options.query}
                           : couchbase::search_query::query_string(options.query);
    print_answer(options, opened.cluster.search_stream(options.text, query, asked));
}

void run_view(const service_command_options& options) {
    const auto opened = open_cluster(options.access, access_kind::reads);
    couchbase::view_options asked{.timeout = opened.access.timeout};
    if (options.limit != 0) {
        asked.limit = options.limit;
    }
    print_answer(
        options, opened.cluster.bucket(opened.access.bucket)
                     .view_stream(options.text, options.query, asked));
}

using command_body = void (*)(const service_command_options&);

// A command with the common options.
std::pair<CLI::App*, std::shared_ptr<service_command_options>> add_command(
    CLI::App& app, const char* name, const char* help, command_body body) {
    auto* command = app.add_subcommand(name, help);
    const auto options = std::make_shared<service_command_options>();
    add_access_options(*command, options->access);
    command->add_flag(
        "--json", options->is_json, "Print rows, metadata and errors as one JSON object");
    command->callback([options, body] { body(*options); });
    return {command, options};
}

void add_statement_options(
    CLI::App& command, service_command_options& options, std::string_view examples) {
    command.add_option("statement", options.text, "The statement")->required();
    command.add_option("--arg", options.arguments, "JSON for $1, $2, ...; repeatable")
        ->allow_extra_args(false);
    command.add_option("--param", options.parameters, "name=JSON for $name; repeatable")
        ->allow_extra_args(false);
    command.add_flag(
        "--readonly", options.is_readonly, "The statement does not write, so it may be sent again");
    command.add_flag("--metrics", options.shows_metrics, "Show the service's metrics");
    command.footer(service_footer(examples));
}

}  // namespace

void add_service_commands(CLI::App& app) {
    auto [query, query_options] = add_command(app, "query", "Run a SQL++ statement", run_query);
    add_statement_options(
        *query, *query_options,
        "  reprise query 'SELECT RAW 1' -c couchbase://host -u app\n"
        "  reprise query 'SELECT * FROM travel WHERE id = $1' --arg 10 --readonly --json\n"
        "  reprise query 'SELECT RAW $x + 1' --param x=41 --sandbox");
    query->add_option("--scope", query_options->scope, "Scope of unqualified names");
    query->add_flag(
        "--prepared", query_options->is_prepared, "Prepare the statement and run it by name");

    auto [analytics, analytics_options] =
        add_command(app, "analytics", "Run a statement of the analytics service", run_analytics);
    add_statement_options(
        *analytics, *analytics_options,
        "  reprise analytics 'SELECT RAW 7' --readonly -c couchbase://host -u app");

    auto [search, search_options] = add_command(app, "search", "Search an index", run_search);
    search->add_option("index", search_options->text, "The index")->required();
    search->add_option("query", search_options->query, "Query string, or a query as JSON")
        ->required();
    search->add_option("--limit", search_options->limit, "Largest number of hits");
    search->footer(service_footer(
        "  reprise search hotels 'pool beach' --limit 5 -c couchbase://host -u app"));

    auto [view, view_options] = add_command(app, "view", "Read a view of the bucket", run_view);
    view->add_option("design", view_options->text, "The design document")->required();
    view->add_option("view", view_options->query, "The view")->required();
    view->add_option("--limit", view_options->limit, "Largest number of rows");
    view->footer(
        service_footer("  reprise view airlines by_country --limit 5 -c couchbase://host -u app"));
}

}  // namespace reprise::app
