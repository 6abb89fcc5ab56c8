#!/usr/bin/env python3
"""The NCCL backend as its users meet it, over stand-ins for libnccl, the CUDA runtime and the kernels
(tests/collectives/nccl/stand_in): every operation, every refusal, every failure. Nothing here is said of a real GPU.

Usage: nccl_test.py PROGRAM FOLDER_OF_STAND_INS [unittest arguments]
"""

import ctypes
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from real_ranks import descendants, physical_cores, unwrapped, wait_until

PROGRAM = pathlib.Path(sys.argv[1])
STAND_INS = pathlib.Path(sys.argv[2])
NVML = STAND_INS.parents[1] / "topology/telemetry"  # the folder of its stand-ins
NVIDIA_SMI = pathlib.Path(__file__).parents[1] / "collectives/nccl/stand_in"  # the folder of its stand-in


def nccl(version):
    return str(STAND_INS / f"libstand_in_nccl_{version}.so")


ENVIRONMENT = {
    **{key: value for key, value in os.environ.items() if not key.startswith(("NCCL_", "CUDA_", "SLURM_"))},
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_hwloc_base_binding_policy": "none",
    "OMPI_MCA_mpi_yield_when_idle": "1",
    "COLLBENCH_NCCL": nccl(22809),
    "COLLBENCH_CUDART": str(STAND_INS / "libstand_in_cudart.so"),
    "COLLBENCH_KERNELS": str(STAND_INS / "libstand_in_kernels.so"),
    "COLLBENCH_NVML": "/none.so",  # whatever this machine has
}
QUICK = ["--passes", "1", "-n", "2", "-w", "0"]
# All but PingPong, whose onlookers the stand-ins wait for.
OPERATIONS = ("all_reduce,all_gather,reduce_scatter,all_to_all,send_recv,broadcast,reduce,gather,scatter,"
              "all_to_all_v")
SMALL = ["--ops", "all_reduce", "--sizes", "8,4K"]


def run(command, environment=None):
    return subprocess.run(command, env={**ENVIRONMENT, **(environment or {})}, capture_output=True, text=True, timeout=100,
                          stdin=subprocess.DEVNULL, check=False)


def mpirun(ranks, *arguments, environment=None):
    return run(["mpirun", "--oversubscribe", "-np", str(ranks), str(PROGRAM), "--backend", "nccl", *map(str, arguments)],
               environment)


def collbench_lines(result):
    """What collbench itself wrote to stderr, without mpirun's banner."""
    return [line for line in result.stderr.splitlines() if line.startswith("collbench:")]


class Scratch(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name) / "run.json"

    def record(self, ranks, *arguments, status=0, environment=None):
        result = mpirun(ranks, *arguments, "-J", self.path, "--overwrite", environment=environment)
        self.assertEqual(result.returncode, status, result.stdout + result.stderr)
        return json.loads(self.path.read_text())

    def refused(self, patterns, *arguments, ranks=2, status=5, rows=SMALL, environment=None):
        """One line, once and not per rank, with the documented status."""
        result = mpirun(ranks, *QUICK, *rows, *arguments, environment=environment)
        self.check_line(result, patterns, status)

    def check_line(self, result, patterns, status):
        self.assertEqual(result.returncode, status, result.stdout + result.stderr)
        lines = collbench_lines(result)
        self.assertEqual(len(lines), 1, result.stderr)
        for pattern in patterns:
            self.assertRegex(lines[0], pattern)


class WithoutMpi(Scratch):
    """Ranks that torchrun's variables connect, or the user's words."""

    def start(self, ranks, *arguments, by_words=False, environment=None, last=None):
        port = 28000 + os.getpid() % 1000
        started = []
        for rank in range(last or ranks):
            tasks = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": ranks, "LOCAL_WORLD_SIZE": ranks, "MASTER_ADDR": "localhost",
                     "MASTER_PORT": port, "TORCHELASTIC_RUN_ID": f"test-{os.getpid()}"}
            words = ["--rendezvous", f"localhost:{port}", "--rank", rank, "--ranks", ranks] if by_words else []
            started.append(subprocess.Popen([PROGRAM, "--backend", "nccl", *map(str, [*arguments, *words])],
                                            env={**ENVIRONMENT, **({} if by_words else {k: str(v) for k, v in tasks.items()}),
                                                 **(environment or {})}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                            stdin=subprocess.DEVNULL))
        return started

    def test_the_page_of_a_tool_is_rank_0s_whatever_number_a_launcher_gave_it(self):
        started = self.start(2, *QUICK, "--ops", "all_reduce", "--sizes", "1M", "--preset", "lab01", by_words=True, environment={"PMIX_RANK": "1"})
        said = [rank.communicate(timeout=90) for rank in started]
        self.assertEqual([rank.returncode for rank in started], [0, 0], said)
        self.assertTrue(said[0][0].startswith("# Lab 01: AllReduce"), said)

    def test_it_is_measured_as_under_mpi(self):
        for by_words in (False, True):
            with self.subTest(by_words=by_words):
                ranks = self.start(3, *QUICK, "--ops", "all_reduce,all_gather", "--sizes", "8,4K", "-J", self.path, "--overwrite",
                                   by_words=by_words, environment={"COLLBENCH_SECRET": "of three"})
                said = [rank.communicate(timeout=100) for rank in ranks]
                self.assertEqual([rank.returncode for rank in ranks], [0, 0, 0], said)
                self.assertEqual(said[1:], [("", "")] * 2)
                self.assertIn("every element checked in 4 of 4 rows, none wrong", said[0][0])
                text = self.path.read_text()
                made = json.loads(text)
                self.assertEqual(made["versions"]["mpi"], f"no MPI ({'--rendezvous' if by_words else 'torchrun'})")
                self.assertEqual([rank["local_rank"] for rank in made["ranks"]], [0, 1, 2])
                self.assertNotIn("of three", text)

    def test_a_killed_rank_is_named_once(self):
        ranks = self.start(3, "--ops", "all_reduce", "--sizes", "8", "-N", "0", "--time", "90", "--stream", self.path)
        wait_until(lambda: self.path.exists() and self.path.stat().st_size > 3000)
        ranks[2].kill()
        said = [rank.communicate(timeout=100) for rank in ranks]
        self.assertTrue(all(rank.returncode in (0, 4) for rank in ranks[:2]) and 4 in (ranks[0].returncode, ranks[1].returncode),
                        ([rank.returncode for rank in ranks], said))
        lines = [line for _, err in said for line in err.splitlines() if line.startswith("collbench:")]
        self.assertTrue(lines and all("rank 2" in line for line in lines), lines)

    def test_a_hang_that_a_watchdog_has_told_of_is_not_told_again(self):
        """Both come to their ends about the same time; here the first has spoken before the ranks agree that they waited."""
        ranks = self.start(2, *QUICK, *SMALL, "-T", "10", "-J", self.path, by_words=True, environment={"COLLBENCH_STAND_IN": "hang:2"})
        folder = pathlib.Path(f"/dev/shm/collbench-flight-{os.geteuid()}-meeting-localhost-{28000 + os.getpid() % 1000}")
        wait_until(lambda: self.path.exists() and folder.exists())
        (folder / "incident").write_text(json.dumps({"kind": "hang", "sentence": "x", "ranks": [], "step": "x", "pass": 0, "call": 0,
                                                     "time": "x", "exit_status": 4}) + "\n")
        said = [rank.communicate(timeout=90) for rank in ranks]
        self.assertEqual(ranks[0].returncode, 4, said)
        self.assertEqual([err for _, err in said], ["", ""])
        self.assertFalse(folder.exists())

    def test_who_does_not_come_is_named(self):
        ranks = self.start(3, *QUICK, *SMALL, "-T", "4", last=2)
        said = [rank.communicate(timeout=100) for rank in ranks]
        self.assertEqual(ranks[0].returncode, 4)
        self.assertIn("only 2 of 3 ranks have connected", said[0][1])
        self.assertIn("missing: 2", said[0][1])
        self.assertEqual((ranks[1].returncode, said[1][1]), (0, ""))  # rank 0 has said it

    def test_a_rank_that_waits_for_rank_0_ends_when_it_is_told_to(self):
        waiting = subprocess.Popen([PROGRAM, "--backend", "nccl", "--rendezvous", "localhost:9", "--rank", "1", "--ranks", "2"],
                                   env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL)
        folder = pathlib.Path(f"/dev/shm/collbench-flight-{os.geteuid()}-meeting-localhost-9")
        wait_until(folder.exists)
        waiting.terminate()
        said = waiting.communicate(timeout=60)
        self.assertEqual((waiting.returncode, said[0]), (4, ""))
        self.assertIn("collbench: rendezvous: interrupted by SIGTERM; nothing was measured", said[1])


