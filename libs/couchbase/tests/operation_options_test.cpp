#include <reprise/couchbase/options.hpp>

#include <gtest/gtest.h>

#include <any>
#include <memory>
#include <optional>

namespace reprise::couchbase {
namespace {

// Lacks all but the first field.
struct options_of_a_timeout {
    std::optional<duration> timeout{};
};

// Another name for the strategy.
struct options_with_another_name {
    std::optional<duration> timeout{};
    std::shared_ptr<driver::retry_strategy> retry{};
    std::shared_ptr<const std::any> user_data{};
    driver::borrowed_pointer<driver::retry_allowance> outer_allowance{};
};

struct options_in_another_order {
    std::optional<duration> timeout{};
    std::shared_ptr<const std::any> user_data{};
    std::shared_ptr<driver::retry_strategy> strategy{};
    driver::borrowed_pointer<driver::retry_allowance> outer_allowance{};
};

struct options_with_a_late_cas {
    std::optional<duration> timeout{};
    durability_level durability = durability_level::none;
    couchbase::cas cas{};
    std::shared_ptr<driver::retry_strategy> strategy{};
    std::shared_ptr<const std::any> user_data{};
    driver::borrowed_pointer<driver::retry_allowance> outer_allowance{};
};

TEST(operation_options, the_concept_refuses_missing_fields_and_other_names) {
    EXPECT_FALSE(operation_options<options_of_a_timeout>);
    EXPECT_FALSE(operation_options<options_with_another_name>);
}

#ifndef __clang__  // Clang refuses another order only where its warning about it is an error.
TEST(operation_options, the_concept_refuses_fields_in_another_order) {
    EXPECT_FALSE(operation_options<options_in_another_order>);
    EXPECT_FALSE(operation_options<options_with_a_late_cas>);
}
#endif

TEST(operation_options, every_options_struct_takes_designated_initialisers_in_one_order) {
    using namespace std::chrono_literals;
    const replace_options replace{
        .timeout = 1s, .cas = {7}, .expiry = 10min, .durability = durability_level::majority};
    EXPECT_EQ(replace.timeout, duration(1s));
    EXPECT_EQ(replace.cas.value, 7U);
    const query_options query{.timeout = 2s, .readonly = true, .outer_allowance = nullptr};
    EXPECT_EQ(query.timeout, duration(2s));
    const management_options management{.timeout = 3s};
    EXPECT_EQ(management.timeout, duration(3s));
}

}  // namespace
}  // namespace reprise::couchbase
