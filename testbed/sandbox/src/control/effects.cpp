#include "control/effects.hpp"

#include <chrono>
#include <concepts>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

namespace reprise::sandbox::detail {

namespace {

constexpr std::uint64_t delay_ms_max = 86'400'000;
constexpr std::uint64_t body_size_max = std::uint64_t{32} * 1024 * 1024;
constexpr std::uint64_t continue_count_max = 1000;

// The word of an effect that is a word; empty for the others.
template <class Effect>
constexpr std::string_view word_of{};
template <>
constexpr std::string_view word_of<fault_no_answer> = "no_answer";
template <>
constexpr std::string_view word_of<fault_close_before> = "close_before";
template <>
constexpr std::string_view word_of<fault_close_after> = "close_after";
template <>
constexpr std::string_view word_of<fault_answer_twice> = "answer_twice";
template <>
constexpr std::string_view word_of<fault_wrong_opaque> = "wrong_opaque";
template <>
constexpr std::string_view word_of<service_fault_close_after_headers> = "close_after_headers";
template <>
constexpr std::string_view word_of<service_fault_bad_chunk> = "bad_chunk";

// One specialization for each other effect: `members`, the alternatives shown if none of them is
// given; `read`, which returns nothing if its members are absent; and `describe`.
template <class Effect>
struct effect_json;

template <class Effect>
concept effect_word = !word_of<Effect>.empty();

std::chrono::milliseconds milliseconds(std::uint64_t count) {
    return std::chrono::milliseconds(static_cast<std::int64_t>(count));
}

json::value milliseconds_of(std::chrono::nanoseconds time) {
    return std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
}

// An effect that is one number, or one time in milliseconds. `members` is its only member.
template <class Effect, auto Field, std::uint64_t Most, std::uint64_t Least = 0>
struct number_effect {
    using field = std::remove_cvref_t<decltype(std::declval<Effect&>().*Field)>;
    static constexpr bool is_time = std::same_as<field, std::chrono::nanoseconds>;

