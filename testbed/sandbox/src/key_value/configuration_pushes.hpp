#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "cluster_state.hpp"
#include "key_value/request.hpp"

namespace reprise::sandbox::detail {

// The configurations that a node pushes on one connection, if its peer has subscribed to them.
class configuration_pushes {
public:
    configuration_pushes(const node_record& node, conversation& agreed) noexcept
        : node_(node), conversation_(agreed) {}

    bool is_subscribed() const noexcept;
    // The peer has not been sent the node's newest configuration.
    bool is_due() const noexcept;
    // The peer reads too slowly for a push at present.
    bool is_delayed() const noexcept { return is_delayed_; }
    // The next call of `send` begins with the node's previous configuration.
    void replay() noexcept { is_replay_due_ = true; }
    void send(std::vector<std::byte>& out);

private:
    bool is_newer(const known_configuration& configuration, const configuration_progress& progress)
        const noexcept;
    void push(
        const known_configuration& configuration, std::string_view bucket,
        configuration_progress& progress, std::vector<std::byte>& out);
    // Writes a configuration, in full or only its revision.
    void write(
        const known_configuration& configuration, std::string_view bucket,
        std::vector<std::byte>& out) const;

    const node_record& node_;
    conversation& conversation_;
    bool is_delayed_ = false;
    bool is_replay_due_ = false;
};

}  // namespace reprise::sandbox::detail
