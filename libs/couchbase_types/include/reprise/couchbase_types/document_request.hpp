#pragma once

/// The request for an operation on a document, and the values that it carries. The public calls
/// fill a document_call, and the engine builds its request from it; nothing is described a second
/// time on the way.

#include <any>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <reprise/couchbase_types/errc.hpp>
#include <reprise/couchbase_types/error_info.hpp>
#include <reprise/retry/call_options.hpp>
#include <reprise/retry/driver/admission.hpp>
#include <reprise/retry/driver/retry_strategy.hpp>
#include <reprise/retry/time.hpp>

namespace reprise::couchbase {

/// The number of copies of a document that must have a write before the server acknowledges it.
enum class durability_level : std::uint8_t {
    none = 0,                            ///< The active copy has it in memory.
    majority = 1,                        ///< A majority has it in memory.
    majority_and_persist_to_active = 2,  ///< As majority, and the active copy has it on disk.
    persist_to_majority = 3              ///< A majority has it on disk.
};

/// The copies that a read of any or all copies may use. A server group is a place of the cluster,
/// for example a zone; cluster_options::preferred_server_group names the one of this program.
enum class read_preference : std::uint8_t {
    no_preference,  ///< All copies.
    /// Only copies in the preferred group; without any, errc::document_unretrievable.
    selected_server_group,
    /// Copies in the preferred group; without any, all copies.
    selected_server_group_or_all_available
};

/// Whether mutate_in needs an existing document or creates one.
enum class store_semantics : std::uint8_t {
    replace,  ///< The document must exist; otherwise errc::document_not_found.
    upsert,   ///< The document is created if it does not exist.
    insert    ///< The document must not exist; otherwise errc::document_exists.
};

/// The format of a document. All Couchbase SDKs keep it in the top byte of the document's flags.
enum class document_format : std::uint8_t {
    none = 0,            ///< Written by a client that notes no format; most likely JSON.
    private_format = 1,  ///< A format of one SDK only.
    json = 2,
    binary = 3,
    string = 4,  ///< UTF-8 that is not JSON.
    unknown = 255
};

/// Returns the flags for a format.
[[nodiscard]] constexpr std::uint32_t flags_of(document_format format) noexcept {
    return format == document_format::unknown
               ? 0
               : std::uint32_t{static_cast<std::uint8_t>(format)} << 24;
}
/// Returns the format that flags name. Looks at the top byte only: older clients use the others.
[[nodiscard]] constexpr document_format format_of(std::uint32_t flags) noexcept {
    // The upper three bits of the top byte are reserved for a compression; none is defined yet.
    const auto top = static_cast<std::uint8_t>(flags >> 24);
    const auto format = static_cast<std::uint8_t>(top & 0x0f);
    if ((top & 0xe0) != 0 || format > static_cast<std::uint8_t>(document_format::string)) {
        return document_format::unknown;
    }
    return static_cast<document_format>(format);
}
/// Returns "json", "string", ...
[[nodiscard]] std::string_view to_string(document_format format) noexcept;

/// An encoded document. The client copies the bytes when the operation starts, so a borrowed view
/// must stay valid until that call returns.
class encoded_value {
public:
    /// Borrows the bytes.
    [[nodiscard]] static encoded_value view(
        std::string_view text, document_format format) noexcept {
        return view(std::as_bytes(std::span{text}), format);
    }
    [[nodiscard]] static encoded_value view(
        std::span<const std::byte> bytes, document_format format) noexcept {
        encoded_value value;
        value.borrowed_ = bytes;
        value.flags_ = flags_of(format);
        return value;
    }
    /// Owns the text.
    [[nodiscard]] static encoded_value own(std::string text, document_format format) noexcept;
    /// There is no document, for this reason. The call that would store it sends nothing and fails
    /// with errc::encoding_failure and this text.
    [[nodiscard]] static encoded_value failed(std::string problem);

