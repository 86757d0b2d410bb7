#include <cstddef>
#include <fstream>
#include <memory>
#include <string>

#include <malloc.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <reprise/sandbox_net/embedded_cluster.hpp>

#include "../raw_client.hpp"

// Tests that a sandbox that runs for days returns the memory of documents that are gone.

namespace reprise::sandbox::memory_test {

using raw::raw_client;
using wire::status;

constexpr int document_count = 16'000;
constexpr std::size_t document_size_bytes = 2048;
constexpr std::size_t documents_size_bytes = document_count * document_size_bytes;

// Memory of this process that the system has to keep.
std::size_t resident_size_bytes() {
    std::ifstream file("/proc/self/statm");
    std::size_t program_pages = 0;
    std::size_t resident_pages = 0;
    file >> program_pages >> resident_pages;
    return resident_pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

std::unique_ptr<embedded_cluster> start_node() {
    server_options options;
    options.cluster.node_count = 1;
    options.cluster.replica_count = 0;
    return raw::start_cluster(std::move(options));
}

std::string key_of(int number) {
    return "key_" + std::to_string(number);
}

void fill(raw_client& client) {
    const std::string value(document_size_bytes, 'x');
    for (int number = 0; number < document_count; ++number) {
        ASSERT_EQ(client.set(key_of(number), value)->status(), status::success);
    }
}

// Only 2 of 42 MB used to come back: the audit's texts were in the pages of the documents.
TEST(returned_memory, a_dropped_bucket_returns_its_memory_to_the_system) {
    const auto cluster = start_node();
    raw_client client(cluster->addresses().nodes.at(0).port(wire::service::key_value));
    client.bootstrap();
    ::malloc_trim(0);  // what earlier tests left
    const std::size_t empty = resident_size_bytes();
    fill(client);
    const std::size_t full = resident_size_bytes();
    ASSERT_GT(full, empty + documents_size_bytes / 2);
    cluster->with_cluster(
        [](sandbox::cluster& brain) { EXPECT_TRUE(brain.buckets().drop("default")); });
    EXPECT_LT(resident_size_bytes(), empty + (full - empty) / 2) << empty << ' ' << full;
}

TEST(returned_memory, a_removed_document_leaves_a_tombstone_without_its_value) {
    const auto cluster = start_node();
    raw_client client(cluster->addresses().nodes.at(0).port(wire::service::key_value));
    client.bootstrap();
    fill(client);
    const std::size_t full = ::mallinfo2().uordblks;
    for (int number = 0; number < document_count; ++number) {
        wire::document_request request;
        request.op = wire::opcode::remove;
        const std::string key = key_of(number);
        request.key.key = key;
        ASSERT_EQ(client.call(request, raw::at_key(key))->status(), status::success);
    }
    EXPECT_LT(::mallinfo2().uordblks, full - documents_size_bytes * 9 / 10) << full;
}

}  // namespace reprise::sandbox::memory_test
