#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include <reprise/retry/detail/compiler.hpp>

// Parameters of the asynchronous functions. Their type shows whether the caller passed a temporary,
// which GCC 12 may miscompile in a `co_await` expression. Not for users.

namespace reprise::couchbase::detail {

// An options struct. As a template parameter with the struct as its default it also takes braced
// initialisers: `{.timeout = 1s}`.
template <class Given, class Options>
concept options_argument = std::same_as<std::remove_cvref_t<Given>, Options>;

// `{}` for options, or no options at all. A number, so that the caller's expression holds no
// temporary struct.
enum class no_options : std::uint8_t {};

// No token: stands for boost::asio::deferred, whose header only asio.hpp may include.
struct default_token {};

// A document to store. Only aggregates are destroyed twice; other temporaries are harmless.
template <class Given>
using document_argument = std::conditional_t<
    std::is_aggregate_v<std::remove_cvref_t<Given>>, Given, std::remove_cvref_t<Given>&>;

// The types of a call's arguments, as deduced from forwarding references.
template <class... Given>
struct given {};

}  // namespace reprise::couchbase::detail
