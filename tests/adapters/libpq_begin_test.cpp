#include <gtest/gtest.h>

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <reprise/retry.hpp>
#include <reprise/retry/adapters/libpq.hpp>

// A transaction of the program's own whose connection is lost with the answer to the statement that
// begins it. No PostgreSQL server ends a connection at that moment on demand, so the test speaks
// its protocol.

namespace adapters {
namespace {

using namespace std::string_view_literals;
using reprise::adapters::pq_connection;
using reprise::adapters::pq_error;

/// Answers every statement with success, and closes the connection in the middle of one answer:
/// after the result of `fatal`, before the server is ready again.
class short_lived_server {
public:
    explicit short_lived_server(std::string fatal) : fatal_(std::move(fatal)) {
        listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        auto* const generic = reinterpret_cast<sockaddr*>(&address);
        EXPECT_EQ(::bind(listener_, generic, size), 0);
        EXPECT_EQ(::listen(listener_, 4), 0);
        EXPECT_EQ(::getsockname(listener_, generic, &size), 0);
        port_ = ntohs(address.sin_port);
        thread_ = std::thread([this] { serve(); });
    }
    ~short_lived_server() {
        ::shutdown(listener_, SHUT_RDWR);
        thread_.join();
        ::close(listener_);
    }
    short_lived_server(const short_lived_server&) = delete;
    short_lived_server& operator=(const short_lived_server&) = delete;

    [[nodiscard]] std::string parameters() const {
        return "host=127.0.0.1 sslmode=disable gssencmode=disable user=app dbname=shop port=" +
               std::to_string(port_);
    }
    /// What was executed, each with the number of its connection: "1 begin".
    [[nodiscard]] std::vector<std::string> executed() {
        const std::lock_guard lock(mutex_);
        return executed_;
    }

private:
    [[nodiscard]] static std::string message(char type, std::string_view content) {
        const std::uint32_t size = htonl(static_cast<std::uint32_t>(content.size() + 4));
        std::string text(1, type);
        text.append(reinterpret_cast<const char*>(&size), sizeof size);
        return text.append(content);
    }
    static void send(int to, const std::string& text) {
        EXPECT_EQ(::send(to, text.data(), text.size(), MSG_NOSIGNAL), std::ssize(text));
    }
    [[nodiscard]] static bool receive(int from, char* bytes, std::size_t size) {
        return size == 0 || ::recv(from, bytes, size, MSG_WAITALL) == static_cast<ssize_t>(size);
    }
    [[nodiscard]] static bool receive_content(int from, std::string& content) {
        std::uint32_t size = 0;
        if (!receive(from, reinterpret_cast<char*>(&size), sizeof size)) {
            return false;
        }
        content.resize(ntohl(size) - 4);
        return receive(from, content.data(), content.size());
    }

    void serve() {
        for (int number = 1;; ++number) {
            const int client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
            if (client < 0) {
                return;
            }
            std::string content;
            if (receive_content(client, content)) {
                send(client, message('R', "\0\0\0\0"sv) + message('Z', "I"));
                answer_all(client, std::to_string(number));
            }
            ::close(client);
        }
    }
    void answer_all(int client, const std::string& number) {
        std::string content;
        std::string statement;
        std::string state = "I";
        for (char type = 0; receive(client, &type, 1) && receive_content(client, content);) {
            if (type == 'P') {
                statement = content.c_str() + 1;
            } else if (type == 'S') {
                const std::string tag = statement.substr(0, statement.find(' ')) + '\0';
                send(
                    client,
                    message('1', "") + message('2', "") + message('n', "") + message('C', tag));
                if (!statement.starts_with("select")) {  // Of the adapter itself.
                    const std::lock_guard lock(mutex_);
                    executed_.push_back(number + ' ' + statement);
                }
                if (number == "1" && statement == fatal_) {
                    return;
                }
                state = statement == "begin" ? "T" : statement == "commit" ? "I" : state;
                send(client, message('Z', state));
            }
        }
    }

    std::string fatal_;
    int listener_ = -1;
    int port_ = 0;
    std::mutex mutex_;
    std::vector<std::string> executed_;
    std::thread thread_;
};

using statements = std::vector<std::string>;

// BEGIN succeeded, and what followed was executed one by one on a new connection, where nothing had
// begun. If a later statement failed, the ones before it stayed applied, and a retry applied them
// once more.
TEST(libpq_begin, transaction_that_is_lost_with_its_begin_begins_again) {
    short_lived_server server("begin");
    pq_connection connection(server.parameters());
    reprise::retry(reprise::attempts(2).every({}), [&](const reprise::attempt& current) {
        connection.execute(current, "begin");
        connection.execute(current, "insert");
        connection.execute(current, "commit");
    });
    EXPECT_EQ(server.executed(), (statements{"1 begin", "2 begin", "2 insert", "2 commit"}));
}

// The commit has succeeded, so it is not repeated; but nothing is executed outside of the
// transaction that it should have begun.
TEST(libpq_begin, transaction_that_is_lost_with_the_commit_before_it_executes_nothing) {
    short_lived_server server("commit and chain");
    pq_connection connection(server.parameters());
    connection.execute("begin");
    connection.execute("commit and chain");
    EXPECT_THROW(connection.execute("insert"), pq_error);
    connection.execute("begin");
    EXPECT_EQ(server.executed(), (statements{"1 begin", "1 commit and chain", "2 begin"}));
}

TEST(libpq_begin, connection_that_is_lost_with_another_answer_is_opened_again) {
    short_lived_server server("insert");
    pq_connection connection(server.parameters());
    connection.execute("insert");
    connection.execute("update");
    EXPECT_EQ(server.executed(), (statements{"1 insert", "2 update"}));
}

}  // namespace
}  // namespace adapters
