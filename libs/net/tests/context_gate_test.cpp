#include "context_gate.hpp"

#include <gtest/gtest.h>

namespace reprise::net::context_gate_test {

TEST(context_gate, a_context_of_the_client_needs_no_lock) {
    const context_gate gate(context_owner::client);
    const auto first = gate.enter();
    const auto second = gate.enter();  // would block if there were one
    ASSERT_TRUE(first);
    ASSERT_TRUE(second);
    EXPECT_FALSE(first->owns_lock());
}

TEST(context_gate, the_callers_context_stays_while_someone_is_inside) {
    context_gate gate(context_owner::caller);
    {
        const auto entered = gate.enter();
        ASSERT_TRUE(entered);
        EXPECT_TRUE(entered->owns_lock());
    }
    gate.close();
    EXPECT_FALSE(gate.enter());
}

}  // namespace reprise::net::context_gate_test
