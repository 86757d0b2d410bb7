#include "key_worker.hpp"

#include <map>
#include <system_error>
#include <thread>
#include <utility>

#include <boost/asio/post.hpp>

namespace reprise::net {

namespace asio = boost::asio;

struct key_worker::running_threads {
    std::map<std::uint64_t, std::thread> by_number;
};

key_worker::key_worker(const asio::any_io_executor& executor)
    : executor_(executor), running_(std::make_shared<running_threads>()) {}

key_worker::~key_worker() {
    for (auto& [number, thread] : running_->by_number) {
        thread.join();
    }
}

void key_worker::derive(wire::key_derivation wanted, receiver done) {
    const std::uint64_t number = ++number_last_;
    // Runs on the executor. The thread has finished its work, so joining it takes no time.
    auto receive = [weak = std::weak_ptr(running_), number,
                    done = std::move(done)](std::string key) mutable {
        const auto running = weak.lock();
        if (running == nullptr) {
            return;
        }
        if (const auto found = running->by_number.find(number); found != running->by_number.end()) {
            found->second.join();
            running->by_number.erase(found);
        }
        done(std::move(key));
    };
    // Keeps the receiver, in case no thread can be started.
    auto kept = std::make_shared<decltype(receive)>(std::move(receive));
    try {
        running_->by_number.emplace(
            number, std::thread([executor = executor_, kept, wanted = std::move(wanted)]() mutable {
                std::string key = wire::derive_key(wanted);
                wire::wipe_secret(wanted.password);
                asio::post(executor, [kept = std::move(kept), key = std::move(key)]() mutable {
                    (*kept)(std::move(key));
                });
            }));
    } catch (const std::system_error&) {
        asio::post(executor_, [kept] { (*kept)({}); });
    }
}

}  // namespace reprise::net
