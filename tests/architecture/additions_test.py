#!/usr/bin/env python3
"""What an addition costs: an operation added to a copy of the tree stops the compiler in every file that must know it, and
in no other; and no file lists readers, formats or subcommands beside their one table.

usage: additions_test.py SOURCE_FOLDER COMPILE_COMMANDS_JSON
"""
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(sys.argv[1]).resolve()
COMMANDS = json.loads(pathlib.Path(sys.argv[2]).read_text(encoding="utf-8"))
SUBSYSTEMS = ("src", "analysis", "collectives", "topology", "launch", "base")


def contributing(heading):
    """The paths in backticks of one section of CONTRIBUTING.md that stand at the beginning of a numbered item."""
    text = (SOURCE / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = text.split(f"### {heading}\n", 1)[1].split("\n###", 1)[0].split("\n## ", 1)[0]
    return re.findall(r"^\d+\. `([^`]+)`", section, re.MULTILINE)


def compile_flags(library):
    """Definitions and include folders of a library's sources, but for the source folder itself."""
    words = iter(shlex.split(next(each["command"] for each in COMMANDS if f"CMakeFiles/{library}.dir" in each["command"])))
    for word in words:
        if word == "-isystem":
            yield from (word, next(words))
        elif word.startswith(("-D", "-I")) and word != f"-I{SOURCE}":
            yield word


FLAGS = [*compile_flags("collectives"), *compile_flags("mpi_open_mpi")]


class AnOperation(unittest.TestCase):
    def test_is_asked_for_by_the_compiler_in_the_files_that_are_documented(self):
        with tempfile.TemporaryDirectory() as name:
            tree = pathlib.Path(name)
            for subsystem in SUBSYSTEMS:
                shutil.copytree(SOURCE / subsystem, tree / subsystem)
            header = tree / "base/record/operation.hpp"
            text = header.read_text(encoding="utf-8")
            header.write_text(text.replace("enum class OperationId {\n", "enum class OperationId {\n  example,\n"), encoding="utf-8")
            self.assertIn("example,", header.read_text(encoding="utf-8"))
            suspects = [
                path for subsystem in SUBSYSTEMS for path in (tree / subsystem).rglob("*.cpp")
                if re.search(r"case (\w+::)*(OperationId::)?(all_gather|all_reduce|hypercube)\b", path.read_text(encoding="utf-8"))
            ]

            def asked(path):
                done = subprocess.run(
                    [os.environ.get("CXX", "c++"), *FLAGS, f"-I{tree}", "-std=c++20", "-fsyntax-only", "-Wswitch", str(path)],
                    capture_output=True, text=True, check=False)
                return "example" in done.stderr

            with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
                found = {
                    path.relative_to(tree).as_posix() for path, is_asked in zip(suspects, pool.map(asked, suspects)) if is_asked}
        documented = contributing("To add an operation")
        self.assertEqual(found, set(documented))


class OtherAdditions(unittest.TestCase):
    def test_touch_as_many_files_as_documented(self):
        for heading, files in (("To add a reader of a topology source", 3), ("To add a report format", 3),
                               ("To add a subcommand", 2)):
            with self.subTest(heading):
                self.assertLessEqual(len(contributing(heading)), files)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