    static std::string_view name() noexcept {
        constexpr std::string_view quoted = effect_json<Effect>::members;
        return quoted.substr(1, quoted.size() - 2);
    }
    static std::optional<Effect> read(field_reader& fields) {
        const auto given = fields.bounded(name(), Most);
        if (given && *given < Least) {
            fields.wrong("'" + std::string(name()) + "' must not be 0");
        }
        Effect effect;
        if constexpr (is_time) {
            effect.*Field = milliseconds(given.value_or(0));
        } else {
            effect.*Field = given.value_or(0);
        }
        return given ? std::optional(effect) : std::nullopt;
    }
    static json::value describe(const Effect& effect) {
        json::object described;
        if constexpr (is_time) {
            described.set(name(), milliseconds_of(effect.*Field));
        } else {
            described.set(name(), effect.*Field);
        }
        return described;
    }
};

// --- key-value and HTTP -------------------------------------------------------------------------

template <>
struct effect_json<fault_delay> : number_effect<fault_delay, &fault_delay::delay, delay_ms_max> {
    static constexpr std::string_view members = "'delay_ms'";
};

// --- key-value ----------------------------------------------------------------------------------

template <>
struct effect_json<fault_status> {
    static constexpr std::string_view members = "'status'";
    static std::optional<fault_status> read(field_reader& fields) {
        const auto code = fields.status("status");
        fault_status effect{code.value_or(wire::status{}), {}};
        effect.context.context = fields.text("context").value_or("");
        effect.context.ref = fields.text("ref").value_or("");
        return code ? std::optional(std::move(effect)) : std::nullopt;
    }
    static json::value describe(const fault_status& effect) {
        json::object described{{"status", status_text(effect.status)}};
        if (!effect.context.context.empty()) {
            described.set("context", effect.context.context);
        }
        if (!effect.context.ref.empty()) {
            described.set("ref", effect.context.ref);
        }
        return described;
    }
};

template <>
struct effect_json<fault_truncate>
    : number_effect<fault_truncate, &fault_truncate::size, body_size_max> {
    static constexpr std::string_view members = "'truncate'";
};

template <>
struct effect_json<fault_garbage>
    : number_effect<fault_garbage, &fault_garbage::size, fault_garbage::size_max_bytes, 1> {
    static constexpr std::string_view members = "'garbage'";
};

template <>
struct effect_json<fault_trickle>
    : number_effect<fault_trickle, &fault_trickle::interval, delay_ms_max, 1> {
    static constexpr std::string_view members = "'trickle_ms'";
};

// --- HTTP ---------------------------------------------------------------------------------------

// {"Retry-After":"1"}
service_header_list read_headers(field_reader& fields) {
    service_header_list headers;
    const json::value* given = fields.any("headers");
    if (given == nullptr) {
        return headers;
    }
    const json::object* members = given->as_object();
    if (members == nullptr) {
        fields.wrong("'headers' must be an object of strings");
        return headers;
    }
    headers.reserve(members->size());
    for (const json::member& each : *members) {
        const auto text = each.content.as_string();
        if (!text) {
            fields.wrong("'headers' must be an object of strings");
            break;
        }
        headers.push_back({each.name, std::string(*text)});
    }
    return headers;
}

template <>
struct effect_json<service_fault_answer> {
    static constexpr std::string_view members = "'status'";
    static std::optional<service_fault_answer> read(field_reader& fields) {
        const auto status = fields.http_status("status");
        service_fault_answer effect{status.value_or(0), read_headers(fields), {}, false};
        const auto body = fields.text("body");
        const auto is_applied = fields.flag("applied");
        // A redirect has a status, too.
        const bool is_answer = status && fields.any("redirect") == nullptr;
        if ((body || !effect.headers.empty() || is_applied) && !is_answer) {
            fields.wrong("'body', 'headers' and 'applied' require 'status'");
        }
        effect.body = body.value_or("");
        effect.is_applied = is_applied.value_or(false);
        return is_answer ? std::optional(std::move(effect)) : std::nullopt;
    }
    static json::value describe(const service_fault_answer& effect) {
        json::object described{{"status", effect.status}};
        if (!effect.headers.empty()) {
            json::object headers;
            for (const service_header& each : effect.headers) {
                headers.set(each.name, each.value);
            }
            described.set("headers", std::move(headers));
        }
        if (!effect.body.empty()) {
            described.set("body", effect.body);
        }
        if (effect.is_applied) {
            described.set("applied", true);
        }
        return described;
    }
};

template <>
struct effect_json<service_fault_close_mid_body>
    : number_effect<
          service_fault_close_mid_body, &service_fault_close_mid_body::size_bytes, body_size_max> {
    static constexpr std::string_view members = "'close_mid_body'";
};

template <>
struct effect_json<service_fault_wrong_length> {
    static constexpr std::string_view members = "'wrong_length'";
    static std::optional<service_fault_wrong_length> read(field_reader& fields) {
        const json::value* given = fields.any("wrong_length");
        if (given == nullptr) {
            return std::nullopt;
        }
        const auto number = given->as_int64();
        const auto most = static_cast<std::int64_t>(body_size_max);
        if (!number || *number == 0 || *number < -most || *number > most) {
            fields.wrong("'wrong_length' must be a whole number, not 0");
        }
        return service_fault_wrong_length{number.value_or(0)};
    }
    static json::value describe(const service_fault_wrong_length& effect) {
        return json::object{{"wrong_length", effect.difference}};
    }
};

template <>
struct effect_json<service_fault_unasked_encoding> {
    static constexpr std::string_view members = "'encoding'";
    static std::optional<service_fault_unasked_encoding> read(field_reader& fields) {
        const auto name = fields.text("encoding");
        return name ? std::optional(service_fault_unasked_encoding{*name}) : std::nullopt;
    }
    static json::value describe(const service_fault_unasked_encoding& effect) {
        return json::object{{"encoding", effect.encoding}};
    }
};

template <>
struct effect_json<service_fault_redirect> {
    static constexpr std::string_view members = "'redirect'";
    static std::optional<service_fault_redirect> read(field_reader& fields) {
        const auto location = fields.text("redirect");
        if (!location) {
            return std::nullopt;
        }
        const int status = fields.http_status("status").value_or(302);
        if (status < 300 || status > 399) {
            fields.wrong("'status' of a redirect must be 300 to 399");
        }
        return service_fault_redirect{status, *location};
    }
    static json::value describe(const service_fault_redirect& effect) {
        return json::object{{"redirect", effect.location}, {"status", effect.status}};
    }
};

template <>
struct effect_json<service_fault_continue_first>
    : number_effect<
          service_fault_continue_first, &service_fault_continue_first::count, continue_count_max> {
    static constexpr std::string_view members = "'continue_first'";
};

template <>
struct effect_json<service_fault_stray_bytes> {
    static constexpr std::string_view members = "'bytes_before', 'bytes_after'";
    static std::optional<service_fault_stray_bytes> read(field_reader& fields) {
        const auto before = fields.text("bytes_before");
        const auto after = fields.text("bytes_after");
        const auto pause = fields.bounded("pause_ms", delay_ms_max);
        if (pause && !after) {
            fields.wrong("'pause_ms' requires 'bytes_after'");
        }
        if (!before && !after) {
            return std::nullopt;
        }
        return service_fault_stray_bytes{
            before.value_or(""), after.value_or(""), milliseconds(pause.value_or(0))};
    }
    static json::value describe(const service_fault_stray_bytes& effect) {
        return json::object{
            {"bytes_before", effect.before},
            {"bytes_after", effect.after},
            {"pause_ms", milliseconds_of(effect.pause)}};
    }
};

// --- all effects of a variant -------------------------------------------------------------------

template <class Variant>
struct effects_of;

template <class... Each>
struct effects_of<std::variant<Each...>> {
    using effect = std::variant<Each...>;

