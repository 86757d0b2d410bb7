/// Your own error type takes part in retries without inheriting from anything: one function returns
/// its facts.

#include <iostream>
#include <reprise/retry.hpp>
#include <string>
#include <utility>

// [error]
namespace shop {

struct order_error {
    enum class kind { out_of_stock, busy, warehouse_down } what;
    std::chrono::milliseconds come_back_in{};
};

// Found by argument-dependent lookup. Failures without facts are left to the strategy.
reprise::failure_facts retry_facts(const order_error& error) {
    switch (error.what) {
        case order_error::kind::busy:
            return {
                .safety = reprise::retry_safety::yes,
                .throttling = true,
                .minimum_wait = error.come_back_in};
        case order_error::kind::warehouse_down:
            return {.safety = reprise::retry_safety::maybe};  // The order may have got through.
        case order_error::kind::out_of_stock:
            return {.safety = reprise::retry_safety::no};
    }
    return {};
}

}  // namespace shop
// [/error]

namespace shop {

// Anything shaped like std::expected will do: has_value() and error().
class order_result {
public:
    order_result(std::string number) : number_(std::move(number)) {}  // NOLINT: as std::expected
    order_result(order_error error) : error_(error), ok_(false) {}    // NOLINT: as std::expected
    bool has_value() const { return ok_; }
    const std::string& value() const { return number_; }
    const order_error& error() const { return error_; }

private:
    std::string number_;
    order_error error_{};
    bool ok_ = true;
};

order_result place_order(const std::string& item) {
    static int calls = 0;
    using namespace std::chrono_literals;
    if (item == "unicorn") {
        return order_error{order_error::kind::out_of_stock};
    }
    if (++calls == 1) {
        return order_error{order_error::kind::busy, 30ms};
    }
    return std::string("order-4711");
}

}  // namespace shop

int main() {
    reprise::standard_strategy strategy({.backoff = {.base = std::chrono::milliseconds{10}}});
    reprise::retry_history history;

    const shop::order_result order =
        reprise::retry(strategy, {.history = &history}, [] { return shop::place_order("lamp"); });
    std::cout << order.value() << " after:\n" << history;

    const shop::order_result none = reprise::retry(
        strategy, {.history = &history}, [] { return shop::place_order("unicorn"); });
    std::cout << "unicorn: " << history;
    return order.has_value() && !none.has_value() && history.failed_attempts() == 1 ? 0 : 1;
}
