#include <reprise/base/block_pool.hpp>

#include <algorithm>
#include <bit>
#include <new>
#include <utility>

#include "block.hpp"

namespace reprise::base {

namespace {

std::size_t class_of(std::size_t size) noexcept {
    constexpr std::size_t shift = std::countr_zero(block_pool::size_min);
    return static_cast<std::size_t>(std::bit_width((std::max<std::size_t>(size, 1) - 1) >> shift));
}

}  // namespace

block_ref::block* block_ref::block::make(std::size_t size) {
    auto* made = new (::operator new(sizeof(block) + size)) block;
    made->size = size;
    return made;
}

void block_ref::block::destroy(block* unused) noexcept {
    unused->~block();
    ::operator delete(unused);
}

constinit block_ref::block block_pool::home::closed;

void block_pool::home::take_back(block* unused) noexcept {
    block* first = returned.load(std::memory_order_relaxed);
    do {
        if (first == &closed) {
            block::destroy(unused);
            release(1);
            return;
        }
        unused->next = first;
    } while (!returned.compare_exchange_weak(
        first, unused, std::memory_order_release, std::memory_order_relaxed));
}

void block_pool::home::release(std::size_t count) noexcept {
    if (holder_count.fetch_sub(count, std::memory_order_acq_rel) == count) {
        delete this;
    }
}

void block_pool::home::collect() noexcept {
    std::size_t freed = 0;
    block* each = returned.exchange(nullptr, std::memory_order_acquire);
    while (each != nullptr) {
        block* const next = each->next;
        free_list& list = free[class_of(each->size)];
        if (list.count < std::max(kept_size_max / each->size, kept_count_min)) {
            each->next = std::exchange(list.first, each);
            ++list.count;
        } else {
            block::destroy(each);
            ++freed;
        }
        each = next;
    }
    // Cannot reach zero: the pool still counts.
    holder_count.fetch_sub(freed, std::memory_order_relaxed);
}

void block_pool::home::close() noexcept {
    std::size_t freed = 0;
    const auto free_all = [&freed](block* each) {
        while (each != nullptr) {
            block::destroy(std::exchange(each, each->next));
            ++freed;
        }
    };
    free_all(returned.exchange(&closed, std::memory_order_acq_rel));
    for (const free_list& list : free) {
        free_all(list.first);
    }
    release(freed + 1);
}

block_pool::block_pool() : home_(new home) {}

block_pool::~block_pool() {
    home_->close();
}

block_ref block_pool::make(std::size_t size) {
    if (size > size_max) {
        return block_ref::make(size);
    }
    const std::size_t place = class_of(size);
    home::free_list& list = home_->free[place];
    if (list.first == nullptr) {
        home_->collect();
    }
    block_ref made;
    if (list.first != nullptr) {
        made.block_ = std::exchange(list.first, list.first->next);
        --list.count;
        made.block_->holder_count.store(1, std::memory_order_relaxed);
    } else {
        made.block_ = home::block::make(size_min << place);
        made.block_->home = home_;
        home_->holder_count.fetch_add(1, std::memory_order_relaxed);
    }
    return made;
}

}  // namespace reprise::base
