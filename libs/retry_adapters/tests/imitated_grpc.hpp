#pragma once

/// As much of gRPC as `grpc.hpp` uses: ordinary builds do not have the library. The build makes the
/// headers of gRPC that include this one.

#include <cstdint>
#include <map>
#include <string>
#include <utility>

enum gpr_clock_type { GPR_TIMESPAN };

struct gpr_timespec {
    std::int64_t microseconds = 0;
};

inline gpr_timespec gpr_time_from_micros(std::int64_t microseconds, gpr_clock_type) {
    return {microseconds};
}

namespace grpc {

enum class StatusCode {
    OK = 0,
    CANCELLED = 1,
    DEADLINE_EXCEEDED = 4,
    NOT_FOUND = 5,
    INTERNAL = 13,
    UNAVAILABLE = 14
};

class Status {
public:
    Status() = default;
    Status(StatusCode code, std::string message) : code_(code), message_(std::move(message)) {}

    [[nodiscard]] bool ok() const { return code_ == StatusCode::OK; }
    [[nodiscard]] StatusCode error_code() const { return code_; }
    [[nodiscard]] std::string error_message() const { return message_; }
    [[nodiscard]] std::string error_details() const { return {}; }

private:
    StatusCode code_ = StatusCode::OK;
    std::string message_;
};

class ClientContext {
public:
    void set_deadline(gpr_timespec) {}
    void TryCancel() { ++cancellations; }
    [[nodiscard]] const std::multimap<std::string, std::string>& GetServerTrailingMetadata() const {
        return trailers_;
    }

    int cancellations = 0;

private:
    std::multimap<std::string, std::string> trailers_;
};

}  // namespace grpc
