#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include <reprise/engine/scan_request.hpp>

namespace reprise::engine {

// The keys of a range or prefix, or the sample, as a server expects it. A sample has a seed.
[[nodiscard]] std::variant<wire::scan_range, wire::scan_sampling> to_wire(
    const couchbase::scan_kind& what);
// The mutation that a vbucket must have on disk: the newest of its own in `state`. Empty: none.
[[nodiscard]] std::optional<wire::scan_snapshot> snapshot_for(
    const couchbase::mutation_state& state, std::string_view bucket, wire::vbucket_id vbucket);

// Where the scan of one vbucket is. It depends on neither connections nor time: it turns the user's
// request into the next one to a server, and answers into rows.
class scan_progress {
public:
    // `asked` must outlive this object.
    scan_progress(const scan_request& asked, wire::vbucket_id vbucket, std::string_view bucket);

    // --- requests ---

    // The server's scan. Empty: it must be created first.
    [[nodiscard]] const std::optional<wire::scan_id>& id() const noexcept { return id_; }
    // The request that creates a scan of what has not arrived yet. `wait_ms` is how long the server
    // may wait for the required snapshot.
    [[nodiscard]] wire::range_scan_create_request make_create(
        wire::collection_id collection, std::uint32_t wait_ms) const;
    [[nodiscard]] wire::range_scan_continue_request make_continue(std::uint32_t time_ms) const;

    // --- answers ---

    void on_created(const wire::scan_id& id) noexcept;
    // Takes the rows of one frame. Fails with the reason why it cannot be used.
    [[nodiscard]] std::expected<void, std::string> take_frame(const wire::frame_view& frame);
    // The server's scan is over, or lost.
    void forget_id() noexcept { id_.reset(); }
    // Whether a new scan may replace a lost one: always for a range, since it begins after the last
    // row; for a sample only before its first row.
    [[nodiscard]] bool can_begin_again() const noexcept;

    // --- rows ---

    [[nodiscard]] bool has_rows() const noexcept { return !rows_.empty(); }
    // Whether enough rows wait for their reader.
    [[nodiscard]] bool is_full() const noexcept {
        return rows_.size_bytes() > options().batch_byte_limit;
    }
    // Clears `out` and moves the rows into it.
    void take_rows(row_batch& out) noexcept;
    [[nodiscard]] std::uint64_t row_count() const noexcept { return row_count_; }

private:
    // Whether the row was delivered before: a server may repeat the key after which it was to
    // begin.
    [[nodiscard]] bool is_repeated(std::string_view key) const noexcept;

    [[nodiscard]] const couchbase::scan_options& options() const noexcept { return asked_.options; }

    const scan_request& asked_;                          // of the operation's request
    const std::optional<wire::scan_snapshot> snapshot_;  // what the vbucket must have on disk
    std::optional<wire::scan_id> id_;
    bool has_restarted_ = false;
    std::string restart_key_;  // the last row before the last restart
    std::string last_key_;
    std::uint64_t row_count_ = 0;
    std::size_t answer_count_ = 0;       // rows of the current answer
    std::size_t answer_size_bytes_ = 0;  // and their bytes
    row_batch rows_;
};

}  // namespace reprise::engine
