#!/usr/bin/env python3
"""collbench lab01, and the commands that hand a run over to it.

Usage: lab01_test.py PROGRAM SOURCE_FOLDER [unittest arguments]
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

PROGRAM, SOURCE = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
LOG = SOURCE / "tests/snapshot/inputs/all_reduce_2x8.log"
H100 = ("--topology", "hgx-h100")
ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


class Lab01(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_program(self, *words, program=PROGRAM, **more):
        return subprocess.run([str(word) for word in (program, *words)], capture_output=True, text=True, timeout=120, check=False,
                              env=ENVIRONMENT, cwd=self.folder, **more)

    def said(self, *words, **more):
        done = self.run_program(*words, **more)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def refused(self, *words):
        done = self.run_program(*words)
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1)
        return done.stderr

    def record(self):
        record = self.folder / "run.json"
        if not record.exists():
            self.said("judge", LOG, *H100, "-J", record)
        return record

    def test_its_page_is_that_of_the_preset(self):
        price = ("--price", "2.50", "--hours", "3", "--currency", "EUR")
        page = self.said("lab01", self.record(), *price)
        self.assertIn("16 GPUs × 2.50 EUR = 40.00 EUR per hour; 3 hours: 120.00 EUR.", page)
        self.assertEqual(self.said("report", self.record(), "--preset", "lab01", *price), page)
        self.assertEqual(self.said("lab01", LOG, *H100, *price), page)
        self.said("lab01", self.record(), "-o", "page.html")
        self.said("report", self.record(), "--preset", "lab01", "-o", "page.md", "--html", "other.html")
        self.assertEqual((self.folder / "page.html").read_text(), (self.folder / "other.html").read_text())
        machine = ("--topology", "hgx-h100", "--nodes", 3, "--ranks-per-node", 4, "--transport", "roce", "--algo", "ring",
                   "--nccl-version", "2.28.9", "--fabric", "fat-tree,leaf=2,oversubscription=2")
        page = self.said("predict", *machine, "--preset", "lab01")
        self.assertIn("3 nodes × 4 H100 SXM (12 ranks)", page)
        self.assertEqual(self.said("lab01", *machine), page)

    def test_a_machine_on_stdin(self):
        machine = self.said("topo", "save", "hgx-h100", "-o", "-")
        (self.folder / "machine.json").write_text(machine)
        for words in (("report", self.record()), ("predict", "--nodes", 2)):
            page = self.said(*words, "--topology", "-", "--preset", "lab01", input=machine)
            self.assertIn("| NVLink of one GPU, line rate | 18 links × 25 GB/s | 450.00 |", page)
            self.assertEqual(self.said(*words, "--topology", "machine.json", "--preset", "lab01").replace("machine.json", "-"), page)

    def test_what_it_refuses_is_what_the_command_says(self):
        record = json.loads(self.record().read_text())
        record["rows"] = [{**row, "operation": "all_gather"} for row in record["rows"]]
        other = self.folder / "other.json"
        other.write_text(json.dumps(record))
        for words in (("lab01", other), ("report", other, "--preset", "lab01")):
            self.assertEqual(self.refused(*words), "collbench: lab01: the page is about AllReduce, and the run has no AllReduce row; "
                                                   "give a run with AllReduce\n")
        for words in (("lab01", self.record(), "--topology", "hgx-h10"), ("report", self.record(), "--preset", "lab01", "--topology", "hgx-h10")):
            self.assertIn("collbench: hgx-h10: ", self.refused(*words))
        self.assertIn("neither a run nor a machine", self.refused("lab01"))
        self.assertIn("itself says how many nodes", self.refused("lab01", self.record(), "--nodes", 2))
        self.assertIn("is Markdown", self.refused("lab01", *H100, "--nodes", 2, "-o", "x.html"))

    def test_of_a_run(self):
        words = ("mpirun", "--oversubscribe", "-np", "2", PROGRAM, "--preset", "lab01", "--backend", "mpi", "--sizes", "1MB", "--passes", "1",
                 "--time", "3", "-J", "now.json")
        done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=120, check=False, env=ENVIRONMENT,
                              cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("# Lab 01: AllReduce, expected and measured\n", done.stdout)
        self.assertEqual(self.said("report", "now.json", "--preset", "lab01"), done.stdout)

    def copy_without_it(self):
        for name in (PROGRAM.name, *(path.name for path in PROGRAM.parent.glob("libcollbench*"))):
            shutil.copy(PROGRAM.parent / name, self.folder)
        return self.folder / PROGRAM.name

    def test_one_that_fails_costs_the_page_alone(self):
        copy = self.copy_without_it()
        tool = self.folder / "collbench-lab01"
        tool.write_text("#!/bin/sh\n[ \"$1\" = --version ] || kill -9 $$\n")
        tool.chmod(0o755)
        killed = "collbench: collbench lab01: (rank 0 on .*: )?killed by signal 9"
        done = self.run_program("report", self.record(), "--preset", "lab01", program=copy)
        self.assertEqual((done.returncode, done.stdout), (5, ""))
        self.assertRegex(done.stderr, killed)
        done = self.run_program("-g", 2, "--preset", "lab01", "--backend", "mpi", "--sizes", "1MB", "--passes", 1, "--time", 3, program=copy)
        self.assertEqual(done.returncode, 5, done.stderr)
        self.assertRegex(done.stderr, killed)
        self.assertRegex(done.stdout, r"(?m)^# AllReduce", "what was measured is shown, where nothing else has it")
        tool.write_text("#!/bin/sh\necho \"$0: symbol lookup error: no such thing\" >&2\nexit 127\n")
        done = self.run_program("-g", 2, "--preset", "lab01", "--backend", "mpi", program=copy)
        self.assertEqual((done.returncode, done.stdout), (5, ""))
        self.assertIn(f"does not start: exit status 127: {tool}: symbol lookup error: no such thing;", done.stderr)

    def test_without_it_nothing_is_begun(self):
        copy = self.copy_without_it()
        missing = (f"collbench lab01 is a program of its own, {self.folder}/collbench-lab01, which cannot be started: No such file or "
                   "directory; install it beside collbench; in a source tree scripts/build release tools makes it\n")
        for words in (("report", self.record()), ("judge", LOG, *H100), ("predict", *H100, "--nodes", 2), ("-g", 2, "--time", 100)):
            done = self.run_program(*words, "--preset", "lab01", "-J", "new.json", program=copy)
            self.assertEqual((done.returncode, done.stdout), (5, ""), done.stderr)
            self.assertIn(missing, done.stderr)
            self.assertFalse((self.folder / "new.json").exists())


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
