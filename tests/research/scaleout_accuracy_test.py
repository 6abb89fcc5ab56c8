#!/usr/bin/env python3
"""docs/notes/scaleout-accuracy.md is what research/scaleout-accuracy writes of the corpus.

Usage: scaleout_accuracy_test.py PROGRAM SOURCE_FOLDER [unittest arguments]. Exits 77 (skipped) without COLLBENCH_CORPUS.
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM = pathlib.Path(sys.argv[1])
SOURCE = pathlib.Path(sys.argv[2])


class ScaleoutAccuracy(unittest.TestCase):
    def test_the_document_is_what_the_script_writes_and_the_goals_are_met(self):
        with tempfile.TemporaryDirectory() as folder:
            document = pathlib.Path(folder) / "page.md"
            table = pathlib.Path(os.environ["COLLBENCH_CORPUS"]) / "scaleout/published.tsv"
            result = subprocess.run([SOURCE / "research/scaleout-accuracy", table, "--program", PROGRAM, "-o", document],
                                    capture_output=True, text=True, timeout=250, check=False)
            self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
            self.assertEqual(document.read_text(), (SOURCE / "docs/notes/scaleout-accuracy.md").read_text(),
                             "research/scaleout-accuracy writes another page: run it, and say why in the change")


if __name__ == "__main__":
    if not (pathlib.Path(os.environ.get("COLLBENCH_CORPUS", "")) / "scaleout/published.tsv").is_file():
        print("the corpus has no scaleout/published.tsv: docs/notes/scaleout-accuracy.md is NOT checked")
        sys.exit(77)
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