class Operations(Scratch):
    def check(self, ranks, version=22809):
        made = self.record(ranks, *QUICK, "--ops", OPERATIONS, "--sizes", "100,4K", "-d", "all", "-o", "all", "--place",
                           "both", "-r", ranks - 1, environment={"COLLBENCH_NCCL": nccl(version)})
        rows = [row for row in made["rows"] if not row["unavailable"]]
        for row in rows:
            self.assertEqual(row["wrong_elements"], 0, row)
        kinds = {(row["operation"], row["type"], row["reduction"], row["root"], row["in_place"]) for row in rows}
        types = 10 + (2 if version >= 22400 else 0)
        reducing = 2 * types * 5 * 2  # AllReduce, ReduceScatter: types, reductions, places
        moving = types * 2 + 2 * types  # AllGather in both places, AllToAll and AllToAllv out of place
        rooted = types * 2 * (3 + 5)  # Broadcast, Gather, Scatter, and Reduce with five reductions
        more = types if ranks > 1 else -2 * 3 * 2  # SendRecv; or what NCCL refuses: averages of 8-bit floats in both places
        self.assertEqual(len(kinds), reducing + moving + rooted + more)
        return made

    def test_1_rank(self):
        self.check(1)

    def test_2_ranks(self):
        self.check(2)

    def test_3_ranks(self):
        self.check(3)

    def test_buffers_that_begin_late(self):
        rows = ["--ops", OPERATIONS, "--sizes", "100,4K", "-d", "int8,half,double", "--place", "both", "-r", 1, "-u", 3]
        for registration in ("none", "symmetric"):
            made = self.record(2, *QUICK, *rows, "-R", registration)
            self.assertEqual({row["wrong_elements"] for row in made["rows"]}, {0})
            self.assertEqual(made["buffers"]["unaligned_elements"], 3)

    def test_parts_that_16_bytes_do_not_divide_are_noted(self):
        rows = ["--ops", "all_reduce,all_gather", "--sizes", "1000"]
        for exact, note in (([], ""), (["--exact-counts"], "parts of 332 B, no multiple of 16")):
            made = self.record(3, *QUICK, *rows, *exact)
            self.assertEqual([row["note"] for row in made["rows"]], ["", note])

    def test_ping_pong(self):
        made = self.record(2, *QUICK, "--ops", "ping_pong", "--sizes", "8,4K", "-d", "all")
        self.assertEqual({row["wrong_elements"] for row in made["rows"]}, {0})

    def test_groups_of_operations(self):
        made = self.record(2, *QUICK, "--ops", "all_reduce,all_to_all", "--sizes", "4K", "-m", "3")
        for row in made["rows"]:
            self.assertEqual((row["wrong_elements"], row["iterations"], row["note"]), (0, 6, "3 in one group"), row)

    def test_ping_pong_is_never_grouped_and_its_note_says_so(self):
        (row,) = self.record(2, *QUICK, "--ops", "ping_pong", "--sizes", "8", "-m", "3")["rows"]
        self.assertEqual((row["wrong_elements"], row["iterations"], row["note"]), (0, 6, ""), row)

    def test_5_ranks_without_nccl_all_to_all(self):
        made = self.check(5, version=22200)
        notes = {row["operation"]: row["note"] for row in made["rows"] if not row["unavailable"]}
        for operation in ("AllToAll", "Gather", "Scatter"):
            self.assertEqual(notes[operation], "grouped ncclSend and ncclRecv")
        self.assertEqual(notes["AllReduce"], "")

    def test_calls_of_their_own_from_2_28_on(self):
        """AllToAll, Gather and Scatter by one rule; what fails is named."""
        made = self.record(3, *QUICK, "--ops", "all_to_all,gather,scatter", "--sizes", "4K")
        self.assertEqual({(row["operation"], row["wrong_elements"], row["note"]) for row in made["rows"]},
                         {("AllToAll", 0, ""), ("Gather", 0, ""), ("Scatter", 0, "")})
        named = {"all_to_all": "ncclAlltoAll", "gather": "ncclGather", "scatter": "ncclScatter"}
        for operation, call in named.items():
            result = mpirun(3, *QUICK, "--ops", operation, "--sizes", "4K", environment={"COLLBENCH_STAND_IN": "call_error:3@0"})
            self.check_line(result, [f"{call} failed: unhandled cuda error"], 4)

    def test_the_record_says_what_it_was_measured_with(self):
        made = self.record(2, *QUICK, *SMALL)
        self.assertEqual(made["backend"], "nccl")
        self.assertEqual(made["versions"]["nccl"], "2.28.9")
        self.assertEqual(made["versions"]["cuda"], "13.0")
        self.assertGreaterEqual(len(made["communicator_seconds"]), 2)  # the trial's, and that of the only pass
        self.assertGreater(min(made["communicator_seconds"]), 0)
        self.assertEqual([rank["gpu_address"] for rank in made["cluster"]["placement"]], ["0000:18:00.0", "0000:19:00.0"])
        self.assertIsNone(made["calibration"])  # host memory's rates say nothing of GPUs
        self.assertIn("no row has an expectation or a verdict", " ".join(made["place_notes"]))  # no machine has a stand-in

    def test_the_header_says_what_the_doctor_found(self):
        result = mpirun(2, *QUICK, *SMALL, environment={"NCCL_P2P_DISABLE": "1"})
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(unwrapped(result.stdout), r"warning: setting-costly on \S+ \(slow\): NCCL_P2P_DISABLE=1: GPUs of a "
                                                   r"node .*; see collbench doctor there")

    def test_sizes_go_up_to_what_the_gpu_holds(self):
        made = mpirun(2, "--dry-run", "--ops", "all_reduce", environment={"COLLBENCH_STAND_IN_MEMORY": str(64 << 20)})
        self.assertEqual(made.returncode, 0, made.stderr)
        sizes = [int(line.split()[1]) for line in made.stdout.splitlines() if line.startswith("AllReduce")]
        self.assertEqual(max(sizes), 16 << 20)

    def test_passes_and_the_distribution(self):
        made = self.record(2, *SMALL, "--passes", "3", "-n", "8")
        self.assertGreaterEqual(len(made["communicator_seconds"]), 2)
        for row in made["rows"]:
            self.assertEqual(len(row["pass_seconds"]), 3)
            self.assertGreater(row["samples"], 0)
            self.assertGreater(row["minimum_seconds"], 0)
            self.assertEqual(len(row["rank_times"]["rank"]), 2)

    def test_one_rank_without_mpirun(self):
        result = run([str(PROGRAM), "--backend", "nccl", *QUICK, *SMALL])
        self.assertEqual(result.returncode, 0, result.stderr)


    def test_ranks_without_mpirun(self):
        result = run([str(PROGRAM), "-g", "3", "--backend", "nccl", *QUICK, *SMALL, "-J", str(self.path)])
        self.assertEqual(result.returncode, 0, result.stderr)
        made = json.loads(self.path.read_text())
        self.assertEqual(len(made["ranks"]), 3)
        self.assertEqual({row["wrong_elements"] for row in made["rows"]}, {0})

    def test_what_making_communicators_took_is_said(self):
        result = mpirun(2, *QUICK, *SMALL)
        self.assertRegex(unwrapped(result.stdout),
                         r"# communicators: .* for the first, including NCCL's own setup; .* more \(median\)")


class Walk(Scratch):
    """Timed calls walk through memory of four times the GPU's L2 (16 KiB of the stand-in), unless --hot is given."""

    L2 = 16384

    def addresses(self, *arguments):
        """Where the calls of one rank read and write, from the first one on."""
        log = self.path.with_suffix(".addresses")
        log.unlink(missing_ok=True)
        made = self.record(1, "--passes", "1", "-n", "40", "-w", "3", "--ops", "all_reduce", *arguments,
                           environment={"COLLBENCH_STAND_IN_ADDRESSES": str(log)})
        self.assertEqual({row["wrong_elements"] for row in made["rows"]}, {0})
        places = [tuple(int(place, 16) for place in line.split()) for line in log.read_text().splitlines()]
        return made, places[1:]  # without that of the trial

    def test_calls_walk_through_four_times_the_l2(self):
        made, places = self.addresses("--sizes", "4K")
        self.assertEqual(made["buffers"]["walk_bytes"], 4 * self.L2)
        for side in zip(*places):
            steps = sorted({place - min(side) for place in side})
            self.assertEqual(steps, [4096 * step for step in range(16)])
        timed = places[-40:]
        self.assertEqual(len(set(timed[:16])), 16)
        self.assertEqual(timed[0], timed[16])
        self.assertNotEqual(timed[0], places[-41], "the warm-up's")

    def test_a_stream_of_cold_blocks_is_not_continued_hot(self):
        stream = self.path.with_suffix(".jsonl")
        rows = ["--passes", "2", "-n", "2", "--ops", "all_reduce", "--sizes", "4K"]
        self.assertEqual(mpirun(1, *rows, "--stream", stream).returncode, 0)
        for more, words in ((["--hot"], r"cold calls \(a walk through 64 KiB\), and this is hot calls"),
                            (["-G", "2"], "with -G 0, and this is 2"), (["-R", "local"], "with -R none, and this is local")):
            result = mpirun(1, *rows, "--resume", stream, *more)
            self.assertEqual(result.returncode, 2, result.stdout + result.stderr)
            self.assertRegex(result.stderr, words)

    def test_memory_that_the_walk_takes_is_planned(self):
        result = mpirun(1, *QUICK, *SMALL, environment={"COLLBENCH_STAND_IN_MEMORY": "100000"})
        self.check_line(result, ["needs about 128 KiB per rank"], 2)

    def test_in_place_and_in_graphs_and_registered(self):
        for more in (["--place", "both"], ["-G", "2", "--place", "both"], ["-R", "local", "--place", "both"], ["-u", "3"]):
            made, places = self.addresses("--sizes", "100,1K", *more)
            self.assertGreater(len(set(places)), 60, more)

    def test_a_row_as_large_as_that_stays_where_it_is(self):
        _, places = self.addresses("--sizes", "64K")
        self.assertEqual(len(set(places)), 1)

    def test_hot_calls_repeat(self):
        made, places = self.addresses("--sizes", "4K", "--hot")
        self.assertEqual(made["buffers"]["walk_bytes"], 0)
        self.assertEqual(len(set(places)), 1)

    def test_every_operation_walks_and_is_right(self):
        made = self.record(3, "--passes", "2", "-n", "20", "--ops", OPERATIONS, "--sizes", "100,4K", "--place", "both", "-r", "1")
        self.assertEqual({row["wrong_elements"] for row in made["rows"] if not row["unavailable"]}, {0})

    def test_hot_and_cold_rows_below_it_are_not_compared(self):
        for path, more in (("cold.json", []), ("hot.json", ["--hot"])):
            self.path = self.path.with_name(path)
            self.record(1, *QUICK, "--ops", "all_reduce", "--sizes", "4K,64K", *more)
        result = run([PROGRAM, "compare", str(self.path.with_name("cold.json")), str(self.path)])
        text = unwrapped(result.stdout)
        self.assertIn("timed calls repeat on the same addresses in some records, or nearly (hot), and walk through memory in "
                      "others (cold): rows below 64 KiB say nothing", text)

    def test_host_memory_has_no_such_option(self):
        result = run([str(PROGRAM), "--backend", "mpi", *QUICK, *SMALL, "--hot"])
        self.check_line(result, ["--hot: calls on host memory always repeat on the same addresses"], 5)


class Auto(Scratch):
    """Without --backend: GPUs where the machine has them, however little a container shows of it."""

    def test_a_gpu_that_only_the_driver_shows_is_measured(self):
        shutil.copy(STAND_INS / "libstand_in_driver.so", self.path.parent / "libcuda.so.1")
        shown = {"LD_LIBRARY_PATH": str(self.path.parent)}
        for gpus, backend in (("8", "nccl"), ("0", "mpi")):
            result = run([PROGRAM, *QUICK, *SMALL, "-J", self.path, "--overwrite"], {**shown, "COLLBENCH_STAND_IN_GPUS": gpus})
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual(json.loads(self.path.read_text())["backend"], backend)

    def test_a_machine_with_gpus_is_expected_and_there_are_none(self):
        result = run(["mpirun", "--oversubscribe", "-np", "2", PROGRAM, *QUICK, *SMALL, "--expect", "hgx-h100"])
        self.check_line(result, ["--expect hgx-h100: it has 8 GPUs, and .* shows none; was the container started with its GPUs"], 5)
        for machine, more in (("live", []), ("hgx-h100", ["--backend", "mpi"])):
            result = run([PROGRAM, *QUICK, *SMALL, "--expect", machine, *more])
            self.assertNotEqual(result.returncode, 5, result.stderr)


class Float8(Scratch):
    """e4m3 and e5m2: NCCL has them from 2.24 on, for GPUs of compute capability 9.0 and newer."""

    TYPES = ["-d", "f8e4m3,f8e5m2"]

    def test_every_reduction_and_element(self):
        made = self.record(3, *QUICK, "--sizes", "100,4K", *self.TYPES, "-o", "all")
        self.assertEqual({row["wrong_elements"] for row in made["rows"]}, {0})
        self.assertEqual({row["type"] for row in made["rows"]}, {"f8e4m3", "f8e5m2"})

    def test_the_average_that_nccl_refuses_on_one_rank_is_left_out(self):
        made = self.record(1, *QUICK, *SMALL, "-d", "all", "-o", "all")
        why = {(row["type"], row["reduction"]): row["unavailable"] for row in made["rows"]}
        for kind in ("f8e4m3", "f8e5m2"):
            self.assertEqual(why.pop((kind, "avg")), f"NCCL refuses an average of {kind} on one rank")
        self.assertEqual(set(why.values()), {""})

    def test_a_gpu_without(self):
        self.refused(["-d f8e4m3: .*compute capability is 8.6, and 9.0 is needed"], *self.TYPES,
                     environment={"COLLBENCH_STAND_IN_COMPUTE": "86"})

    def test_an_nccl_without(self):
        self.refused(["-d f8e4m3: .*NCCL 2.22.0 does not support f8e4m3"], *self.TYPES, environment={"COLLBENCH_NCCL": nccl(22200)})

    def test_all_types_leave_them_out_and_say_so(self):
        made = self.record(2, *QUICK, *SMALL, "-d", "all", environment={"COLLBENCH_STAND_IN_COMPUTE": "80"})
        why = {row["type"]: row["unavailable"] for row in made["rows"]}
        self.assertIn("compute capability is 8.0", why.pop("f8e4m3"))
        self.assertIn("compute capability is 8.0", why.pop("f8e5m2"))
        self.assertEqual(set(why.values()), {""})


