#!/usr/bin/env python3
"""Shows that include_rule.py sees each kind of break: one good tree, and one break at a time in it."""
import contextlib
import io
import tempfile
import unittest
from pathlib import Path

import include_rule

HEADER = "#pragma once\n"
GOOD_TREE = {
    "src/main.cpp": '#include <CLI/CLI.hpp>\n#include "analysis/ring.hpp"\n#include "launch/session.hpp"\n',
    "tests/src/program_test.py": "",
    "analysis/ring.hpp": HEADER + '#include "topology/link.hpp"\n#include "base/record/row.hpp"\n',
    "analysis/ring.cpp": '#include "analysis/ring.hpp"\n#include <vector>\n',
    "tests/analysis/ring_test.cpp": '#include <gtest/gtest.h>\n#include "analysis/ring.hpp"\n',
    "collectives/engine/measurement_loop.hpp": HEADER + '#include "launch/session.hpp"\n',
    "collectives/mpi/backend.hpp": HEADER + "#include <mpi.h>\n",
    "topology/link.hpp": HEADER + '#include "base/record/row.hpp"\n',
    "launch/session.hpp": HEADER + "class Session final : public Ranks {\n  struct Row {};\n};\nstruct Row;\n",
    "launch/session.cpp": '#include "launch/session.hpp"\n#include <mpi.h>\n',
    "launch/session_smpi.cpp": '#include "launch/session.hpp"\n#include <smpi/smpi.h>\n',
    "tests/launch/session_mpi_test.cpp": '#include "launch/session.hpp"\n#include <mpi.h>\n',
    "base/record/row.hpp": HEADER + "struct Row {\n};\nenum class State { good };\n",
}

MPI_HOMES = "which only launch/*.cpp and collectives/mpi may see"
BREAKS = [
    ("analysis/ring.hpp", HEADER + '#include "collectives/engine/measurement_loop.hpp"\n', "analysis may include"),
    ("analysis/ring.hpp", HEADER + '#include "launch/session.hpp"\n', "analysis may include"),
    ("collectives/engine/measurement_loop.hpp", HEADER + '#include "analysis/ring.hpp"\n', "collectives may include"),
    ("collectives/engine/measurement_loop.hpp", HEADER + '#include "topology/link.hpp"\n', "collectives may include"),
    ("topology/link.hpp", HEADER + '#include "launch/session.hpp"\n', "topology may include"),
    ("launch/session.hpp", HEADER + '#include "topology/link.hpp"\n', "launch may include"),
    ("base/record/row.hpp", HEADER + '  #  include "topology/link.hpp"\n', "base may include"),
    ("tests/analysis/ring_test.cpp", '#include "collectives/engine/measurement_loop.hpp"\n', "analysis may include"),
    ("analysis/ring.hpp", HEADER + "#include <base/record/row.hpp>\n", "as if it were a library's"),
    ("analysis/ring.hpp", HEADER + '#include "ring_detail.hpp"\n', "no file from the root"),
    ("analysis/ring.hpp", HEADER + '#include "../base/record/row.hpp"\n', "no file from the root"),
    ("launch/session.hpp", HEADER + "#include <mpi.h>\n", MPI_HOMES),
    ("collectives/engine/measurement_loop.hpp", HEADER + "#include <mpi.h>\n", MPI_HOMES),
    ("tests/analysis/ring_test.cpp", "#include <mpi.h>\n", MPI_HOMES),
    ("collectives/mpi/backend.hpp", HEADER + "#include <nccl.h>\n", "which only collectives/nccl may see"),
    ("collectives/engine/measurement_loop.hpp", HEADER + "#include <cuda_runtime.h>\n", "which only collectives/nccl may see"),
    ("launch/session.cpp", "#include <smpi/smpi.h>\n", "which only *_smpi.cpp may see"),
    ("analysis/ring.cpp", "#include <CLI/CLI.hpp>\n", "which only src may see"),
    ("analysis/ring.cpp", "#include <hwloc.h>\n", "which only topology and launch may see"),
    ("analysis/ring.cpp", "#include <gtest/gtest.h>\n", "which only tests may see"),
    ("topology/link.hpp", HEADER + "struct Row {\n};\n", "defines Row, which base/record/row.hpp defines as well"),
    ("topology/link.hpp", HEADER + "template <class T>\nclass State {\n};\n", "defines State, which"),
    ("tests/base/row.hpp", HEADER + "enum Session : int {\n};\n", "defines Session, which"),
    ("analysis/ring.hpp", "// no guard\n", "lacks #pragma once"),
    ("analysis/ring.cpp", "\n" * 401, "has 401 lines"),
    ("analysis/tree.cpp", "", "has no header analysis/tree.hpp"),
    ("launch/ranks_smpi.cpp", "", "has no header launch/ranks_smpi.hpp"),
    ("collectives/engine/measurement_loop.cpp", "", "has no test tests/collectives/engine/measurement_loop_test.cpp"),
    ("tests/analysis/tree_test.cpp", "", "tests analysis/tree.hpp, which is not there"),
    ("tests/analysis/ring_tests.cpp", "", "has no header tests/analysis/ring_tests.hpp"),
]


def breaks_of(tree):
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for name, text in tree.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text, encoding="utf-8")
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            status = include_rule.main([folder])
    *lines, _ = output.getvalue().splitlines()
    return status, lines


class IncludeRule(unittest.TestCase):
    def setUp(self):
        # The excuses belong to the real tree.
        include_rule.WITHOUT_HEADER = {r"src/main\.cpp": "a reason"}
        include_rule.TESTED_BY = {r"src/main\.cpp": "tests/src/program_test.py"}
        include_rule.TESTS_OF_MORE = {}
        include_rule.LONGER_FILES = {}

    def test_accepts_a_good_tree(self):
        self.assertEqual(breaks_of(GOOD_TREE), (0, []))

    def test_sees_each_break_and_names_the_file(self):
        for name, text, message in BREAKS:
            with self.subTest(name=name, message=message):
                status, lines = breaks_of({**GOOD_TREE, name: text})
                self.assertEqual(status, 1)
                named = [line for line in lines if line.startswith(f"{name}: ") and message in line]
                self.assertTrue(named, lines)

    def test_takes_the_test_that_is_named_for_a_source_if_it_is_there(self):
        tree = {**GOOD_TREE, "collectives/engine/measurement_loop.cpp": ""}
        include_rule.TESTED_BY |= {r"collectives/sweep\.cpp": "tests/analysis/ring_test.cpp"}
        self.assertEqual(breaks_of(tree), (0, []))
        include_rule.TESTED_BY |= {r"collectives/sweep\.cpp": "tests/analysis/gone_test.cpp"}
        self.assertEqual(breaks_of(tree)[0], 1)

    def test_sees_an_excuse_for_a_file_that_is_gone(self):
        include_rule.LONGER_FILES = {r"analysis/gone\.cpp": "a reason"}
        status, lines = breaks_of(GOOD_TREE)
        self.assertEqual(status, 1)
        self.assertIn(r"analysis/gone\.cpp: is excused in include_rule.py and fits no file", lines)


if __name__ == "__main__":
    unittest.main()