    static std::optional<effect> of_word(std::string_view word) {
        std::optional<effect> found;
        (try_word<Each>(word, found), ...);
        return found;
    }

    static std::optional<effect> of_object(field_reader& fields) {
        std::optional<effect> found;
        int count = 0;
        (try_members<Each>(fields, found, count), ...);
        if (count != 1) {
            std::string names;
            (add_members<Each>(names), ...);
            fields.wrong("'effect' must have one of " + names);
        }
        return fields.finish() ? found : std::nullopt;
    }

private:
    template <class One>
    static void try_word(std::string_view word, std::optional<effect>& found) {
        if constexpr (effect_word<One>) {
            if (word == word_of<One>) {
                found = One{};
            }
        }
    }
    template <class One>
    static void try_members(field_reader& fields, std::optional<effect>& found, int& count) {
        if constexpr (!effect_word<One>) {
            if (auto read = effect_json<One>::read(fields)) {
                found = *std::move(read);
                ++count;
            }
        }
    }
    template <class One>
    static void add_members(std::string& names) {
        if constexpr (!effect_word<One>) {
            names += names.empty() ? "" : ", ";
            names += effect_json<One>::members;
        }
    }
};

}  // namespace

template <class Effect>
std::optional<Effect> read_effect(field_reader& fields) {
    const json::value* given = fields.any("effect");
    if (given == nullptr) {
        fields.wrong("'effect' is missing");
        return std::nullopt;
    }
    if (const auto word = given->as_string()) {
        std::optional<Effect> effect = effects_of<Effect>::of_word(*word);
        if (!effect) {
            fields.wrong("'" + std::string(*word) + "' is not an effect");
        }
        return effect;
    }
    const json::object* object = given->as_object();
    if (object == nullptr) {
        fields.wrong("'effect' must be a word or an object");
        return std::nullopt;
    }
    field_reader inner(*object);
    std::optional<Effect> effect = effects_of<Effect>::of_object(inner);
    if (!effect) {
        fields.wrong(inner.problem());
    }
    return effect;
}

template <class Effect>
json::value describe_effect(const Effect& effect) {
    return std::visit(
        []<class One>(const One& each) -> json::value {
            if constexpr (effect_word<One>) {
                return word_of<One>;
            } else {
                return effect_json<One>::describe(each);
            }
        },
        effect);
}

template std::optional<fault_effect> read_effect(field_reader&);
template std::optional<service_fault_effect> read_effect(field_reader&);
template json::value describe_effect(const fault_effect&);
template json::value describe_effect(const service_fault_effect&);

}  // namespace reprise::sandbox::detail
