#include <reprise/couchbase/ready_observers.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <any>
#include <memory>
#include <string>
#include <vector>

namespace reprise::couchbase {

namespace {

/// Writes spans as lines: "start get travel", "get travel: db.namespace=travel", "end ...".
struct book {
    std::vector<std::string> lines;

    [[nodiscard]] bool has(const std::string& line) const {
        return std::ranges::find(lines, line) != lines.end();
    }
};

class written_span final : public retry_tracer::span {
public:
    written_span(book& out, std::string name) : out_(out), name_(std::move(name)) {}
    void set_attribute(std::string_view name, std::int64_t value) noexcept override {
        out_.lines.push_back(name_ + ": " + std::string(name) + "=" + std::to_string(value));
    }
    void set_attribute(std::string_view name, std::string_view value) noexcept override {
        out_.lines.push_back(name_ + ": " + std::string(name) + "=" + std::string(value));
    }
    void end(bool is_error) noexcept override {
        out_.lines.push_back((is_error ? "failed " : "done ") + name_);
    }
    [[nodiscard]] const std::string& name() const noexcept { return name_; }

private:
    book& out_;
    std::string name_;
};

class writing_tracer final : public retry_tracer {
public:
    explicit writing_tracer(book& out) : out_(out) {}
    std::unique_ptr<retry_tracer::span> start_span(
        std::string_view name, retry_tracer::span* parent) noexcept override {
        std::string full(name);
        if (parent != nullptr) {
            full = static_cast<written_span*>(parent)->name() + "/" + full;
        }
        out_.lines.push_back("start " + full);
        return std::make_unique<written_span>(out_, full);
    }

private:
    book& out_;
};

struct traced {
    book seen;
    operation_tracing tracing{std::make_shared<writing_tracer>(seen)};
    operation_identity get{1, 7, "kv", "get"};

    void start(const std::any* user_data = nullptr) {
        tracing.on_start({get, "travel", user_data});
    }
    void attempt(std::uint32_t retries) { tracing.on_attempt({get, retries, "10.0.0.1:11210"}); }
};

}  // namespace

TEST(operation_tracing, an_operation_is_a_span_with_a_child_for_each_attempt) {
    traced t;
    t.start();
    t.attempt(0);
    decision_record locked;
    locked.reason = retry_reason::kv_locked;
    t.tracing.on_decision(t.get, locked);
    t.attempt(1);
    t.tracing.on_end({.which = t.get, .retries = 1});
    EXPECT_EQ(
        t.seen.lines, (std::vector<std::string>{
                          "start get travel",
                          "get travel: db.system.name=couchbase",
                          "get travel: db.operation.name=get",
                          "get travel: reprise.couchbase.service=kv",
                          "get travel: db.namespace=travel",
                          "start get travel/attempt",
                          "get travel/attempt: reprise.retry.attempt=1",
                          "get travel/attempt: server.address=10.0.0.1",
                          "get travel/attempt: server.port=11210",
                          "get travel/attempt: error.type=KV_LOCKED",
                          "failed get travel/attempt",
                          "start get travel/attempt",
                          "get travel/attempt: reprise.retry.attempt=2",
                          "get travel/attempt: server.address=10.0.0.1",
                          "get travel/attempt: server.port=11210",
                          "done get travel/attempt",
                          "get travel: reprise.retry.attempts=2",
                          "done get travel",
                      }));
}

TEST(operation_tracing, a_timeout_ends_the_attempt_and_the_operation_with_an_error) {
    traced t;
    t.start();
    t.attempt(0);
    const std::error_code error = errc::unambiguous_timeout;
    t.tracing.on_end({.which = t.get, .error = error});
    EXPECT_TRUE(t.seen.has("get travel: error.type=" + error.message()));
    EXPECT_TRUE(t.seen.has("failed get travel/attempt"));
    EXPECT_EQ(t.seen.lines.back(), "failed get travel");
}

TEST(operation_tracing, a_literal_address_has_no_brackets) {
    traced t;
    t.start();
    t.tracing.on_attempt({t.get, 0, "[fe80::1]:11210"});
    EXPECT_TRUE(t.seen.has("get travel/attempt: server.address=fe80::1"));
    EXPECT_TRUE(t.seen.has("get travel/attempt: server.port=11210"));
}

// The span of a statement that was prepared and then executed ended as an error when its second
// request was sent, and a second attempt began.
TEST(operation_tracing, all_requests_of_an_attempt_are_in_its_span) {
    traced t;
    t.start();
    t.attempt(0);
    t.tracing.on_attempt({.which = t.get, .endpoint = "10.0.0.2:11210", .is_continued = true});
    t.tracing.on_end({.which = t.get});
    EXPECT_EQ(std::ranges::count(t.seen.lines, "start get travel/attempt"), 1);
    EXPECT_TRUE(t.seen.has("get travel/attempt: server.address=10.0.0.2"));
    EXPECT_TRUE(t.seen.has("done get travel/attempt"));
    EXPECT_FALSE(t.seen.has("failed get travel/attempt"));
    EXPECT_TRUE(t.seen.has("get travel: reprise.retry.attempts=1"));
}

TEST(operation_tracing, the_callers_span_is_the_parent) {
    traced t;
    written_span handler(t.seen, "handler");
    const std::any parent = static_cast<retry_tracer::span*>(&handler);
    t.start(&parent);
    EXPECT_EQ(t.seen.lines.front(), "start handler/get travel");
    const std::any shared =
        std::shared_ptr<retry_tracer::span>(std::make_shared<written_span>(t.seen, "owner"));
    t.get.id = 9;
    t.start(&shared);
    EXPECT_TRUE(t.seen.has("start owner/get travel"));
    const std::any other = 5;
    t.get.id = 8;
    t.start(&other);
    EXPECT_TRUE(t.seen.has("start get travel"));
}

TEST(operation_tracing, operations_of_two_clients_are_kept_apart) {
    traced t;
    t.start();
    operation_identity same_id{2, 7, "kv", "remove"};
    t.tracing.on_start({same_id, "", nullptr});
    t.tracing.on_end({.which = same_id});
    EXPECT_EQ(t.seen.lines.back(), "done remove");
    t.tracing.on_end({.which = t.get});
    EXPECT_EQ(t.seen.lines.back(), "done get travel");
    t.tracing.on_end({.which = t.get});  // unknown: ignored
    EXPECT_EQ(t.seen.lines.back(), "done get travel");
}

}  // namespace reprise::couchbase
