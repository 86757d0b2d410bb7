#pragma once

// The HTTP side of scripted servers. It reads whole requests and gives the answers that the test
// sets.

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <reprise/base/bytes.hpp>
#include <reprise/engine/http_operation.hpp>
#include <reprise/engine/ids.hpp>
#include <reprise/http/encode.hpp>
#include <reprise/http/request_parser.hpp>

namespace reprise::engine::testing {

struct seen_http_request {
    std::size_t node = 0;
    std::uint16_t port = 0;
    connection_id connection{};
    http::request request;
    time_point at{};
};

struct scripted_http_answer {
    int status = 200;
    http::header_list headers{};
    std::string body{};
    std::string raw{};       // if not empty, these bytes replace the answer
    bool is_silent = false;  // no answer
    bool closes = false;     // closes after the answer, if there is one
};

// An answer with exactly these bytes, after which the connection closes.
inline scripted_http_answer cut_answer(std::string raw) {
    scripted_http_answer answer;
    answer.raw = std::move(raw);
    answer.closes = true;
    return answer;
}

inline scripted_http_answer closing() {
    scripted_http_answer answer;
    answer.is_silent = true;
    answer.closes = true;
    return answer;
}

inline std::vector<std::byte> bytes_of(const scripted_http_answer& answer) {
    std::vector<std::byte> out;
    if (!answer.raw.empty()) {
        const auto raw = base::as_bytes(answer.raw);
        out.assign(raw.begin(), raw.end());
    } else if (!answer.is_silent) {
        http::outgoing_response response;
        response.status = answer.status;
        response.headers = &answer.headers;
        response.body = base::as_bytes(answer.body);
        (void)http::encode_response(out, response);
    }
    return out;
}

// Sends one POST and treats 2xx as success. The test decides about other answers.
class test_exchange final : public http_exchange {
public:
    using judging = std::function<exchange_result(const http_answer&)>;
    explicit test_exchange(std::string body, std::string rows_member = {}, judging judge = {})
        : rows_member_(std::move(rows_member)), judge_(std::move(judge)) {
        call_.method = "POST";
        call_.target = "/query/service";
        call_.content_type = "application/json";
        call_.body = std::move(body);
        call_.rows_member = rows_member_;
    }

    const service_call& compose(const wire::cluster_configuration*) override { return call_; }
    exchange_result judge(const http_answer& answer) override {
        if (judge_) {
            return judge_(answer);
        }
        exchange_result verdict;
        if (answer.status != 200) {
            verdict.what = exchange_result::step::failed;
        }
        return verdict;
    }

private:
    std::string rows_member_;
    service_call call_;
    judging judge_;
};

inline http_request query_request(
    std::string_view body, test_exchange::judging judge = {}, std::string rows_member = "results") {
    http_request made;
    made.service = wire::service::query;
    made.operation = "query";
    made.is_idempotent = false;
    made.exchange = std::make_unique<test_exchange>(
        std::string(body), std::move(rows_member), std::move(judge));
    return made;
}

inline http_request readonly_request(std::string_view body, test_exchange::judging judge = {}) {
    http_request made = query_request(body, std::move(judge));
    made.is_idempotent = true;
    return made;
}

// Retries every answer for this reason.
inline test_exchange::judging always_retry(retry_reason reason, duration floor = duration::zero()) {
    return [reason, floor](const http_answer& answer) {
        exchange_result verdict;
        if (answer.status == 200) {
            return verdict;
        }
        verdict.what = exchange_result::step::retry;
        verdict.reason = reason;
        verdict.error = errc::temporary_failure;
        verdict.may_have_acted = false;
        verdict.delay_floor = floor;
        return verdict;
    };
}

}  // namespace reprise::engine::testing