    [[nodiscard]] std::span<const std::byte> bytes() const noexcept {
        return owned_.empty() ? borrowed_ : std::as_bytes(std::span{owned_});
    }
    [[nodiscard]] std::uint32_t flags() const noexcept { return flags_; }
    /// For programs that keep numbers of their own in the flags.
    void set_flags(std::uint32_t flags) noexcept { flags_ = flags; }
    /// Why there is no document; empty if there is one.
    [[nodiscard]] const std::string& problem() const noexcept { return problem_; }

private:
    std::string owned_;
    std::string problem_;
    std::span<const std::byte> borrowed_;
    std::uint32_t flags_ = 0;
};

/// A document that is JSON already: `json_text{R"({"n":1})"}`. The client does not check it.
struct json_text {
    json_text() = default;
    explicit json_text(std::string json) noexcept : text(std::move(json)) {}

    std::string text;

    friend bool operator==(const json_text&, const json_text&) = default;
};

/// The customisation point: specialise it with `encode` and `decode` as shown above. `decode` must
/// check the format and must not throw on any input; decode_mismatch makes the error. `encode` must
/// not throw either: encoded_value::failed has the reason why there is no document.
///
/// For types that Boost.JSON or nlohmann/json can convert, both are written already:
/// <reprise/couchbase/codecs/boost_json.hpp> and <reprise/couchbase/codecs/nlohmann.hpp>.
template <class T>
struct codec;

/// A type that can be stored.
template <class T>
concept encodable = requires(const T& value) {
    { codec<T>::encode(value) } -> std::convertible_to<encoded_value>;
};
/// A value that the server fills in when it writes. For extended attributes.
enum class mutation_macro : std::uint8_t {
    cas,          ///< The version that the document gets by the write.
    seqno,        ///< The number of the write among the changes of its vbucket.
    value_crc32c  ///< The checksum of the document's body.
};

/// One JSON value to write. It converts from null, booleans, numbers, text (which is quoted),
/// json_text (which is used as it is), a macro, and every type whose codec makes JSON. If the value
/// is not JSON, the call that uses it fails with errc::encoding_failure and names the path.
class json_fragment {
public:
    json_fragment(std::nullptr_t) : text_("null") {}
    json_fragment(std::same_as<bool> auto flag) : text_(flag ? "true" : "false") {}
    template <std::integral Number>
        requires(!std::same_as<Number, bool> && !std::same_as<Number, char>)
    json_fragment(Number number) : text_(std::to_string(number)) {}
    json_fragment(std::floating_point auto number) { set_number(static_cast<double>(number)); }
    json_fragment(mutation_macro macro);
    json_fragment(const json_text& json) { set_json(json.text); }
    template <class T>
        requires std::convertible_to<const T&, std::string_view>
    json_fragment(const T& text) {
        set_string(text);
    }
    template <encodable T>
        requires(!std::convertible_to<const T&, std::string_view>)
    json_fragment(const T& value) {
        set_encoded(codec<T>::encode(value));
    }

    /// The value as JSON; empty if there is a problem.
    [[nodiscard]] const std::string& text() const noexcept { return text_; }
    /// Whether the server fills in the value.
    [[nodiscard]] bool is_macro() const noexcept { return is_macro_; }
    /// Why the value is not JSON; empty if it is.
    [[nodiscard]] const std::string& problem() const noexcept { return problem_; }

private:
    void set_string(std::string_view text);
    void set_number(double number);
    void set_json(std::string_view json);
    void set_encoded(const encoded_value& value);

    std::string text_;
    std::string problem_;
    bool is_macro_ = false;
};

/// Names one mutation. A request that must see the mutation has it in its
/// mutation_state.
struct mutation_token {
    std::string bucket{};
    std::uint16_t vbucket = 0;
    /// Changes when the vbucket's history is rolled back.
    std::uint64_t vbucket_uuid = 0;
    /// Counts the changes of the vbucket.
    std::uint64_t seqno = 0;

