"""Checks that the linked program is hardened. Usage: hardening_test.py PROGRAM"""

import platform
import re
import subprocess
import sys
import unittest

PROGRAM = sys.argv.pop(1)


def read_elf(option):
    return subprocess.run(["readelf", "-W", option, PROGRAM], capture_output=True, text=True,
                          check=True).stdout


def words_after(option, beginning):
    """The words that follow `beginning`, over all lines that contain it."""
    lines = re.findall(rf"(?m)^.*{beginning}(.*)$", read_elf(option))
    return " ".join(lines).split()


def imported_functions():
    return set(re.findall(r" UND (\w+)@", read_elf("--dyn-syms")))


class HardeningTest(unittest.TestCase):
    def test_it_is_position_independent(self):
        self.assertIn("DYN", words_after("-h", "Type:"))
        self.assertIn("PIE", words_after("-d", r"\(FLAGS_1\)"))

    def test_relocations_are_bound_at_start_and_read_only(self):
        self.assertIn("NOW", words_after("-d", r"\(FLAGS_1\)"))
        self.assertNotEqual(words_after("-l", "GNU_RELRO"), [])

    def test_the_stack_is_protected_and_not_executable(self):
        self.assertTrue("__stack_chk_fail" in imported_functions())
        self.assertIn("RW", words_after("-l", "GNU_STACK"))

    def test_copying_calls_are_fortified(self):
        fortified = [name for name in imported_functions() if name.endswith("_chk")]
        self.assertNotEqual(fortified, [])


if platform.machine() in ("x86_64", "AMD64"):  # other processors have other mechanisms
    class ControlFlowTest(unittest.TestCase):
        def test_indirect_branches_are_tracked(self):
            address = int(re.search(r"(?m)([0-9a-f]{16}) .* main$", read_elf("-s"))[1], 16)
            code = subprocess.run(
                ["objdump", "-d", f"--start-address={address}", f"--stop-address={address + 8}",
                 PROGRAM], capture_output=True, text=True, check=True).stdout
            self.assertIn("endbr64", code)


if __name__ == "__main__":
    unittest.main()
