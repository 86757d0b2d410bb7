"""Conan recipe of the retry library: `conan create . --test-folder tests/packaging/conan_consumer`.

It builds the retry library alone, which needs nothing but a compiler.
"""

import re
from pathlib import Path

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout


class RepriseConan(ConanFile):
    name = "reprise"
    license = "Apache-2.0"
    description = "Retries for C++ programs, bounded and explained"
    package_type = "library"
    settings = "os", "compiler", "build_type", "arch"
    options = {"shared": [True, False], "fPIC": [True, False]}
    default_options = {"shared": False, "fPIC": True}
    exports = "libs/retry/include/reprise/retry/version.hpp"  # set_version reads it
    exports_sources = "CMakeLists.txt", "LICENSE", "cmake/*", "libs/*"

    def set_version(self):
        header = Path(self.recipe_folder, "libs/retry/include/reprise/retry/version.hpp")
        numbers = re.findall(r"#define REPRISE_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)",
                             header.read_text(encoding="utf-8"))
        self.version = ".".join(numbers)

    def validate(self):
        check_min_cppstd(self, 20)

    def layout(self):
        cmake_layout(self)

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["REPRISE_BUILD_CLIENT"] = False
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()

    def package_info(self):
        self.cpp_info.set_property("cmake_file_name", "reprise")
        self.cpp_info.components["retry"].set_property("cmake_target_name", "reprise::retry")
        self.cpp_info.components["retry"].set_property("pkg_config_name", "reprise-retry")
        self.cpp_info.components["retry"].libs = ["reprise_retry"]
        if self.settings.os == "Linux":
            self.cpp_info.components["retry"].system_libs = ["pthread", "m"]
