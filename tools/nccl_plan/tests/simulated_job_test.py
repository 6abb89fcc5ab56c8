#!/usr/bin/env python3
"""`collbench nccl-plan run`: the main job over simulated GPUs, started as a new user would, and what is said of its times.

Usage: simulated_job_test.py COLLBENCH [unittest arguments]

The libnccl is that of tools/nccl_plan/tests/simulated_gpu/real_nccl.py; without any, all is skipped, saying so.
"""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tarfile
import tempfile
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).parent / "simulated_gpu"), str(pathlib.Path(__file__).parents[3] / "tests/src")]

from real_nccl import LIBRARY, node, skip_without_library, version
from real_ranks import descendants, wait_until

COLLBENCH = pathlib.Path(sys.argv[1]).resolve()
SMALL = ["--ops", "all_reduce", "--sizes", "4K", "--passes", "1", "-n", "1"]
MARK = "# SIMULATED GPUs: "


def runs(process):
    """Not one that has ended and waits to be reaped."""
    try:
        return bool(pathlib.Path(f"/proc/{process}/cmdline").read_bytes())
    except (FileNotFoundError, ProcessLookupError):
        return False


class SimulatedJob(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.temporary = self.folder / "tmp"
        self.temporary.mkdir()
        self.record = self.folder / "run.json"
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("NCCL_", "CUDA_", "COLLBENCH_"))}
        self.environment = {**kept, "TMPDIR": str(self.temporary)}

    def collbench(self, *words):
        return subprocess.run([str(COLLBENCH), *map(str, words)], env=self.environment, capture_output=True, text=True, timeout=200,
                              stdin=subprocess.DEVNULL, check=False)

    def job(self, *words, topology="hgx-h100"):
        return self.collbench("nccl-plan", "run", "--topology", topology, "--library", LIBRARY, "--ranks-per-node", "2", *words)

    def check_refused(self, result, status, words):
        self.assertEqual(result.returncode, status, result.stdout + result.stderr)
        self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
        self.assertIn(words, result.stderr)
        self.assertEqual(result.stdout, "")


