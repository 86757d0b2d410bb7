#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <reprise/base/bytes.hpp>
#include <reprise/base/enum_table.hpp>
#include <reprise/sim/random.hpp>
#include <reprise/wire/frame_reader.hpp>
#include <reprise/wire/opcode.hpp>

namespace reprise::sim {

// One connection of a server that is a seed of a client, but neither part of the cluster nor in
// possession of the password. It lies as far as the client allows: before it has proved anything,
// it pushes configurations that contain only itself, with revisions that no healthy cluster
// reaches; it sends its own error map; and it ends the login in one of several wrong ways. `random`
// determines its behaviour.
class hostile_peer {
public:
    hostile_peer(random_stream random, std::string host);

    // Appends its answers to `out`.
    void on_bytes(base::byte_view bytes, std::vector<std::byte>& out);

    // Whether it has nothing more to send and closes the connection.
    [[nodiscard]] bool is_closing() const noexcept { return is_closing_; }
    // Whether the client sent its password in clear text.
    [[nodiscard]] bool has_seen_password() const noexcept { return has_seen_password_; }
    // Whether the client continued as if the login had succeeded, and the command it sent.
    [[nodiscard]] bool is_trusted() const noexcept { return is_trusted_; }
    [[nodiscard]] std::uint32_t login_count() const noexcept { return login_count_; }

private:
    // When it pushes an unsolicited configuration.
    enum class push_stage : std::uint8_t { hello, error_map, mechanisms, login, never };
    enum class login_end : std::uint8_t {
        wrong_signature,
        no_signature,
        refusal,      // the mechanism's own `e=`
        wrong_nonce,  // does not extend the client's nonce
        too_few_rounds,
        too_many_rounds,
        only_plain,       // offers only PLAIN
        challenge_again,  // answers the proof with another challenge
        silence,
        close,
        lying_length,  // claims a body of four gigabytes
    };
    static constexpr std::uint64_t push_stage_count = 5;
    static constexpr std::uint64_t login_end_count = base::enumerator_count<login_end>();

    void answer(const wire::frame_view& request, std::vector<std::byte>& out);
    void answer_login(const wire::frame_view& request, std::vector<std::byte>& out);
    void answer_proof(const wire::frame_view& request, std::vector<std::byte>& out);
    void push_configuration(std::vector<std::byte>& out);
    [[nodiscard]] std::string challenge(std::string_view client_first) const;

    random_stream random_;
    std::string host_;
    push_stage pushes_at_;
    login_end ends_with_;
    wire::frame_reader reader_;
    bool is_closing_ = false;
    bool has_seen_password_ = false;
    bool is_trusted_ = false;
    std::uint32_t login_count_ = 0;
};

}  // namespace reprise::sim
