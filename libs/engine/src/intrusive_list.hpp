#pragma once

#include <cstddef>

#include <reprise/base/assert.hpp>

namespace reprise::engine {

class list_core;

// Base class of the items of an intrusive_list. An item is in at most one list at a time.
class list_hook {
public:
    // Null if it is in no list.
    [[nodiscard]] list_core* list() const noexcept { return list_; }

private:
    friend class list_core;
    list_hook* previous_ = nullptr;
    list_hook* next_ = nullptr;
    list_core* list_ = nullptr;
};

// A list without the type of its items, for code that only removes items.
class list_core {
public:
    list_core(const list_core&) = delete;
    list_core& operator=(const list_core&) = delete;

    // The item must be in this list.
    [[gnu::always_inline]] void erase(list_hook& hook) noexcept {
        REPRISE_ASSERT(hook.list_ == this);
        (hook.previous_ != nullptr ? hook.previous_->next_ : front_) = hook.next_;
        (hook.next_ != nullptr ? hook.next_->previous_ : back_) = hook.previous_;
        hook.list_ = nullptr;
        hook.previous_ = hook.next_ = nullptr;
        --size_;
    }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] bool empty() const noexcept { return size_ == 0; }

protected:
    list_core() = default;
    ~list_core() { REPRISE_ASSERT(size_ == 0); }

    [[gnu::always_inline]] void append(list_hook& hook) noexcept {
        REPRISE_ASSERT(hook.list_ == nullptr);
        hook.list_ = this;
        hook.previous_ = back_;
        (back_ != nullptr ? back_->next_ : front_) = &hook;
        back_ = &hook;
        ++size_;
    }
    [[nodiscard]] list_hook* first() const noexcept { return front_; }
    [[gnu::always_inline]] void erase_first() noexcept {
        REPRISE_ASSERT(front_ != nullptr);
        list_hook& hook = *front_;
        front_ = hook.next_;
        (front_ != nullptr ? front_->previous_ : back_) = nullptr;
        hook.list_ = nullptr;
        hook.next_ = nullptr;
        --size_;
    }

private:
    list_hook* front_ = nullptr;
    list_hook* back_ = nullptr;
    std::size_t size_ = 0;
};

// A FIFO queue that does not own its items, allocates nothing and erases any item in O(1).
template <class Item>
class intrusive_list : public list_core {
public:
    [[gnu::always_inline]] void push_back(Item& item) noexcept { append(item); }
    // Null when empty.
    [[gnu::always_inline]] Item* pop_front() noexcept {
        Item* item = front();
        if (item != nullptr) {
            erase_first();
        }
        return item;
    }
    // The list must not be empty.
    [[gnu::always_inline]] void drop_front() noexcept { erase_first(); }
    // Null when empty.
    [[nodiscard]] Item* front() const noexcept { return static_cast<Item*>(first()); }
};

}  // namespace reprise::engine
