#include <reprise/couchbase/error.hpp>

#include <ostream>

#include <reprise/base/printable.hpp>

namespace reprise::couchbase {
namespace {

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
    return retry_facts(failure.info());
}

}  // namespace reprise::couchbase
