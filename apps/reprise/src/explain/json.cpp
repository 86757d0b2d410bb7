#include "explain/json.hpp"

#include <reprise/json/write.hpp>

namespace reprise::app {

namespace {

using couchbase::errc;

[[nodiscard]] std::string_view word_of(const std::optional<retry_safety>& safety) noexcept {
    if (!safety) {
        return "unknown";
    }
    switch (*safety) {
        case retry_safety::yes:
            return "yes";
        case retry_safety::no:
            return "no";
        case retry_safety::maybe:
            break;
    }
    return "maybe";
}

// Writes the members of each kind, after `kind`.
class member_writer {
public:
    explicit member_writer(json::writer& out) : out_(out) {}

    void operator()(const couchbase::retry_reason_facts* facts) {
        out_.member("kind", "retry_reason");
        out_.member("name", facts->name);
        out_.member("meaning", facts->meaning);
        out_.member("always_retried", facts->always_retry);
        out_.member("writes_may_be_sent_again", facts->allows_non_idempotent_retry);
        out_.member("terminal", facts->is_terminal());
        out_.member("advice", facts->advice);
    }
    void operator()(wire::status status) {
        const auto& facts = wire::status_info(status);
        out_.member("kind", "status");
        out_.member("name", facts.is_listed ? facts.name : std::string_view{});
        out_.member("code", static_cast<unsigned>(status));
        out_.member("meaning", facts.meaning);
        out_.member("known_to_client", facts.is_known_to_client);
        if (const auto reason = reason_of(status)) {
            out_.member("retry_reason", info(*reason).name);
        }
        if (const auto error = error_of(status)) {
            out_.member("error", to_string(*error));
        }
        out_.member("advice", advice_on(status));
    }
    void operator()(errc error) {
        const auto code = make_error_code(error);
        const auto facts = retry_facts(error);
        out_.member("kind", "error");
        out_.member("name", to_string(error));
        out_.member("code", code.value());
        out_.member("meaning", code.message());
        out_.member("worth_calling_again", word_of(facts.safety));
        out_.member("timeout", facts.timeout);
        out_.member("advice", advice_on(error));
    }
    void operator()(const refusal_facts* refusal) {
        out_.member("kind", "refusal");
        out_.member("name", refusal_name(refusal->reason));
        out_.member("printed_as", to_string(refusal->reason));
        out_.member("meaning", refusal->meaning);
        out_.member("advice", refusal->advice);
    }
    void operator()(const strategy_facts* strategy) {
        out_.member("kind", "strategy");
        out_.member("name", strategy->name);
        out_.member("meaning", strategy->meaning);
        out_.member("delays", strategy->delays);
        out_.member("advice", strategy->advice);
    }

private:
    json::writer& out_;
};

}  // namespace

std::string to_json(std::span<const explained> things) {
    std::string text;
    json::writer out(text, json::layout::indented);
    out.begin_object().key("explanations").begin_array();
    for (const explained& each : things) {
        out.begin_object();
        std::visit(member_writer(out), each);
        out.end_object();
    }
    out.end_array().end_object();
    return text + "\n";
}

}  // namespace reprise::app
