#pragma once

#include <atomic>
#include <cstddef>
#include <new>
#include <utility>

namespace reprise::net {

// Memory for the handler of an operation that starts again and again, so that it needs no
// allocation. A second handler at the same time, or a larger one, uses the heap. The memory must
// outlive the handler. A handler may own it, because Asio releases the memory before it destroys
// the handler. Any thread may use it.
class handler_memory {
public:
    static constexpr std::size_t size_max = 320;

    handler_memory() noexcept = default;
    handler_memory(const handler_memory&) = delete;
    handler_memory& operator=(const handler_memory&) = delete;
    ~handler_memory() = default;

    [[nodiscard]] void* allocate(std::size_t size) {
        if (size <= size_max && !is_used_.exchange(true, std::memory_order_acquire)) {
            return bytes_;
        }
        return ::operator new(size);
    }
    void deallocate(void* memory) noexcept {
        if (memory == bytes_) {
            is_used_.store(false, std::memory_order_release);
        } else {
            ::operator delete(memory);
        }
    }

private:
    std::atomic<bool> is_used_{false};
    alignas(std::max_align_t) std::byte bytes_[size_max];
};

// The allocator that Asio gets from a handler.
template <class Value = void>
class handler_allocator {
public:
    using value_type = Value;

    explicit handler_allocator(handler_memory& memory) noexcept : memory_(&memory) {}
    template <class Other>
    handler_allocator(const handler_allocator<Other>& other) noexcept : memory_(other.memory_) {}

    [[nodiscard]] Value* allocate(std::size_t count) const {
        static_assert(alignof(Value) <= alignof(std::max_align_t));
        return static_cast<Value*>(memory_->allocate(count * sizeof(Value)));
    }
    void deallocate(Value* memory, std::size_t /*count*/) const noexcept {
        memory_->deallocate(memory);
    }
    friend bool operator==(const handler_allocator&, const handler_allocator&) = default;

private:
    template <class Other>
    friend class handler_allocator;

    handler_memory* memory_;
};

// A handler that is stored in `memory`. Unlike asio::bind_allocator it leaves no doubt that the
// handler has no executor of its own, so that Asio need not keep a second one.
template <class Function>
class stored_handler {
public:
    using allocator_type = handler_allocator<>;

    stored_handler(handler_memory& memory, Function function) noexcept
        : memory_(&memory), function_(std::move(function)) {}

    [[nodiscard]] allocator_type get_allocator() const noexcept { return allocator_type(*memory_); }
    template <class... Arguments>
    void operator()(Arguments&&... arguments) {
        function_(std::forward<Arguments>(arguments)...);
    }

private:
    handler_memory* memory_;
    Function function_;
};

}  // namespace reprise::net
