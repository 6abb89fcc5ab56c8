#!/usr/bin/env python3
"""Who is late: a rank that is 50 us late and a link at half its rate are named, a healthy rank never.

Usage: late_test.py PROGRAM FAULTY_MPI_LIBRARY FOLDER_OF_STAND_INS [unittest arguments]; COLLBENCH_TRIALS: of each kind (5)
The stand-ins are those of nccl_test.py: what is looked at is the hosts' part of a run on GPUs. The hosts are a fabric
(scripts/fabric), which needs root; without, those tests are skipped. Nobody can see 50 us in ranks that take turns with other
programs: a run beside other work is not looked at, and a machine that is never quiet skips.
"""

import json
import os
import pathlib
import resource
import subprocess
import sys
import time
import unittest

from real_ranks import Scratch, mpirun, run

PROGRAM = pathlib.Path(sys.argv[1]).resolve()
FAULTY_MPI = pathlib.Path(sys.argv[2]).resolve()
STAND_INS = {f"COLLBENCH_{part}": str(pathlib.Path(sys.argv[3]).resolve() / f"libstand_in_{library}.so")
             for part, library in (("NCCL", "nccl_22809"), ("CUDART", "cudart"), ("KERNELS", "kernels"))}
FABRIC = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "fabric"
TRIALS = int(os.environ.get("COLLBENCH_TRIALS", "5"))
CORES = len(os.sched_getaffinity(0))
ROWS = ["--ops", "all_reduce", "--sizes", "8,64K", "--passes", "3", "-n", "20"]


def fabric(*words, check=True):
    name = f"late-{os.getpid()}"
    return subprocess.run([str(FABRIC), "--name", name, *map(str, words)], capture_output=True, text=True, timeout=100,
                          stdin=subprocess.DEVNULL, check=check)


def others_seconds():
    """CPU time of all processes but those that were started here and have ended."""
    user, nice, system, _, _, irq, softirq = map(int, pathlib.Path("/proc/stat").read_text().split()[1:8])
    ours = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (user + nice + system + irq + softirq) / os.sysconf("SC_CLK_TCK") - ours.ru_utime - ours.ru_stime


def on_quiet_machine(test, look):
    """What `look` returns when no other work took a core for a tenth of the time."""
    for _ in range(10):
        others, start = others_seconds(), time.monotonic()
        seen = look()
        if others_seconds() - others < 0.1 * (time.monotonic() - start):
            return seen
    return test.skipTest("other processes keep this machine busy")


def named(record):
    return [(finding["code"], finding["ranks"]) for finding in record["rank_probe"]["findings"]]


def faulty(rank, where):
    return {"LD_PRELOAD": str(FAULTY_MPI), "FAULTY_MPI_LATE": str(rank), "FAULTY_MPI_WHERE": where}


class LateRank(Scratch):
    def look_once(self, ranks, environment, *options):
        path = self.folder / "run.json"
        result = run(*mpirun(ranks, PROGRAM, *ROWS, *options, "-J", path, "--overwrite"), environment=environment)
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(path.read_text()), result.stdout

    def look(self, ranks, environment=None, *options):
        return on_quiet_machine(self, lambda: self.look_once(ranks, environment, *options))

    def test_late_between_calls(self):
        for trial in range(TRIALS):
            ranks = 2 + trial % (min(CORES, 4) - 1)
            late = trial % ranks
            record, output = self.look(ranks, faulty(late, "between"))
            self.assertEqual(named(record), [("late rank", [late])], record["rank_probe"])
            self.assertIn(f"warning: rank {late} on", output)
            self.assertGreater(record["rank_probe"]["findings"][0]["seconds"], 40e-6)

    def test_nobody_is_named_when_all_are_well(self):
        for trial in range(TRIALS):
            record, output = self.look(2 + trial % (min(CORES, 4) - 1))
            self.assertEqual(named(record), [], record["rank_probe"])
            self.assertIn("none is late", output)

    def test_ranks_that_take_turns_on_a_core_are_not_looked_at(self):
        record, output = self.look_once(CORES + 1, faulty(1, "between"))
        self.assertIsNone(record["rank_probe"])
        self.assertIn("who is late was not looked for, since they take turns on the cores", output)

    def test_a_ranks_host_on_gpus(self):
        record, output = self.look(2, {**STAND_INS, **faulty(1, "between")}, "--backend", "nccl")
        self.assertEqual(named(record), [("late rank", [1])], record["rank_probe"])
        self.assertIn("that is its host's part", " ".join(output.split()))
        record, output = self.look(2, STAND_INS, "--backend", "nccl")
        self.assertEqual(named(record), [], record["rank_probe"])
        self.assertIn("none is late beyond chance", output)


class OnHosts(Scratch):
    """One rank on each: links between them can be looked at, and ranks are not held up by each other's core alone."""
    def hosts(self, count):
        if os.geteuid() != 0:
            self.skipTest("a fabric needs root")
        fabric("down", check=False)
        fabric("up", count, "--rate", "1gbit", "--ranks-per-host", 1)
        self.addCleanup(fabric, "down", check=False)

    def look_once(self, count, options):
        path = self.folder / "run.json"
        result = fabric("run", "-np", count, *options, "--", PROGRAM, *ROWS, "--time", "20", "-J", path, "--overwrite",
                        check=False)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        return json.loads(path.read_text())

    def look(self, count, options=()):
        return named(on_quiet_machine(self, lambda: self.look_once(count, options)))

    def test_slow_inside_messages(self):
        """Needs three: of two ranks messages tell neither."""
        self.hosts(3)
        for trial in range(TRIALS):
            late = trial % 3
            options = [word for name, value in faulty(late, "message").items() for word in ("-x", f"{name}={value}")]
            self.assertEqual(self.look(3, options), [("late rank", [late])])

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
