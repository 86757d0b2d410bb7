#include "control/effects.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>

namespace reprise::sandbox::detail {

namespace {

constexpr std::uint64_t delay_ms_max = 86'400'000;
constexpr std::uint64_t body_size_max = std::uint64_t{32} * 1024 * 1024;
constexpr std::uint64_t continue_count_max = 1000;

// One specialization per effect. An effect that is a word has `word`. The others have `members`,
// the alternatives shown if none of them is given; `read`, which returns nothing if its members are
// absent; and `describe`.
template <class Effect>
struct effect_json;

template <class Effect>
concept effect_word = requires { effect_json<Effect>::word; };

std::chrono::milliseconds milliseconds(std::uint64_t count) {
    return std::chrono::milliseconds(static_cast<std::int64_t>(count));
}

json::value milliseconds_of(std::chrono::nanoseconds time) {
    return std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
}

// --- key-value and HTTP -------------------------------------------------------------------------

template <>
struct effect_json<fault_delay> {
    static constexpr std::string_view members = "'delay_ms'";
    static std::optional<fault_delay> read(field_reader& fields) {
        const auto given = fields.bounded("delay_ms", delay_ms_max);
        return given ? std::optional(fault_delay{milliseconds(*given)}) : std::nullopt;
    }
    static json::value describe(const fault_delay& effect) {
        return json::object{{"delay_ms", milliseconds_of(effect.delay)}};
    }
};

template <>
struct effect_json<fault_no_answer> {
    static constexpr std::string_view word = "no_answer";
};

template <>
struct effect_json<fault_close_before> {
    static constexpr std::string_view word = "close_before";
};

template <>
struct effect_json<fault_close_after> {
    static constexpr std::string_view word = "close_after";
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
struct effect_json<fault_answer_twice> {
    static constexpr std::string_view word = "answer_twice";
};

template <>
struct effect_json<fault_wrong_opaque> {
    static constexpr std::string_view word = "wrong_opaque";
};

template <>
struct effect_json<fault_truncate> {
    static constexpr std::string_view members = "'truncate'";
    static std::optional<fault_truncate> read(field_reader& fields) {
        const auto size = fields.bounded("truncate", body_size_max);
        return size ? std::optional(fault_truncate{*size}) : std::nullopt;
    }
    static json::value describe(const fault_truncate& effect) {
        return json::object{{"truncate", effect.size}};
    }
};

template <>
struct effect_json<fault_garbage> {
    static constexpr std::string_view members = "'garbage'";
    static std::optional<fault_garbage> read(field_reader& fields) {
        const auto size = fields.bounded("garbage", fault_garbage::size_max_bytes);
        if (size == 0u) {
            fields.wrong("'garbage' must not be 0");
        }
        return size ? std::optional(fault_garbage{*size}) : std::nullopt;
    }
    static json::value describe(const fault_garbage& effect) {
        return json::object{{"garbage", effect.size}};
    }
};

template <>
struct effect_json<fault_trickle> {
    static constexpr std::string_view members = "'trickle_ms'";
    static std::optional<fault_trickle> read(field_reader& fields) {
        const auto interval = fields.bounded("trickle_ms", delay_ms_max);
        if (interval == 0u) {
            fields.wrong("'trickle_ms' must not be 0");
        }
        return interval ? std::optional(fault_trickle{milliseconds(*interval)}) : std::nullopt;
    }
    static json::value describe(const fault_trickle& effect) {
        return json::object{{"trickle_ms", milliseconds_of(effect.interval)}};
    }
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
struct effect_json<service_fault_close_after_headers> {
    static constexpr std::string_view word = "close_after_headers";
};

template <>
struct effect_json<service_fault_close_mid_body> {
    static constexpr std::string_view members = "'close_mid_body'";
    static std::optional<service_fault_close_mid_body> read(field_reader& fields) {
        const auto size = fields.bounded("close_mid_body", body_size_max);
        return size ? std::optional(service_fault_close_mid_body{*size}) : std::nullopt;
    }
    static json::value describe(const service_fault_close_mid_body& effect) {
        return json::object{{"close_mid_body", effect.size_bytes}};
    }
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
struct effect_json<service_fault_bad_chunk> {
    static constexpr std::string_view word = "bad_chunk";
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
struct effect_json<service_fault_continue_first> {
    static constexpr std::string_view members = "'continue_first'";
    static std::optional<service_fault_continue_first> read(field_reader& fields) {
        const auto count = fields.bounded("continue_first", continue_count_max);
        return count ? std::optional(service_fault_continue_first{*count}) : std::nullopt;
    }
    static json::value describe(const service_fault_continue_first& effect) {
        return json::object{{"continue_first", effect.count}};
    }
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
            if (word == effect_json<One>::word) {
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
                return effect_json<One>::word;
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
