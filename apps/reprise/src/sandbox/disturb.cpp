#include "sandbox/disturb.hpp"

#include <charconv>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include <reprise/json/value.hpp>

#include "output/output.hpp"
#include "sandbox/call.hpp"
#include "sandbox/control_members.hpp"
#include "sandbox/tables.hpp"

namespace reprise::app {

namespace {

/// A subcommand with the common options; `Options` are its own.
template <class Options>
struct disturb_command {
    CLI::App* app;
    std::shared_ptr<Options> typed = std::make_shared<Options>();
    std::shared_ptr<remote_options> remote = std::make_shared<remote_options>();

    disturb_command(CLI::App& parent, const std::string& name, const std::string& text)
        : app(parent.add_subcommand(name, text)) {
        add_remote_options(*app, remote);
    }
    /// `make` converts what was typed to the control command.
    template <class Make>
    void runs(Make make, table_function table = print_done) {
        app->callback([typed = typed, remote = remote, make = std::move(make), table] {
            run_remote(*remote, make(*typed), table);
        });
    }
};

struct node_options {
    std::optional<std::uint64_t> node;
    std::optional<bool> frozen;
    std::optional<bool> refuse;
    std::optional<bool> partition;
    std::string tls;
    std::optional<bool> reject_credentials;
    std::string stale_logins;
    std::optional<bool> corrupt_error_map;
    std::optional<bool> corrupt_configuration;
    bool clear = false;
};

[[nodiscard]] json::value parse_count_or_all(std::string_view text) {
    if (text == "all") {
        return "all";
    }
    std::uint64_t number = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    if (error != std::errc{} || stop != end) {
        throw usage_error(fmt::format("--stale-logins: '{}' is neither a number nor 'all'", text));
    }
    return number;
}

[[nodiscard]] json::value make_node_command(const node_options& typed) {
    json::object command{{"command", "disturb"}};
    set_value(command, "node", typed.node);
    set_value(command, "frozen", typed.frozen);
    set_value(command, "refuse_connections", typed.refuse);
    set_value(command, "partitioned", typed.partition);
    set_text(command, "tls", typed.tls);
    set_value(command, "reject_credentials", typed.reject_credentials);
    if (!typed.stale_logins.empty()) {
        command.set("stale_logins", parse_count_or_all(typed.stale_logins));
    }
    set_value(command, "corrupt_error_map", typed.corrupt_error_map);
    set_value(command, "corrupt_configuration", typed.corrupt_configuration);
    if (typed.clear) {
        command.set("clear", true);
    }
    return command;
}

[[nodiscard]] std::string node_table(const json::value& answer) {
    return member_table(
        list_of(answer, "nodes"),
        {"node", "frozen", "refuse", "partition", "tls", "reject credentials", "stale logins",
         "corrupt error map", "corrupt configuration"},
        {"node", "frozen", "refuse_connections", "partitioned", "tls", "reject_credentials",
         "stale_logins", "corrupt_error_map", "corrupt_configuration"});
}

void add_node_commands(CLI::App& fault) {
    disturb_command<node_options> node(fault, "node", "Disturb one node or all nodes");
    node_options& typed = *node.typed;
    node.app->add_option("node", typed.node, "Number of a node, from 0 (all)");
    node.app->add_option("--frozen", typed.frozen, "Read, but answer nothing: true or false");
    node.app->add_option("--refuse", typed.refuse, "Refuse new connections: true or false");
    node.app->add_option("--partition", typed.partition, "Let nothing in or out: true or false");
    node.app->add_option(
        "--tls", typed.tls,
        "How new handshakes fail: none, untrusted, wrong_host, expired, alert, reset");
    node.app->add_option(
        "--reject-credentials", typed.reject_credentials, "Answer logins with 0x20");
    node.app->add_option(
        "--stale-logins", typed.stale_logins,
        "Answer this many OAUTHBEARER logins with 0x1f, or all");
    node.app->add_option(
        "--corrupt-error-map", typed.corrupt_error_map, "Send only half of the map");
    node.app->add_option(
        "--corrupt-configuration", typed.corrupt_configuration,
        "Send only half of each configuration");
    node.app->add_flag("--clear", typed.clear, "Remove all disturbances first");
    node.app->footer(
        "Omitted options keep their values. Examples:\n"
        "  reprise sandbox fault node 1 --frozen true --ready-file r.json\n"
        "  reprise sandbox fault node --tls expired --ready-file r.json\n"
        "  reprise sandbox fault node --clear --ready-file r.json");
    node.runs(make_node_command);

    disturb_command<node_options> nodes(fault, "nodes", "Show the disturbances of all nodes");
    nodes.runs(
        [](const node_options&) { return json::object{{"command", "disturbances"}}; }, node_table);

    for (const auto& [name, command, text] :
         {std::tuple{"kill", "node_kill", "Reset a node's connections and take it down"},
          std::tuple{
              "replay", "replay_configuration", "Make a node push an older configuration"}}) {
        disturb_command<node_options> one(fault, name, text);
        one.app->add_option("node", one.typed->node, "Number of a node, from 0")->required();
        one.runs([chosen = std::string(command)](const node_options& given) {
            return json::object{{"command", chosen}, {"node", given.node.value_or(0)}};
        });
    }
}

struct code_options {
    std::string code;
    std::string name;
    std::string description;
    std::vector<std::string> attributes;
    std::string retry;
    std::string interval;
    std::string after;
    std::string ceil;
    std::string max_duration;
    bool drop = false;
};

[[nodiscard]] json::value make_code_command(const code_options& typed) {
    json::object command{{"command", "error_code"}, {"code", typed.code}};
    if (typed.drop) {
        command.set("drop", true);
        return command;
    }
    set_text(command, "name", typed.name);
    set_text(command, "description", typed.description);
    command.set("attributes", json::array(typed.attributes.begin(), typed.attributes.end()));
    if (typed.retry.empty()) {
        return command;
    }
    json::object spec{{"strategy", typed.retry}};
    const auto set_time =
        [&spec](std::string_view name, std::string_view option, const std::string& text) {
            if (!text.empty()) {
                spec.set(name, parse_milliseconds(option, text));
            }
        };
    set_time("interval_ms", "--interval", typed.interval);
    set_time("after_ms", "--after", typed.after);
    set_time("ceil_ms", "--ceil", typed.ceil);
    set_time("max_duration_ms", "--max-duration", typed.max_duration);
    command.set("retry", std::move(spec));
    return command;
}

void add_code_command(CLI::App& fault) {
    disturb_command<code_options> code(fault, "code", "Add a code to the error map");
    code_options& typed = *code.typed;
    code.app->add_option("code", typed.code, "0xNN or a name; 0x7ff0 and above are unused")
        ->required();
    code.app->add_option("--name", typed.name, "Its name");
    code.app->add_option("--description", typed.description, "Its description");
    code.app->add_option("--attribute", typed.attributes, "temp, retry-now, auto-retry, ...")
        ->delimiter(',');
    auto* retry = code.app->add_option("--retry", typed.retry, "constant, linear or exponential");
    code.app->add_option("--interval", typed.interval, "Interval of the retries: 10ms")
        ->needs(retry);
    code.app->add_option("--after", typed.after, "Delay before the first retry")->needs(retry);
    code.app->add_option("--ceil", typed.ceil, "Longest delay")->needs(retry);
    code.app->add_option("--max-duration", typed.max_duration, "Longest duration of all retries")
        ->needs(retry);
    code.app->add_flag("--drop", typed.drop, "Remove the code instead");
    code.app->footer(
        "Examples:\n"
        "  reprise sandbox fault code 0x7ff0 --attribute auto-retry --retry linear \\\n"
        "      --interval 10ms --ceil 200ms --ready-file r.json\n"
        "  reprise sandbox fault add --opcode get --status 0x7ff0 --ready-file r.json");
    code.runs(make_code_command);
}

struct user_command_options {
    std::string name;
    std::optional<std::string> password;
    std::optional<std::string> token;
    std::vector<std::string> buckets;
    bool drop = false;
};

void add_user_command(CLI::App& fault) {
    disturb_command<user_command_options> user(
        fault, "user", "Change a user while the cluster runs; connections stay logged in");
    user_command_options& typed = *user.typed;
    user.app->add_option("name", typed.name, "A new or an existing user")->required();
    user.app->add_option("--password", typed.password, "Password for new logins");
    user.app->add_option("--bearer-token", typed.token, "Token for new OAUTHBEARER logins");
    user.app->add_option("--bucket", typed.buckets, "Bucket the user may use, repeatable (all)");
    user.app->add_flag("--drop", typed.drop, "Remove the user instead");
    user.runs([](const user_command_options& given) {
        json::object command{
            {"command", given.drop ? "user_drop" : "user_put"}, {"name", given.name}};
        if (given.drop) {
            return command;
        }
        set_value(command, "password", given.password);
        set_value(command, "token", given.token);
        if (!given.buckets.empty()) {
            command.set("buckets", json::array(given.buckets.begin(), given.buckets.end()));
        }
        return command;
    });
}

struct bucket_command_options {
    std::string bucket;
    std::string user;
    bool deny = false;
    bool allow = false;
    std::string presence;
    std::optional<std::uint64_t> node;
};

[[nodiscard]] json::value make_bucket_command(const bucket_command_options& typed) {
    if (int{typed.deny} + int{typed.allow} + int{!typed.presence.empty()} != 1) {
        throw usage_error("--deny, --allow, --presence: use exactly one");
    }
    if (!typed.presence.empty()) {
        json::object command{
            {"command", "bucket_presence"}, {"bucket", typed.bucket}, {"presence", typed.presence}};
        set_value(command, "node", typed.node);
        return command;
    }
    json::object command{
        {"command", "bucket_deny"}, {"bucket", typed.bucket}, {"denied", typed.deny}};
    set_text(command, "user", typed.user);
    return command;
}

void add_bucket_command(CLI::App& fault) {
    disturb_command<bucket_command_options> bucket(
        fault, "bucket", "Deny a bucket, or remove it from a node");
    bucket_command_options& typed = *bucket.typed;
    bucket.app->add_option("bucket", typed.bucket, "Name of the bucket")->required();
    bucket.app->add_flag("--deny", typed.deny, "Answer select_bucket with 0x24");
    bucket.app->add_flag("--allow", typed.allow, "Undo --deny");
    bucket.app->add_option("--user", typed.user, "User for --deny and --allow (all)");
    auto* node = bucket.app->add_option("--node", typed.node, "Node for --presence");
    bucket.app->add_option("--presence", typed.presence, "full, absent or config_only, on a node")
        ->needs(node);
    bucket.runs(make_bucket_command);
}

struct collection_command_options {
    std::string bucket;
    std::string scope;
    std::string collection;
    std::optional<std::uint64_t> hide_on;
    std::optional<std::uint64_t> show_on;
    bool recreate = false;
};

[[nodiscard]] json::value make_collection_command(const collection_command_options& typed) {
    if (int{typed.hide_on.has_value()} + int{typed.show_on.has_value()} + int{typed.recreate} !=
        1) {
        throw usage_error("--hide-on, --show-on, --recreate: use exactly one");
    }
    json::object command{
        {"command", typed.recreate ? "collection_recreate" : "collection_hide"},
        {"bucket", typed.bucket},
        {"scope", typed.scope},
        {"collection", typed.collection}};
    if (!typed.recreate) {
        command.set("node", typed.hide_on ? *typed.hide_on : *typed.show_on);
        command.set("hidden", typed.hide_on.has_value());
    }
    return command;
}

void add_collection_command(CLI::App& fault) {
    disturb_command<collection_command_options> collection(
        fault, "collection", "Hide a collection on a node, or recreate it");
    collection_command_options& typed = *collection.typed;
    collection.app->add_option("bucket", typed.bucket, "Name of its bucket")->required();
    collection.app->add_option("scope", typed.scope, "Name of its scope")->required();
    collection.app->add_option("collection", typed.collection, "Its name")->required();
    collection.app->add_option("--hide-on", typed.hide_on, "Node that gets an older manifest");
    collection.app->add_option(
        "--show-on", typed.show_on, "Node that gets the current manifest again");
    collection.app->add_flag("--recreate", typed.recreate, "Drop it and create a new one");
    collection.runs(make_collection_command);
}

struct hold_options {
    std::string what;
    std::optional<std::uint64_t> node;
    bool release = false;
    std::string replication_delay;
    std::string recommit_delay;
};

[[nodiscard]] std::string print_pending(const json::value& answer) {
    return fmt::format("{} durable writes are pending\n", cell(answer, "pending"));
}

void add_durability_commands(CLI::App& fault) {
    disturb_command<hold_options> hold(fault, "hold", "Hold something back until it is released");
    hold.app
        ->add_option("what", hold.typed->what, "replication, persistence, recommit, configuration")
        ->required();
    hold.app->add_option("--node", hold.typed->node, "Node, for configuration");
    hold.app->add_flag("--release", hold.typed->release, "Release it again");
    hold.runs([](const hold_options& given) {
        json::object command{{"command", "hold"}, {"what", given.what}, {"held", !given.release}};
        set_value(command, "node", given.node);
        return command;
    });

    disturb_command<hold_options> durability(
        fault, "durability", "Slow durable writes down and show how many are pending");
    durability.app->add_option(
        "--replication-delay", durability.typed->replication_delay,
        "How long replicas take to acknowledge: 50ms");
    durability.app->add_option(
        "--recommit-delay", durability.typed->recommit_delay,
        "How long a new active copy takes to re-commit");
    durability.runs(
        [](const hold_options& given) {
            json::object command{{"command", "durability"}};
            if (!given.replication_delay.empty()) {
                command.set(
                    "replication_delay_ms",
                    parse_milliseconds("--replication-delay", given.replication_delay));
            }
            if (!given.recommit_delay.empty()) {
                command.set(
                    "recommit_delay_ms",
                    parse_milliseconds("--recommit-delay", given.recommit_delay));
            }
            return command;
        },
        print_pending);
}

}  // namespace

void add_sandbox_disturb_commands(CLI::App& fault) {
    add_node_commands(fault);
    add_code_command(fault);
    add_user_command(fault);
    add_bucket_command(fault);
    add_collection_command(fault);
    add_durability_commands(fault);
}

}  // namespace reprise::app
