#pragma once

#include <concepts>
#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include <reprise/engine/operation_result.hpp>

namespace reprise::engine {

// The callback for the end of an operation: any callable that takes `operation_result&&`.
// Move-only.
//
// Callables up to 32 bytes are stored inline; larger ones are allocated. The callable is called at
// most once and destroyed before the call returns, so that its captures are released by then. It
// must not throw.
class completion {
public:
    static constexpr std::size_t inline_size_max = 32;

    completion() noexcept = default;
    template <class Callable>
        requires(
            !std::same_as<std::remove_cvref_t<Callable>, completion> &&
            std::invocable<std::remove_cvref_t<Callable>&, operation_result &&>)
    completion(Callable&& callable) {  // implicit on purpose: any lambda is a completion
        using stored = std::remove_cvref_t<Callable>;
        if constexpr (is_inline<stored>) {
            ::new (static_cast<void*>(storage_)) stored(std::forward<Callable>(callable));
            act_ = &act_inline<stored>;
            is_plain_ = std::is_trivially_copyable_v<stored>;
        } else {
            ::new (static_cast<void*>(storage_))
                stored*(new stored(std::forward<Callable>(callable)));
            act_ = &act_pointer<stored>;
            is_plain_ = true;
        }
    }
    completion(completion&& other) noexcept { take(other); }
    completion& operator=(completion&& other) noexcept {
        if (this != &other) {
            reset();
            take(other);
        }
        return *this;
    }
    ~completion() { reset(); }
    // `*this = std::move(other)` for an empty object, which is not checked.
    [[gnu::always_inline]] void fill(completion&& other) noexcept { take(other); }

    [[nodiscard]] explicit operator bool() const noexcept { return act_ != nullptr; }
    // Destroys the callable without a call.
    void reset() noexcept {
        if (act_ != nullptr) {
            std::exchange(act_, nullptr)(verb::destroy, storage_, nullptr, nullptr);
        }
    }

    // Calls the callable and leaves this object empty. It must not be empty before.
    void operator()(operation_result&& result) {
        auto* act = std::exchange(act_, nullptr);
        act(verb::call, storage_, nullptr, &result);
    }

private:
    enum class verb { call, move, destroy };
    using action = void (*)(verb, std::byte*, std::byte*, operation_result*);

    template <class Stored>
    static constexpr bool is_inline =
        sizeof(Stored) <= inline_size_max && alignof(Stored) <= alignof(std::max_align_t) &&
        std::is_nothrow_move_constructible_v<Stored>;

    template <class Stored>
    static void act_inline(verb what, std::byte* from, std::byte* to, operation_result* result) {
        auto* stored = std::launder(reinterpret_cast<Stored*>(from));
        if (what == verb::move) {
            ::new (static_cast<void*>(to)) Stored(std::move(*stored));
        }
        if (what != verb::call) {
            std::destroy_at(stored);
            return;
        }
        // Moves it out first, because the call may destroy the owner of this object.
        Stored callable(std::move(*stored));
        std::destroy_at(stored);
        callable(std::move(*result));
    }
    template <class Stored>
    static void act_pointer(verb what, std::byte* from, std::byte* to, operation_result* result) {
        static_cast<void>(to);  // a pointer is plain: never moved here
        Stored* stored = *std::launder(reinterpret_cast<Stored**>(from));
        const std::unique_ptr<Stored> owner(stored);
        if (what == verb::call) {
            (*owner)(std::move(*result));
        }
    }

    [[gnu::always_inline]] void take(completion& other) noexcept {
        is_plain_ = other.is_plain_;
        if (is_plain_) [[likely]] {
            std::memcpy(storage_, other.storage_, sizeof storage_);
        } else if (other.act_ != nullptr) {
            other.act_(verb::move, other.storage_, storage_, nullptr);
        }
        act_ = std::exchange(other.act_, nullptr);
    }

    alignas(std::max_align_t) std::byte storage_[inline_size_max];
    action act_ = nullptr;
    bool is_plain_ = false;  // moving its bytes is enough
};

}  // namespace reprise::engine
