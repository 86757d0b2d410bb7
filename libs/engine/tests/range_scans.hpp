#pragma once

// A vbucket that answers range scans as a script says, and tests that run scans on it.

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <reprise/wire/range_scan_messages.hpp>

#include "engine_driver.hpp"

namespace reprise::engine::testing::operation_scan_tests {

inline std::string to_text(const std::vector<std::byte>& bytes) {
    return std::string(base::as_text(bytes));
}

template <class Message>
std::string answer_to(const seen_request& asked, status code, const Message& message) {
    wire::response_header header;
    header.op = asked.op;
    header.opaque = asked.opaque;
    header.status = code;
    return to_text(encoded(message, header));
}

inline wire::range_scan_create_request create_of(const seen_request& seen) {
    wire::frame_parts parts;
    parts.op = opcode::range_scan_create;
    parts.datatype = wire::datatype::json;
    parts.value = base::as_bytes(seen.value);
    std::vector<std::byte> bytes;
    base::byte_writer writer(bytes);
    EXPECT_TRUE(wire::encode_frame(writer, parts));
    return wire::range_scan_create_request::decode(*wire::scan_frame(bytes, {})->frame).value();
}

// A vbucket with the keys k00 to k09 whose answers have two rows in each frame.
class scripted_scans {
public:
    std::vector<std::string> keys;
    std::size_t frames_per_answer = 2;
    int rows_per_frame = 2;
    bool repeats_start = false;  // treats an exclusive start as an inclusive one
    // Replaces the answer to the request with this number (of its opcode), counted from 1.
    std::function<std::optional<answer>(const seen_request&, int number)> instead;

    scripted_scans() {
        for (char digit = '0'; digit <= '9'; ++digit) {
            keys.push_back(std::string("k0") + digit);
        }
    }

    std::optional<answer> operator()(const seen_request& seen) {
        const bool is_scan = seen.op == opcode::range_scan_create ||
                             seen.op == opcode::range_scan_continue ||
                             seen.op == opcode::range_scan_cancel;
        if (!is_scan) {
            return std::nullopt;
        }
        const int number = ++counts_[seen.op];
        if (instead) {
            if (auto scripted = instead(seen, number)) {
                return scripted;
            }
        }
        switch (seen.op) {
            case opcode::range_scan_create:
                return create(seen);
            case opcode::range_scan_continue:
                return answer{.raw = frames(seen, frames_per_answer, true)};
            default:
                return answer{};
        }
    }

    // The next frames of the scan. Without an end, the last one has the status success, too.
    std::string frames(const seen_request& seen, std::size_t count, bool has_end) {
        std::string bytes;
        for (std::size_t frame = 0; frame < count; ++frame) {
            std::vector<std::byte> items;
            base::byte_writer writer(items);
            for (int row = 0; row < rows_per_frame && !left_.empty(); ++row) {
                wire::scan_item item;
                item.key = left_.front();
                wire::append_scan_item(writer, wire::scan_content::keys, item);
                left_.erase(left_.begin());
            }
            status code = status::success;
            if (has_end && (left_.empty() || frame + 1 == count)) {
                code = left_.empty() ? status::range_scan_complete : status::range_scan_more;
            }
            bytes += answer_to(
                seen, code, wire::range_scan_continue_response{wire::scan_content::keys, items});
            if (code == status::range_scan_complete) {
                break;
            }
        }
        return bytes;
    }

private:
    answer create(const seen_request& seen) {
        const auto wanted = create_of(seen);
        left_ = keys;
        if (const auto* range = std::get_if<wire::scan_range>(&wanted.what)) {
            std::erase_if(left_, [&](const std::string& key) {
                return key < range->start.key || key > range->end.key ||
                       (!repeats_start && range->start.is_exclusive && key == range->start.key);
            });
        }
        if (left_.empty()) {
            return answer{.status = status::key_enoent};
        }
        wire::range_scan_create_response created;
        created.id.bytes[15] = static_cast<std::byte>(++last_id_);
        return answer{.raw = answer_to(seen, status::success, created)};
    }

    std::map<opcode, int> counts_;
    std::vector<std::string> left_;
    int last_id_ = 0;
};

class range_scans : public ::testing::Test {
protected:
    range_scans() {
        cluster.on_request = [this](const seen_request& seen) { return scans(seen); };
        driver.connect();
    }

    static scan_request all() { return {{}, {.keys_only = true}}; }
    static scan_request sample() {
        return {couchbase::sampling_scan{.limit = 5, .seed = 1}, {.keys_only = true}};
    }
    // A request whose rows are full with the first answer.
    static scan_request in_small_parts() {
        return {{}, {.keys_only = true, .batch_byte_limit = 1}};
    }
    static vbucket_scan part_of(scan_request asked, std::uint16_t vbucket = 1) {
        return {std::make_shared<scan_request>(std::move(asked)), wire::vbucket_id{vbucket}};
    }

    engine_driver::outcome_ptr start(
        vbucket_scan scan, std::shared_ptr<driver::retry_strategy> strategy = {}) {
        auto request = driver.request(operation_kind::range_scan, "");
        request.scan = std::move(scan);
        request.timeout = 10s;
        request.terms().strategy = std::move(strategy);
        auto done = driver.start(std::move(request));
        id = driver.last_id;
        return done;
    }
    engine_driver::outcome_ptr run(
        scan_request asked, std::shared_ptr<driver::retry_strategy> strategy = {}) {
        auto done = start(part_of(std::move(asked)), std::move(strategy));
        driver.advance(5s);
        return done;
    }

    static std::vector<std::string> keys_of(const row_batch& rows) {
        std::vector<std::string> keys;
        for (const std::string_view row : rows.rows()) {
            wire::scan_item_reader reader(wire::scan_content::keys, base::as_bytes(row));
            keys.emplace_back(reader.next().value()->key);
        }
        return keys;
    }
    std::vector<std::string> take() {
        row_batch rows;
        EXPECT_TRUE(driver.engine().take_rows(id, rows, driver.now));
        return keys_of(rows);
    }
    std::vector<wire::range_scan_create_request> creates() const {
        std::vector<wire::range_scan_create_request> found;
        for (const seen_request& seen : cluster.all(opcode::range_scan_create)) {
            found.push_back(create_of(seen));
        }
        return found;
    }
    // Where the last create request starts.
    wire::scan_bound last_start() const {
        return std::get<wire::scan_range>(creates().back().what).start;
    }

    // Replaces the answer to one continue request.
    void on_continue(int number, std::function<answer(const seen_request&)> with) {
        scans.instead = [number, with = std::move(with)](
                            const seen_request& seen, int at) -> std::optional<answer> {
            const bool is_it = seen.op == opcode::range_scan_continue && at == number;
            return is_it ? std::optional(with(seen)) : std::nullopt;
        };
    }

    scripted_cluster cluster{2};
    scripted_scans scans;
    engine_driver driver{cluster};
    operation_id id{};
};

}  // namespace reprise::engine::testing::operation_scan_tests
