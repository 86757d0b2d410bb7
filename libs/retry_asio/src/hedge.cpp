#include <reprise/asio/hedge.hpp>
#include <stdexcept>

namespace reprise {

void detail::check_hedge(repeatability repeat) {
    if (repeat != repeatability::repeatable) {
        throw std::invalid_argument(
            "call_options::repeat: a hedged call must be marked as repeatable");
    }
}

}  // namespace reprise
