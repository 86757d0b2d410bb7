#pragma once

#include <cstddef>

#include <reprise/base/assert.hpp>

namespace reprise::engine {

template <class Item>
class intrusive_list;

// What an item of an intrusive_list derives from. In at most one list at a time.
template <class Item>
class list_hook {
public:
    [[nodiscard]] intrusive_list<Item>* list() const noexcept { return list_; }

private:
    friend class intrusive_list<Item>;
    Item* previous_ = nullptr;
    Item* next_ = nullptr;
    intrusive_list<Item>* list_ = nullptr;
};

// A first-in first-out queue that allocates nothing and can lose any item in O(1). Does not own.
template <class Item>
class intrusive_list {
public:
    intrusive_list() = default;
    intrusive_list(const intrusive_list&) = delete;
    intrusive_list& operator=(const intrusive_list&) = delete;
    ~intrusive_list() { REPRISE_ASSERT(size_ == 0); }

    void push_back(Item& item) noexcept {
        auto& hook = hook_of(item);
        REPRISE_ASSERT(hook.list_ == nullptr);
        hook.list_ = this;
        hook.previous_ = back_;
        (back_ != nullptr ? hook_of(*back_).next_ : front_) = &item;
        back_ = &item;
        ++size_;
    }
    // The item must be in this list.
    void erase(Item& item) noexcept {
        auto& hook = hook_of(item);
        REPRISE_ASSERT(hook.list_ == this);
        (hook.previous_ != nullptr ? hook_of(*hook.previous_).next_ : front_) = hook.next_;
        (hook.next_ != nullptr ? hook_of(*hook.next_).previous_ : back_) = hook.previous_;
        hook.list_ = nullptr;
        hook.previous_ = hook.next_ = nullptr;
        --size_;
    }
    // Null when empty.
    Item* pop_front() noexcept {
        Item* item = front_;
        if (item != nullptr) {
            erase(*item);
        }
        return item;
    }
    [[nodiscard]] Item* front() const noexcept { return front_; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] bool empty() const noexcept { return size_ == 0; }

private:
    static list_hook<Item>& hook_of(Item& item) noexcept { return item; }

    Item* front_ = nullptr;
    Item* back_ = nullptr;
    std::size_t size_ = 0;
};

}  // namespace reprise::engine
