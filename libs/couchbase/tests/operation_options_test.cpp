#include <reprise/couchbase/options.hpp>

#include <gtest/gtest.h>

#include <any>
#include <functional>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include <reprise/couchbase/detail/calls.hpp>

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

// All that an operation gets from its options, as text.
std::string text_of(const detail::document_call& call) {
    std::ostringstream text;
    text << (call.timeout ? call.timeout->count() : -1) << ' ' << call.outer_allowance << ' '
         << call.own_strategy() << ' ' << call.own_user_data() << ' ' << int(call.durability) << ' '
         << int(call.store) << ' ' << int(call.preference) << ' ' << call.preserve_expiry << ' '
         << call.access_deleted << ' ' << call.creates << ' ' << call.expiry << ' ' << call.cas
         << ' ' << call.delta << ' ' << call.initial;
    for (const detail::path_spec& spec : call.specs()) {
        text << ' ' << int(spec.verb) << ':' << spec.path;
    }
    return text.str();
}

template <class Options>
detail::document_call call_with(const Options& options) {
    if constexpr (std::is_same_v<Options, get_options>) {
        return detail::make_get("k", options);
    } else {
        return detail::make_call(detail::operation_kind::get, "k", options);
    }
}

// Each of the setters sets one field; the operation must differ. The four common fields have
// theirs here.
template <class Options>
void expect_effects(std::vector<std::function<void(Options&)>> setters, std::size_t field_count) {
    static driver::retry_allowance allowance(1);
    setters.push_back([](Options& o) { o.timeout = std::chrono::seconds(7); });
    setters.push_back([](Options& o) { o.strategy = std::make_shared<best_effort_strategy>(); });
    setters.push_back([](Options& o) { o.user_data = std::make_shared<const std::any>(7); });
    setters.push_back([](Options& o) { o.outer_allowance = borrowed(&allowance); });
    EXPECT_EQ(setters.size(), field_count);
    const std::string plain = text_of(call_with(Options{}));
    EXPECT_EQ(text_of(call_with(Options{})), plain) << "nothing else makes calls differ";
    std::size_t index = 0;
    for (const auto& set : setters) {
        Options changed;
        set(changed);
        EXPECT_NE(text_of(call_with(changed)), plain) << "setter " << index;
        ++index;
    }
}

// The setters of the fields that several operations have.
constexpr auto set_cas = [](auto& o) { o.cas = {7}; };
constexpr auto set_expiry = [](auto& o) { o.expiry = std::chrono::seconds(7); };
constexpr auto keep_expiry = [](auto& o) { o.preserve_expiry = true; };
constexpr auto set_durability = [](auto& o) { o.durability = durability_level::majority; };
constexpr auto read_deleted = [](auto& o) { o.access_deleted = true; };

// A new field does not compile here. Give it a setter.
TEST(operation_options, every_field_of_a_key_value_operation_reaches_the_operation) {
    const auto count = [](const auto&... fields) { return sizeof...(fields); };
    {
        const auto& [a, b, c, d] = common_options{};
        expect_effects<common_options>({}, count(a, b, c, d));
    }
    {
        const auto& [a, b, c, d, e, f] = get_options{};
        expect_effects<get_options>(
            {[](get_options& o) { o.with_expiry = true; },
             [](get_options& o) { o.project = {"name"}; }},
            count(a, b, c, d, e, f));
    }
    {
        const auto& [a, b, c, d, e] = get_replica_options{};
        expect_effects<get_replica_options>(
            {[](get_replica_options& o) { o.preference = read_preference::selected_server_group; }},
            count(a, b, c, d, e));
    }
    {
        const auto& [a, b, c, d, e, f, g] = upsert_options{};
        expect_effects<upsert_options>(
            {set_expiry, keep_expiry, set_durability}, count(a, b, c, d, e, f, g));
    }
    {
        const auto& [a, b, c, d, e, f] = insert_options{};
        expect_effects<insert_options>({set_expiry, set_durability}, count(a, b, c, d, e, f));
    }
    {
        const auto& [a, b, c, d, e, f, g, h] = replace_options{};
        expect_effects<replace_options>(
            {set_cas, set_expiry, keep_expiry, set_durability}, count(a, b, c, d, e, f, g, h));
    }
    {
        const auto& [a, b, c, d, e, f] = change_options{};
        expect_effects<change_options>({set_cas, set_durability}, count(a, b, c, d, e, f));
    }
    {
        const auto& [a, b, c, d, e, f, g, h] = counter_options{};
        expect_effects<counter_options>(
            {[](counter_options& o) { o.delta = 7; }, [](counter_options& o) { o.initial = 0; },
             set_expiry, set_durability},
            count(a, b, c, d, e, f, g, h));
    }
    {
        const auto& [a, b, c, d, e] = lookup_in_options{};
        expect_effects<lookup_in_options>({read_deleted}, count(a, b, c, d, e));
    }
    {
        const auto& [a, b, c, d, e, f, g, h, i, j] = mutate_in_options{};
        expect_effects<mutate_in_options>(
            {[](mutate_in_options& o) { o.store = store_semantics::upsert; }, set_cas, set_expiry,
             keep_expiry, set_durability, read_deleted},
            count(a, b, c, d, e, f, g, h, i, j));
    }
}

}  // namespace
}  // namespace reprise::couchbase
