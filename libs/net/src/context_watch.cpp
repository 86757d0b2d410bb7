#include "context_watch.hpp"

#include <boost/asio/execution/context.hpp>
#include <boost/asio/query.hpp>

namespace reprise::net {

namespace asio = boost::asio;

void context_watch::add(
    const asio::any_io_executor& executor, const std::weak_ptr<context_user>& user) {
    auto& context = asio::query(executor, asio::execution::context);
    auto& watch = asio::use_service<context_watch>(context);
    const std::scoped_lock lock(watch.mutex_);
    std::erase_if(watch.users_, [](const auto& each) { return each.expired(); });
    watch.users_.push_back(user);
}

void context_watch::shutdown() noexcept {
    if (made_in_ != process_mark()) {
        return;  // threads and locks of the parent process do not exist here
    }
    std::vector<std::weak_ptr<context_user>> users;
    {
        const std::scoped_lock lock(mutex_);
        users.swap(users_);
    }
    for (const auto& each : users) {
        if (const auto user = each.lock()) {
            user->on_context_gone();
        }
    }
}

}  // namespace reprise::net
