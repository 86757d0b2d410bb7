#include <reprise/sandbox/port_name.hpp>

namespace reprise::sandbox {

std::string port_name(wire::service which, wire::transport over) {
    std::string name(which == wire::service::key_value ? "kv" : to_string(which));
    return over == wire::transport::tls ? name + "_tls" : name;
}

}  // namespace reprise::sandbox
