#include <reprise/wire/wire_error.hpp>

#include <string>

#include <reprise/base/enum_table.hpp>
#include <reprise/wire/status.hpp>

namespace reprise::wire {

namespace {

constexpr base::enumerator_texts<wire_errc> messages({
    {wire_errc::unknown_magic, "the first byte of a frame is not a magic"},
    {wire_errc::unexpected_magic, "the frame travels in the other direction"},
    {wire_errc::lengths_exceed_body, "the parts of a frame exceed its body"},
    {wire_errc::frame_too_large, "the frame exceeds the size limit"},
    {wire_errc::frame_info_truncated, "a frame info extends past the framing extras"},
    {wire_errc::frame_info_size_invalid, "a frame info has the wrong size"},
    {wire_errc::frame_info_unknown, "a frame info id is not assigned"},
    {wire_errc::frame_info_not_allowed, "the opcode does not accept durability"},
    {wire_errc::preserve_ttl_not_supported, "the opcode cannot preserve the expiry"},
    {wire_errc::durability_level_invalid, "no such durability level"},
    {wire_errc::durability_timeout_invalid, "the durability timeout is not in 1..65534 ms"},
    {wire_errc::key_missing, "a key is required"},
    {wire_errc::key_too_long, "the key is too long"},
    {wire_errc::leb128_truncated, "the collection id is truncated"},
    {wire_errc::leb128_too_long, "the collection id has more than 32 bits"},
    {wire_errc::leb128_not_canonical, "the collection id is not in its shortest form"},
    {wire_errc::collection_id_reserved, "the collection id is reserved"},
    {wire_errc::collection_not_expressible, "the connection supports only the default collection"},
    {wire_errc::opcode_mismatch, "the message does not have this opcode"},
    {wire_errc::not_a_request, "the frame is not a request"},
    {wire_errc::not_a_response, "the frame is not a response"},
    {wire_errc::status_unexpected, "the status has no such body"},
    {wire_errc::extras_size_invalid, "the extras have the wrong size"},
    {wire_errc::key_unexpected, "a key is not allowed"},
    {wire_errc::value_unexpected, "a value is not allowed"},
    {wire_errc::value_size_invalid, "the value has the wrong size"},
    {wire_errc::cas_must_be_zero, "the CAS must be 0"},
    {wire_errc::cas_must_not_be_zero, "the CAS must not be 0"},
    {wire_errc::vbucket_must_be_zero, "the vbucket must be 0"},
    {wire_errc::datatype_invalid, "the datatype is not allowed here"},
    {wire_errc::path_too_long, "the path exceeds 1024 bytes"},
    {wire_errc::path_size_invalid, "the path extends past the body"},
    {wire_errc::spec_truncated, "a sub-document spec or result extends past the body"},
    {wire_errc::spec_count_invalid, "a list is empty or has more than 16 entries"},
    {wire_errc::spec_opcode_invalid, "the operation is not allowed in this list"},
    {wire_errc::revision_invalid, "the known revision is not legal"},
    {wire_errc::agent_invalid, "the agent is too long or not the JSON it claims to be"},
    {wire_errc::scan_item_malformed, "an item of a range scan extends past the answer"},
    {wire_errc::error_body_malformed, "the error body is malformed"},
    {wire_errc::scan_description_malformed, "the description of a range scan is malformed"},
    {wire_errc::output_full, "no room to write the frame"},
});

class wire_error_category final : public std::error_category {
public:
    const char* name() const noexcept override { return "reprise.wire"; }
    std::string message(int code) const override {
        return std::string(messages[static_cast<wire_errc>(code)]);
    }
};

}  // namespace

const std::error_category& wire_category() noexcept {
    static const wire_error_category category;
    return category;
}

std::error_code make_error_code(wire_errc error) noexcept {
    return {static_cast<int>(error), wire_category()};
}

std::string_view to_string(wire_errc error) noexcept {
    return base::name_of(error);
}

status rejection_status(wire_errc error) noexcept {
    switch (error) {
        case wire_errc::frame_info_unknown:
            return status::unknown_frame_info;
        case wire_errc::durability_level_invalid:
        case wire_errc::durability_timeout_invalid:
            return status::durability_invalid_level;
        case wire_errc::preserve_ttl_not_supported:
            return status::not_supported;
        case wire_errc::spec_count_invalid:
        case wire_errc::spec_opcode_invalid:
            return status::subdoc_invalid_combo;
        default:  // all others are malformed requests
            return status::einval;
    }
}

}  // namespace reprise::wire
