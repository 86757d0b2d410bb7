#include <reprise/retry.hpp>
#include <stdexcept>

struct busy : std::runtime_error {
    busy() : std::runtime_error("busy") {}
};

int main() {
    using namespace std::chrono_literals;
    int calls = 0;
    reprise::retry(reprise::attempts(3).every(100ms).on<busy>(), [&] {
        if (++calls < 3)
            throw busy();
    });
}
