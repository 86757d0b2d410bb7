#pragma once

/// The Couchbase client. It needs the standard library and reprise::retry. For the asynchronous
/// functions (callbacks, futures, coroutines of Boost.Asio) include <reprise/couchbase/asio.hpp> as
/// well.

#if __cplusplus <= 202002L
#error "the Couchbase client needs C++23 (-std=c++23); the retry library alone needs C++20"
#else

#include <reprise/couchbase/cluster.hpp>
#include <reprise/couchbase/codec.hpp>
#include <reprise/couchbase/collection.hpp>
#include <reprise/couchbase/diagnostics.hpp>
#include <reprise/couchbase/error.hpp>
#include <reprise/couchbase/management.hpp>
#include <reprise/couchbase/options.hpp>
#include <reprise/couchbase/results.hpp>
#include <reprise/couchbase/retry_strategy.hpp>
#include <reprise/couchbase/streams.hpp>
#include <reprise/couchbase/subdocument_specs.hpp>
#include <reprise/couchbase_types/cluster_options.hpp>

#endif
