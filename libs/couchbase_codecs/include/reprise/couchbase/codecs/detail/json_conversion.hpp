#pragma once

#include <cstddef>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include <reprise/couchbase/codec.hpp>
#include <reprise/couchbase/error.hpp>

// Shared by the codecs of all JSON libraries. Not for users.

namespace reprise::couchbase::detail {

// The nesting limit of arrays and objects, the same for reading and for writing. Conversions are
// recursive, so it bounds the stack that a document can take.
inline constexpr std::size_t json_depth_max = 64;
inline constexpr std::string_view too_deep = "nested deeper than 64 levels";

[[nodiscard]] inline error json_error(std::string_view what, std::string_view why) {
    return {make_error_code(errc::decoding_failure), std::string(what).append(": ").append(why)};
}
// The document cannot be parsed.
[[nodiscard]] inline error syntax_error(std::string_view why) {
    return json_error("the document is not JSON", why);
}
// The document is JSON, but not what the type is made from.
[[nodiscard]] inline error misfit_error(std::string_view why) {
    return json_error("the JSON does not fit the type", why);
}

// The text of the exception that is being handled. A lack of memory is not the document's fault,
// so it is thrown again.
[[nodiscard]] inline std::string describe_exception() {
    try {
        throw;
    } catch (const std::bad_alloc&) {
        throw;
    } catch (const std::exception& problem) {
        return problem.what();
    } catch (...) {
        return "an exception without a text";
    }
}

// The place of the problem in a value, and its description.
struct json_flaw {
    std::string path;  // "/rooms/2/price"
    std::string_view reason;

    [[nodiscard]] bool is_found() const noexcept { return !reason.empty(); }
    [[nodiscard]] json_flaw below(std::string_view name) && {
        path.insert(0, name).insert(0, 1, '/');
        return std::move(*this);
    }
    [[nodiscard]] std::string to_string() const {
        return path.empty() ? std::string(reason) : path + ": " + std::string(reason);
    }
};

}  // namespace reprise::couchbase::detail
