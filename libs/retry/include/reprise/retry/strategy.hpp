#pragma once

/// What a retry strategy is.
///
/// Two forms, one meaning. The concept `retry_strategy` is for inlined use: three calls on a plain
/// `token_state`. The class `strategy_interface` is the same three calls behind virtual functions,
/// for plug-ins and for code that wants one type. `virtual_strategy<S>` turns the first into the
/// second.
///
/// ```
/// begin    once per request, before the first attempt; refusing means one attempt, no retries
/// refresh  after each failed attempt; allows the next one and sets its delay, or refuses
/// succeed  after the attempt that succeeded, exactly once
/// ```
///
/// `refresh` gets the facts of the failure, and the failure itself in `retry_question::failure`.
///
/// A strategy holds nothing that belongs to single requests. One object serves all threads of a
/// client; every call may come from any thread at any time.

#include <atomic>
#include <concepts>
#include <cstdint>
#include <optional>
#include <system_error>
#include <utility>

#include <reprise/retry/detail/no_throw.hpp>
#include <reprise/retry/token.hpp>

namespace reprise {

template <class S>
concept retry_strategy = requires(
    S& strategy, token_state& token, const token_state& used, const moment& at,
    const retry_question& question) {
    { strategy.begin(token, at) } -> std::same_as<decision>;
    { strategy.refresh(token, question) } -> std::same_as<decision>;
    { strategy.succeed(used, at) } -> std::same_as<void>;
};

namespace detail {

/// Strategy instances are told apart by a counter, never by address: a new object at an old place
/// must not accept the old one's tokens.
[[nodiscard]] std::uint64_t next_issuer_id() noexcept;

/// Calls into a strategy that is allowed to throw; a throw is a refusal.
template <class Call>
[[nodiscard]] decision guarded(Call&& call) noexcept {
    if constexpr (noexcept(call())) {
        return call();
    } else {
        return result_or(decision{refusal_reason::strategy_failed, -1}, std::forward<Call>(call));
    }
}

}  // namespace detail

/// Gives a strategy its public, checked face: tokens instead of token states. Derive from it with
/// yourself as argument (`class my_strategy : public token_issuer<my_strategy>`).
template <class Derived>
class token_issuer {
public:
    token_issuer() noexcept : id_(detail::next_issuer_id()) {}
    token_issuer(const token_issuer&) = delete;
    token_issuer& operator=(const token_issuer&) = delete;

    /// Before the first attempt. Without a token make exactly one attempt.
    [[nodiscard]] token_result acquire_initial_token(const moment& at = {}) noexcept {
        token_state state;
        const decision why = detail::guarded(
            [&]() noexcept(noexcept(self().begin(state, at))) { return self().begin(state, at); });
        return why.allowed() ? token_result{retry_token{id_, state}, why}
                             : token_result{retry_token{}, why};
    }

    /// After a failed attempt. Uses `token` up whatever the answer; an invalid token changes
    /// nothing.
    [[nodiscard]] token_result refresh_token(
        retry_token& token, const retry_question& question) noexcept {
        if (!token.consume(id_)) {
            return {retry_token{}, decision{refusal_reason::invalid_token, -1}};
        }
        token_state state = token.state_;
        const decision why =
            detail::guarded([&]() noexcept(noexcept(self().refresh(state, question))) {
                return self().refresh(state, question);
            });
        return why.allowed() ? token_result{retry_token{id_, state}, why}
                             : token_result{retry_token{}, why};
    }

    /// After the attempt that succeeded. `std::errc::invalid_argument` for a token that is not this
    /// object's or was used before; the strategy then hears nothing.
    [[nodiscard]] std::errc record_success(retry_token& token, const moment& at = {}) noexcept {
        if (!token.consume(id_)) {
            return std::errc::invalid_argument;
        }
        static_cast<void>(detail::guarded([&]() {
            self().succeed(token.state_, at);
            return decision{};
        }));
        return std::errc{};
    }

protected:
    ~token_issuer() = default;

private:
    [[nodiscard]] Derived& self() noexcept { return static_cast<Derived&>(*this); }

    const std::uint64_t id_;
};

/// What a strategy tells the loop about itself, once.
struct strategy_traits {
    /// Pass real time and randomness also at `begin` and `succeed` (windowed budgets need it).
    bool wants_moment = false;
    /// Retries per request at most; absent when nothing but time limits them. Nested loops take
    /// their allowance from it.
    std::optional<std::uint32_t> retries_max{};
};

/// The traits of any strategy; the defaults for one that does not say.
template <class S>
[[nodiscard]] strategy_traits traits_of(const S& strategy) noexcept {
    if constexpr (requires {
                      { strategy.traits() } -> std::convertible_to<strategy_traits>;
                  }) {
        return strategy.traits();
    } else {
        return {};
    }
}

/// The virtual form. Callers see functions that never throw; an implementation that throws is
/// treated as a refusal (`strategy_failed`), so a plug-in cannot break a loop.
class strategy_interface : public token_issuer<strategy_interface> {
public:
    virtual ~strategy_interface();

    [[nodiscard]] decision begin(token_state& token, const moment& at) noexcept {
        return detail::guarded([&] { return do_begin(token, at); });
    }
    [[nodiscard]] decision refresh(token_state& token, const retry_question& question) noexcept {
        return detail::guarded([&] { return do_refresh(token, question); });
    }
    void succeed(const token_state& token, const moment& at) noexcept {
        // The request has succeeded; a strategy that throws must not change that.
        static_cast<void>(detail::guarded([&] {
            do_succeed(token, at);
            return decision{};
        }));
    }
    [[nodiscard]] const strategy_traits& traits() const noexcept { return traits_; }

protected:
    explicit strategy_interface(strategy_traits traits = {}) noexcept : traits_(traits) {}
    /// Only from a constructor: the traits are constant while the strategy is in use.
    void set_traits(const strategy_traits& traits) noexcept { traits_ = traits; }

private:
    virtual decision do_begin(token_state& token, const moment& at) = 0;
    virtual decision do_refresh(token_state& token, const retry_question& question) = 0;
    virtual void do_succeed(const token_state& token, const moment& at) = 0;

    strategy_traits traits_;
};

/// Converter: any strategy behind the virtual interface. Arguments construct the inner one.
template <retry_strategy S>
class virtual_strategy final : public strategy_interface {
public:
    template <class... Args>
        requires std::constructible_from<S, Args...>
    explicit virtual_strategy(Args&&... args) : inner_(std::forward<Args>(args)...) {
        set_traits(traits_of(inner_));
    }

    [[nodiscard]] S& inner() noexcept { return inner_; }

private:
    decision do_begin(token_state& token, const moment& at) override {
        return inner_.begin(token, at);
    }
    decision do_refresh(token_state& token, const retry_question& question) override {
        return inner_.refresh(token, question);
    }
    void do_succeed(const token_state& token, const moment& at) override {
        inner_.succeed(token, at);
    }

    S inner_;
};

}  // namespace reprise
