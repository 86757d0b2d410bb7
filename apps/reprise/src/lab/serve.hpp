#pragma once

#include <cstdint>
#include <string>

namespace reprise::app {

struct lab_serve_options {
    std::uint16_t port = 0;  ///< 0: any free port.
    bool is_json = false;
    std::string scenario;  ///< The file to start with; empty: the gallery.
};

/// Serves the interactive page until a signal arrives.
void serve_lab(const lab_serve_options& typed);

}  // namespace reprise::app
