#include "topology/srv_trust.hpp"

#include <algorithm>

#include "connections/connection_problem.hpp"

namespace reprise::engine {
namespace {

std::string_view without_final_dot(std::string_view name) noexcept {
    return name.ends_with('.') ? name.substr(0, name.size() - 1) : name;
}

// Host names are ASCII on the wire.
char lower(char letter) noexcept {
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

}  // namespace

std::string_view written_name(std::string_view srv_name) noexcept {
    for (int label = 0; label < 2; ++label) {  // the service and the protocol
        srv_name.remove_prefix(std::min(srv_name.find('.'), srv_name.size() - 1) + 1);
    }
    return srv_name;
}

bool is_same_or_below(std::string_view target, std::string_view written) noexcept {
    target = without_final_dot(target);
    written = without_final_dot(written);
    if (written.empty() || target.size() < written.size()) {
        return false;
    }
    const std::string_view end = target.substr(target.size() - written.size());
    const bool is_equal = std::ranges::equal(end, written, {}, lower, lower);
    const std::string_view before = target.substr(0, target.size() - written.size());
    return is_equal && (before.empty() || before.ends_with('.'));
}

srv_trust trust_in_srv_target(
    std::string_view target, std::string_view written, const engine_options& options) noexcept {
    if (options.trust_srv_targets || is_same_or_below(target, written)) {
        return srv_trust::by_name;
    }
    const bool is_verified = is_server_verified(options);
    return is_verified ? srv_trust::by_certificate : srv_trust::none;
}

std::string srv_refusal(std::string_view target, std::string_view written, srv_trust trust) {
    const std::string name = shown(written);
    const bool has_certificate = trust == srv_trust::by_certificate;
    return "the SRV record of " + name + " names " + shown(target) +
           (has_certificate ? ", whose certificate is not valid for " + name
                            : ", which does not end in ." + name + " and cannot prove itself") +
           ": it gets no credentials; trust_srv_targets=true (cluster_options::trust_srv_targets) "
           "trusts it all the same";
}

}  // namespace reprise::engine
