#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include <boost/asio/any_io_executor.hpp>

#include <reprise/wire/scram.hpp>

namespace reprise::net {

// Stretches passwords away from the loop: one thread for each, which ends with its work. How many
// there are at once is the engine's affair. Used by one thread at a time, the executor's.
class key_worker {
public:
    // Empty: there was no thread, or the computation failed.
    using receiver = std::move_only_function<void(std::string key)>;

    explicit key_worker(const boost::asio::any_io_executor& executor);
    // Waits for what is being computed, which nobody receives any more.
    ~key_worker();
    key_worker(const key_worker&) = delete;
    key_worker& operator=(const key_worker&) = delete;

    // `done` is called once, on the executor and never from inside, unless this object or the
    // executor's context ends before.
    void derive(wire::key_derivation wanted, receiver done);

private:
    struct running_threads;

    boost::asio::any_io_executor executor_;
    std::shared_ptr<running_threads> running_;
    std::uint64_t number_last_ = 0;
};

}  // namespace reprise::net