class Registration(Scratch):
    """-R: buffers of ncclMemAlloc, registered with each communicator. The stand-in says on stderr what NCCL leaves to its user:
    memory freed or a communicator destroyed while a buffer is registered, and a deregistration after an abort."""

    def test_every_operation_and_place_over_several_passes(self):
        calls = {"local": "ncclCommRegister", "symmetric": "ncclCommWindowRegister"}
        for how, more in (("local", []), ("2", ["-G", "2"])):
            result = mpirun(3, "-R", how, *more, "--passes", "3", "-n", "2", "--ops", OPERATIONS, "--sizes", "100,4K", "--place",
                            "both", "-r", "1", "-v", "-J", self.path, "--overwrite")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertNotIn("stand-in:", result.stderr)
            made = json.loads(self.path.read_text())
            self.assertEqual({row["wrong_elements"] for row in made["rows"]}, {0})
            how = "symmetric" if how == "2" else how
            self.assertEqual((made["buffers"]["allocator"], made["buffers"]["registration"]), ("ncclMemAlloc", how))
            self.assertIn(f"buffers: memory of ncclMemAlloc, registered with NCCL (-R {how}: {calls[how]})", unwrapped(result.stdout))

    def test_no_algorithm_is_forced_on_symmetric_windows(self):
        made = self.record(2, "-R", "2", *QUICK, "--ops", "all_reduce", "--sizes", "4K", "--algo", "auto,ring")
        reasons = {row["algorithm"]: row["unavailable"] for row in made["rows"]}
        self.assertEqual(reasons["auto"], "")
        self.assertIn("whatever NCCL_ALGO says", reasons["ring"])

    def test_without(self):
        result = mpirun(2, "-R", "0", *QUICK, *SMALL, "-v", "-J", self.path)
        buffers = json.loads(self.path.read_text())["buffers"]
        self.assertEqual((buffers["allocator"], buffers["registration"]), ("cudaMalloc", "none"))
        self.assertNotIn("registered with NCCL", result.stdout)

    def test_what_an_older_nccl_lacks(self):
        self.refused([r"-R local: NCCL 2\.18\.6 has no ncclMemAlloc; 2\.19 and newer do"], "-R", "local",
                     environment={"COLLBENCH_NCCL": nccl(21806)})
        self.refused([r"-R symmetric: NCCL 2\.26\.2 has no ncclCommWindowRegister; 2\.27 and newer do"], "-R", "symmetric",
                     environment={"COLLBENCH_NCCL": nccl(22602)})

    def test_an_nccl_that_registers_nothing(self):
        self.refused([r"-R symmetric: rank 1 on .*: NCCL 2\.28\.9 accepts the buffer and does not register it"], "-R", "symmetric",
                     environment={"COLLBENCH_STAND_IN": "register_nothing@1"})

    def test_failures_end_the_run_once_and_deregister_nothing_after_an_abort(self):
        for fault, words in (("register_error:1@1", "rank 1 on .*: ncclCommRegister failed"),  # of the trial
                             ("register_error:3@1", "rank 1 on .*: ncclCommRegister failed"),  # the second of a row's communicator
                             ("async_error:4@1", "remote process exited")):
            result = mpirun(2, "-R", "1", *QUICK, *SMALL, environment={"COLLBENCH_STAND_IN": fault})
            self.check_line(result, [words], 4)
            self.assertNotIn("stand-in:", result.stderr)


class MemoryUse(Scratch):
    """-M: what takes the GPUs' memory. The stand-in's communicators take what a variable says, and more when first called."""
    ROW = ("--ops", "all_reduce", "--sizes", "1M")

    @staticmethod
    def took(communicator, call):
        return {"COLLBENCH_STAND_IN_COMMUNICATOR_BYTES": str(communicator), "COLLBENCH_STAND_IN_FIRST_CALL_BYTES": str(call)}

    def test_each_part_is_told_of_the_first_pass(self):
        for passes, *more in ((1,), (1, "-R", "local"), (1, "--node-map", "0-1,2-3"), (4, "--place", "both")):
            with self.subTest(more):
                made = self.record(4, "--passes", passes, "-n", "2", "-w", "0", *self.ROW, "-M", "1", *more,
                                   environment=self.took(70_000, 3_000))["gpu_memory"]
                self.assertEqual((made["init_bytes"], made["collective_bytes"]), (70_000, 3_000))
                # An AllReduce has two buffers; what is more is where checks of data write.
                self.assertIn(made["buffer_bytes"] - 2 * (1 << 20), range(8 << 10))

    def test_of_ranks_that_differ_each_part_is_the_largest(self):
        of_ranks = [["-np", "1", *sum((["-x", f"{name}={value}"] for name, value in self.took(*bytes_taken).items()), []), str(PROGRAM),
                     "--backend", "nccl", *QUICK, *self.ROW, "-M", "1", "-J", str(self.path)] for bytes_taken in ((50_000, 9_000), (80_000, 4_000))]
        result = run(["mpirun", "--oversubscribe", *of_ranks[0], ":", *of_ranks[1]])
        self.assertEqual(result.returncode, 0, result.stderr)
        made = json.loads(self.path.read_text())["gpu_memory"]
        self.assertEqual((made["init_bytes"], made["collective_bytes"]), (80_000, 9_000))

    def test_text_and_nccl_tests_line(self):
        self.assertIsNone(self.record(2, *QUICK, *self.ROW, "-M", "0")["gpu_memory"])
        result = mpirun(2, *QUICK, *self.ROW, "-M", "1", environment=self.took(3 << 20, 5 << 10))
        self.assertRegex(unwrapped(result.stdout), r"GPU memory taken in the first pass, each on the rank that took most: NCCL 3 MiB, buffers 2 MiB, calls 5 KiB")
        result = mpirun(2, *QUICK, *self.ROW, "-M", "1", "--format", "nccl-tests", environment=self.took(3 << 20, 5 << 10))
        self.assertRegex(result.stdout, r"# GPU memory usage     : Initialization 3\.00 MB \| User-Allocated 2\.00 MB \| "
                                        r"Collective 5\.00 KB \| Total  5\.0\d MB\n#\n$")

    def test_where_it_would_mean_nothing(self):
        self.refused(["-M: ranks share a GPU"], "-M", "1", "--share-gpu", status=2, environment={"COLLBENCH_STAND_IN_GPUS": "1"})


class Graphs(Scratch):
    """-G: iterations captured once, and launched as a whole."""

    def test_every_operation_type_and_place(self):
        made = self.record(3, "-G", "2", "--passes", "1", "-n", "3", "-w", "1", "--sizes", "100,4K", "-d", "all", "-o", "all",
                           "--place", "both")
        rows = [row for row in made["rows"] if not row["unavailable"]]
        self.assertGreater(len(rows), 500)
        self.assertEqual({row["wrong_elements"] for row in rows}, {0})

    def test_the_record_and_the_header_say_so(self):
        result = mpirun(2, "-G", "5", "-n", "4", "--passes", "2", *SMALL, "-J", self.path, "-v")
        self.assertEqual(result.returncode, 0, result.stderr)
        made = json.loads(self.path.read_text())
        self.assertEqual(made["graph_launches"], 5)
        for row in made["rows"]:
            self.assertEqual((row["iterations"], row["iterations_per_sample"], row["samples"]), (40, 4, 10))
        self.assertIn("run as 5 launches of a CUDA graph", unwrapped(result.stdout))

    def test_by_time(self):
        made = self.record(2, "-G", "3", "--time", "6", "--ops", "all_reduce", "--sizes", "8")  # enough for a busy machine
        for row in made["rows"]:
            self.assertGreater(row["iterations_per_sample"], 1)
            self.assertEqual(row["wrong_elements"], 0)

    def test_without(self):
        self.assertEqual(self.record(2, "-G", "0", *QUICK, *SMALL)["graph_launches"], 0)

    def test_a_launch_that_fails(self):
        self.refused([r"rank 1 on .*: cudaGraphLaunch failed"], "-G", "2", status=4,
                     environment={"COLLBENCH_STAND_IN": "graph_error:3@1"})

    def test_what_fails_beside_a_graph_does_not_wait_for_it(self):
        """ncclCommAbort waits until no graph uses the communicator: it has to be gone before."""
        for fault, words in (("hang:12@0", "timed out waiting for ranks"), ("async_error:4@1", "remote process exited")):
            result = mpirun(3, "-G", "2", "--passes", "2", "-n", "5", "-T", "5", "--ops", "all_reduce", "--sizes", "8,4K,64K",
                            environment={"COLLBENCH_STAND_IN": fault})
            self.check_line(result, [words], 4)
            self.assertNotIn("without progress", result.stderr)  # the watchdog was not needed

    def test_a_call_that_fails_in_capture(self):
        self.refused([r"rank 1 on .*: ncclAllReduce failed: unhandled cuda error"], "-G", "2", status=4,
                     environment={"COLLBENCH_STAND_IN": "call_error:4@1"})

    def test_wrong_data(self):
        self.record(2, "-G", "2", *QUICK, *SMALL, status=3, environment={"COLLBENCH_STAND_IN": "wrong_data:3@1"})


