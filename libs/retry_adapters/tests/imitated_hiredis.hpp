#pragma once

/// As much of hiredis 1.0 as `hiredis.hpp` uses: ordinary builds do not have the library, and
/// Debian 12 has an older one. The server sends `imitated::replies`, each read one of them.

#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <deque>
#include <string>
#include <utility>
#include <vector>

inline constexpr int REDIS_OK = 0;
inline constexpr int REDIS_ERR = -1;
inline constexpr int REDIS_ERR_IO = 1;
inline constexpr int REDIS_ERR_EOF = 3;
inline constexpr int REDIS_REPLY_STRING = 1;
inline constexpr int REDIS_REPLY_ERROR = 6;
#define REDIS_REPLY_PUSH 12

struct redisReply {
    int type = REDIS_REPLY_STRING;
    std::string text{};
    std::size_t len = text.size();
    char* str = text.data();
};

struct redisReader {
    std::size_t pos = 0;
    std::size_t len = 0;
};

struct redisContext {
    int err = 0;
    std::array<char, 128> errstr_bytes{};
    char* errstr = errstr_bytes.data();
    int fd = -1;
    int peer = -1;
    int number = 0;
    redisReader own_reader{};
    redisReader* reader = &own_reader;
    void* privdata = nullptr;
    void (*push_cb)(void*, void*) = nullptr;
    std::deque<std::pair<int, std::string>> arrived{};
};

namespace imitated {

/// What arrives with each read: types and texts.
inline std::deque<std::vector<std::pair<int, std::string>>> replies;
inline int connections = 0;
/// The first words of all commands, each with the number of its connection: "1 GET".
inline std::vector<std::string> commands;
inline int pushes = 0;
/// The server closes the connection before the command is written.
inline bool is_closed_early = false;

}  // namespace imitated

inline void freeReplyObject(void* reply) {
    delete static_cast<redisReply*>(reply);
}

inline redisContext* redisConnectWithTimeout(const char*, int, timeval) {
    auto* const made = new redisContext;
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) == 0) {
        made->fd = ends[0];
        made->peer = ends[1];
    }
    made->push_cb = [](void*, void* reply) {
        ++imitated::pushes;
        freeReplyObject(reply);
    };
    made->number = ++imitated::connections;
    return made;
}
inline redisContext* redisConnectUnixWithTimeout(const char* path, timeval limit) {
    return redisConnectWithTimeout(path, 0, limit);
}
inline void redisFree(redisContext* context) {
    ::close(context->fd);
    ::close(context->peer);
    delete context;
}
inline int redisSetTimeout(redisContext*, timeval) {
    return REDIS_OK;
}
inline int redisAppendCommandArgv(
    redisContext* context, int, const char** words, const std::size_t* sizes) {
    imitated::commands.push_back(
        std::to_string(context->number) + ' ' + std::string(words[0], sizes[0]));
    return REDIS_OK;
}
inline int redisBufferWrite(redisContext* context, int* is_written) {
    if (imitated::is_closed_early) {
        ::shutdown(context->peer, SHUT_RDWR);
    }
    if (::write(context->fd, "*", 1) != 1) {
        context->err = REDIS_ERR_IO;
        return REDIS_ERR;
    }
    *is_written = 1;
    return REDIS_OK;
}
inline int redisBufferRead(redisContext* context) {
    if (imitated::replies.empty()) {
        context->err = REDIS_ERR_EOF;
        return REDIS_ERR;
    }
    for (auto& each : imitated::replies.front()) {
        context->arrived.push_back(std::move(each));
    }
    imitated::replies.pop_front();
    context->own_reader.len = context->arrived.size();
    return REDIS_OK;
}
inline int redisGetReplyFromReader(redisContext* context, void** reply) {
    *reply = nullptr;
    if (!context->arrived.empty()) {
        auto [type, text] = std::move(context->arrived.front());
        context->arrived.pop_front();
        *reply = new redisReply{.type = type, .text = std::move(text)};
    }
    context->own_reader.len = context->arrived.size();
    return REDIS_OK;
}