class Job(SimulatedJob):
    def test_two_nodes_whose_every_table_says_what_they_are(self):
        result = self.job("--nodes", "2", "--", "collbench", *SMALL, "-J", self.record)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertTrue(result.stdout.startswith(MARK), result.stdout)
        made = json.loads(self.record.read_text())
        self.assertIs(made["gpus_simulated"], True)
        self.assertEqual([rank["node"] for rank in made["ranks"]], [0, 0, 1, 1])
        self.assertEqual([row["wrong_elements"] for row in made["rows"]], [0])
        report = self.collbench("report", self.record)
        self.assertTrue(report.stdout.startswith(MARK), report.stdout)
        for form, line, text in (("md", 2, "SIMULATED GPUs"), ("csv", 0, "gpus_simulated"), ("csv", 1, "true"), ("prom", 0, MARK)):
            lines = self.collbench("report", self.record, "--format", form).stdout.splitlines()
            self.assertIn(text, lines[line], form)
        self.assertIn("SIMULATED GPUs", self.collbench("report", self.record, "--format", "html").stdout)
        self.check_refused(self.collbench("judge", self.record, "--topology", "hgx-h100"), 2, "the run is of simulated GPUs")
        self.check_refused(self.collbench("compare", self.record, self.record), 2, "the run is of simulated GPUs")

    def test_each_document_of_the_archive_says_first_what_it_is(self):
        archive = self.folder / "sample.tar.gz"
        result = self.job("--nodes", "2", "--", "collbench", "--accept", *SMALL, "--evidence", archive)
        self.assertEqual(result.returncode, 2, result.stdout + result.stderr)
        self.assertIn("--accept: there is nothing to judge", result.stderr)
        with tarfile.open(archive) as opened:
            texts = {file.name: opened.extractfile(file).read().decode() for file in opened if file.isfile()}
        for name, first in (("contents.txt", MARK[2:]), ("ticket.txt", MARK[2:]), ("report.txt", MARK), ("nccl-tests.txt", "# simulated: ")):
            self.assertTrue(texts[f"evidence/{name}"].startswith(first), texts[f"evidence/{name}"][:200])
        self.assertIn("SIMULATED GPUs", texts["evidence/report.html"])

    def test_the_shortest_command(self):
        result = self.job()
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertIn("# data: every element checked in 9 of 9 rows, none wrong", result.stdout)

    def test_an_exit_status_is_passed_on(self):
        self.assertEqual(self.job("--", "sh", "-c", "exit 7").returncode, 7)

    def test_another_program_finds_the_machine(self):
        result = self.job("--", "sh", "-c", "cat $COLLBENCH_SIMULATED_GPU", topology=self.machine())
        self.assertEqual(result.stdout.count("<gpu "), 2, result.stdout + result.stderr)

    def test_no_network_of_this_host_is_opened(self):
        self.environment.update(NCCL_IB_DISABLE="0", NCCL_SOCKET_IFNAME="eth0")
        result = self.job("--", "sh", "-c", "echo $NCCL_IB_DISABLE $NCCL_SOCKET_IFNAME", topology=self.machine())
        self.assertEqual(result.stdout, "1 lo\n", result.stderr)

    def machine(self):
        path = self.folder / "machine.xml"
        path.write_text(node(2))
        return path

    def test_an_unknown_machine(self):
        self.check_refused(self.job(topology="nowhere"), 2, "nowhere: no such file or folder, and no reference machine of that name")

    def test_a_program_that_is_not_found(self):
        self.check_refused(self.job("--", "no-such-program"), 2, "no-such-program: it cannot be started: No such file or directory")

    def test_ctrl_c_leaves_nothing(self):
        shared = {file.name for file in pathlib.Path("/dev/shm").glob("nccl-*")}
        stream = self.folder / "run.jsonl"
        words = ["nccl-plan", "run", "--topology", "hgx-h100", "--library", LIBRARY, "--ranks-per-node", "2", "--", "collbench", "--ops",
                 "all_reduce", "--sizes", "4K", "--passes", "500", "-n", "500", "--stream", stream]
        job = subprocess.Popen([str(COLLBENCH), *map(str, words)], env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               text=True, stdin=subprocess.DEVNULL, start_new_session=True)
        self.addCleanup(job.communicate)
        self.addCleanup(job.kill)
        wait_until(lambda: stream.exists() and len(stream.read_text().splitlines()) > 3, 100)
        ranks = descendants(job.pid)
        self.assertGreaterEqual(len(ranks), 2)
        os.killpg(job.pid, signal.SIGINT)  # as a terminal does
        out, err = job.communicate(timeout=100)
        self.assertNotEqual(job.returncode, 0, out + err)
        wait_until(lambda: not any(runs(rank) for rank in ranks))
        self.assertEqual([path.name for path in self.temporary.rglob("*")], [])
        self.assertEqual({file.name for file in pathlib.Path("/dev/shm").glob("nccl-*")} - shared, set())


# One rank that registers a buffer, frees it too early, and in time.
FREES = """
import ctypes, os
cuda = ctypes.CDLL(os.environ["COLLBENCH_CUDART"])
nccl = ctypes.CDLL(os.environ["COLLBENCH_NCCL"])
class Id(ctypes.Structure):
    _fields_ = [("text", ctypes.c_char * 128)]
id, communicator, buffer, handle = Id(), ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
assert nccl.ncclGetUniqueId(ctypes.byref(id)) == 0
nccl.ncclCommInitRank.argtypes = [ctypes.c_void_p, ctypes.c_int, Id, ctypes.c_int]
assert nccl.ncclCommInitRank(ctypes.byref(communicator), 1, id, 0) == 0
for allocate, free in ((nccl.ncclMemAlloc, nccl.ncclMemFree), (cuda.cudaMalloc, cuda.cudaFree)):
    assert allocate(ctypes.byref(buffer), ctypes.c_size_t(1 << 21)) == 0
    assert nccl.ncclCommRegister(communicator, buffer, ctypes.c_size_t(1 << 21), ctypes.byref(handle)) == 0
    early = free(buffer)
    assert nccl.ncclCommDeregister(communicator, handle) == 0
    print(early, free(buffer))
"""


class RegisteredBuffers(SimulatedJob):
    def test_a_buffer_is_not_freed_while_nccl_has_it_registered(self):
        if version() < (2, 19):
            self.skipTest("NCCL 2.18 registers nothing")
        result = self.job("--", sys.executable, "-c", FREES)
        self.assertEqual(result.stdout.split(), ["5", "0", "1", "0"], result.stdout + result.stderr)
        for call in ("ncclMemFree", "cudaFree"):
            self.assertIn(f"{call} of a buffer that NCCL has registered; the call fails", result.stderr)


if __name__ == "__main__":
    skip_without_library()
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