class Acceptance(Scratch):
    """With --accept each GPU is probed before the rows, by a program of its own, and the worst row repeated after them."""

    ROWS = ["--accept", "--ops", "all_reduce,all_gather", "--sizes", "64K,1M", "--time", "3"]
    GPUS = {"COLLBENCH_CUBLASLT": str(STAND_INS / "libstand_in_cublas_lt.so"), "COLLBENCH_NVML": str(NVML / "libstand_in_nvml.so"),
            "COLLBENCH_STAND_IN_GPUS": "4", "COLLBENCH_STAND_IN_MEMORY": "50000000"}

    def test_a_slow_gpu_and_one_with_wrong_products_are_named(self):
        slow = {"COLLBENCH_STAND_IN_SLOW": "2:gemm:1.1,1:gemm:wrong"}
        result = mpirun(4, *self.ROWS, "-J", self.path, environment={**self.GPUS, **slow})
        self.assertEqual(result.returncode, 1, result.stderr)
        failed = [line for line in collbench_lines(result) if line.startswith("collbench: failed: ")]
        self.assertRegex(failed[0], "bad by itself: GPU 2 of .* makes 0[.]909 of the median of 4 GPUs")
        self.assertRegex(failed[1], "suspect by itself: GPU 1 of .* not bitwise identical")
        made = json.loads(self.path.read_text())
        self.assertEqual([len(probe["gpus"]) for probe in made["gpu_probes"]], [4])
        self.assertEqual(made["sustained"]["wrong_elements"], 0)
        self.assertGreater(len(made["sustained"]["pass_seconds"]), 1)
        again = run([PROGRAM, "report", self.path, "--accept"])
        self.assertEqual(again.stderr.count("by itself"), 2, again.stderr)

    def test_only_the_run_s_gpus_are_loaded(self):
        wrong = {"COLLBENCH_STAND_IN_GPUS": "5", "COLLBENCH_STAND_IN_SLOW": "4:gemm:wrong"}
        result = mpirun(4, *self.ROWS, "-J", self.path, environment={**self.GPUS, **wrong})
        self.assertNotIn("by itself", result.stdout + result.stderr)
        self.assertEqual([len(probe["gpus"]) for probe in json.loads(self.path.read_text())["gpu_probes"]], [4])

    def test_what_could_not_be_probed_is_said_and_ends_nothing(self):
        made = self.record(2, *self.ROWS, "--quiet", status=2, environment={**self.GPUS, "COLLBENCH_CUBLASLT": "/none.so"})
        self.assertEqual(len(made["rows"]), 4)
        self.assertIn("/none.so", " ".join(made["gpu_probes"][0]["notes"]))

    def test_neither_is_done_without_stress(self):
        result = mpirun(2, *self.ROWS, "--no-stress", "-J", self.path, environment=self.GPUS)
        made = json.loads(self.path.read_text())
        self.assertEqual((made["gpu_probes"], made["sustained"]), ([], None))
        self.assertIn("not checked: each GPU alone", result.stderr)
        words = "each GPU alone before these rows, the worst of them again after: about 3 s each, 9 s in all (--no-stress: neither)"
        self.assertIn(words, mpirun(2, *self.ROWS, "--dry-run", environment=self.GPUS).stdout)
        self.assertNotIn(words, mpirun(2, *self.ROWS, "--no-stress", "--dry-run", environment=self.GPUS).stdout)

    def launch_with_a_probe_that_hangs(self, *arguments, **how):
        hang = {**ENVIRONMENT, **self.GPUS, "COLLBENCH_STAND_IN_SLOW": "1:hbm:hang"}
        return subprocess.Popen(["mpirun", "--oversubscribe", "-np", "2", str(PROGRAM), "--backend", "nccl", *self.ROWS, *arguments],
                                stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL, env=hang, start_new_session=True, **how)

    @staticmethod
    def probe_of(launched):
        def probes():
            commands = subprocess.run(["pgrep", "-f", "collbench-probe --only gpu"], capture_output=True, text=True, check=False).stdout
            return sorted(set(map(int, commands.split())) & set(descendants(launched.pid)))

        wait_until(probes)
        return probes()[-1]

    def test_a_probe_that_is_killed_leaves_what_it_measured(self):
        with self.launch_with_a_probe_that_hangs("-J", str(self.path)) as launched:
            probe = self.probe_of(launched)
            # Its file has what is before the copies within GPUs, of which one hangs.
            kept = pathlib.Path(subprocess.run(["ps", "-o", "args=", str(probe)], capture_output=True, text=True, check=True).stdout.split(" -J ")[1].split()[0])
            wait_until(lambda: kept.exists() and "gpu-gemm-fp64" in kept.read_text())
            os.kill(probe, signal.SIGKILL)
            launched.wait(timeout=90)
        made = json.loads(self.path.read_text())
        (record,) = made["gpu_probes"]
        self.assertIn("cut short: collbench probe: killed by signal 9", record["notes"][0])
        self.assertEqual([each["id"] for each in record["measurements"]][-1], "gpu-gemm-fp64")
        self.assertEqual(len(record["gpus"]), 2)
        self.assertTrue(made["complete"])
        self.assertFalse(kept.parent.exists())
        self.assertRegex(unwrapped(run([PROGRAM, "report", self.path]).stdout), "GPUs of .*, each alone: cut short: collbench probe: killed")

    def test_a_probe_has_all_cores_whatever_its_rank_is_bound_to(self):
        core = physical_cores()[0]
        with self.launch_with_a_probe_that_hangs(preexec_fn=lambda: os.sched_setaffinity(0, {core})) as launched:
            probe = self.probe_of(launched)
            wait_until(lambda: os.sched_getaffinity(probe) != {core} or len(physical_cores()) == 1, 20)
            self.assertLessEqual(os.sched_getaffinity(0), os.sched_getaffinity(probe))
            self.assertEqual({frozenset(os.sched_getaffinity(pid)) for pid in descendants(launched.pid) if pid != probe}, {frozenset({core})})
            os.kill(probe, signal.SIGKILL)
            launched.kill()

    def test_marks_of_the_time_after_the_rows_are_the_sustained_rows(self):
        counts = {**self.GPUS, "COLLBENCH_STAND_IN_SMI": "replays"}  # one more each time that they are read
        made = self.record(2, *self.ROWS, status=1, environment=counts)
        self.assertEqual([mark["trouble"] for mark in made["sustained"]["marks"]], ["PCIe replays"])
        made = self.record(2, *self.ROWS, status=2, environment=self.GPUS)
        self.assertEqual(made["sustained"]["marks"], [])

    def test_a_probe_ends_with_its_run(self):
        with self.launch_with_a_probe_that_hangs() as launched:
            probe = self.probe_of(launched)
            for pid in descendants(launched.pid):
                if pid != probe:
                    os.kill(pid, signal.SIGKILL)
            launched.kill()
        wait_until(lambda: not pathlib.Path(f"/proc/{probe}").exists(), 15)  # by itself it gives the GPU up after 30 s

    def test_the_job_s_end_leaves_the_run_whole(self):
        """Of what the job has left each part takes a quarter at most."""
        def planned(made):
            return made["gpu_probes"][0]["gpu_window_seconds"]

        of_3_seconds = planned(self.record(2, *self.ROWS, status=2, environment=self.GPUS))
        made = self.record(2, *self.ROWS[:-2], "--time", "24", status=2,
                           environment={**self.GPUS, "SLURM_JOB_ID": "77", "SLURM_JOB_END_TIME": str(int(time.time()) + 24)})
        self.assertTrue(made["complete"])
        self.assertTrue(made["sustained"]["pass_seconds"])
        self.assertLessEqual(planned(made) / of_3_seconds, 6 / 3)


class NodesAlone(Scratch):
    """With two nodes by --node-map, each measures an AllReduce among its own ranks before the rows."""

    LARGE = ["--node-map", "0+2,1+3", *QUICK, "--ops", "all_reduce,all_gather", "--sizes", "64M"]

    def test_each_has_a_row(self):
        made = self.record(4, *self.LARGE)
        self.assertEqual([node["ranks"] for node in made["nodes_alone"]], [2, 2])
        for node in made["nodes_alone"]:
            row = node["row"]
            self.assertEqual((row["operation"], row["size_bytes"], row["wrong_elements"]), ("AllReduce", 64 << 20, 0))
            self.assertGreater(row["seconds"], 0)
        for row in made["rows"]:
            self.assertEqual(row["wrong_elements"], 0)
        self.assertEqual(len(made["communicator_seconds"]), 2, "of all ranks: the trial and that of the rows")

    def test_each_with_its_neighbors(self):
        made = self.record(3, "--node-map", "0,1,2", *QUICK, "--ops", "all_reduce,all_gather", "--sizes", "96M")
        self.assertEqual(made["nodes_alone"], [])
        self.assertEqual([(pair["ranks"], len(pair["hosts"])) for pair in made["node_pairs"]], [(2, 2)] * 3)
        for row in [pair["row"] for pair in made["node_pairs"]] + made["rows"]:
            self.assertEqual((row["size_bytes"], row["wrong_elements"]), (96 << 20, 0))
            self.assertGreater(row["seconds"], 0)
        self.assertEqual({pair["row"]["count"] for pair in made["node_pairs"]}, {12 << 20})
        self.assertEqual({pair["row"]["operation"] for pair in made["node_pairs"]}, {"AllGather"})
        words = "before these rows AllReduce 64 MiB on each node alone, AllGather 64 MiB on pairs of neighboring nodes ("
        self.assertIn(words, mpirun(6, "--node-map", "0+3,1+4,2+5", *QUICK, "--ops", "all_reduce,all_gather", "--sizes", "64M",
                                    "--dry-run").stdout)

    def test_the_plan_says_so(self):
        words = "before these rows AllReduce 64 MiB on each node alone"
        self.assertIn(words, mpirun(4, *self.LARGE, "--dry-run").stdout)
        self.assertNotIn(words, mpirun(4, *self.LARGE, "--no-nodes-alone", "--dry-run").stdout)

    def test_not_asked_for(self):
        self.assertEqual(self.record(4, *self.LARGE, "--no-nodes-alone")["nodes_alone"], [])

    def test_its_calls_are_compared_with_nobodys(self):
        """Each node makes as many as it has time for; the watchdog blames who made fewer of the others."""
        with subprocess.Popen(["mpirun", "--oversubscribe", "-np", "4", str(PROGRAM), "--backend", "nccl", *self.LARGE, "-T", "30"],
                              env={**ENVIRONMENT, "COLLBENCH_STAND_IN": "hang:3@3"}, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL) as run:
            try:
                seen = []

                def hangs_there():
                    for process in descendants(run.pid):
                        done = subprocess.run([str(PROGRAM), "flight", str(process), "--format", "json"], capture_output=True,
                                              text=True, timeout=60, check=False)
                        if done.returncode == 0:
                            seen[:] = json.loads(done.stdout)["ranks"]
                            return len(seen) == 4 and all(rank["step"].endswith("on each node alone") for rank in seen)
                    return False

                wait_until(hangs_there, 60)
                self.assertEqual([rank["calls"]["entered"] for rank in seen], [0, 0, 0, 0])
            finally:
                run.terminate()

    def test_wrong_data_is_of_the_rank_that_all_count(self):
        made = self.record(4, *self.LARGE, status=3, environment={"COLLBENCH_STAND_IN": "wrong_data:2@3"})
        wrong = [node["row"]["wrong"] for node in made["nodes_alone"]]
        self.assertEqual(wrong[0], [])
        self.assertEqual([each["rank"] for each in wrong[1]], [3])

    def test_a_failure_on_one_ends_the_run_once(self):
        for fault, words in (("call_error:2@3", "NCCL on .* alone: rank 3 .*ncclAllReduce"),
                             ("hang:2@3", "on .* alone: timed out waiting for rank.* 3 ")):
            self.path.unlink(missing_ok=True)
            result = mpirun(4, *self.LARGE, "-T", "10", "-J", self.path, environment={"COLLBENCH_STAND_IN": fault})
            self.check_line(result, [words], 4)
            made = json.loads(self.path.read_text())
            self.assertEqual((made["complete"], made["incident"]["kind"]), (False, "error"))


class Settings(Scratch):
    """What a user sets of NCCL's configuration, and nccl-tests' letters that need no kernel of their own."""

    def test_every_communicator_has_them(self):
        log = self.path.with_suffix(".config")
        made = self.record(2, *QUICK, *SMALL, "--algo", "auto,ring", "-x", "efficiency", "--nccl-config", "maxCTAs=8,nvlinkCentricSched=1",
                           environment={"COLLBENCH_STAND_IN_CONFIG": str(log)})
        self.assertEqual({row["note"] for row in made["rows"]}, {"CTAPolicy=1, maxCTAs=8, nvlinkCentricSched=1"})
        lines = log.read_text().splitlines()
        self.assertGreaterEqual(len(lines), 6)  # two ranks: the trial, ring's trial, and those of the rows
        for line in lines:
            settings = dict(word.split("=") for word in line.split())
            self.assertEqual([settings.pop(name) for name in ("CTAPolicy", "maxCTAs", "nvlinkCentricSched")], ["1", "8", "1"])
            self.assertEqual(set(settings.values()), {str(-(1 << 31))})
        self.assertIn("NCCL honors CTAPolicy=1 only without a tuner plugin", made["nccl_untold"]["expectation"])

    def test_what_an_older_nccl_lacks(self):
        for words, version in ((["-x", "0"], 22602), (["-x", "2"], 22703), (["--nccl-config", "maxP2pPeers=4"], 22907)):
            self.refused([r"=\d: NCCL 2.2\d.\d has no such setting; 2.\S+ and newer do; leave it out, or name a newer libnccl"], *words,
                         environment={"COLLBENCH_NCCL": nccl(version)})

    def test_what_nccl_would_refuse(self):
        self.refused(["-x: '3' is no CTA policy; give 0 or default"], "-x", "3", status=2)
        self.refused(["--nccl-config: NCCL accepts minCTAs only together with"], "--nccl-config", "minCTAs=8", status=2)

    def test_host_memory_has_none(self):
        for words, line in ((["-x", "1"], "--nccl-config: host memory is measured"), (["-z", "1"], "-z: an MPI call returns when it is complete"),
                            (["-M", "1"], "-M: it reports GPU memory, and host memory is measured")):
            self.check_line(run([str(PROGRAM), "--backend", "mpi", *QUICK, *SMALL, *words]), [line], 5)

    def test_calls_that_are_waited_for(self):
        for how in (1, 2, 3):
            made = self.record(2, "--passes", "2", "-n", "6", "-w", "1", "--sizes", "8,4K", "--ops", "all_reduce,all_to_all,ping_pong", "-z", how)
            for row in made["rows"]:
                self.assertEqual((row["wrong_elements"], row["iterations"]), (0, 12), row)
                self.assertEqual(row["note"], f"each call waited for (-z {how})")
        self.refused(["--cudagraph and --blocking cannot be used together"], "-z", "1", "-G", "2", status=2)

    def test_the_time_of_a_call_is_that_until_it_is_over(self):
        """Every operation sleeps for 50 ms."""
        for how in (1, 2, 3):
            (row,) = self.record(2, "--passes", "1", "-n", "3", "-w", "0", "-c", "0", "--ops", "all_reduce", "--sizes", "8", "-z", how,
                                 environment={"COLLBENCH_STAND_IN": "slow:1000"})["rows"]
            self.assertGreaterEqual(row["minimum_seconds"], 0.05, how)

    def test_a_failure_ends_the_run_while_calls_are_waited_for(self):
        for how in (1, 2, 3):
            result = mpirun(2, "--ops", "all_reduce", "--sizes", "8", "--passes", "1", "-n", "50", "-w", "0", "-c", "0", "-T", "10", "-z", how,
                            environment={"COLLBENCH_STAND_IN": "async_error:20@1"})
            self.check_line(result, ["remote process exited or there was a network error"], 4)


