#!/usr/bin/env python3
"""Who is late: a rank that is 50 us late and a link at half its rate are named, a healthy rank never.

Usage: late_test.py PROGRAM FAULTY_MPI_LIBRARY FOLDER_OF_STAND_INS [unittest arguments]; COLLBENCH_TRIALS: of each kind (1)
The stand-ins are those of nccl_test.py: what is looked at is the hosts' part of a run on GPUs. The hosts are a fabric
(scripts/fabric), which needs root; without, those tests are skipped. Nobody can see 50 us in ranks that take turns with other
programs: a run beside other work is not judged, and a machine that is never quiet skips.
"""

import json
import os
import pathlib
import subprocess
import sys
import unittest

from real_ranks import Scratch, calibration_of, mpirun, on_quiet_machine, physical_cores, run

PROGRAM = pathlib.Path(sys.argv[1]).resolve()
FAULTY_MPI = pathlib.Path(sys.argv[2]).resolve()
STAND_INS = {f"COLLBENCH_{part}": str(pathlib.Path(sys.argv[3]).resolve() / f"libstand_in_{library}.so")
             for part, library in (("NCCL", "nccl_22809"), ("CUDART", "cudart"), ("KERNELS", "kernels"))}
FABRIC = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "fabric"
TRIALS = int(os.environ.get("COLLBENCH_TRIALS", "1"))
CORES = physical_cores()
MOST = min(len(CORES), 4)
ROWS = ["--ops", "all_reduce", "--sizes", "8,64K", "--passes", "3", "-n", "20"]


def fabric(*words, check=True):
    name = f"late-{os.getpid()}"
    return subprocess.run([str(FABRIC), "--name", name, *map(str, words)], capture_output=True, text=True, timeout=100,
                          stdin=subprocess.DEVNULL, check=check)


def named(record):
    return [(finding["code"], finding["ranks"]) for finding in record["rank_probe"]["findings"]]


def faulty(rank, where):
    return {"LD_PRELOAD": str(FAULTY_MPI), "FAULTY_MPI_LATE": str(rank), "FAULTY_MPI_WHERE": where}


@unittest.skipIf(MOST < 2, "two ranks need two cores")
class LateRank(Scratch):
    def look_once(self, ranks, environment, *options):
        path = self.folder / "run.json"
        result = run(*mpirun(ranks, PROGRAM, *ROWS, *options, "-J", path, "--overwrite"), environment=environment)
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(path.read_text()), result.stdout

    def look(self, ranks, environment=None, *options):
        return on_quiet_machine(self, len(CORES) - ranks, lambda: self.look_once(ranks, environment, *options))

    def test_late_between_calls(self):
        for trial in range(TRIALS):
            ranks = 2 + trial % (MOST - 1)
            late = (ranks - 1 - trial) % ranks  # of a single trial not the root
            record, output = self.look(ranks, faulty(late, "between"))
            self.assertEqual(named(record), [("late rank", [late])], record["rank_probe"])
            self.assertIn(f"warning: rank {late} on", output)
            self.assertGreater(record["rank_probe"]["findings"][0]["seconds"], 40e-6)

    def test_nobody_is_named_when_all_are_well(self):
        for trial in range(TRIALS):
            record, output = self.look(2 + trial % (MOST - 1))
            self.assertEqual(named(record), [], record["rank_probe"])
            self.assertIn("no rank is significantly late", output)

    def test_slow_inside_messages(self):
        """Needs three: of two ranks messages tell neither."""
        if MOST < 3:
            self.skipTest("three ranks need three cores; OnHosts has them on two")
        for trial in range(TRIALS):
            ranks = 3 + trial % (MOST - 2)
            late = (ranks - 1 - trial) % ranks  # of a single trial not the root
            record, _ = self.look(ranks, faulty(late, "message"))
            self.assertEqual(named(record), [("late rank", [late])], record["rank_probe"])

    def test_a_ranks_host_on_gpus(self):
        record, output = self.look(2, {**STAND_INS, **faulty(1, "between")}, "--backend", "nccl")
        self.assertEqual(named(record), [("late rank", [1])], record["rank_probe"])
        self.assertIn("this is its host's delay", " ".join(output.split()))
        record, output = self.look(2, STAND_INS, "--backend", "nccl")
        self.assertEqual(named(record), [], record["rank_probe"])
        self.assertIn("no rank is significantly late", output)