    friend bool operator==(const mutation_token&, const mutation_token&) = default;
};

/// Mutations that a query, a search or a scan must see.
struct mutation_state {
    std::vector<mutation_token> tokens{};

    /// Adds the token of a mutation_result, if it has one.
    void add(const std::optional<mutation_token>& token) {
        if (token) {
            tokens.push_back(*token);
        }
    }
};

/// An end of a range of keys. An empty key means that the range has no such end.
struct scan_term {
    std::string key{};
    /// The range does not contain the key itself.
    bool is_exclusive = false;
};

/// The keys from `from` to `to`, compared byte by byte. Without either, all keys.
struct range_scan {
    scan_term from{};
    scan_term to{};
};

/// The keys that begin with `prefix`.
struct prefix_scan {
    std::string prefix{};
};

/// Documents chosen at random, at most `limit` of them. The same seed chooses the same documents as
/// long as nothing changes; without a seed each scan uses another one.
struct sampling_scan {
    std::size_t limit = 0;
    std::optional<std::uint32_t> seed{};
};

/// The range or sample that a scan reads.
using scan_kind = std::variant<range_scan, prefix_scan, sampling_scan>;

/// The time that a scan may take if its options name none, from the call to the last document.
inline constexpr duration scan_timeout_default = std::chrono::seconds{75};

/// Options of collection::scan.
struct scan_options {
    /// Absent: scan_timeout_default.
    std::optional<duration> timeout{};
    /// Reads no documents but only their keys.
    bool keys_only = false;
    /// Mutations that the scan must see. It waits for them until the timeout; if one of them was
    /// lost in a failover, it fails with errc::mutation_token_outdated.
    mutation_state consistent_with{};
    /// Bounds of one answer of a server. Neither may be zero.
    std::uint32_t batch_item_limit = 50;
    std::uint32_t batch_byte_limit = 15'000;
    /// The number of vbuckets of each node that are scanned at the same time; at least 1. More is
    /// faster and puts more load on the server.
    std::size_t concurrency = 1;
    std::shared_ptr<driver::retry_strategy> strategy{};
    std::shared_ptr<const std::any> user_data{};
    /// Shared, or borrowed: query_options states how long it must live.
    std::shared_ptr<driver::retry_allowance> outer_allowance{};
};

// The rest is shared by the client's parts. Not for users.
namespace detail {

// A range scan. The operations that scan its vbuckets share it.
struct scan_request {
    scan_kind what{};
    scan_options options{};
};

enum class operation_kind : std::uint8_t {
    get,
    get_and_touch,
    get_and_lock,
    unlock,  // needs `cas`, which identifies the lock
    touch,
    exists,  // a tombstone counts as missing
    upsert,
    insert,
    replace,
    remove,
    append,
    prepend,
    increment,
    decrement,
    lookup_in,          // sub-document reads, 1..16 specs
    mutate_in,          // sub-document writes, 1..16 specs, all or nothing
    get_replica,        // reads one of the copies
    lookup_in_replica,  // the same for sub-document reads
    noop,               // to any node of the bucket, or to the one that it names
    range_scan,         // no key
    range_scan_cancel,  // sent by the engine itself
};

enum class path_verb : std::uint8_t {
    get,
    exists,
    count,
    get_document,
    insert,
    upsert,
    replace,
    remove,
    array_append,
    array_prepend,
    array_insert,
    array_add_unique,
    counter
};

// One path of a lookup or a mutation, as lookup_spec and mutate_spec hold it.
struct path_spec {
    path_verb verb = path_verb::get;
    bool create_path = false;
    bool is_xattr = false;
    bool is_macro = false;
    std::string path{};
    std::string value{};
    // Non-empty: the call is refused with this text and this code.
    std::string problem{};
    errc problem_code = errc::invalid_argument;
};

// The fields that are plain bytes. They stand together so that a request is moved by copying them
// as one block; small fields come first to save memory, because a million operations may wait.
struct request_numbers {
    operation_kind kind = operation_kind::get;
    durability_level durability = durability_level::none;
    store_semantics store = store_semantics::replace;             // mutate_in
    read_preference preference = read_preference::no_preference;  // reads of several copies
    bool preserve_expiry = false;
    bool access_deleted = false;  // sub-document operations
    bool is_json = false;         // the value
    bool creates = false;         // counters; false: they must exist
    std::uint32_t flags = 0;      // stored by the server
    std::uint32_t expiry = 0;     // in the server's format; 0: never
    std::uint32_t lock_seconds = 15;
    bool has_rare = false;      // only document_request changes it; fills a gap
    std::uint64_t cas = 0;      // 0: any
    std::uint64_t delta = 1;    // counters
    std::uint64_t initial = 0;  // counters that are created

