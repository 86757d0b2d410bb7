/// `reprise get|exists|upsert|insert|replace|remove KEY [VALUE]`: one document of one cluster.

#include <memory>
#include <string>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <reprise/json/parse.hpp>
#include <reprise/json/write.hpp>

#include "commands.hpp"
#include "kv_access.hpp"
#include "output.hpp"

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
    bool json = false;
};

constexpr const char* exit_codes =
    "Exit codes:\n"
    "  0  done\n"
    "  1  failed otherwise: canceled, a file that cannot be read\n"
    "  2  wrong usage; nothing was done\n"
    "  3  no such document, scope or collection\n"
    "  4  the document exists, or has another CAS\n"
    "  5  timeout\n"
    "  6  wrong password, TLS, no such bucket or no access to it\n"
    "  7  another answer of the server\n";

/// One line each, below "Examples:".
[[nodiscard]] std::string make_footer(std::string_view examples) {
    return fmt::format("{}\nExamples:\n{}", exit_codes, examples);
}

[[nodiscard]] int exit_code_of(const std::error_code& code) {
    using couchbase::errc;
    if (code.category() != make_error_code(errc::request_canceled).category()) {
        return 1;
    }
    switch (static_cast<errc>(code.value())) {
        case errc::document_not_found:
        case errc::collection_not_found:
        case errc::scope_not_found:
            return 3;
        case errc::document_exists:
        case errc::cas_mismatch:
            return 4;
        case errc::ambiguous_timeout:
        case errc::unambiguous_timeout:
            return 5;
        case errc::authentication_failure:
        case errc::tls_failure:
        case errc::bucket_access_failure:
        case errc::bucket_not_found:
            return 6;
        case errc::request_canceled:
        case errc::invalid_argument:
        case errc::strategy_failure:
        case errc::retry_queue_full:
            return 1;
        default:
            return 7;
    }
}

void print_error_json(const couchbase::error& error) {
    std::string text;
    json::writer out(text, json::layout::indented);
    const auto& info = error.info();
    out.begin_object().key("error").begin_object();
    out.member("code", error.code().value());
    out.member("category", std::string_view(error.code().category().name()));
    out.member("message", error.code().message());
    out.member("ambiguous", error.is_ambiguous());
    out.member("retry_attempts", error.retry_attempts());
    out.member("last_reason", to_string(info.last_reason));
    out.member("last_dispatched_to", info.last_dispatched_to);
    out.key("attempts").begin_array();
    if (const auto* history = error.history()) {
        for (std::size_t at = 0; at < history->entries.size(); ++at) {
            const auto& entry = history->entries[at];
            out.begin_object();
            out.member("offset_us", entry.offset_us);
            out.member("reason", to_string(entry.reason));
            out.member("stage", to_string(entry.stage));
            out.member("status", entry.status);
            out.member("endpoint", history->endpoint_of(entry));
            out.member("delay_us", entry.delay_us);
            out.end_object();
        }
    }
    out.end_array().end_object().end_object();
    print(text + "\n");
}

// Ends the command with the code of the error's class.
template <class Result>
Result take(std::expected<Result, couchbase::error>&& result, bool is_json) {
    if (result) {
        return std::move(*result);
    }
    if (is_json) {
        print_error_json(result.error());
    }
    fmt::print(stderr, "reprise: {}\n", result.error().message());
    throw exit_request(exit_code_of(result.error().code()));
}

// A client for one call, ended before the embedded cluster.
struct opened_collection {
    kv_access access;
    couchbase::cluster cluster;
    couchbase::collection documents;
};

