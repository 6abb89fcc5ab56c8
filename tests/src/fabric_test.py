#!/usr/bin/env python3
"""The program on several hosts: network namespaces of this machine, joined by links of a known rate (scripts/fabric).

Usage: fabric_test.py PROGRAM [unittest arguments]      (needs root; exit 77: skipped)
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from real_ranks import calibration_fits

PROGRAM = pathlib.Path(sys.argv[1]).resolve()
FABRIC = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "fabric"
NAME = f"test-{os.getpid()}"
QUICK = ["--passes", "1", "-n", "3", "-w", "0", "--time", "4", "-T", "30"]
GIGABIT = 0.125e9  # bytes per second


def fabric(*words, check=True):
    """What does not end shows what it said until then, and which of its processes were there."""
    command = [str(FABRIC), "--name", NAME, *map(str, words)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True) as run:
        try:
            output, errors = run.communicate(timeout=100)
        except subprocess.TimeoutExpired:
            there = subprocess.run(["ps", "-eo", "pid,ppid,stat,wchan:20,time,args"], capture_output=True, text=True, check=False)
            run.kill()
            try:
                output, errors = run.communicate(timeout=10)
            except subprocess.TimeoutExpired:
                output, errors = "", "(something still holds its output)\n"
            raise AssertionError(f"{command} does not end\n{output}{errors}{there.stdout}") from None
    if check and run.returncode != 0:
        raise AssertionError(f"{command}: {run.returncode}\n{output}{errors}")
    return subprocess.CompletedProcess(command, run.returncode, output, errors)


class OnFabric(unittest.TestCase):
    hosts = 2
    ranks_per_host = 2

    @classmethod
    def setUpClass(cls):
        cls.addClassCleanup(fabric, "down", check=False)
        fabric("up", cls.hosts, "--rate", "1gbit", "--ranks-per-host", cls.ranks_per_host)

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name) / "run.json"

    def command(self, *arguments):
        return ["run", "-np", self.hosts * self.ranks_per_host, "--", PROGRAM, *arguments, "-J", self.path]

    def record(self, *arguments):
        result = fabric(*self.command(*QUICK, *arguments), check=False)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        made = json.loads(self.path.read_text())
        for row in made["rows"]:
            self.assertEqual(row["wrong_elements"], 0, row)
        return made

    def took_at_least(self, made, kind, seconds):
        """The calibration's time of 1 MiB, where a busy machine came that far in a quarter of --time."""
        points = [point["seconds"] for point in made["calibration"]["points"]
                  if point["kind"] == kind and point["size_bytes"] == 1 << 20]
        if not points:
            self.assertRegex(" ".join(made["place_notes"]), "calibrated at|the calibration cannot be used")
        for point in points:
            self.assertGreater(point, seconds)


class TwoHosts(OnFabric):
    def test_two_tiers_are_found(self):
        made = self.record("--ops", "all_reduce,all_gather", "--sizes", "1K,1M")
        self.assertEqual([(rank["host"], rank["node"], rank["local_rank"]) for rank in made["ranks"]],
                         [("host0", 0, 0), ("host0", 0, 1), ("host1", 1, 0), ("host1", 1, 1)])
        self.assertEqual(len(made["cores_per_node"]), 2)
        # No noise lets a link carry more than its rate, but for the bucket of 1 ms; two ranks of a host share it.
        mebibyte = 1 << 20
        self.took_at_least(made, "send_recv_inter", 0.8 * mebibyte / GIGABIT)
        self.took_at_least(made, "send_recv_inter_all", 0.9 * 2 * mebibyte / GIGABIT)
        self.assertIn("send_recv_intra", {point["kind"] for point in made["calibration"]["points"]})
        if not calibration_fits(self, made):
            return
        for tier in ("intra", "inter"):
            self.assertGreaterEqual(made["calibration"][tier]["alpha_seconds"], 0)
        for row in made["rows"]:
            self.assertGreater(row["ring_seconds"], 0)
            self.assertGreater(row["expected_seconds"], 0)


class SlowLink(OnFabric):
    def test_a_slow_direction_slows_the_calibrated_link(self):
        fabric("rate", "host1", "100mbit")
        self.addCleanup(fabric, "heal")
        made = self.record("--ops", "send_recv", "--sizes", "1K")
        self.took_at_least(made, "send_recv_inter", 0.9 * 10 * (1 << 20) / GIGABIT)


class ThreeHosts(OnFabric):
    hosts = 3
    ranks_per_host = 1

    def test_one_rank_on_each(self):
        made = self.record("--ops", "all_reduce", "--sizes", "64K")
        self.assertEqual([rank["host"] for rank in made["ranks"]], ["host0", "host1", "host2"])
        self.assertIsNone(made["calibration"]["intra"])
        if calibration_fits(self, made):
            self.assertGreater(made["calibration"]["inter"]["bytes_per_second"], 0)


if __name__ == "__main__":
    probe = fabric("up", 2, check=False)
    if probe.returncode == 5:
        print(f"SKIPPED: {probe.stderr.strip()}")
        sys.exit(77)
    fabric("down")
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