    // Time from the start to the end of the operation. Empty: the client's default for the kind.
    std::optional<duration> timeout{};
    // Ends the operation, too; the earlier of the two applies.
    time_point deadline = driver::no_deadline;
    // The allowance of an enclosing retry loop. It must outlive the operation. Reasons that the
    // client always retries do not use it up.
    driver::retry_allowance* outer_allowance = nullptr;
};

static_assert(std::is_trivially_copyable_v<request_numbers>);

// Fields that few requests set.
struct rare_terms {
    std::vector<path_spec> specs{};
    // Null: the client's.
    std::shared_ptr<driver::retry_strategy> strategy{};
    // Passed to the strategy.
    std::shared_ptr<const std::any> user_data{};
};

// Fields that the kind does not use are ignored.
//
// The constructors are written out because GCC would otherwise clear the whole object first, with
// an instruction for each word.
//
// The rare terms are as in a std::optional whose flag stands among the numbers, to save memory. A
// request without them neither sets nor moves nor destroys them.
class document_request : public request_numbers {
public:
    document_request() noexcept {}  // NOLINT(modernize-use-equals-default)
    document_request(const document_request& other) : request_numbers(other) {
        if (has_rare) {
            std::construct_at(&rare_, other.rare_);
        }
    }
    document_request(document_request&& other) noexcept : request_numbers(other) {
        if (has_rare) [[unlikely]] {
            std::construct_at(&rare_, std::move(other.rare_));
        }
    }
    document_request& operator=(document_request other) noexcept {
        drop_terms();
        static_cast<request_numbers&>(*this) = other;
        if (has_rare) {
            std::construct_at(&rare_, std::move(other.rare_));
        }
        return *this;
    }
    ~document_request() { drop_terms(); }

    // To set one of the rare terms.
    [[nodiscard]] rare_terms& terms() {
        if (!has_rare) {
            std::construct_at(&rare_);
            has_rare = true;
        }
        return rare_;
    }
    void drop_terms() noexcept {
        if (has_rare) [[unlikely]] {
            std::destroy_at(&rare_);
            has_rare = false;
        }
    }
    [[nodiscard]] std::span<const path_spec> specs() const noexcept {
        return has_rare ? std::span<const path_spec>(rare_.specs) : std::span<const path_spec>();
    }
    // Null: the client's.
    [[nodiscard]] driver::retry_strategy* own_strategy() const noexcept {
        return has_rare ? rare_.strategy.get() : nullptr;
    }
    [[nodiscard]] const std::any* own_user_data() const noexcept {
        return has_rare ? rare_.user_data.get() : nullptr;
    }

private:
    union {
        rare_terms rare_;
    };
};

// A request with its key and its value, which it borrows until it is started.
struct document_call : document_request {
    document_call() noexcept {}  // NOLINT(modernize-use-equals-default)

    std::string_view key{};
    std::span<const std::byte> value{};
    // Not null: an argument cannot be used, for this reason, and the call is refused.
    std::shared_ptr<const error_info> problem{};
};

}  // namespace detail
}  // namespace reprise::couchbase
