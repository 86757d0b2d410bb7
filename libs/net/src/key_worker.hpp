#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include <boost/asio/any_io_executor.hpp>

#include <reprise/wire/scram.hpp>

namespace reprise::net {

// Derives keys from passwords outside the loop, with one thread per key that ends after its work.
// The engine limits how many run at once. Use it from one thread at a time: the executor's.
class key_worker {
public:
    // The key is empty if no thread could be started or the computation failed.
    using receiver = std::move_only_function<void(std::string key)>;

    explicit key_worker(const boost::asio::any_io_executor& executor);
    // Waits for running computations and discards their results.
    ~key_worker();
    key_worker(const key_worker&) = delete;
    key_worker& operator=(const key_worker&) = delete;

    // Calls `done` once, on the executor and never from inside this call. Does not call it if this
    // object or the executor's context is destroyed first.
    void derive(wire::key_derivation wanted, receiver done);

private:
    struct running_threads;

    boost::asio::any_io_executor executor_;
    std::shared_ptr<running_threads> running_;
    std::uint64_t number_last_ = 0;
};

}  // namespace reprise::net
