#!/usr/bin/env python3
"""Shows that architecture_rules.py sees each kind of break: one good tree, and one break at a time in it."""
import contextlib
import io
import tempfile
import unittest
from pathlib import Path

import architecture_rules

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
    "src/commands/report.hpp": HEADER,
    "tools/plan/plan.hpp": HEADER + '#include "analysis/ring.hpp"\n',
    "tools/plan/tests/plan_test.cpp": '#include <gtest/gtest.h>\n#include "tools/plan/plan.hpp"\n',
    "launch/session.hpp": HEADER + "class Session final : public Ranks {\n  struct Row {};\n};\nstruct Row;\n",
    "launch/mpi/session.cpp": '#include "launch/session.hpp"\n#include <mpi.h>\n',
    "launch/session_smpi.cpp": '#include "launch/session.hpp"\n#include <smpi/smpi.h>\n',
    "tests/launch/mpi/session_mpi_test.cpp": '#include "launch/session.hpp"\n#include <mpi.h>\n',
    "base/record/row.hpp": HEADER
    + "// their place\nstruct Row {\n  bool in_place;\n};\nenum class State { good };\nconst char* kText = \"a place\";\n",
}

MPI_HOMES = "which only launch/mpi and collectives/mpi may see"
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
    ("launch/session.cpp", "#include <mpi.h>\n", MPI_HOMES),
    ("collectives/engine/measurement_loop.hpp", HEADER + "#include <mpi.h>\n", MPI_HOMES),
    ("tests/analysis/ring_test.cpp", "#include <mpi.h>\n", MPI_HOMES),
    ("collectives/mpi/backend.hpp", HEADER + "#include <nccl.h>\n", "which only collectives/nccl may see"),
    ("collectives/engine/measurement_loop.hpp", HEADER + "#include <cuda_runtime.h>\n", "which only collectives/nccl may see"),
    ("launch/session.cpp", "#include <smpi/smpi.h>\n", "which only *_smpi.cpp and tests of simulations may see"),
    ("analysis/ring.cpp", "#include <CLI/CLI.hpp>\n", "which only src and tools may see"),
    ("analysis/ring.cpp", "#include <hwloc.h>\n", "which only topology and launch may see"),
    ("analysis/ring.cpp", "#include <gtest/gtest.h>\n", "which only tests may see"),
    ("base/row.hpp", HEADER + "struct Row {\n};\n", "defines Row, which base/record/row.hpp defines as well"),
    ("base/row.hpp", HEADER + "template <class T>\nclass State {\n};\n", "defines State, which"),
    ("tests/launch/session.hpp", HEADER + "enum Session : int {\n};\n", "defines Session, which"),
    ("analysis/ring.hpp", HEADER + "namespace collbench::topology {\n}\n", "analysis is in collbench::analysis"),
    ("analysis/ring.hpp", HEADER + "struct SeatPlan;\n", "say device slot instead of seat"),
    ("analysis/ring.hpp", HEADER + "int find_place();\n", "instead of place"),
    ("analysis/ring.hpp", HEADER + "constexpr int kMostRanks = 1;\n", "constants are kMax… and kMin…"),
    ("analysis/ring.cpp", "constexpr int kA{1};\nconst std::array kB{kA};  // kB\n", "defines kB, which nothing uses"),
    ("analysis/ring.cpp", "int f();\nint g() { return f(); }\nconstexpr int h(int a) { return a; }\n", "defines h, which nothing uses"),
    (
        "topology",
        {
            "topology/link.hpp": HEADER + '#include "topology/render/tree.hpp"\n',
            "topology/render/tree.hpp": HEADER + '#include "topology/graph/node.hpp"\n',
            "topology/graph/node.hpp": HEADER + '#include "topology/link.hpp"\n',
        },
        "includes topology/render, which includes it again",
    ),
    ("analysis/ring.cpp", "bool a = gpu.sm >= 90;\n", "ask for the generation"),
    ("analysis/ring.cpp", "bool a = *sm < kHopper;\n", "ask for the generation"),
    ("analysis/ring.hpp", "// no guard\n", "lacks #pragma once"),
    ("analysis/ring.hpp", HEADER + '#include "tools/plan/plan.hpp"\n', "analysis may include"),
    ("src/main.cpp", '#include "tools/plan/plan.hpp"\n', "src may include"),
    ("tools/probe/probe.cpp", '#include "tools/plan/plan.hpp"\n', "a tool includes no other tool"),
    ("tools/plan/plan.cpp", '#include "src/commands/report.hpp"\n', "but its commands"),
    ("base", {"ARCHITECTURE.md": "| folder | lines |\n| `base/` | 1 |\n"}, "and ARCHITECTURE.md grants 1"),
    (
        "analysis",
        {
            "ARCHITECTURE.md": "| folder | comparisons |\n| `analysis/` | at most 1 |\n",
            "analysis/ring.cpp": 'bool a = b == "ring";  // != "tree"\nbool c = "tree" != b;\nbool d = b.starts_with("nvls");\n',
        },
        "compares texts with literals 3 times",
    ),
]


def breaks_of(tree):
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for name, text in tree.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text, encoding="utf-8")
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            status = architecture_rules.main([folder])
    *lines, _ = output.getvalue().splitlines()
    return status, lines


class ArchitectureRules(unittest.TestCase):
    def test_accepts_a_good_tree(self):
        self.assertEqual(breaks_of(GOOD_TREE), (0, []))

    def test_sees_each_break_and_names_the_file(self):
        for name, text, message in BREAKS:
            with self.subTest(name=name, message=message):
                changed = text if isinstance(text, dict) else {name: text}
                status, lines = breaks_of({**GOOD_TREE, **changed})
                self.assertEqual(status, 1)
                named = [line for line in lines if line.startswith(f"{name}: ") and message in line]
                self.assertTrue(named, lines)


if __name__ == "__main__":
    unittest.main()
