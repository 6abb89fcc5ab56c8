#!/usr/bin/env python3
"""The pages of published logs that docs/notes/lab01.md shows are what the program prints.

Usage: lab01_document_test.py PROGRAM SOURCE_FOLDER [unittest arguments]. Exits 77 (skipped) without COLLBENCH_CORPUS.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

PROGRAM = pathlib.Path(sys.argv[1])
DOCUMENT = pathlib.Path(sys.argv[2]) / "docs/notes/lab01.md"
# Under the names that the document's commands have.
FILES = {
    "p5_2nodes.log": "nccl-tests/aws_adt_2node_2.txt",
    "nccl-fault.log": "nccl-tests/mew0_2xa100_NVLINKFAULT_debug.log",
    "nccl_topo_dump_normal.xml": "nccl-xml/mew0_2xa100pcie_dump_normal.xml",
}


def comparable(page):
    """Without the title, the level of headings, and the version."""
    return re.sub(r"collbench \d+\.\d+\.\d+[^,]*", "collbench", re.sub(r"(?m)^#+ ", "# ", page)).split("# Hardware", 1)[1]


class Lab01Document(unittest.TestCase):
    def test_every_page_is_what_its_command_prints(self):
        document = DOCUMENT.read_text()
        lines = re.findall(r"(?m)^collbench judge \S+\.log .*lab01.*$", document)
        commands = [line.split() for line in lines]
        self.assertEqual({command[2] for command in commands}, {name for name in FILES if name.endswith(".log")})
        with tempfile.TemporaryDirectory() as folder:
            for name, recording in FILES.items():
                shutil.copy(pathlib.Path(os.environ["COLLBENCH_CORPUS"]) / recording, pathlib.Path(folder) / name)
            for command in commands:
                page = subprocess.run([PROGRAM, *command[1:]], cwd=folder, capture_output=True, text=True, timeout=60,
                                      check=False)
                # The log with the fault is also what the doctor has a check for.
                self.assertEqual("log-nvlink-unequal" in page.stderr, "nccl-fault.log" in command, page.stderr)
                self.assertEqual(page.stderr.count("\n"), int("nccl-fault.log" in command), page.stderr)
                section = document[document.index(" ".join(command)):]
                self.assertIn(comparable(page.stdout).strip(), comparable(section))


if __name__ == "__main__":
    if "COLLBENCH_CORPUS" not in os.environ:
        print("COLLBENCH_CORPUS is unset: the pages in docs/notes/lab01.md are NOT checked")
        sys.exit(77)
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
