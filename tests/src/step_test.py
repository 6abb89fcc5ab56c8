#!/usr/bin/env python3
"""A training step with real ranks: who has twice the arithmetic is slow in compute, who sleeps before its compute is late,
and nobody else is named.

Usage: step_test.py PROGRAM FAULTY_MPI_LIBRARY BURDENED_BLAS [unittest arguments]
"""

import csv
import json
import pathlib
import sys
import unittest

from real_ranks import Scratch, mpirun, on_quiet_machine, one_of, physical_cores, run, unwrapped

PROGRAM = pathlib.Path(sys.argv[1]).resolve()
FAULTY_MPI = pathlib.Path(sys.argv[2]).resolve()
BLAS = {"COLLBENCH_BLAS": str(pathlib.Path(sys.argv[3]).resolve())}
CORES = physical_cores()
STEP = ["--ops", "step", "--sizes", "64K", "--step-matrix", "128", "-n", "8"]  # of 8 passes


def named(record):
    return [(finding["cause"], finding["ranks"]) for finding in record["rows"][0]["step"]["findings"]]


class Steps(Scratch):
    def step(self, ranks, environment=None, *options):
        path = self.folder / "run.json"
        result = run(*mpirun(ranks, PROGRAM, *STEP, *options, "-J", path, "--overwrite"), environment={**BLAS, **(environment or {})})
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(path.read_text()), unwrapped(result.stdout)

    def needs_two_cores(self):
        if len(CORES) < 2:
            self.skipTest("two ranks need two cores")

    def test_twice_the_arithmetic_is_slow_in_compute(self):
        self.needs_two_cores()
        for rank in (0, 1):
            burdened = {"BURDENED_RANK": str(rank)}
            record, output = one_of(8, lambda: self.step(2, burdened, "--csv", self.folder / "rows.csv"),
                                    lambda seen: ("slow in compute", [rank]) in named(seen[0]))
            # Other work on the other rank's core may be named beside it.
            self.assertIn(("slow in compute", [rank]), named(record), record["rows"][0]["step"])
            self.assertRegex(output, rf"warning: Step 64 KiB float sum.*: rank {rank} on \S+ is slow in compute: .* against .* of the "
                             r"other rank")
            row = next(csv.DictReader((self.folder / "rows.csv").read_text().splitlines()))
            self.assertEqual((row["step_verdict"], row["bus_bandwidth_gb_per_s"]), ("named", ""))
            self.assertIn(f"rank {rank}", row["step_findings"])
            self.assertGreater(float(row["step_compute_seconds"]), 0)
            (self.folder / "rows.csv").unlink()

    def test_a_pause_before_the_compute_is_late_for_another_reason(self):
        self.needs_two_cores()
        for rank in (0, 1):
            late = {"LD_PRELOAD": str(FAULTY_MPI), "FAULTY_MPI_LATE": str(rank), "FAULTY_MPI_WHERE": "step",
                    "FAULTY_MPI_SECONDS": "3e-3"}
            record, output = self.step(2, late)
            self.assertIn(("late", [rank]), named(record), record["rows"][0]["step"])
            self.assertGreater(record["rows"][0]["step"]["findings"][0]["seconds"], 2e-3)
            self.assertIn(f"rank {rank} on", output)
            self.assertIn("is late, and neither in compute nor in communication", output)

    def test_nobody_is_named_when_all_are_well(self):
        self.needs_two_cores()
        record, output = one_of(8, lambda: on_quiet_machine(self, len(CORES) - 2, lambda: self.step(2)),
                                lambda seen: not named(seen[0]))
        self.assertEqual(named(record), [], record["rows"][0]["step"])
        self.assertNotIn("warning: Step", output)
        times = record["rows"][0]["rank_times"]
        for compute, between, inside in zip(times["compute_seconds"], times["between_seconds"], times["inside_seconds"], strict=True):
            self.assertGreater(compute, 0)
            self.assertGreater(inside, 0)
            self.assertLess(between, compute)
        self.assertEqual(record["rows"][0]["wrong_elements"], 0)

    def test_who_cannot_be_judged(self):
        record, output = self.step(1)
        self.assertEqual(record["rows"][0]["step"]["verdict"], "too few to say")
        self.assertIn("one rank waits for nobody", output)
        record, _ = self.step(2, None, "--passes", "3")
        self.assertEqual(record["rows"][0]["step"]["verdict"], "too few to say")
        path = self.folder / "shared.json"
        result = run("taskset", "--cpu-list", CORES[0], *mpirun(2, PROGRAM, *STEP, "-J", path), environment=BLAS)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(json.loads(path.read_text())["rows"][0]["step"]["verdict"], "not judged")
        self.assertIn("not judged: ranks share cores", unwrapped(result.stdout))

    def test_bad_input(self):
        for options, says in ((["--step-matrix", "8"], "--step-matrix"), (["--step-matrix", "big"], "--step-matrix")):
            result = run(PROGRAM, "--ops", "step", *options)
            self.assertEqual(result.returncode, 2, result.stderr)
            self.assertIn(says, result.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]], verbosity=2)
