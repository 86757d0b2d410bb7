#include <reprise/couchbase/error.hpp>

#include <ostream>

#include <reprise/base/printable.hpp>

namespace reprise::couchbase {
namespace {

class client_error_category final : public std::error_category {
public:
    const char* name() const noexcept override { return "reprise.client"; }
    std::string message(int code) const override {
        switch (static_cast<client_errc>(code)) {
            case client_errc::blocking_call_in_loop:
                return "blocking call on the thread that must complete it";
            case client_errc::submission_queue_full:
                return "too many operations wait for the client's thread";
            case client_errc::connection_string_invalid:
                return "invalid connection string";
            case client_errc::option_invalid:
                return "invalid option";
            case client_errc::certificate_unreadable:
                return "certificate or key cannot be read";
            case client_errc::used_after_fork:
                return "the client belongs to the parent process";
            case client_errc::no_resources:
                return "the system has no thread or file descriptor left";
            case client_errc::executor_gone:
                return "the context of the client's executor was destroyed";
            case client_errc::read_in_progress:
                return "another read of this stream has not completed";
        }
        return "unknown client error";
    }
};

std::shared_ptr<const error_info> make_info(std::error_code code, std::string detail) {
    auto info = std::make_shared<error_info>();
    info->code = code;
    info->detail = std::move(detail);
    return info;
}

// HTTP statuses are decimal, and HTTP services have no collections.
error_info in_http_words(const error_info& from, std::uint32_t service_code) {
    error_info info = from;
    std::string text;
    if (info.status) {
        text = "HTTP " + std::to_string(*info.status);
        info.status.reset();
    }
    if (service_code != 0) {
        text += (text.empty() ? "code " : ", code ") + std::to_string(service_code);
    }
    if (!info.bucket.empty()) {
        info.operation += " in bucket " + info.bucket;
        info.bucket.clear();
    }
    if (!text.empty()) {
        info.detail = info.detail.empty() ? text : text + "; " + info.detail;
    }
    return info;
}

}  // namespace

const std::error_category& client_category() noexcept {
    static const client_error_category category;
    return category;
}

std::error_code make_error_code(client_errc error) noexcept {
    return {static_cast<int>(error), client_category()};
}

std::string_view to_string(client_errc error) noexcept {
    switch (error) {
        case client_errc::blocking_call_in_loop:
            return "blocking_call_in_loop";
        case client_errc::submission_queue_full:
            return "submission_queue_full";
        case client_errc::connection_string_invalid:
            return "connection_string_invalid";
        case client_errc::option_invalid:
            return "option_invalid";
        case client_errc::certificate_unreadable:
            return "certificate_unreadable";
        case client_errc::used_after_fork:
            return "used_after_fork";
        case client_errc::no_resources:
            return "no_resources";
        case client_errc::executor_gone:
            return "executor_gone";
        case client_errc::read_in_progress:
            return "read_in_progress";
    }
    return "unknown_error";
}

error::error(std::error_code code, std::string detail)
    : info_(make_info(code, std::move(detail))) {}

std::string error::message() const {
    if (!info_->operation.empty()) {
        std::string text =
            couchbase::to_string(is_of_service_ ? in_http_words(*info_, service_code_) : *info_);
        text.erase(text.find_last_not_of('\n') + 1);
        return text;
    }
    std::string text = info_->code.message();
    if (!info_->detail.empty()) {
        text.append(": ").append(base::printable(info_->detail));
    }
    if (info_->history) {
        text.append("\n").append(to_string(*info_->history));
        text.erase(text.find_last_not_of('\n') + 1);
    }
    return text;
}

std::ostream& operator<<(std::ostream& out, const error& failure) {
    return out << failure.message();
}

failure_facts retry_facts(const error& failure) noexcept {
    if (failure.code() == client_errc::submission_queue_full ||
        failure.code() == client_errc::no_resources) {
        failure_facts facts;
        facts.safety = retry_safety::yes;  // it was never sent
        facts.throttling = failure.code() == client_errc::submission_queue_full;
        return facts;
    }
    if (failure.code().category() == client_category()) {
        failure_facts facts;
        facts.safety = retry_safety::no;
        facts.fault = failure_fault::client;
        return facts;
    }
    return retry_facts(failure.info());
}

}  // namespace reprise::couchbase
