#!/usr/bin/env python3
"""Several GPUs in a process, as nccl-tests' -t and -g have it: each is a rank, and a thread. Over the stand-ins of nccl_test.py.

Usage: one_process_test.py PROGRAM FOLDER_OF_STAND_INS [unittest arguments]
"""

import json
import pathlib
import signal
import subprocess
import unittest

from nccl_test import ENVIRONMENT, OPERATIONS, PROGRAM, QUICK, SMALL, Scratch, mpirun, nccl, run
from real_ranks import descendants, unwrapped, wait_until

# Four GPUs of one process: words, its threads.
SHAPES = ((["--threads", "4"], 4), (["--gpus-per-process", "4"], 1), (["--gpus-per-process", "4", "--threads", "2"], 2))


def alone(*arguments, environment=None):
    return run([str(PROGRAM), "--backend", "nccl", *map(str, arguments)], environment)


class OneProcess(Scratch):
    def record_alone(self, *arguments, status=0, environment=None):
        result = alone(*arguments, "-J", self.path, "--overwrite", environment=environment)
        self.assertEqual(result.returncode, status, result.stdout + result.stderr)
        return json.loads(self.path.read_text())

    def test_every_operation_and_place_is_right(self):
        for words, threads in SHAPES:
            with self.subTest(words=words):
                made = self.record_alone(*words, *QUICK, "--ops", OPERATIONS, "--sizes", "100,4K", "-d", "int8,float,bfloat16", "-o", "all",
                                         "--place", "both", "-r", 3)
                self.assertEqual(made["process"], {"gpus": 4, "threads": threads})
                self.assertEqual([(rank["rank"], rank["local_rank"], rank["node"]) for rank in made["ranks"]], [(i, i, 0) for i in range(4)])
                rows = [row for row in made["rows"] if not row["unavailable"]]
                self.assertGreater(len(rows), 100)
                self.assertEqual({row["wrong_elements"] for row in rows}, {0})
                self.assertEqual(len({placed["gpu_address"] for placed in made["cluster"]["placement"]}), 4)

    def test_processes_of_two(self):
        for words in (["--threads", 2], ["--gpus-per-process", 2]):
            result = mpirun(2, *words, *QUICK, "--ops", OPERATIONS, "--sizes", "4K", "-J", self.path, "--overwrite")
            self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
            made = json.loads(self.path.read_text())
            self.assertEqual([rank["local_rank"] for rank in made["ranks"]], [0, 1, 2, 3])
            self.assertEqual({row["wrong_elements"] for row in made["rows"]}, {0})
            self.assertTrue(made["versions"]["mpi"].startswith("Open MPI"))
            self.assertEqual(len({placed["gpu_address"] for placed in made["cluster"]["placement"]}), 4)

    def test_a_thread_issues_each_call_for_all_of_its_gpus(self):
        for words, threads in SHAPES:
            groups = self.path.with_name(f"groups{threads}")
            self.record_alone(*words, "--passes", 1, "-n", 50, "-w", 0, "--ops", "all_reduce", "--sizes", "8",
                              environment={"COLLBENCH_STAND_IN_GROUPS": str(groups)})
            sizes = groups.read_text().split() if groups.exists() else []
            with self.subTest(words=words):
                # Of the check and of the 50 timed calls, which a second block may time once more.
                if threads == 4:
                    self.assertNotIn("4", sizes)
                else:
                    self.assertGreaterEqual(sizes.count(str(4 // threads)), 51 * threads)
                self.assertLessEqual(max(map(int, sizes), default=0), 4 // threads)

    def test_other_ways_to_call(self):
        ways = (["-G", 2], ["-z", 1], ["-z", 2], ["-m", 3], ["-R", "local"], ["-R", "symmetric"], ["--enqueue-time"], ["--hot"])
        for words, _ in SHAPES:
            for way in ways:
                with self.subTest(words=words, way=way):
                    made = self.record_alone(*words, *way, "--passes", 2, "-n", 3, "-w", 1, "--ops", "all_reduce,all_to_all", "--sizes", "4K")
                    self.assertEqual([row["wrong_elements"] for row in made["rows"]], [0, 0])

    def test_algorithms_and_what_nccl_chose(self):
        for version in (22809, 23007):
            made = self.record_alone("--gpus-per-process", 4, "--threads", 2, *QUICK, *SMALL, "--algo", "auto,ring,nvls/simple", "-d", "float,half",
                                     environment={"COLLBENCH_NCCL": nccl(version)})
            ran = {row["algorithm"] for row in made["rows"] if row["wrong_elements"] == 0}
            self.assertLessEqual({"auto", "ring"}, ran)
            self.assertEqual(made["nccl_networks"]["used"], ["Socket"])

    def test_ping_pong(self):
        rows = [*QUICK, "--ops", "ping_pong,all_reduce", "--sizes", "8"]
        self.assertEqual(self.record_alone("--threads", 2, *rows)["rows"][0]["wrong_elements"], 0)
        for words, _ in SHAPES[1:]:
            self.assertIn("one thread issues the calls of several GPUs", self.record_alone(*words, *rows)["rows"][0]["unavailable"])

    def test_wrong_data_is_found(self):
        for words, _ in SHAPES:
            made = self.record_alone(*words, *QUICK, *SMALL, status=3, environment={"COLLBENCH_STAND_IN": "wrong_data:6"})
            self.assertTrue(any(row["wrong_elements"] for row in made["rows"]))

    def test_a_failure_ends_all_once(self):
        faults = (("call_error:6", "failed: unhandled cuda error"), ("async_error:6", "remote process exited"),
                  ("hang:6", "timed out waiting for ranks?"), ("init_error", "no socket interface found"), ("call_hang:9", "timed out"))
        for words, _ in SHAPES:
            for fault, pattern in faults:
                with self.subTest(words=words, fault=fault):
                    result = alone(*words, "-T", 5, "--passes", 2, "-n", 3, *SMALL, environment={"COLLBENCH_STAND_IN": fault})
                    self.check_line(result, [pattern], 5 if fault == "init_error" else 4)
        result = mpirun(2, "--threads", 2, "-T", 5, "--passes", 2, "-n", 3, *SMALL, environment={"COLLBENCH_STAND_IN": "call_error:6"})
        self.check_line(result, ["failed: unhandled cuda error"], 4)

    def test_a_signal_ends_it(self):
        for words, _ in SHAPES:
            for sent in (signal.SIGTERM, signal.SIGINT):
                self.path.unlink(missing_ok=True)
                started = subprocess.Popen([PROGRAM, "--backend", "nccl", *words, *SMALL, "--time", "90", "-N", "1000", "-J", self.path], env=ENVIRONMENT,
                                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL)
                wait_until(lambda: self.path.exists() and any(row["seconds"] for row in json.loads(self.path.read_text())["rows"]))
                started.send_signal(sent)
                said = started.communicate(timeout=60)
                self.assertEqual(started.returncode, 4, said)
                self.assertIn(f"interrupted by {sent.name}", said[1])
                self.assertEqual(json.loads(self.path.read_text())["incident"]["kind"], "interrupted")

    def test_mpirun_killed_is_in_the_record(self):
        """All ranks of a process see it at once: the one that writes is not ended by another."""
        started = subprocess.Popen(["mpirun", "--oversubscribe", "-np", "2", str(PROGRAM), "--backend", "nccl", "--threads", "2", *SMALL,
                                    "--time", "90", "-J", str(self.path)], env=ENVIRONMENT, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        wait_until(lambda: self.path.exists() and any(row["seconds"] for row in json.loads(self.path.read_text())["rows"]))
        ranks = descendants(started.pid)
        started.kill()
        started.wait(timeout=60)
        wait_until(lambda: not any(pathlib.Path(f"/proc/{rank}").exists() for rank in ranks))
        incident = json.loads(self.path.read_text())["incident"]
        self.assertEqual((incident["kind"], incident["exit_status"]), ("interrupted", 4))
        self.assertRegex(incident["sentence"], rf": mpirun \(process {started.pid}\) is gone$")
        self.assertFalse(self.path.with_name(f".{self.path.name}.lock").exists())

    def test_what_is_refused(self):
        few = {"COLLBENCH_STAND_IN_GPUS": "2"}
        for words, status, pattern, environment in (
                (["--threads", 4], 5, r"ranks 0 and 2 would share GPU .*: rank 2 sees 2 GPUs.*--gpus-per-process", few),
                (["--gpus-per-process", 4], 5, r"ranks 0 and 2 would share GPU", few),
                (["--gpus-per-process", 4, "--threads", 3], 2, "4 GPUs cannot be shared out evenly to 3 threads", None),
                (["--threads", 2, "--share-gpu"], 2, "--share-gpu", None), (["--threads", 2, "--rank-use"], 2, "--rank-use", None)):
            with self.subTest(words=words):
                self.check_line(alone(*QUICK, *SMALL, *words, environment=environment), [pattern], status)
        self.check_line(run([str(PROGRAM), "--backend", "mpi", "--threads", "2", *QUICK, *SMALL]), ["--gpus-per-process, --threads: host memory is measured"], 5)

    def test_it_is_said_once(self):
        for words, threads in SHAPES:
            issued = {4: "a thread for each", 1: "one thread issues the calls of all", 2: "each of 2 threads issues the calls of 2 of them"}
            said = unwrapped(alone(*words, *QUICK, *SMALL).stdout)
            self.assertEqual(said.count("small sizes are bound by"), 1, said)
            self.assertIn(f"each process has 4 GPUs, {'and ' if threads < 4 else ''}{issued[threads]}", said)
            self.assertIn(issued[threads], alone(*words, *SMALL, "--dry-run").stdout)
        self.assertNotIn("each process", alone(*QUICK, *SMALL).stdout)

    def test_shapes_are_not_compared_in_silence(self):
        other = self.path.with_name("other.json")
        alone("--threads", 2, *QUICK, *SMALL, "-J", self.path)
        mpirun(2, *QUICK, *SMALL, "-J", other)
        said = run([str(PROGRAM), "compare", str(self.path), str(other)])
        self.assertIn("2 GPUs per process, 2 threads → 1 GPU per process, 1 thread: small sizes are limited by launch time", unwrapped(said.stdout))
        self.assertNotIn("per process", run([str(PROGRAM), "compare", str(other), str(other)]).stdout)

    def test_a_stream_is_not_continued_in_another_shape(self):
        stream = str(self.path)
        alone("--threads", 2, *QUICK, *SMALL, "--stream", stream)
        self.check_line(alone("--gpus-per-process", 2, *QUICK, *SMALL, "--resume", stream), ["2 GPUs per process, 2 threads"], 2)


if __name__ == "__main__":
    import sys

    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
