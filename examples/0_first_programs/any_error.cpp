#include <iostream>
#include <reprise/retry.hpp>
#include <stdexcept>

unsigned fetch() {
    static unsigned calls = 0;
    return ++calls < 3 ? throw std::runtime_error("busy") : calls;
}

int main() {
    std::cout << reprise::retry(reprise::attempts(3), fetch) << " attempts\n";
}