class EnqueueTime(Scratch):
    def test_every_row_has_it(self):
        result = mpirun(2, *QUICK, *SMALL, "--enqueue-time", "-J", self.path)
        self.assertEqual(result.returncode, 0, result.stderr)
        for row in json.loads(self.path.read_text())["rows"]:
            self.assertGreater(row["enqueue_seconds"], 0)
        self.assertIn(" enqueue", result.stdout)

    def test_in_graphs(self):
        for row in self.record(2, "-G", "2", *QUICK, *SMALL, "--enqueue-time")["rows"]:
            self.assertGreater(row["enqueue_seconds"], 0)

    def test_unasked_there_is_none(self):
        result = mpirun(2, *QUICK, *SMALL, "-J", self.path)
        self.assertIsNone(json.loads(self.path.read_text())["rows"][0]["enqueue_seconds"])
        self.assertNotIn("enqueue", result.stdout)


class Telemetry(Scratch):
    """With a stand-in for NVML and none for nvidia-smi, and the other way round."""

    LONG = ["--sizes", "8,4K", "--ops", "all_reduce", "--time", "8", "--precision", "0.01"]  # readings in the middle

    def measure(self, *arguments, by, gpus="", status=0, environment=None):
        source = {"COLLBENCH_NVML": str(NVML / f"lib{by}.so")}
        if by == "nvidia-smi":
            source = {"PATH": f"{NVIDIA_SMI}:{os.environ['PATH']}"}
        # How fast the stand-ins are depends on what else this machine does: no verdict ends the run with 1.
        result = mpirun(2, *arguments, "--fail-on", "none", "-J", self.path, "--overwrite",
                        environment={"COLLBENCH_STAND_IN_SMI": gpus, **source, **(environment or {})})
        self.assertEqual(result.returncode, status, result.stdout + result.stderr)
        return json.loads(self.path.read_text()), unwrapped(result.stdout)

    def marks(self, made):
        return {(mark["gpu"], mark["trouble"]) for row in made["rows"] for mark in row["marks"]}

    def test_gpus_that_are_well(self):
        for by, source in (("stand_in_nvml", "NVML"), ("nvidia-smi", "nvidia-smi")):
            made, text = self.measure(*QUICK, *SMALL, by=by, gpus="gpu_idle applications_clocks_setting")
            telemetry = made["telemetry"]
            self.assertGreaterEqual(telemetry["readings"], 2)
            self.assertEqual([gpu["address"] for gpu in telemetry["gpus"]], ["0000:18:00.0", "0000:19:00.0"])
            self.assertEqual([gpu["source"] for gpu in telemetry["gpus"]], [source, source])
            self.assertEqual(telemetry["gpus"][1]["temperature_celsius"],
                             {"before": 41, "least": 41, "most": 41, "after": 41})
            self.assertEqual(telemetry["gpus"][0]["sm_clock_hertz"]["most"], 1755e6)
            self.assertEqual(telemetry["gpus"][0]["power_watts"]["most"], 300.5)
            self.assertEqual(telemetry["gpus"][0]["ecc_corrected"], {"before": 3, "after": 3})
            self.assertEqual(telemetry["gpus"][0]["pcie_replays"], {"before": 9, "after": 9})
            self.assertEqual(self.marks(made), set())
            self.assertRegex(text, rf"# 2 GPUs in \d+ readings \({source}\): SM clock 1755 to 1755 MHz, temperature 40 to "
                                   r"41 °C, power 30[01] to 30[01] W; no corrected ECC errors, no uncorrected ECC errors, "
                                   "no PCIe replays")
            self.assertNotRegex(text, r"\d!")

    def test_a_gpu_that_is_throttled_marks_the_rows(self):
        for by, gpus in (("stand_in_nvml_old", "sw_power_cap"), ("nvidia-smi", "old sw_power_cap")):
            made, text = self.measure(*self.LONG, by=by, gpus=gpus)
            self.assertEqual(self.marks(made), {("GPU-c0000000-0000-0000-0000-000000000001", "SW power cap")})
            marks = [mark for row in made["rows"] for mark in row["marks"]]  # of those that ran during a reading
            self.assertEqual({mark["host"] for mark in marks}, {made["ranks"][0]["host"]})
            self.assertEqual(made["telemetry"]["gpus"][1]["troubles"], ["SW power cap"])
            self.assertRegex(text, r"\d! ")
            self.assertRegex(text, r"# ! SW power cap in [12] of 2 rows, GPU-c0\S*1 of \S+: the power limit capped the clocks")

    def test_the_closer_reason_is_named(self):
        made, text = self.measure(*self.LONG, by="stand_in_nvml", gpus="hw_slowdown hw_thermal_slowdown")
        self.assertEqual({trouble for _, trouble in self.marks(made)}, {"HW thermal slowdown"})
        self.assertIn("too hot: ", text)

    def test_a_counter_that_moves_marks_all_rows_since(self):
        for by in ("stand_in_nvml", "nvidia-smi"):
            made, text = self.measure(*QUICK, *SMALL, by=by, gpus="replays")
            for row in made["rows"]:
                self.assertEqual([mark["trouble"] for mark in row["marks"]], ["PCIe replays"])
            self.assertIn("! PCIe replays in 2 of 2 rows, GPU-c0000000-0000-0000-0000-000000000000 of", text)

    def test_a_failure_keeps_it(self):
        made, _ = self.measure("--ops", "all_reduce", "--sizes", "8,4K,64K", "--passes", "2", "-n", "5", by="stand_in_nvml",
                               gpus="replays", status=4, environment={"COLLBENCH_STAND_IN": "ecc:9@1"})
        self.assertGreaterEqual(made["telemetry"]["readings"], 2)
        self.assertFalse(made["complete"])

    def test_figures_that_the_driver_does_not_report(self):
        for by in ("stand_in_nvml", "nvidia-smi"):
            made, text = self.measure(*QUICK, *SMALL, by=by, gpus="na")
            self.assertIsNone(made["telemetry"]["gpus"][0]["power_watts"])
            self.assertIn("SM clock unknown, temperature unknown, power unknown; corrected ECC errors unknown", text)

    def test_a_gpu_that_is_lost_before_the_run_is_left_out(self):
        made, _ = self.measure(*QUICK, *SMALL, by="stand_in_nvml", gpus="lost")
        self.assertEqual([gpu["address"] for gpu in made["telemetry"]["gpus"]], ["0000:18:00.0"])
        self.assertRegex(" ".join(made["telemetry"]["notes"]), "unknown: NVML has no reading of GPU 0000:19:00.0, which rank 1 uses")

    def test_neither(self):
        result = mpirun(2, *QUICK, *SMALL)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(unwrapped(result.stdout), "errors of the GPUs of .*: unknown: NVML: /none.so: .*No such file.*; "
                                                   "nvidia-smi -q -x: No such file or directory")

    def test_nvidia_smi_stands_in_for_nvml_and_the_note_says_why(self):
        smi = {"PATH": f"{NVIDIA_SMI}:{os.environ['PATH']}"}
        for library, gpus, why in (("stand_in_nvml", "mismatch", "nvmlInit_v2: Driver/library version mismatch"),
                                   ("stand_in_nvml_incomplete", "", "lacks nvmlDeviceGetFieldValues")):
            made, _ = self.measure(*QUICK, *SMALL, by=library, gpus=gpus, environment=smi)
            self.assertEqual(made["telemetry"]["gpus"][0]["source"], "nvidia-smi")
            self.assertRegex(made["telemetry"]["notes"][0], f": read with nvidia-smi -q -x instead of NVML: .*{why}")

    def test_nvml_that_hangs(self):
        made, _ = self.measure(*QUICK, *SMALL, by="stand_in_nvml", gpus="hang")
        self.assertIn("NVML: timed out after 8 s", made["telemetry"]["notes"][0])

    def test_an_nvidia_smi_that_fails(self):
        made, _ = self.measure(*QUICK, *SMALL, by="nvidia-smi", gpus="fail")
        self.assertIn("NVIDIA-SMI has failed", made["telemetry"]["notes"][0])

    def test_an_nvidia_smi_that_hangs(self):
        made, _ = self.measure(*QUICK, *SMALL, by="nvidia-smi", gpus="hang")
        self.assertIn("timed out after", made["telemetry"]["notes"][0])

    def test_not_asked_for(self):
        made, text = self.measure(*QUICK, *SMALL, "--no-telemetry", by="stand_in_nvml", gpus="sw_power_cap")
        self.assertIsNone(made["telemetry"])
        self.assertNotIn("readings", text)


