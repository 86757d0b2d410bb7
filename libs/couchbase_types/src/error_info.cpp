#include <array>
#include <cstdio>

#include <reprise/base/printable.hpp>
#include <reprise/couchbase_types/error_info.hpp>

namespace reprise::couchbase {
namespace {

std::string joined(const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& word : words) {
        text += (text.empty() ? "" : ", ") + base::printable(word);
    }
    return text;
}

std::string reasons_text(retry_reason_set reasons) {
    std::string text;
    for (const retry_reason_facts& facts : all_retry_reasons()) {
        if (reasons.contains(facts.reason)) {
            text += text.empty() ? "" : ", ";
            text += facts.name;
        }
    }
    return text;
}

void append_server_words(std::string& text, const error_info& error) {
    if (error.status) {
        std::array<char, 24> status{};
        std::snprintf(status.data(), status.size(), "; status 0x%02x", unsigned{*error.status});
        text += status.data();
    }
    if (error.error_map) {
        text += " " + base::printable(error.error_map->name) + " (" +
                base::printable(error.error_map->description) + ")";
        if (!error.error_map->attributes.empty()) {
            text += " [" + joined(error.error_map->attributes) + "]";
        }
    }
    if (!error.server_context.empty()) {
        text += "; server message: " + base::printable(error.server_context);
    }
    if (!error.server_ref.empty()) {
        text += " (ref " + base::printable(error.server_ref) + ")";
    }
}

}  // namespace

std::string to_string(const error_info& error) {
    std::string text = error.operation;
    if (error.shows_key && !error.key.empty()) {
        text += " " + base::printable(error.key);
    }
    text += ": " + error.code.message();
    if (!error.bucket.empty()) {
        text += " (bucket " +
                base::printable(error.bucket + ", " + error.scope + "." + error.collection) + ")";
    }
    append_server_words(text, error);
    if (error.is_ambiguous) {
        text += "; the server may have acted";
    }
    if (!error.last_dispatched_to.empty()) {
        text += "; last sent to " + base::printable(error.last_dispatched_to);
    }
    if (!error.detail.empty()) {
        text += "; " + base::printable(error.detail);
    }
    if (error.retry_attempts != 0 || !error.retry_reasons.empty()) {
        text += "; " + std::to_string(error.retry_attempts) +
                " retries: " + reasons_text(error.retry_reasons);
    }
    if (error.history) {
        text += "\n" + to_string(*error.history);
    }
    return text;
}

failure_facts retry_facts(const error_info& error) noexcept {
    failure_facts facts;
    if (error.code.category() == couchbase_category()) {
        facts = describe(static_cast<errc>(error.code.value()));
    }
    if (error.is_ambiguous) {
        facts.safety = retry_safety::maybe;
    } else if (error.code == errc::request_canceled) {
        facts.safety = retry_safety::yes;
    }
    return facts;
}

}  // namespace reprise::couchbase
