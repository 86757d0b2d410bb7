#include <reprise/couchbase_types/operation_observer.hpp>

#include <gtest/gtest.h>

namespace reprise::couchbase {

TEST(log_sink, control_characters_in_a_decision_are_escaped) {
    decision_record decision;
    decision.operation = "get";
    decision.endpoint = "node\x1b[2J\n";
    EXPECT_EQ(
        to_string(decision),
        "get not retried (unknown_error): UNKNOWN (attempt 0, node\\x1b[2J\\n)");
}

}  // namespace reprise::couchbase