[[nodiscard]] opened_collection open_collection(const kv_options& options) {
    kv_access access = open_access(options.access);
    auto connected = couchbase::cluster::connect(access.connection, access.client);
    if (!connected) {
        throw usage_error(connected.error().message());
    }
    auto documents = connected->bucket(access.bucket)
                         .scope(options.scope.empty() ? "_default" : options.scope)
                         .collection(options.collection.empty() ? "_default" : options.collection);
    return {std::move(access), std::move(*connected), std::move(documents)};
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

void run_get(const kv_options& options) {
    const auto opened = open_collection(options);
    const auto read =
        take(opened.documents.get(options.key, {.timeout = opened.access.timeout}), options.json);
    if (!options.json) {
        print(read.text());
        if (read.format() != couchbase::document_format::binary) {
            print("\n");
        }
        return;
    }
    std::string text;
    json::writer out(text, json::layout::indented);
    out.begin_object();
    out.member("key", options.key);
    out.member("cas", std::to_string(read.cas().value));
    out.member("format", to_string(read.format()));
    out.member("flags", read.flags());
    out.member("value", read.text());
    out.member("retry_attempts", read.trace().retry_attempts);
    out.end_object();
    print(text + "\n");
}

void run_exists(const kv_options& options) {
    const auto opened = open_collection(options);
    const auto found = take(
        opened.documents.exists(options.key, {.timeout = opened.access.timeout}), options.json);
    print(
        options.json
            ? fmt::format("{{\"exists\": {}, \"cas\": \"{}\"}}\n", found.exists, found.cas.value)
            : fmt::format("{}\n", found.exists));
    if (!found.exists) {
        throw exit_request(3);
    }
}

void run_store(const kv_options& options, couchbase::detail::call_kind kind) {
    const std::string value = options.value == "-" ? read_input("-") : options.value;
    const auto encoded = encode(options, value);
    const auto expiry = expiry_of(options);
    const auto opened = open_collection(options);
    const auto timeout = opened.access.timeout;
    const auto& documents = opened.documents;
    using couchbase::detail::call_kind;
    auto stored =
        kind == call_kind::upsert
            ? documents.upsert(options.key, encoded, {.timeout = timeout, .expiry = expiry})
        : kind == call_kind::insert
            ? documents.insert(options.key, encoded, {.timeout = timeout, .expiry = expiry})
            : documents.replace(
                  options.key, encoded,
                  {.timeout = timeout, .cas = couchbase::cas{options.cas}, .expiry = expiry});
    print_mutation(options, take(std::move(stored), options.json));
}

void run_remove(const kv_options& options) {
    const auto opened = open_collection(options);
    print_mutation(
        options, take(
                     opened.documents.remove(
                         options.key,
                         {.timeout = opened.access.timeout, .cas = couchbase::cas{options.cas}}),
                     options.json));
}

// The options all six have.
std::shared_ptr<kv_options> add_document_options(CLI::App& command, std::string_view examples) {
    command.footer(make_footer(examples));
    auto options = std::make_shared<kv_options>();
    command.add_option("key", options->key, "The document's key")->required();
    add_access_options(command, options->access);
    command.add_option("--scope", options->scope, "Scope; otherwise _default");
    command.add_option("--collection", options->collection, "Collection; otherwise _default");
    command.add_flag("--json", options->json, "Result and error as JSON");
    return options;
}

void add_store_command(
    CLI::App& app, const char* name, const char* help, couchbase::detail::call_kind kind) {
    CLI::App* command = app.add_subcommand(name, help);
    const auto options = add_document_options(
        *command, fmt::format(
                      "  reprise {0} k '{{\"a\": 1}}' -c couchbase://host -u app -b travel\n"
                      "  reprise {0} k - --as binary -c couchbase://host < file",
                      name));
    command->add_option("value", options->value, "The value; - reads standard input")->required();
    command
        ->add_option(
            "--as", options->format,
            "How it is marked: json, string, binary; auto: json if it is, else string")
        ->check(CLI::IsMember({"auto", "json", "string", "binary"}))
        ->capture_default_str();
    command->add_option("--expiry", options->expiry, "Gone after this time: 90s, 24h");
    if (kind == couchbase::detail::call_kind::replace) {
        command->add_option("--cas", options->cas, "Only this version");
    }
    command->callback([options, kind] { run_store(*options, kind); });
}

}  // namespace

void add_kv_commands(CLI::App& app) {
    CLI::App* get = app.add_subcommand("get", "Read a document");
    const auto get_options = add_document_options(
        *get,
        "  reprise get k -c couchbase://host -u app --password-file secret.txt -b travel\n"
        "  reprise get k --json --scope inventory --collection airline -c couchbase://host");
    get->callback([get_options] { run_get(*get_options); });
    CLI::App* exists = app.add_subcommand("exists", "Say whether a document is there");
    const auto exists_options =
        add_document_options(*exists, "  reprise exists k -c couchbase://host -u app -b travel");
    exists->callback([exists_options] { run_exists(*exists_options); });
    using couchbase::detail::call_kind;
    add_store_command(app, "upsert", "Store a document", call_kind::upsert);
    add_store_command(app, "insert", "Store a new document", call_kind::insert);
    add_store_command(app, "replace", "Store over a document", call_kind::replace);
    CLI::App* remove = app.add_subcommand("remove", "Remove a document");
    const auto options =
        add_document_options(*remove, "  reprise remove k -c couchbase://host -u app -b travel");
    remove->add_option("--cas", options->cas, "Only this version");
    remove->callback([options] { run_remove(*options); });
}

}  // namespace reprise::app
