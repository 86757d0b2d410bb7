#include "session.hpp"

#include <utility>

#include <reprise/base/hex.hpp>

namespace reprise::couchbase::detail {
namespace {

// Distinguishes clients in a server's log.
std::string random_prefix() {
    return "reprise-" + base::to_hex(net::random_bits(), 16) + "-";
}

}  // namespace

session::session(std::unique_ptr<net::client> running, session_facts facts)
    : prepared_(
          std::make_shared<services::prepared_cache>(facts.options.prepared_statement_count_max)),
      context_prefix_(random_prefix()),
      client_(std::move(running)),
      facts_(std::move(facts)) {}

std::string session::next_context_id() {
    return context_prefix_ +
           std::to_string(context_last_.fetch_add(1, std::memory_order_relaxed) + 1);
}

}  // namespace reprise::couchbase::detail
