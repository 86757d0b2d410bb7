#pragma once

/// Tests on one PostgreSQL server, with a ledger of what was applied.

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include <reprise/retry/adapters/libpq.hpp>

#include "postgres_server.hpp"

namespace adapters {

using namespace std::chrono_literals;
using reprise::adapters::pq_connection;
using reprise::adapters::pq_error;
using reprise::adapters::pq_result;
using reprise::adapters::pq_transaction;
using reprise::adapters::pq_transaction_options;

/// The folder in the parameters of a server, e.g. for a `commit_cutter`.
inline std::string socket_folder(const std::string& parameters) {
    return parameters.substr(5, parameters.find(' ') - 5);
}

class postgres_test : public testing::Test {
protected:
    static void SetUpTestSuite() { server_ = std::make_unique<postgres_server>(); }
    static void TearDownTestSuite() { server_.reset(); }
    void SetUp() override {
        sql("drop table if exists ledger");
        sql("create table ledger (id bigint not null)");  // Duplicates are possible, and seen.
    }

    static pq_result sql(const std::string& text, const std::vector<std::string>& values = {}) {
        pq_connection connection(server_->parameters());
        return connection.execute(text, values);
    }
    static std::int64_t number(const std::string& query) {
        return std::stoll(PQgetvalue(sql(query).get(), 0, 0));
    }

    static inline std::unique_ptr<postgres_server> server_;
};

}  // namespace adapters
