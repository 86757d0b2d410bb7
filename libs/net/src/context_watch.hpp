#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/execution_context.hpp>

#include "process_mark.hpp"

namespace reprise::net {

// An object that must release an execution context before the context is destroyed.
class context_user {
public:
    // Called once, on the thread that destroys the context, while its services still exist.
    virtual void on_context_gone() noexcept = 0;

protected:
    ~context_user() = default;
};

// A service of the caller's execution context that outlives no user of it: the context reports its
// end to its services before it destroys them.
class context_watch final : public boost::asio::execution_context::service {
public:
    using key_type = context_watch;
    static inline boost::asio::execution_context::id id;

    explicit context_watch(boost::asio::execution_context& owner) : service(owner) {}

    static void add(
        const boost::asio::any_io_executor& executor, const std::weak_ptr<context_user>& user);

private:
    void shutdown() noexcept override;

    std::mutex mutex_;
    std::vector<std::weak_ptr<context_user>> users_;
    const std::uint32_t made_in_ = watch_forks();
};

}  // namespace reprise::net
