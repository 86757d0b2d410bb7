#include "virtual_reference.hpp"

namespace bench {

namespace {

class empty_calls final : public two_calls {
public:
    void begin() noexcept override {}
    void finish() noexcept override {}
};

}  // namespace

std::unique_ptr<two_calls> make_empty_calls() {
    return std::make_unique<empty_calls>();
}

std::error_code fallible_operation() {
    return {};
}

}  // namespace bench
