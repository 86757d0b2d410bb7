#include "descriptors.hpp"

#include <cerrno>

#include <sys/socket.h>
#include <unistd.h>

namespace reprise::net {

bool is_out_of_descriptors() noexcept {
    const int tried = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (tried >= 0) {
        ::close(tried);
        return false;
    }
    return errno == EMFILE || errno == ENFILE;
}

}  // namespace reprise::net
