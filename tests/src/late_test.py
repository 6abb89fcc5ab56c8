#!/usr/bin/env python3
"""Who is late: a rank that is 50 us late and a link at half its rate are named, a healthy rank never.

Usage: late_test.py PROGRAM FAULTY_MPI_LIBRARY FOLDER_OF_STAND_INS [unittest arguments]; COLLBENCH_TRIALS: of each kind (5)
The stand-ins are those of nccl_test.py: what is looked at is the hosts' part of a run on GPUs. The hosts are a fabric (scripts/fabric), which needs root; without, those tests are skipped. Nobody can see 50 us in ranks
that take turns with other programs: a run that says so is not looked at, and one on a machine that is never quiet skips.
"""

import json
import os
import pathlib
import subprocess
import sys
import unittest

from real_ranks import Scratch, mpirun, run

PROGRAM = pathlib.Path(sys.argv[1]).resolve()
FAULTY_MPI = pathlib.Path(sys.argv[2]).resolve()
STAND_INS = {f"COLLBENCH_{part}": str(pathlib.Path(sys.argv[3]).resolve() / f"libstand_in_{library}.so")
             for part, library in (("NCCL", "nccl_22809"), ("CUDART", "cudart"), ("KERNELS", "kernels"))}
FABRIC = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "fabric"
TRIALS = int(os.environ.get("COLLBENCH_TRIALS", "5"))
ROWS = ["--ops", "all_reduce", "--sizes", "8,64K", "--passes", "3", "-n", "20"]


def fabric(*words, check=True):
    name = f"late-{os.getpid()}"
    return subprocess.run([str(FABRIC), "--name", name, *map(str, words)], capture_output=True, text=True, timeout=100,
                          stdin=subprocess.DEVNULL, check=check)


def on_quiet_machine(test, look):
    """What `look` returns (a record first) when no other work kept the ranks from their cores."""
    for _ in range(10):
        seen = look()
        if not any("other processes" in note for note in seen[0]["load_notes"]):
            return seen
    return test.skipTest("other processes keep this machine busy")


def named(record):
    return [(finding["code"], finding["ranks"]) for finding in record["rank_probe"]["findings"]]


class LateRank(Scratch):
    def look_once(self, ranks, environment, *options):
        path = self.folder / "run.json"
        result = run(*mpirun(ranks, PROGRAM, *ROWS, *options, "-J", path, "--overwrite"), environment=environment)
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(path.read_text()), result.stdout

    def look(self, ranks, environment=None, *options):
        return on_quiet_machine(self, lambda: self.look_once(ranks, environment, *options))

    def faulty(self, rank, where):
        return {"LD_PRELOAD": str(FAULTY_MPI), "FAULTY_MPI_LATE": str(rank), "FAULTY_MPI_WHERE": where}

    def test_late_between_calls(self):
        for trial in range(TRIALS):
            ranks = 2 + trial % 3
            late = trial % ranks
            record, output = self.look(ranks, self.faulty(late, "between"))
            self.assertEqual(named(record), [("late rank", [late])], record["rank_probe"])
            self.assertIn(f"warning: rank {late} on", output)
            if ranks == 2:  # more than the cores of a small machine wait for each other, too
                self.assertGreater(record["rank_probe"]["findings"][0]["seconds"], 40e-6)

    def test_slow_inside_messages(self):
        for trial in range(TRIALS):
            ranks = 3 + trial % 2
            late = trial % ranks
            record, _ = self.look(ranks, self.faulty(late, "message"))
            self.assertIn(("late rank", [late]), named(record), record["rank_probe"])
            self.assertEqual(len(named(record)), 1, record["rank_probe"])

    def test_nobody_is_named_when_all_are_well(self):
        for trial in range(TRIALS):
            record, output = self.look(2 + trial % 3)
            self.assertEqual(named(record), [], record["rank_probe"])
            self.assertIn("none is late", output)

    def test_a_ranks_host_on_gpus(self):
        record, output = self.look(2, {**STAND_INS, **self.faulty(1, "between")}, "--backend", "nccl")
        self.assertEqual(named(record), [("late rank", [1])], record["rank_probe"])
        self.assertIn("that is its host's part", " ".join(output.split()))
        record, output = self.look(2, STAND_INS, "--backend", "nccl")
        self.assertEqual(named(record), [], record["rank_probe"])
        self.assertIn("none is late beyond chance", output)


class SlowLink(Scratch):
    def hosts(self, count):
        if os.geteuid() != 0:
            self.skipTest("a fabric needs root")
        fabric("down", check=False)
        fabric("up", count, "--rate", "1gbit", "--ranks-per-host", 1)
        self.addCleanup(fabric, "down", check=False)

    def look_once(self, count):
        path = self.folder / "run.json"
        result = fabric("run", "-np", count, "--", PROGRAM, *ROWS, "--time", "20", "-J", path, "--overwrite", check=False)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        return (json.loads(path.read_text()),)

    def look(self, count):
        return named(on_quiet_machine(self, lambda: self.look_once(count))[0])

    def check(self, count, slow, finding):
        self.hosts(count)
        fabric("rate", f"host{slow}", "500mbit")
        for _ in range(TRIALS):
            self.assertEqual(self.look(count), [finding])
        fabric("heal")
        for _ in range(TRIALS):
            self.assertEqual(self.look(count), [])

    def test_one_direction_of_two(self):
        self.check(2, 1, ("slow link", [1, 0]))

    def test_the_link_of_one_of_three(self):
        self.check(3, 2, ("slow sender", [2]))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]], verbosity=2)