class Refusals(Scratch):
    def test_no_nccl(self):
        self.refused(["NCCL: /none.so", "COLLBENCH_NCCL"], environment={"COLLBENCH_NCCL": "/none.so"})

    def test_an_old_nccl(self):
        self.refused(["is version 2.16.0; 2.18 or newer is needed"], environment={"COLLBENCH_NCCL": nccl(21600)})

    def test_a_missing_function_is_named(self):
        self.refused([r"\(2.18.0\) lacks ncclCommGetAsyncError"], environment={"COLLBENCH_NCCL": nccl(21800)})

    def test_no_cuda_runtime(self):
        self.refused(["CUDA: /none.so", "COLLBENCH_CUDART"], environment={"COLLBENCH_CUDART": "/none.so"})

    def test_no_kernels(self):
        self.refused(["GPU kernels: /none.so", "nvcc"], environment={"COLLBENCH_KERNELS": "/none.so"})

    def test_another_builds_kernels(self):
        self.refused(["another version of collbench"], environment={"COLLBENCH_KERNELS": nccl(22809)})

    def test_no_driver(self):
        self.refused(["no GPU: found CUDA runtime 13.0, but no NVIDIA driver", "--backend mpi"],
                     environment={"COLLBENCH_STAND_IN_DRIVER": "0"})

    def test_an_old_driver_and_an_older_runtime_beside_the_newest(self):
        for version in ("12", "13"):
            shutil.copy(STAND_INS / "libstand_in_cudart.so", self.path.parent / f"libcudart.so.{version}")
        environment = {key: value for key, value in ENVIRONMENT.items() if key != "COLLBENCH_CUDART"}
        environment["LD_LIBRARY_PATH"] = str(self.path.parent)
        for driver, line in (("12040", r"CUDA: +12\.0 \(.*libcudart.so.12\)"), ("13000", r"CUDA: +13\.0 \(.*libcudart.so.13\)"),
                             ("0", r"CUDA: +13\.0 \(")):
            version = subprocess.run([str(PROGRAM), "--version"], env={**environment, "COLLBENCH_STAND_IN_DRIVER": driver},
                                     capture_output=True, text=True, timeout=60, check=True).stdout
            self.assertRegex(version, line)

    def test_an_old_driver(self):
        self.refused(["but the driver supports only CUDA 12.4"], environment={"COLLBENCH_STAND_IN_DRIVER": "12040"})

    def test_what_keeps_cuda_from_working_here_is_no_failure_of_a_gpu_or_of_nccl(self):
        # Where a rank knows first, it is named: the others need not have failed by then.
        container = r"; check that nvidia-smi -L lists GPUs here; a container .*--gpus all"
        for fault, line in (
                ("set_device:3", "collbench: cudaSetDevice: the driver cannot be initialized .initialization error." + container),
                ("set_device:100", "collbench: cudaSetDevice: the driver shows no GPU .no CUDA-capable" + ".*" + container),
                ("kernel_device:35", "collbench: GPU kernels: the driver is too old for this kernel library, or is not here .*; "
                                     "update the driver, or build collbench for it: "),
                ("kernel:209", "collbench: GPU kernels: this kernel library has no code for this GPU .*; build collbench for it"),
                ("kernel:222", "collbench: GPU kernels: this kernel library has only PTX for this GPU, of a newer CUDA than"),
                ("cuda_failure:35", r"the communicator: (rank \d on \S+: )?the driver is too old for this libnccl.*; update the driver, or name a libnccl"),
                ("cuda_failure:209", r"the communicator: (rank \d on \S+: )?this libnccl has no code for this GPU .*; name a libnccl"),
                ("cuda_failure:802", "the GPUs wait for NVSwitch's fabric .*; start it: systemctl status nvidia-fabricmanager")):
            with self.subTest(fault):
                self.refused([line], environment={"COLLBENCH_STAND_IN": fault})

    def libraries(self, loaders, pythons):
        """An environment where the loader finds one libnccl, and the packages of python3 on PATH have another."""
        folder = self.path.parent
        packages = folder / "venv/lib/python3.11/site-packages/nvidia/nccl/lib"
        for library, version in ((folder / "libnccl.so.2", loaders), (packages / "libnccl.so.2", pythons)):
            library.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(nccl(version), library)
        python = folder / "venv/bin/python3"
        python.parent.mkdir()
        python.symlink_to(sys.executable)
        return {"COLLBENCH_NCCL": "", "LD_LIBRARY_PATH": str(folder), "PATH": f"{python.parent}:{os.environ['PATH']}",
                "HOME": str(folder), "VIRTUAL_ENV": "", "CONDA_PREFIX": ""}

    def test_a_libnccl_that_does_not_work_here_is_passed_over(self):
        for loaders, environment in ((23007, {"COLLBENCH_STAND_IN_TOO_NEW": "23007"}), (21600, {}), (21800, {})):
            with self.subTest(loaders):
                shutil.rmtree(self.path.parent / "venv", ignore_errors=True)
                made = self.record(2, *QUICK, *SMALL, environment={**self.libraries(loaders, 22809), **environment})
                self.assertEqual(made["versions"]["nccl"], "2.28.9")

    def test_without_one_that_works_it_is_said_why_each_was_left(self):
        self.refused([r"NCCL: \S*/libnccl.so.2 is version 2.16.0; 2.18 or newer is needed, and ",
                      r"and \S*/venv/\S*/libnccl.so.2 \(2.28.9\): the driver is too old for this libnccl"],
                     environment={**self.libraries(21600, 22809), "COLLBENCH_STAND_IN_TOO_NEW": "22809"})

    def test_no_gpu(self):
        self.refused(["no GPU", "no CUDA-capable device"], environment={"COLLBENCH_STAND_IN_GPUS": "0"})

    def test_nonsense_in_cuda_visible_devices(self):
        self.refused(["CUDA_VISIBLE_DEVICES is 'gpu0'", "nvidia-smi -L"], environment={"CUDA_VISIBLE_DEVICES": "gpu0"})

    def test_more_than_the_gpu_holds(self):
        self.refused(["its GPU has 1 MiB for each", "-e of at most"], status=2, rows=["--sizes", "64K,4M"],
                     environment={"COLLBENCH_STAND_IN_MEMORY": str(1 << 20)})

    def test_an_algorithm_that_nccl_does_not_have(self):
        self.refused(["--algo: 'warp'", "nvls_tree"], "--algo", "warp", status=2)

    def test_two_versions_of_nccl(self):
        parts = []
        for version in (22809, 22200):
            parts += ["-np", "1", "-x", f"COLLBENCH_NCCL={nccl(version)}", str(PROGRAM), "--backend", "nccl", ":"]
        environment = {key: value for key, value in ENVIRONMENT.items() if key != "COLLBENCH_NCCL"}
        result = subprocess.run(["mpirun", "--oversubscribe", *parts[:-1]], env=environment, capture_output=True, text=True,
                                timeout=60, stdin=subprocess.DEVNULL, check=False)
        self.check_line(result, ["rank 0 on .* has 2.28.9", "rank 1 on .* has 2.22.0"], 5)


class Algorithms(Scratch):
    def rows(self, *arguments, status=0, environment=None):
        made = self.record(2, *QUICK, "--sizes", "4K", *arguments, status=status, environment=environment)
        return {(row["operation"], row["algorithm"]): row for row in made["rows"]}

    def test_each_choice_has_rows_of_its_own(self):
        rows = self.rows("--ops", "all_reduce,all_gather", "--algo", "auto,ring,tree", "--proto", "ll,simple")
        self.assertEqual(len(rows), 12)
        self.assertEqual(rows["AllReduce", "tree/ll"]["algorithm_ran"], "tree/ll")
        self.assertEqual(rows["AllReduce", "tree/ll"]["wrong_elements"], 0)
        self.assertIn("NCCL has no tree/ll for AllGather", rows["AllGather", "tree/ll"]["unavailable"])

    def test_what_nccl_refuses_is_declined_and_the_rest_is_measured(self):
        rows = self.rows("--ops", "all_reduce", "--algo", "nvls,ring")
        self.assertRegex(rows["AllReduce", "nvls"]["unavailable"], "declined: .*NCCL_ALGO was set to NVLS")
        self.assertEqual(rows["AllReduce", "ring"]["wrong_elements"], 0)

    def test_what_nccl_refuses_of_some_types_and_reductions_only(self):
        """NVLS multiplies nothing, and takes no maximum of floats: each type and reduction is tried by itself."""
        made = self.record(2, *QUICK, "--ops", "all_reduce,all_gather", "--sizes", "4K", "--algo", "nvls", "-d", "float,half",
                           "-o", "sum,prod,max", environment={"COLLBENCH_STAND_IN_NVSWITCH": "1"})
        declined = {(row["type"], row["reduction"]) for row in made["rows"] if row["unavailable"].startswith("declined: ")}
        measured = {(row["type"], row["reduction"]) for row in made["rows"] if not row["unavailable"]}
        self.assertEqual(declined, {("float", "max"), ("float", "prod"), ("half", "prod")})
        self.assertEqual(measured, {("float", "sum"), ("half", "sum"), ("half", "max"), ("float", None), ("half", None)})

    def test_a_communicator_that_hangs_while_an_algorithm_is_tried(self):
        result = mpirun(3, *QUICK, *SMALL, "--algo", "ring", "-T", "5", environment={"COLLBENCH_STAND_IN": "init_hang:2@2"})
        self.check_line(result, ["creation of a communicator: timed out waiting for ranks .* after 4 s"], 4)

    def test_nothing_but_declined(self):
        """NVLS on GPUs without NVSwitches."""
        self.refused(["--algo nvls: nothing could be measured: declined: .*NCCL_ALGO was set to NVLS", "leave --algo out"],
                     "--algo", "nvls")

    def test_what_beat_auto_is_said(self):
        """Which one is faster over stand-ins is chance: that it is said is not."""
        result = mpirun(2, "--ops", "all_reduce", "--sizes", "4K", "--algo", "auto,ring,tree", "--passes", "6", "-n", "4")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stdout, r"# AllReduce float sum: (4 KiB: (ring|tree) takes .* % less time than auto"
                                        r"|no other algorithm measured was significantly faster than auto)")
        few = mpirun(2, *QUICK, "--ops", "all_reduce", "--sizes", "4K", "--algo", "auto,ring")
        self.assertIn("# AllReduce float sum: too few passes to tell whether any algorithm was faster than auto", few.stdout)

    def test_an_nccl_that_would_not_say(self):
        rows = self.rows("--ops", "all_reduce", "--algo", "auto,ring", environment={"COLLBENCH_NCCL": nccl(22200)})
        self.assertIn("2.24 and newer refuse", rows["AllReduce", "ring"]["unavailable"])
        self.assertFalse(rows["AllReduce", "auto"]["unavailable"])


