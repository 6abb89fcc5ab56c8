#!/usr/bin/env python3
"""A real libnccl's host code over the simulated GPU host: what it finds, searches and chooses on a machine without a GPU.
Nothing here is said of a real GPU.

Usage: real_nccl_test.py NCCL_RANKS SIMULATED_GPU_LIBRARY [unittest arguments]

The library is that of real_nccl.library(); without any, the test is skipped, saying so.
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from real_nccl import LIBRARY, node, skip_without_library

RANKS, SIMULATED_GPU = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])


class Machine(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def file(self, text, name="machine.xml"):
        path = self.folder / name
        path.write_text(text)
        return str(path)

    def ranks(self, machines, hosts, per_host, *sizes, library=LIBRARY, environment=None, subsystems="INIT,GRAPH,TUNING,ENV"):
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("NCCL_", "CUDA_", "COLLBENCH_"))}
        debug = {"NCCL_DEBUG": "INFO", "NCCL_DEBUG_SUBSYS": subsystems}
        return subprocess.run([str(RANKS), str(SIMULATED_GPU), str(library), machines, str(hosts), str(per_host), *map(str, sizes)],
                              env={**kept, **debug, **(environment or {})}, capture_output=True, text=True, timeout=280, check=False)


class Search(Machine):
    """NCCL's own search and tuning."""

    def test_one_node(self):
        result = self.ranks(self.file(node(4)), 1, 4, 1 << 20)
        self.assertEqual(result.returncode, 0, result.stdout[-3000:] + result.stderr)
        self.assertNotIn("is not simulated", result.stderr)
        self.assertIn("NVL/PIX", result.stdout)

    def test_two_hosts_reach_each_other_by_their_nics(self):
        result = self.ranks(self.file(node(2)), 2, 2, 1 << 20)
        self.assertEqual(result.returncode, 0, result.stdout[-3000:] + result.stderr)
        networks = {line.split("via ")[1].split("/")[1] for line in result.stdout.splitlines() if "via NET/" in line}
        self.assertEqual(networks, {"SIM"})

    def test_a_slower_host_is_known_to_all(self):
        """What rank 0 expects of a ring depends on the NICs of the other host."""
        expected = []
        for speed in (400000, 100000):
            machines = self.file(node(2), "a.xml") + "," + self.file(node(2, nic_speed=speed), "b.xml")
            result = self.ranks(machines, 2, 2)
            self.assertEqual(result.returncode, 0, result.stdout[-3000:] + result.stderr)
            expected.append([line.split("INFO")[1] for line in result.stdout.splitlines() if "AllReduce |" in line])
        self.assertTrue(expected[0])
        self.assertNotEqual(expected[0], expected[1])


class Communicators(Machine):
    def test_two_at_once_and_their_abort(self):
        """Both in one group; one aborted while the other is used, the other while a graph holds a call on it, for which NCCL
        waits: so a graph has to be destroyed before its communicator is aborted."""
        result = self.ranks(self.file(node(2)), 1, 2, "two-communicators")
        self.assertEqual(result.returncode, 0, result.stdout[-3000:] + result.stderr)
        self.assertIn("abort waits for its graph", result.stdout)


class Refusals(Machine):
    def refused(self, words, library, machine=None, status=5):
        result = self.ranks(machine or self.file(node(2)), 1, 2, library=library)
        self.assertEqual(result.returncode, status, result.stdout + result.stderr)
        lines = [line for line in result.stderr.splitlines() if line.startswith("collbench:")]
        self.assertIn(words, lines[0] if lines else "")

    def test_a_file_that_is_not_there(self):
        self.refused("/none.so", "/none.so")

    def test_another_library(self):
        self.refused("is no libnccl", "libm.so.6")

    def test_a_stripped_library(self):
        stripped = self.folder / "libnccl.so.2"
        subprocess.run(["strip", "--strip-all", "-o", str(stripped), str(LIBRARY)], check=True)
        self.refused("was stripped", stripped)

    def test_a_machine_without_gpus(self):
        result = self.ranks(self.file('<system version="1"><cpu numaid="0"/></system>'), 1, 2)
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn("there is no GPU to simulate", result.stderr)


if __name__ == "__main__":
    skip_without_library()
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
