#include "session.hpp"

#include <array>
#include <cstdio>
#include <utility>

namespace reprise::couchbase::detail {
namespace {

// Tells clients apart in a server's log.
std::string random_prefix() {
    std::array<char, 32> text{};
    std::snprintf(
        text.data(), text.size(), "reprise-%016llx-",
        static_cast<unsigned long long>(net::random_bits()));
    return text.data();
}

}  // namespace

session::session(std::unique_ptr<net::client> running, session_facts facts)
    : prepared_(std::make_shared<engine::prepared_cache>(facts.prepared_statement_count_max)),
      context_prefix_(random_prefix()),
      client_(std::move(running)),
      facts_(std::move(facts)) {}

std::string session::next_context_id() {
    return context_prefix_ +
           std::to_string(context_last_.fetch_add(1, std::memory_order_relaxed) + 1);
}

}  // namespace reprise::couchbase::detail
