#pragma once

// Which failures are tried again, and when: the strategies that come with the client and what is
// needed to write another one.
//
// The standard is `fail_fast_on_terminal_error_strategy`: retry what may safely be repeated until
// the deadline, but give up at once with a clear error when only a person can fix it (wrong
// password, refused TLS, no such bucket, scope or collection). It may change in a new version: what
// counts as terminal may grow with new servers. If you need fixed behaviour, copy the class: it
// needs nothing beyond this header. The client's guide shows a copy.
//
//     struct never_retry final : couchbase::retry_strategy {
//         void retry_after(
//             const couchbase::retry_question&, couchbase::retry_sink& sink) override {
//             sink.answer(couchbase::retry_action::no());
//         }
//     };
//
// Every strategy of the retry library serves here as well, with its own budget:
//
//     options.strategy = std::make_shared<virtual_strategy<standard_strategy>>();

#include <reprise/couchbase_types/errc.hpp>
#include <reprise/engine/request_snapshot.hpp>
#include <reprise/engine/retry_reason.hpp>
#include <reprise/engine/shipped_strategies.hpp>
#include <reprise/retry/retry_history.hpp>
#include <reprise/retry/retry_strategy.hpp>

namespace reprise::couchbase {

// To write a strategy: what is asked, about what, and how it answers (now or later).
using reprise::deferred_answer;
using reprise::retry_action;
using reprise::retry_question;
using reprise::retry_sink;
using reprise::retry_strategy;
// What failed, in Couchbase's words: `request_of(question)` and `reason_of(question)`.
using engine::reason_of;
using engine::request_of;
using engine::request_snapshot;
// The server's own waiting rule for a status, as strategies see it.
using engine::server_backoff;
using engine::server_retry_rule;

// The strategies that come along. The first three can be derived from; <overriding_strategy.hpp>
// changes single answers of any of them.
using engine::best_effort_strategy;
using engine::fail_fast_on_terminal_error_strategy;
// As the standard, but statuses that this client does not know are retried when the server's error
// map says.
using engine::server_directed_strategy;

// Delays for them: 1 ms doubling up to 500 ms, exact or with jitter.
using engine::backoff_calculator;
using engine::exponential_calculator;
using engine::jittered_calculator;

// Why an attempt failed; `info(reason)` gives the facts of each, found by its argument.
using engine::all_retry_reasons;
using engine::retry_reason;
using engine::retry_reason_facts;
using engine::retry_reason_set;

// What happened on each attempt, as errors and results carry it.
using reprise::attempt_stage;
using reprise::history_entry;
using reprise::refusal_reason;
using reprise::retry_history;

}  // namespace reprise::couchbase
