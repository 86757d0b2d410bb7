#!/usr/bin/env python3
"""Builds two plugins from the single header with hidden visibility, and a program that loads both.

check_plugins.py COMPILER: neither plugin exports a symbol of ours. All the same, a token that one
issued is refused by the other (SM-03), and a code of one is the same error to the other.
"""

import re
import sys

from steps import ROOT, StepFailed, main, run

ANY = re.compile(r"7reprise")
OWN = re.compile(r" _Z[A-Z]{0,3}N?K?7reprise")  # of our namespace, and their tables and types
PLUGIN = """\
#define REPRISE_IMPLEMENTATION
#include "reprise.hpp"
#define EXPORTED extern "C" __attribute__((visibility("default")))
static reprise::standard_strategy strategy;
EXPORTED void* acquire_token() {
    return new reprise::driver::token_result(strategy.acquire_initial_token());
}
EXPORTED bool accepts_token(void* token) {
    return strategy.record_success(static_cast<reprise::driver::token_result*>(token)->token) ==
           std::errc{};
}
EXPORTED std::error_code open_breaker() {
    return reprise::retry_error(reprise::retry_errc::circuit_open).code();
}
EXPORTED bool is_open_breaker(const std::error_code& code) {
    return code == reprise::retry_errc::circuit_open &&
           reprise::facts_of(code).safety == reprise::retry_safety::yes;
}
EXPORTED bool retries() {
    int calls = 0;
    reprise::retry(reprise::attempts(3).every({}), [&] {
        if (++calls < 3) throw std::runtime_error("busy");
    });
    return calls == 3;
}
"""
PROGRAM = """\
#include <dlfcn.h>
#include <cstdio>
#include <system_error>
struct plugin {
    void* library;
    template <class Function>
    Function* get(const char* name) { return reinterpret_cast<Function*>(dlsym(library, name)); }
};
int failures = 0;
void check(bool holds, const char* what) {
    if (!holds) { std::printf("FAILED: %s\\n", what); ++failures; }
}
int main(int, char** paths) {
    plugin one{dlopen(paths[1], RTLD_NOW)};
    plugin two{dlopen(paths[2], RTLD_NOW)};
    if (!one.library || !two.library) { std::puts(dlerror()); return 1; }
    check(one.get<bool()>("retries")() && two.get<bool()>("retries")(), "both retry");
    void* const token = one.get<void*()>("acquire_token")();
    check(!two.get<bool(void*)>("accepts_token")(token), "the other refuses a foreign token");
    check(one.get<bool(void*)>("accepts_token")(token), "its issuer accepts it");
    check(!one.get<bool(void*)>("accepts_token")(token), "only once");
    const auto code = one.get<std::error_code()>("open_breaker")();
    const auto is_open = "is_open_breaker";
    check(one.get<bool(const std::error_code&)>(is_open)(code), "a code of its own");
    check(two.get<bool(const std::error_code&)>(is_open)(code), "a code of the other plugin");
    return failures;
}
"""


def check(folder):
    compiler = sys.argv[1]
    run("generate the header", [sys.executable, "-B", ROOT / "scripts/single_header.py",
                                "--output", folder / "reprise.hpp"])
    (folder / "plugin.cpp").write_text(PLUGIN, encoding="utf-8")
    (folder / "program.cpp").write_text(PROGRAM, encoding="utf-8")
    # With the first flag alone, GCC exports what it instantiates of the standard library.
    plugins = {folder / "one.so": (["-fvisibility=hidden"], OWN),
               folder / "two.so": (["-fvisibility=hidden", "-fvisibility-inlines-hidden"], ANY)}
    for plugin, (flags, pattern) in plugins.items():
        run(f"build {plugin.name}", [compiler, "-std=c++20", *flags, "-fPIC", "-shared",
                                     folder / "plugin.cpp", "-o", plugin])
        exported = run(f"exports of {plugin.name}", ["nm", "-D", "--defined-only", plugin])
        ours = [line for line in exported.splitlines() if pattern.search(line)]
        if ours:
            raise StepFailed(f"{plugin.name} exports {len(ours)} symbols of ours, e.g. {ours[0]}")
    run("build the program", [compiler, "-std=c++20", folder / "program.cpp", "-o",
                              folder / "program", "-ldl"])
    run("run it", [folder / "program", *plugins])


if __name__ == "__main__":
    sys.exit(main(check))
