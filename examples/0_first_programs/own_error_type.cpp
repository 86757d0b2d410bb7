#include <reprise/retry.hpp>
#include <string>

struct order {  // Anything with has_value() and error(), such as std::expected.
    std::string number, problem;
    bool has_value() const { return problem.empty(); }
    const std::string& error() const { return problem; }
};

int main() {
    int calls = 0;
    const auto rule = reprise::attempts(3).when([](const std::string& e) { return e == "busy"; });
    const auto place = [&] { return ++calls < 3 ? order{"", "busy"} : order{"4711", ""}; };
    return reprise::retry(rule, place).has_value() ? 0 : 1;
}
