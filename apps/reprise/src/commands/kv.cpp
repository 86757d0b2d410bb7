/// `reprise get|exists|upsert|insert|replace|remove KEY [VALUE]`: one document of one cluster.
/// `reprise scan`: documents by their keys.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <reprise/base/base64.hpp>
#include <reprise/base/printable.hpp>
#include <reprise/json/parse.hpp>
#include <reprise/json/write.hpp>

#include "commands/commands.hpp"
#include "kv_access.hpp"
#include "output/error_report.hpp"
#include "output/output.hpp"

namespace reprise::app {

namespace {

struct kv_options {
    kv_access_options access;
    std::string key;
    std::string value;
    std::string format = "auto";
    std::string scope;
    std::string collection;
    std::uint64_t cas = 0;
    std::string expiry;
    std::vector<std::string> project;
    bool with_expiry = false;
    bool json = false;
};

struct scan_command {
    kv_options where;
    std::optional<std::string> prefix;
    std::string from;
    std::string to;
    std::optional<std::size_t> sample;
    std::optional<std::uint32_t> seed;
    std::size_t concurrency = 1;
    bool ids_only = false;
};

/// One example per line, below "Examples:".
[[nodiscard]] std::string make_footer(std::string_view examples) {
    using enum exit_code;
    return fmt::format(
        "{}\nExamples:\n{}",
        exit_code_help({not_found, conflict, timeout, no_access, server_error}), examples);
}

// A client for one call, destroyed before the embedded cluster.
struct opened_collection {
    kv_access access;
    couchbase::cluster cluster;
    couchbase::collection documents;
};

[[nodiscard]] opened_collection open_collection(const kv_options& options, access_kind kind) {
    kv_access access = open_access(options.access, kind);
    couchbase::cluster cluster = connect(access);
    auto documents = cluster.bucket(access.bucket)
                         .scope(options.scope.empty() ? "_default" : options.scope)
                         .collection(options.collection.empty() ? "_default" : options.collection);
    return {std::move(access), std::move(cluster), std::move(documents)};
}

[[nodiscard]] couchbase::encoded_value encode(const kv_options& options, const std::string& text) {
    using couchbase::document_format;
    auto format = document_format::string;
    if (options.format == "binary") {
        format = document_format::binary;
    } else if (options.format == "json" || options.format == "auto") {
        const bool is_json = json::parse(text).has_value();
        if (!is_json && options.format == "json") {
            throw usage_error("--as json: the value is not JSON");
        }
        format = is_json ? document_format::json : document_format::string;
    }
    return couchbase::encoded_value::own(text, format);
}

[[nodiscard]] couchbase::expiry expiry_of(const kv_options& options) {
    if (options.expiry.empty()) {
        return {};
    }
    return std::chrono::ceil<std::chrono::seconds>(parse_time(options.expiry, "--expiry"));
}

void print_mutation(const kv_options& options, const couchbase::mutation_result& result) {
    if (!options.json) {
        print(fmt::format("{} cas {}\n", options.key, result.cas.value));
        return;
    }
    std::string text;
    json::writer out(text, json::layout::indented);
    out.begin_object();
    out.member("key", options.key);
    out.member("cas", std::to_string(result.cas.value));
    if (result.token) {
        out.member("vbucket", result.token->vbucket);
        out.member("seqno", std::to_string(result.token->seqno));
    }
    out.member("retry_attempts", result.trace.retry_attempts);
    out.end_object();
    print(text + "\n");
}

// Embeds JSON unchanged and text as a JSON string; other bytes cannot be represented in either way.
void write_document(json::writer& out, const couchbase::get_result& read) {
    using couchbase::document_format;
    const std::string_view content = read.text();
    const auto format = read.format();
    const bool may_be_json = format == document_format::json || format == document_format::none;
    if (may_be_json && json::parse(content)) {
        out.key("value").raw(content);
    } else if (format == document_format::json || format == document_format::string) {
        out.member("value", content);
    } else {
        out.member("value_base64", base::encode_base64(content));
    }
}

// Seconds since 1970, or null.
void write_expiry(json::writer& out, const couchbase::get_result& read) {
    out.key("expiry");
    if (read.expiry()) {
        out.value(read.expiry_seconds);
    } else {
        out.value(nullptr);
    }
}

void run_get(const kv_options& options) {
    if (options.with_expiry && !options.json) {
        throw usage_error("--with-expiry needs --json: the expiry is no part of the document");
    }
    const auto opened = open_collection(options, access_kind::reads);
    const auto read = take(opened.documents.get(
        options.key, {.timeout = opened.access.timeout,
                      .with_expiry = options.with_expiry,
                      .project = options.project}));
    if (!options.json) {
        print_document(read.text());
        if (read.format() != couchbase::document_format::binary) {
            print("\n");
        }
        return;
    }
    std::string text;
    json::writer out(text, json::layout::indented);
    out.begin_object();
    out.member("key", options.key);
    out.member("cas", std::to_string(read.cas.value));
    out.member("format", to_string(read.format()));
    out.member("flags", read.flags);
    if (options.with_expiry) {
        write_expiry(out, read);
    }
    write_document(out, read);
    out.member("retry_attempts", read.trace.retry_attempts);
    out.end_object();
    print(text + "\n");
}

void run_exists(const kv_options& options) {
    const auto opened = open_collection(options, access_kind::reads);
    const auto found =
        take(opened.documents.exists(options.key, {.timeout = opened.access.timeout}));
    if (options.json) {
        std::string text;
        json::writer out(text, json::layout::indented);
        out.begin_object();
        out.member("key", options.key);
        out.member("exists", found.exists);
        out.member("cas", std::to_string(found.cas.value));
        out.end_object();
        print(text + "\n");
    } else {
        print(fmt::format("{}\n", found.exists));
    }
    if (!found.exists) {
        throw exit_request(exit_code::not_found);
    }
}

void run_store(const kv_options& options, couchbase::detail::operation_kind kind) {
    const std::string value = options.value == "-" ? read_input("-") : options.value;
    const auto encoded = encode(options, value);
    const auto expiry = expiry_of(options);
    const auto opened = open_collection(options, access_kind::writes);
    const auto timeout = opened.access.timeout;
    const auto& documents = opened.documents;
    using couchbase::detail::operation_kind;
    auto stored =
        kind == operation_kind::upsert
            ? documents.upsert(options.key, encoded, {.timeout = timeout, .expiry = expiry})
        : kind == operation_kind::insert
            ? documents.insert(options.key, encoded, {.timeout = timeout, .expiry = expiry})
            : documents.replace(
                  options.key, encoded,
                  {.timeout = timeout, .cas = couchbase::cas{options.cas}, .expiry = expiry});
    print_mutation(options, take(std::move(stored)));
}

void run_remove(const kv_options& options) {
    const auto opened = open_collection(options, access_kind::writes);
    print_mutation(
        options,
        take(opened.documents.remove(
            options.key, {.timeout = opened.access.timeout, .cas = couchbase::cas{options.cas}})));
}

[[nodiscard]] couchbase::scan_kind kind_of(const scan_command& options) {
    const bool has_range = !options.from.empty() || !options.to.empty();
    if (int{options.prefix.has_value()} + int{options.sample.has_value()} + int{has_range} > 1) {
        throw usage_error("--prefix, --sample and --from/--to exclude each other");
    }
    if (options.sample) {
        return couchbase::sampling_scan{*options.sample, options.seed};
    }
    if (options.prefix) {
        return couchbase::prefix_scan{*options.prefix};
    }
    return couchbase::range_scan{{options.from}, {options.to}};
}

// Control characters, tabs and line breaks included, are escaped.
[[nodiscard]] std::string to_text_line(const couchbase::scanned_document& found, bool ids_only) {
    if (ids_only) {
        return base::printable(found.key) + "\n";
    }
    return base::printable(found.key) + "\t" + base::printable(found.text()) + "\n";
}

[[nodiscard]] std::string to_json_line(const couchbase::scanned_document& found, bool ids_only) {
    std::string text;
    json::writer out(text);
    out.begin_object();
    out.member("key", found.key);
    if (!ids_only) {
        out.member("cas", std::to_string(found.cas.value));
        write_expiry(out, found);
        write_document(out, found);
    }
    out.end_object();
    return text + "\n";
}

// One line for each document, as it arrives. An error after some of them is the command's error.
void run_scan(const scan_command& options) {
    const auto kind = kind_of(options);
    const auto opened = open_collection(options.where, access_kind::reads);
    auto found = take(opened.documents.scan(
        kind, {.timeout = opened.access.timeout,
               .keys_only = options.ids_only,
               .concurrency = options.concurrency}));
    while (const auto document = take(found.next())) {
        print(
            options.where.json ? to_json_line(*document, options.ids_only)
                               : to_text_line(*document, options.ids_only));
    }
}

void add_place_options(CLI::App& command, kv_options& options) {
    add_access_options(command, options.access);
    command.add_option("--scope", options.scope, "Scope (default: _default)");
    command.add_option("--collection", options.collection, "Collection (default: _default)");
}

// The options that all six commands have.
std::shared_ptr<kv_options> add_document_options(CLI::App& command, std::string_view examples) {
    command.footer(make_footer(examples));
    auto options = std::make_shared<kv_options>();
    command.add_option("key", options->key, "The document's key")->required();
    add_place_options(command, *options);
    command.add_flag(
        "--json", options->json,
        "Print the result or error as JSON; a JSON document is embedded unchanged");
    return options;
}

void add_store_command(
    CLI::App& app, const char* name, const char* help, couchbase::detail::operation_kind kind) {
    CLI::App* command = app.add_subcommand(name, help);
    const auto options = add_document_options(
        *command, fmt::format(
                      "  reprise {0} k '{{\"a\": 1}}' -c couchbase://host -u app -b travel\n"
                      "  reprise {0} k - --as binary -c couchbase://host < file\n"
                      "  REPRISE_CONNECT=couchbase://host reprise {0} k text",
                      name));
    command->add_option("value", options->value, "The value; - for standard input")->required();
    command
        ->add_option(
            "--as", options->format,
            "Format of the value: json, string, binary; auto: json if valid, otherwise string")
        ->check(CLI::IsMember({"auto", "json", "string", "binary"}))
        ->capture_default_str();
    command->add_option("--expiry", options->expiry, "Expires after this time: 90s, 24h");
    if (kind == couchbase::detail::operation_kind::replace) {
        command->add_option("--cas", options->cas, "Only if the document has this CAS");
    }
    command->callback([options, kind] { run_store(*options, kind); });
}

void add_scan_command(CLI::App& app) {
    CLI::App* command = app.add_subcommand("scan", "Read documents by their keys");
    command->footer(
        make_footer("  reprise scan --prefix airline_ -c couchbase://host -u app -b travel\n"
                    "  reprise scan --from a --to b --ids-only -c couchbase://host -b travel\n"
                    "  reprise scan --sample 10 --json -c couchbase://host -b travel"));
    const auto options = std::make_shared<scan_command>();
    add_place_options(*command, options->where);
    command->add_option("--prefix", options->prefix, "Keys that begin with this");
    command->add_option("--from", options->from, "The first key of a range; it is included");
    command->add_option("--to", options->to, "The last key of a range; it is included");
    command->add_option("--sample", options->sample, "This many documents at random")
        ->check(CLI::PositiveNumber);
    command->add_option("--seed", options->seed, "Chooses the same sample again");
    command->add_option("--concurrency", options->concurrency, "Vbuckets of each node at once")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    command->add_flag("--ids-only", options->ids_only, "Read only the keys");
    command->add_flag(
        "--json", options->where.json, "Print each document as JSON, with its CAS and expiry");
    command->callback([options] { run_scan(*options); });
}

}  // namespace

void add_kv_commands(CLI::App& app) {
    CLI::App* get = app.add_subcommand("get", "Read a document");
    const auto get_options = add_document_options(
        *get,
        "  reprise get k -c couchbase://host -u app --password-file secret.txt -b travel\n"
        "  reprise get k --json --scope inventory --collection airline -c couchbase://host");
    get->add_option("--project", get_options->project, "Read only this path; may be repeated")
        ->allow_extra_args(false);
    get->add_flag("--with-expiry", get_options->with_expiry, "Also show the expiry; with --json");
    get->callback([get_options] { run_get(*get_options); });
    CLI::App* exists = app.add_subcommand("exists", "Check whether a document exists");
    const auto exists_options =
        add_document_options(*exists, "  reprise exists k -c couchbase://host -u app -b travel");
    exists->callback([exists_options] { run_exists(*exists_options); });
    using couchbase::detail::operation_kind;
    add_store_command(app, "upsert", "Store a document", operation_kind::upsert);
    add_store_command(app, "insert", "Store a new document", operation_kind::insert);
    add_store_command(app, "replace", "Replace a document", operation_kind::replace);
    CLI::App* remove = app.add_subcommand("remove", "Remove a document");
    const auto options =
        add_document_options(*remove, "  reprise remove k -c couchbase://host -u app -b travel");
    remove->add_option("--cas", options->cas, "Only if the document has this CAS");
    remove->callback([options] { run_remove(*options); });
    add_scan_command(app);
}

}  // namespace reprise::app
