#pragma once

#include <cstdio>
#include <cstdlib>
#include <type_traits>
#include <utility>

namespace bench {

// The value of a result of the client. An error ends the program.
template <class Result>
auto value_of(Result&& result) {
    if (!result) {
        std::fputs((result.error().message() + "\n").c_str(), stderr);
        std::exit(1);
    }
    if constexpr (!std::is_void_v<typename std::remove_cvref_t<Result>::value_type>) {
        return std::forward<Result>(result).value();
    }
}

}  // namespace bench
