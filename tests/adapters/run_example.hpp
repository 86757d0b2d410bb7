#pragma once

/// Runs an example that was built with this test.

#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

namespace adapters {

struct example_run {
    int exit_code = -1;
    std::string output;
};

/// `arguments` must not contain single quotes. Ends the program after 60 seconds.
inline example_run run_example(const std::string& name, const std::vector<std::string>& arguments) {
    const auto folder = std::filesystem::read_symlink("/proc/self/exe").parent_path();
    std::string command = "timeout 60 '" + (folder / name).string() + "'";
    for (const std::string& argument : arguments) {
        command += " '" + argument + "'";
    }
    example_run ran;
    std::FILE* const pipe = ::popen(command.c_str(), "r");
    if (pipe == nullptr) {
        return ran;
    }
    std::array<char, 4096> chunk{};
    while (const std::size_t size = std::fread(chunk.data(), 1, chunk.size(), pipe)) {
        ran.output.append(chunk.data(), size);
    }
    const int status = ::pclose(pipe);
    ran.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return ran;
}

}  // namespace adapters