class Observer(Scratch):
    """What NCCL tells of its choices (docs/gpu.md). By the stand-in's made-up cost table, 4 KiB on two ranks is cheapest by
    tree/ll for AllReduce and by ring/ll for AllGather."""

    OPERATIONS = ["--ops", "all_reduce,all_gather,send_recv", "--sizes", "4K"]

    def observed(self, version, *arguments, environment=None, ranks=2):
        made = self.record(ranks, *QUICK, *(arguments or self.OPERATIONS),
                           environment={"COLLBENCH_NCCL": nccl(version), **(environment or {})})
        return made, {(row["operation"], row["algorithm"]): row for row in made["rows"]}

    def used(self, row):
        told = row["nccl"] or {"algorithm": "", "protocol": "", "channels": 0}
        return told["algorithm"], told["protocol"], told["channels"]

    def expected(self, row):
        columns = (row["nccl"] or {}).get("expected", {"algorithm": [], "protocol": [], "seconds": []})
        return {(algorithm, protocol): seconds for algorithm, protocol, seconds in
                zip(columns["algorithm"], columns["protocol"], columns["seconds"], strict=True)}

    def check_all(self, version):
        made, rows = self.observed(version)
        self.assertEqual(made["nccl_untold"], {"use": "", "expectation": ""})
        reduced = rows["AllReduce", "auto"]
        self.assertEqual(self.used(reduced), ("tree", "ll", 4))
        self.assertEqual(reduced["algorithm_ran"], "tree/ll")
        costs = self.expected(reduced)
        self.assertEqual(set(costs), {(a, p) for a in ("tree", "ring") for p in ("ll", "ll128", "simple")})
        self.assertAlmostEqual(costs["tree", "ll"], (6 + 4096 / 5e3) * 1e-6, delta=1e-11)
        self.assertAlmostEqual(costs["ring", "simple"], (24 + 4096 / 1e5) * 1e-6, delta=1e-11)
        gathered = rows["AllGather", "auto"]
        self.assertEqual(self.used(gathered), ("ring", "ll", 4))
        self.assertEqual({algorithm for algorithm, _ in self.expected(gathered)}, {"ring"})
        sent = rows["SendRecv", "auto"]
        self.assertEqual(self.used(sent), ("p2p", "", 2 if version >= 22700 else 0))
        self.assertEqual(sent["algorithm_ran"], "auto")

    def test_nccl_2_30(self):
        self.check_all(23007)

    def test_nccl_2_29(self):
        self.check_all(22907)

    def test_nccl_2_28(self):
        self.check_all(22809)

    def test_nccl_2_27(self):
        self.check_all(22703)

    def test_nccl_2_26(self):
        self.check_all(22602)

    def test_nccl_2_24(self):
        self.check_all(22403)

    def test_nccl_2_23(self):
        self.check_all(22304)

    def test_nccl_2_22_has_no_profiler(self):
        made, rows = self.observed(22200)
        self.assertEqual(made["nccl_untold"]["expectation"], "")
        self.assertEqual(made["nccl_untold"]["use"], "NCCL 2.22.0 does not give a profiler plugin the data that is needed; 2.23 is the first that does")
        self.assertEqual(self.used(rows["AllReduce", "auto"]), ("", "", 0))
        self.assertEqual(rows["AllReduce", "auto"]["algorithm_ran"], "auto")
        self.assertIn(("ring", "ll128"), self.expected(rows["AllReduce", "auto"]))

    def test_nccl_2_18_has_neither(self):
        made, rows = self.observed(21806)
        self.assertIn("2.18.6 does not give a profiler plugin the data", made["nccl_untold"]["use"])
        self.assertIn("2.18.6 does not give a tuner plugin the data", made["nccl_untold"]["expectation"])
        self.assertIsNone(rows["AllReduce", "auto"]["nccl"])

    def test_forced_choices(self):
        _, rows = self.observed(22809, "--ops", "all_reduce", "--sizes", "4K", "--algo", "auto,ring,tree/simple,auto/ll128")
        self.assertEqual(self.used(rows["AllReduce", "ring"])[:2], ("ring", "ll"))
        self.assertEqual(rows["AllReduce", "ring"]["algorithm_ran"], "ring")
        self.assertEqual({algorithm for algorithm, _ in self.expected(rows["AllReduce", "ring"])}, {"ring"})
        self.assertEqual(self.used(rows["AllReduce", "tree/simple"])[:2], ("tree", "simple"))
        self.assertEqual(self.used(rows["AllReduce", "auto/ll128"])[:2], ("tree", "ll128"))
        self.assertEqual(rows["AllReduce", "auto/ll128"]["algorithm_ran"], "auto/ll128")

    def test_one_rank_has_nothing_to_choose(self):
        _, rows = self.observed(22809, *SMALL, ranks=1)
        self.assertIsNone(rows["AllReduce", "auto"]["nccl"])

    def test_the_table(self):
        result = mpirun(2, *QUICK, "--ops", "all_reduce", "--sizes", "4K", "-v")
        self.assertRegex(result.stdout, r"(?m)^# .* meas +NCCL algorithm$")
        self.assertRegex(result.stdout, r"(?m)^ +4096 .* 6\.82 auto: tree/ll/4$")
        self.assertLessEqual(max(map(len, result.stdout.splitlines())), 120)
        self.assertIn("# NCCL: the time that NCCL's own model predicts for what it used", result.stdout)

    def test_csv(self):
        self.record(2, *QUICK, "--ops", "all_reduce", "--sizes", "4K")
        lines = run([str(PROGRAM), "report", str(self.path), "--format", "csv"]).stdout.splitlines()
        row = dict(zip(lines[0].split(","), lines[1].split(","), strict=False))
        self.assertEqual([row[f"nccl_{key}"] for key in ("algorithm", "protocol", "channels")], ["tree", "ll", "4"])
        self.assertAlmostEqual(float(row["nccl_expected_seconds"]), 6.8192e-6, delta=1e-11)

    def user_has(self, environment):
        """The user's own tuner wants the tree with the simple protocol: it stays, and what it did is seen."""
        made, rows = self.observed(22809, environment=environment)
        self.assertEqual(self.used(rows["AllReduce", "auto"])[:2], ("tree", "simple"))
        self.assertEqual(self.expected(rows["AllReduce", "auto"]), {})
        self.assertEqual(made["nccl_untold"]["use"], "")
        return made["nccl_untold"]["expectation"]

    def test_a_tuner_of_the_users_own(self):
        why = self.user_has({"NCCL_TUNER_PLUGIN": str(STAND_INS / "libstand_in_tuner.so")})
        self.assertRegex(why, "the tuner plugin slot is taken: NCCL_TUNER_PLUGIN=.*libstand_in_tuner.so")

    def installed_as(self, name):
        """LD_LIBRARY_PATH with the user's tuner under this name."""
        shutil.copy(STAND_INS / "libstand_in_tuner.so", self.path.parent / name)
        return {"LD_LIBRARY_PATH": f"{self.path.parent}:{os.environ.get('LD_LIBRARY_PATH', '')}"}

    def test_an_installed_tuner(self):
        self.assertIn("slot is taken: libnccl-tuner.so", self.user_has(self.installed_as("libnccl-tuner.so")))

    def test_a_network_plugin_that_is_a_tuner(self):
        made, _ = self.observed(22809, environment=self.installed_as("libnccl-net.so"))
        self.assertIn("slot is taken: libnccl-net.so, a network plugin that is also a tuner plugin", made["nccl_untold"]["expectation"])

    def test_a_tuner_in_nccls_own_settings(self):
        settings = self.path.parent / "nccl.conf"
        settings.write_text("NCCL_TUNER_PLUGIN=/opt/mine.so\n")
        made, _ = self.observed(22809, environment={"NCCL_CONF_FILE": str(settings)})
        self.assertIn("NCCL_TUNER_PLUGIN=/opt/mine.so", made["nccl_untold"]["expectation"])

    def test_no_profiler_by_the_users_wish(self):
        made, rows = self.observed(22809, environment={"NCCL_PROFILER_PLUGIN": "none"})
        self.assertIn("the profiler plugin slot is taken: NCCL_PROFILER_PLUGIN=none", made["nccl_untold"]["use"])
        self.assertEqual(self.used(rows["AllReduce", "auto"])[0], "")
        self.assertEqual(len(self.expected(rows["AllReduce", "auto"])), 6)

    def test_a_setting_that_a_tuner_would_switch_off(self):
        made, _ = self.observed(22809, environment={"NCCL_CTA_POLICY": "1"})
        self.assertIn("NCCL_CTA_POLICY=1 only without a tuner", made["nccl_untold"]["expectation"])

    def test_no_observer(self):
        made, rows = self.observed(22809, environment={"COLLBENCH_OBSERVER": "/none.so"})
        self.assertRegex(made["nccl_untold"]["use"], "collbench's observer library cannot be used: /none.so")
        self.assertIsNone(rows["AllReduce", "auto"]["nccl"])

    def test_an_observer_that_nccl_does_not_load(self):
        made, _ = self.observed(22809, environment={"COLLBENCH_STAND_IN": "no_plugins"})
        for why in made["nccl_untold"].values():
            self.assertRegex(why, "NCCL did not load /.*libcollbench_observer.so; NCCL_DEBUG=INFO shows why")


class Network(Scratch):
    """NCCL says in its log which network each communicator has; a plugin's is "Fabric" here, and "Socket" the built-in one."""

    PLUGIN = {"NCCL_NET_PLUGIN": str(STAND_INS / "libstand_in_network.so")}
    CHANGED = "warning: NCCL began with network Fabric and made later communicators over Socket"

    def networks(self, version, environment=None):
        result = mpirun(2, *QUICK, *SMALL, "-J", self.path, "--overwrite",
                        environment={"COLLBENCH_NCCL": nccl(version), **(environment or {})})
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertNotIn("NCCL INFO", result.stdout + result.stderr)
        return json.loads(self.path.read_text())["nccl_networks"], unwrapped(result.stdout)

    def test_without_a_plugin(self):
        self.assertEqual(self.networks(22809)[0], {"used": ["Socket"], "unknown_reason": ""})

    def test_the_users_plugin_carries_the_rows(self):
        """NCCL 2.28 and 2.29 forget its name when the trial's communicator ends (NVIDIA/nccl#1978)."""
        for version in (22304, 22703, 22809, 22907, 23007):
            networks, text = self.networks(version, self.PLUGIN)
            self.assertEqual(networks, {"used": ["Fabric"], "unknown_reason": ""}, version)
            self.assertNotIn("NCCL began with network", text)

    def test_another_network_than_that_of_the_start_is_said(self):
        """What the user has set stays, whatever follows."""
        networks, text = self.networks(22809, {**self.PLUGIN, "NCCL_NET_PLUGIN_REF_COUNT": "0"})
        self.assertEqual(networks["used"], ["Fabric", "Socket"])
        self.assertIn(self.CHANGED, text)

    def test_a_log_of_the_users_own_stays(self):
        log = self.path.parent / "nccl.log"
        networks, _ = self.networks(22809, {"NCCL_DEBUG": "INFO", "NCCL_DEBUG_FILE": str(log)})
        self.assertEqual(networks["used"], [])
        self.assertIn("NCCL_DEBUG is set", networks["unknown_reason"])
        self.assertIn("Using network Socket", log.read_text())

    def test_an_nccl_whose_log_would_stand_on_stdout(self):
        self.assertIn("NCCL 2.22.0 would print on stdout", self.networks(22200)[0]["unknown_reason"])


class Placement(Scratch):
    def test_ranks_that_g_starts_on_gpus_are_not_bound(self):
        """A launcher that says how it was started."""
        launcher = self.path.with_name("mpirun")
        launcher.write_text('#!/bin/sh\necho "$@"\n')
        launcher.chmod(0o755)
        words = {backend: run([str(PROGRAM), "-g", "2", "--backend", backend], {"PATH": f"{launcher.parent}:{os.environ['PATH']}"}).stdout
                 for backend in ("nccl", "mpi")}
        self.assertIn("-np 2 --oversubscribe --bind-to none ", words["nccl"])
        self.assertIn("-np 2 --oversubscribe ", words["mpi"])
        self.assertNotIn("--bind-to", words["mpi"])

    def test_more_ranks_than_gpus(self):
        self.refused(["ranks 0 and 2 would share GPU 0000:18:00.0: rank 2 sees 2 GPUs"], ranks=3,
                     environment={"COLLBENCH_STAND_IN_GPUS": "2"})

    def test_slurms_one_gpu_for_all(self):
        """facts of `salloc --gpus-per-task=1` with mpirun: CUDA_VISIBLE_DEVICES is 0 for every rank."""
        self.refused(["ranks 0 and 1 would share", "--gpus-per-node=N"],
                     environment={"CUDA_VISIBLE_DEVICES": "0", "SLURM_JOB_ID": "7"})

    def test_sharing_when_asked_for(self):
        made = self.record(3, *QUICK, *SMALL, "--share-gpu", environment={"COLLBENCH_STAND_IN_GPUS": "2"})
        for row in made["rows"]:
            self.assertEqual(row["wrong_elements"], 0)
            self.assertEqual(row["note"], "correctness only: ranks share a GPU")
        self.assertEqual([rank["gpu_address"] for rank in made["cluster"]["placement"]],
                         ["0000:18:00.0", "0000:19:00.0", "0000:18:00.0"])
        self.assertIsNone(made["rank_probe"])

    def test_nothing_to_accept_is_refused_before_anything_is_measured(self):
        for ranks, environment, why in ((1, None, "one rank communicates with nobody"),
                                        (3, {"COLLBENCH_STAND_IN_GPUS": "2"}, "ranks that share a GPU take turns")):
            self.refused([f"--accept: there would be nothing to judge: {why}"], "--accept", "--share-gpu", ranks=ranks, status=2,
                         environment=environment)

    def test_nothing_hot_is_accepted(self):
        self.refused(["--accept: what is expected is of data from memory"], "--accept", "--hot", status=2)

    def test_no_mark_where_nobody_shares(self):
        made = self.record(2, *QUICK, *SMALL, "--share-gpu")
        self.assertEqual({row["note"] for row in made["rows"]}, {""})
        if len(physical_cores()) >= 2:
            self.assertGreater(made["rank_probe"]["repetitions"], 0)

    def test_tasks_that_see_one_gpu_each(self):
        parts = []
        for gpu in ("3", "1"):
            parts += ["-np", "1", "-x", f"CUDA_VISIBLE_DEVICES={gpu}", str(PROGRAM), "--backend", "nccl", *QUICK, *SMALL,
                      "-J", str(self.path), ":"]
        result = run(["mpirun", "--oversubscribe", *parts[:-1]])
        self.assertEqual(result.returncode, 0, result.stderr)
        placement = json.loads(self.path.read_text())["cluster"]["placement"]
        self.assertEqual([rank["gpu_address"] for rank in placement], ["0000:1b:00.0", "0000:19:00.0"])

    def test_mig_devices_are_told_apart_by_uuid(self):
        self.record(2, *QUICK, *SMALL, environment={"COLLBENCH_STAND_IN_MIG": "1"})


