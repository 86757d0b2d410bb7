#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <reprise/couchbase_types/errc.hpp>

// One path of a sub-document call, as lookup_spec and mutate_spec hold it. Not for users.

namespace reprise::couchbase::detail {

enum class path_verb : std::uint8_t {
    get,
    exists,
    count,
    get_document,
    insert,
    upsert,
    replace,
    remove,
    array_append,
    array_prepend,
    array_insert,
    array_add_unique,
    counter
};

struct path_spec {
    path_verb verb = path_verb::get;
    std::string path{};
    std::string value{};
    bool create_path = false;
    bool is_xattr = false;
    bool is_macro = false;
    // Non-empty: the call is refused with these words and this code.
    std::string problem{};
    errc problem_code = errc::invalid_argument;
};

// The specs behind the public classes, in their order.
template <class Spec>
[[nodiscard]] std::vector<path_spec> take_specs(std::vector<Spec>&& specs) {
    std::vector<path_spec> taken;
    taken.reserve(specs.size());
    for (Spec& spec : specs) {
        taken.push_back(std::move(spec).release());
    }
    return taken;
}

}  // namespace reprise::couchbase::detail