@unittest.skipIf(MOST < 2, "two ranks need two cores")
class SharedCores(Scratch):
    """What needs no quiet machine."""

    def test_a_core_that_another_program_takes(self):
        """Another program on the second rank's core, which is half of it at most: other work may add to that."""
        path = self.folder / "run.json"
        hog = subprocess.Popen(["taskset", "--cpu-list", str(CORES[1]), "sh", "-c", "while :; do :; done"])
        self.addCleanup(hog.wait)
        self.addCleanup(hog.kill)
        result = run(*mpirun(2, PROGRAM, *ROWS, "--time", "8", "-J", path))
        self.assertEqual(result.returncode, 0, result.stderr)
        for row in json.loads(path.read_text())["rows"]:
            self.assertGreater(max(row["rank_times"]["core_wait_share"]), 0.2)
        self.assertRegex(" ".join(result.stdout.split()), r"warning: rank \d \(\S+\) was ready to run and had no core for \d+ % of the time")

    def test_ranks_that_share_a_core_are_not_looked_at(self):
        path = self.folder / "run.json"
        result = run("taskset", "--cpu-list", CORES[0], *mpirun(2, PROGRAM, *ROWS, "--time", "8", "-J", path),
                     environment=faulty(1, "between"))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIsNone(json.loads(path.read_text())["rank_probe"])
        self.assertIn("warning: stragglers not probed: ranks share cores", " ".join(result.stdout.split()))


class OnHosts(Scratch):
    """One rank on each, so that there are links to look at. The program takes each host's core for its own; of three hosts on
    two cores the first and the last share one."""
    def hosts(self, count):
        if os.geteuid() != 0:
            self.skipTest("a fabric needs root")
        fabric("down", check=False)
        fabric("up", count, "--rate", "1gbit", "--ranks-per-host", 1)
        self.addCleanup(fabric, "down", check=False)

    def look_once(self, count, options):
        """The first run calibrates, which takes 5 s over these links; the next ones take its calibration."""
        path, first = self.folder / "run.json", self.folder / "first.json"
        result = fabric("run", "-np", count, *options, "--", PROGRAM, *ROWS, "--time", "20", *calibration_of(first), "-J", path,
                        "--overwrite", check=False)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        record = json.loads(path.read_text())
        if not first.exists():
            path.rename(first)
        return record

    def look(self, count, options=()):
        return named(on_quiet_machine(self, 0, lambda: self.look_once(count, options)))  # hosts are pinned to cores

    def test_slow_inside_messages(self):
        """Needs three: of two ranks messages tell neither."""
        self.hosts(3)
        for trial in range(max(TRIALS, 3)):  # each of the three at least once
            late = trial % 3
            options = [word for name, value in faulty(late, "message").items() for word in ("-x", f"{name}={value}")]
            # Two of the three share a core, which hides a late rank now and then: nobody is named then, never another one.
            looks = (self.look(3, options) for _ in range(3))
            self.assertEqual(next((found for found in looks if found), []), [("late rank", [late])])

    def check_link(self, count, slow, finding):
        self.hosts(count)
        fabric("rate", f"host{slow}", "500mbit")
        for _ in range(TRIALS):
            self.assertEqual(self.look(count), [finding])
        fabric("heal")
        for _ in range(TRIALS):
            self.assertEqual(self.look(count), [])

    def test_one_direction_of_two(self):
        self.check_link(2, 1, ("slow link", [1, 0]))

    def test_the_link_of_one_of_three(self):
        self.check_link(3, 2, ("slow sender", [2]))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]], verbosity=2)
