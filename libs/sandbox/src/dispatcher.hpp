#pragma once

#include "request.hpp"

namespace reprise::sandbox::detail {

// Checks what all requests have in common (may it be sent before logging in, is it known, datatype,
// framing extras), then gives it to its handler.
void dispatch(request& current);

}  // namespace reprise::sandbox::detail