class EndedRun(Scratch):
    """Each failure ends the run on all ranks, with one line; the record keeps what was measured."""

    def check(self, told, patterns, status=4, fewest_blocks=None):
        result = mpirun(3, "--ops", "all_reduce", "--sizes", "8,4K,64K", "--passes", "2", "-n", "5", "-T", "5",
                        "-J", self.path, "--overwrite", environment={"COLLBENCH_STAND_IN": told})
        self.check_line(result, patterns, status)
        self.assertNotRegex(result.stderr, "Signal|MPI_ABORT")
        if fewest_blocks is None:
            self.assertFalse(self.path.exists())
            return
        made = json.loads(self.path.read_text())
        self.assertFalse(made["complete"])
        blocks = sum(len(row["pass_seconds"]) for row in made["rows"])
        self.assertTrue(fewest_blocks <= blocks < 6, blocks)
        self.assertIn(str(self.path), collbench_lines(result)[0])


class FailuresInARow(EndedRun):
    """How many operations a row takes depends on how long they take: on a quiet machine the 45th is after the first row's
    block and before the last one's."""

    def test_call_error(self):
        self.check("call_error:45@1", ["rank 1 on .*: ncclAllReduce failed: unhandled cuda error"], fewest_blocks=1)

    def test_async_error_later(self):
        self.check("async_error:45@1", ["remote process exited or there was a network error"], fewest_blocks=1)

    def test_hang(self):
        self.check("hang:45@0", [r"AllReduce .*: timed out waiting for ranks 0 \(\S+\), 1 \(\S+\), 2 \(\S+\) after 4 s"], fewest_blocks=1)

    def test_a_block_that_takes_longer_than_the_timeout_and_goes_on_is_no_hang(self):
        """Later a busy machine may take longer than that for the end of the run: the block is whole then."""
        result = mpirun(2, "--ops", "all_reduce", "--sizes", "8", "--passes", "1", "-n", "90", "-w", "1", "-T", "4", "-J", self.path,
                        environment={"COLLBENCH_STAND_IN": "slow:95"})
        self.assertNotIn("AllReduce 8 B: timed out", result.stderr)
        self.assertGreater(json.loads(self.path.read_text())["rows"][0]["pass_seconds"][0], 0.04)

    def test_ecc_error(self):
        self.check("ecc:9@1", ["rank 1 on .*uncorrectable ECC error", "nvidia-smi -q -d ECC"], fewest_blocks=1)


class FullQueue(Scratch):
    """Blocks of more calls than a stream takes (of the stand-in 1,024, and then the next one blocks): a rank that goes on
    putting calls there behind one that is stuck learns of it, and the run ends as it does while all wait."""

    ROWS = ["--ops", "all_reduce", "--sizes", "8", "--passes", "1", "-n", "5000", "-w", "1"]
    GRAPHS = ["--ops", "all_reduce", "--sizes", "8", "--passes", "1", "-n", "5", "-G", "1000", "-w", "1"]

    def check(self, fault, pattern, rows=None):
        result = mpirun(2, *(rows or self.ROWS), "-T", "5", environment={"COLLBENCH_STAND_IN": fault})
        self.check_line(result, [pattern], 4)
        return result

    def test_what_fails_on_one_rank_ends_the_others_before_the_timeout(self):
        for fault, words, rows in (("call_error:2000@1", "rank 1 on .*: ncclAllReduce failed: unhandled cuda error", self.ROWS),
                                   ("async_error:2000@1", "remote process exited or there was a network error", self.ROWS),
                                   ("graph_error:300@1", "rank 1 on .*: cudaGraphLaunch failed", self.GRAPHS)):
            with self.subTest(fault=fault, rows=rows):
                self.assertNotIn("timed out", self.check(fault, words, rows).stderr)

    def test_an_operation_that_never_ends_is_waited_for_and_aborted(self):
        self.check("hang:2000@0", r"AllReduce 8 B: timed out waiting for ranks 0 \(\S+\), 1 \(\S+\) after 4 s")

    def test_a_call_that_is_stuck_in_the_driver_is_named(self):
        self.check("call_hang:2000@1", r"AllReduce 8 B: timed out after 5 s without progress: rank 1 \(.*\) is \d+ calls behind: "
                                       r"inside AllReduce 8 B, call \d+, pass 1; rank 0 \(\S+\) waits")

    def run_until(self, number, status):
        """What collbench says. With a signal to rank 1 while rank 0's queue is full: what comes after takes 250 s."""
        ranks = []
        self.addCleanup(lambda: [os.kill(rank, signal.SIGCONT) for rank in ranks if pathlib.Path(f"/proc/{rank}").exists()])
        for timeout in ("5", "30"):  # on a busy machine a rank may do nothing for the shorter one, which ends the run
            process = subprocess.Popen(["mpirun", "--oversubscribe", "-np", "2", str(PROGRAM), "--backend", "nccl", *self.ROWS, "-T", timeout],
                                       env={**ENVIRONMENT, "COLLBENCH_STAND_IN": "slow:100000"}, stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL, start_new_session=True)
            self.addCleanup(process.kill)
            wait_until(lambda run=process: run.poll() is not None or (self.ranks(run.pid, ranks) and self.calls(ranks[0]) > 700))
            if process.poll() is None:
                break
            process.communicate()
        os.kill(ranks[1], number)
        _, errors = process.communicate(timeout=120)
        self.assertEqual(process.returncode, status, errors)
        (line,) = [line for line in errors.splitlines() if line.startswith("collbench:")]
        return line

    @staticmethod
    def ranks(pid, found):
        """Of mpirun: the ranks' processes, in their order."""
        started = {}
        for process in descendants(pid):
            try:
                variables = pathlib.Path(f"/proc/{process}/environ").read_bytes().split(b"\0")
            except OSError:
                return False
            rank = [word.split(b"=")[1] for word in variables if word.startswith(b"OMPI_COMM_WORLD_RANK=")]
            if rank:
                started[int(rank[0])] = process
        found[:] = [started[rank] for rank in sorted(started)]
        return len(found) == 2

    @staticmethod
    def calls(rank):
        done = subprocess.run([str(PROGRAM), "flight", str(rank), "--format", "json"], capture_output=True, text=True, timeout=60,
                              check=False)
        return json.loads(done.stdout)["ranks"][0]["calls"]["entered"] if done.returncode == 0 else 0

    def test_a_rank_that_is_stopped_is_named(self):
        self.assertRegex(self.run_until(signal.SIGSTOP, 4),
                         r"AllReduce 8 B: timed out after \d+ s without progress: rank 1 \(.*\) is stopped")

    def test_a_rank_that_is_killed_is_named(self):
        of_mpirun = 128 + signal.SIGKILL
        self.assertRegex(self.run_until(signal.SIGKILL, of_mpirun),
                         r"AllReduce 8 B: rank 1 \(.*\) is gone, last seen in AllReduce 8 B")


class Failures(EndedRun):
    def test_init_error(self):
        """With what NCCL warned of, the newest last, and what the doctor says of it."""
        self.check("init_error", ["unhandled system error", "; NCCL WARN Could not read .*; NCCL WARN Bootstrap : no socket interface found.*; name an "
                                  "interface of every node .*log-no-interface, as collbench doctor calls it", "; NCCL_DEBUG=INFO shows"], status=5)

    def test_init_error_where_the_log_is_the_users(self):
        self.refused(["for details.: Bootstrap : no socket interface found.*; name an interface of every node .*; NCCL_DEBUG=WARN shows NCCL's own"],
                     ranks=3, environment={"COLLBENCH_STAND_IN": "init_error", "NCCL_DEBUG": "VERSION"})

    def test_init_error_on_one_rank(self):
        self.check("init_error@1", ["rank 1 on .*: the communicator failed: unhandled system error"], status=5)

    def test_init_hang(self):
        self.check("init_hang@2", [r"creation of a communicator: timed out waiting for ranks 0 \(\S+\), 1 \(\S+\), 2 \(\S+\) after 4 s", "-T"])

    def test_init_hang_of_a_later_communicator(self):
        """One of a blocking kind, which nobody can give up: the watchdog ends it, and says in which row."""
        result = mpirun(3, *QUICK, *SMALL, "-T", "5", environment={"COLLBENCH_STAND_IN": "init_hang:2@2"})
        self.assertEqual(result.returncode, 4, result.stdout + result.stderr)
        self.assertRegex(collbench_lines(result)[0], "AllReduce 8 B: timed out after 5 s without progress: ranks 0-2 .* all wait at the same point")

    def test_a_failure_inside_a_group_ends_the_group(self):
        for fault, arguments in (("send_error:20@1", ["--ops", "all_to_all_v"]), ("call_error:5@1", ["--ops", "all_reduce", "-m", "3"])):
            result = mpirun(3, *QUICK, "--sizes", "4K", "-T", "10", *arguments, environment={"COLLBENCH_STAND_IN": fault})
            self.check_line(result, ["rank 1 on .* failed: unhandled cuda error"], 4)
            self.assertNotIn("stand-in:", result.stderr)

    def test_async_error_in_the_first_operation(self):
        self.check("async_error:1@1", ["remote process exited or there was a network error"])

    def test_async_error_in_the_tenth_operation(self):
        self.check("async_error:10@1", ["remote process exited or there was a network error"], fewest_blocks=0)

    def test_no_memory_on_one_rank(self):
        self.check("no_memory@1", ["GPU memory: rank 1 on .*out of memory", "-e"], status=2)

    def test_wrong_data(self):
        made = self.record(3, *QUICK, "--sizes", "4K", status=3, environment={"COLLBENCH_STAND_IN": "wrong_data:2@1"})
        self.assertTrue(made["complete"])
        for row in made["rows"]:
            self.assertEqual([(wrong["rank"], wrong["count"], wrong["first_index"]) for wrong in row["wrong"]], [(1, 1, 0)])
            self.assertNotEqual(row["wrong"][0]["expected"], row["wrong"][0]["got"])


class Real(Scratch):
    """The real libraries, where they are; GPUs are hidden, so that nothing is measured."""

    def test_it_looks_for_what_the_observer_has(self):
        """A real libnccl loads plugins only when it makes a communicator, for which it wants a driver (seen of 2.28.9:
        ncclCommInitRank stops before). What can be seen without: the symbols that it will look for."""
        environment = {key: value for key, value in ENVIRONMENT.items() if not key.startswith("COLLBENCH_")}
        version = subprocess.run([str(PROGRAM), "--version"], env=environment, capture_output=True, text=True, timeout=60,
                                 check=True).stdout
        library = re.search(r"NCCL: +\S+ \((.*)\)", version)
        if not library:
            self.skipTest("no libnccl on this machine:\n" + version)
        observer = ctypes.CDLL(re.search(r"NCCL observer: (/.*)", version)[1])
        text = pathlib.Path(library[1]).read_bytes()
        for symbol, newest in (("ncclProfiler_v", 6), ("ncclTunerPlugin_v", 6)):
            wanted = {int(number) for number in re.findall(symbol.encode() + rb"(\d+)\0", text)}
            if not wanted:
                self.skipTest(f"this libnccl has no plugins of the kind {symbol}")
            first = max(number for number in wanted if number <= newest)
            self.assertTrue(hasattr(observer, f"{symbol}{first}"), f"{symbol}{first}")

    def test_the_refusal_without_a_gpu(self):
        environment = {key: value for key, value in ENVIRONMENT.items() if not key.startswith("COLLBENCH_")}
        environment["CUDA_VISIBLE_DEVICES"] = "-1"
        version = subprocess.run([str(PROGRAM), "--version"], env=environment, capture_output=True, text=True, timeout=60,
                                 check=True).stdout
        found = re.search(r"NCCL: +(\d+\.\d+\.\d+)", version)
        if not found or not re.search(r"CUDA: +\d+", version) or "not here" in version:
            self.skipTest("no libnccl, CUDA runtime or kernels on this machine:\n" + version)
        result = subprocess.run(["mpirun", "--oversubscribe", "-np", "2", str(PROGRAM), "--backend", "nccl"],
                                env=environment, capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL,
                                check=False)
        self.check_line(result, ["no GPU: (found CUDA runtime .* but no NVIDIA driver|CUDA_VISIBLE_DEVICES is '-1')"], 5)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
