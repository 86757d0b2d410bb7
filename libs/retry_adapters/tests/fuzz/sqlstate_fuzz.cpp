// A state in a message has five characters. An unknown outcome of a COMMIT is never safe, nor is a
// failure of a program. A COMMIT is known whatever follows it, and restarts nothing; so is a BEGIN.
// A text is made once: what was made here stays as it is.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include <reprise/retry/adapters/sqlstate.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace reprise;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const std::string_view found = adapters::sqlstate_in_message(text);
    if (!found.empty() && found.size() != 5) {
        std::abort();
    }
    const std::string made = adapters::sqlstate_text(text, found);
    if (adapters::sqlstate_text(made, found) != made) {
        std::abort();
    }
    for (const std::string_view state : {text, found}) {
        const auto stage = adapters::sql_stage::committing;
        const failure_facts facts = adapters::sqlstate_facts(state, stage);
        const bool is_unknown = adapters::is_commit_unknown(state, stage);
        if ((is_unknown || adapters::is_lost_connection(state)) &&
            facts.safety != retry_safety::no) {
            std::abort();
        }
        if (adapters::is_refused_statement(state, stage, true)) {
            std::abort();
        }
        if (adapters::sqlstate_facts(state, adapters::sql_stage::program).safety !=
            retry_safety::no) {
            std::abort();
        }
    }
    if (!adapters::is_sql_program(std::string("/**/ call ").append(text)) ||
        adapters::is_sql_program(std::string("select ").append(text))) {
        std::abort();
    }
    if (!adapters::is_sql_commit(std::string("/**/ commit ").append(text)) ||
        adapters::is_sql_restart(std::string("rollback to ").append(text))) {
        std::abort();
    }
    if (adapters::is_sql_commit(text) && adapters::is_sql_restart(text)) {
        std::abort();
    }
    if (!adapters::is_sql_begin(std::string("/**/ begin ").append(text)) ||
        adapters::is_sql_begin(std::string("rollback to ").append(text))) {
        std::abort();
    }
    if (adapters::sql_stage_of(text, false) != (adapters::is_sql_program(text)
                                                    ? adapters::sql_stage::program
                                                    : adapters::sql_stage::alone)) {
        std::abort();
    }
    if (adapters::is_sql_commit(text) && !adapters::is_outside_of_body(text, true)) {
        std::abort();
    }
    if (adapters::is_rolled_back(adapters::sql_stage::committing, text) != (text == "ROLLBACK")) {
        std::abort();
    }
    const bool has_zero = text.find('\0') != std::string_view::npos;
    if (adapters::refusal_of_statement(text, {}).has_value() != has_zero ||
        !adapters::is_sql_copy_of_statement(std::string("/**/ copy (").append(text))) {
        std::abort();
    }
    if (adapters::read_transaction_status(text, true) == adapters::lost_commit_state::applied) {
        std::abort();
    }
    return 0;
}
