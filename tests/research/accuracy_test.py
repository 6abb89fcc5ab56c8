#!/usr/bin/env python3
"""docs/notes/accuracy.md is what research/accuracy.py writes of the corpus, and the bad runs are explained.

Usage: accuracy_test.py PROGRAM SOURCE_FOLDER [unittest arguments]. Exits 77 (skipped) without COLLBENCH_CORPUS.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

PROGRAM = pathlib.Path(sys.argv[1])
SOURCE = pathlib.Path(sys.argv[2])

# What was wrong with the known-bad runs, as those who published them say (MACHINES.tsv).
CAUSES = {
    "azure_aks_2": "sockets (TCP, IP over InfiniBand)",
    "mew0_2xa100_NVLINKFAULT_debug": "1 of 12 NVLinks",
}


def accuracy(document):
    logs = pathlib.Path(os.environ["COLLBENCH_CORPUS"]) / "nccl-tests"
    return subprocess.run([SOURCE / "research/accuracy.py", logs, "--program", PROGRAM, "-o", document],
                          capture_output=True, text=True, timeout=600, check=False)


class Accuracy(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.document = pathlib.Path(folder.name) / "accuracy.md"
        shutil.copy(SOURCE / "docs/notes/accuracy.md", self.document)

    def test_the_document_is_what_the_script_writes(self):
        result = accuracy(self.document)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(self.document.read_text(), (SOURCE / "docs/notes/accuracy.md").read_text(),
                         "research/accuracy.py writes another docs/notes/accuracy.md: run it, and say why in the change")

    def test_every_bad_run_is_a_fault_with_its_cause_and_no_other_is(self):
        accuracy(self.document)
        logs = [line.strip("| ").split(" | ") for line in self.document.read_text().splitlines()]
        verdicts = {cells[0]: (cells[2], cells[6], cells[7]) for cells in logs if len(cells) == 8 and cells[6] != "---"}
        bad = {log for log, (label, _, _) in verdicts.items() if label == "bad"}
        self.assertEqual(bad, set(CAUSES))
        self.assertEqual(bad, {log for log, (_, verdict, _) in verdicts.items() if verdict == "FAULT"})
        for log, cause in CAUSES.items():
            self.assertIn(cause, verdicts[log][2].split("Likely cause: ")[1])

    def test_a_miss_without_a_cause_is_a_complaint(self):
        text = self.document.read_text()
        self.document.write_text(text[:text.index("## Causes of the misses")])
        result = accuracy(self.document)
        self.assertEqual(result.returncode, 1)
        self.assertIn("deepops_roce_2node_1: misses a goal", result.stderr)


if __name__ == "__main__":
    if "COLLBENCH_CORPUS" not in os.environ:
        print("COLLBENCH_CORPUS is unset: real machines' logs are NOT judged, docs/notes/accuracy.md is NOT checked")
        sys.exit(77)
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
