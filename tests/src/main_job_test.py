#!/usr/bin/env python3
"""The program as its users meet it: real ranks under mpirun, its exit statuses, messages and files.

Usage: main_job_test.py PROGRAM FAULTY_MPI_LIBRARY [unittest arguments]
"""

import csv
import io
import json
import os
import pathlib
import re
import shutil
import struct
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from real_ranks import calibration_fits, calibration_of, on_each_rank, wait_until

PROGRAM = pathlib.Path(sys.argv[1])
FAULTY_MPI = pathlib.Path(sys.argv[2])

ENVIRONMENT = {
    **os.environ,
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_hwloc_base_binding_policy": "none",
    "OMPI_MCA_mpi_yield_when_idle": "1",
}
ONE_PASS = ["--passes", "1", "-n", "2", "-w", "0"]
QUICK = [*ONE_PASS, "--time", "1"]  # a calibration of a quarter of a second


def mpirun(ranks, *arguments, launcher=(), environment=None, timeout=100):
    command = ["mpirun", "--oversubscribe", *launcher, "-np", str(ranks), str(PROGRAM), *map(str, arguments)]
    return subprocess.run(
        command, env={**ENVIRONMENT, **(environment or {})}, capture_output=True, text=True, timeout=timeout,
        stdin=subprocess.DEVNULL, check=False)


def more_than_there_is():
    """A size of which three ranks' buffers do not fit into this machine; MPI counts at most 2^31 doubles of it."""
    lines = pathlib.Path("/proc/meminfo").read_text().splitlines()
    available = next(int(line.split()[1]) for line in lines if line.startswith("MemAvailable:"))
    return f"{min(15, available // (1 << 20))}G"


def collbench_lines(result):
    """What collbench itself wrote to stderr, without mpirun's banner."""
    return [line for line in result.stderr.splitlines() if line.startswith("collbench:")]


class Scratch(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def record(self, ranks, *arguments, status=0, **options):
        path = self.folder / "run.json"
        result = mpirun(ranks, *arguments, "-J", path, "--overwrite", **options)
        self.assertEqual(result.returncode, status, result.stdout + result.stderr)
        return json.loads(path.read_text())


class EveryOperation(Scratch):
    def test_one_rank_without_mpirun_needs_no_ssh(self):
        """Open MPI would start a daemon beside it, which ends where there is no agent for other hosts."""
        result = subprocess.run([str(PROGRAM), "--backend", "mpi", *QUICK, "--ops", "all_reduce", "--sizes", "8"],
                                env={**ENVIRONMENT, "OMPI_MCA_plm_rsh_agent": "/no/such/agent"}, capture_output=True, text=True,
                                timeout=100, stdin=subprocess.DEVNULL, check=False)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def check(self, ranks):
        run = self.record(ranks, *QUICK, "--ops", "all", "--sizes", "100,4K", "-d", "all", "-o", "all", "--place", "both",
                          "-r", ranks - 1)
        rows = [row for row in run["rows"] if not row["unavailable"]]
        for row in run["rows"]:
            if "two ranks" not in row["unavailable"]:
                self.assertEqual("a GPU data type that MPI does not have" in row["unavailable"], row["type"].startswith("f8"), row)
        for row in rows:
            self.assertEqual(row["wrong_elements"], 0, row)
            self.assertGreater(row["size_bytes"], 0, row)
        kinds = {(row["operation"], row["type"], row["reduction"], row["root"], row["in_place"]) for row in rows}
        types = 10
        reducing = 2 * types * 5 * 2  # AllReduce, ReduceScatter: types, reductions, places
        moving = types * 2 + 2 * types  # AllGather in both places, AllToAll and AllToAllv out of place
        rooted = types * 2 * (3 + 5)  # Broadcast, Gather, Scatter, and Reduce with five reductions
        pairs = 2 * types if ranks > 1 else 0  # SendRecv, PingPong
        self.assertEqual(len(kinds), reducing + moving + rooted + pairs)
        for row in rows:
            own = row["reduction"] and (row["type"] in ("half", "bfloat16") or row["reduction"] == "avg")
            self.assertEqual(row["note"].startswith("reduced by collbench"), bool(own), row)

    def test_buffers_that_begin_late(self):
        run = self.record(3, *QUICK, "--ops", "all", "--sizes", "100,4K", "-d", "int8,half,double", "--place", "both", "-r", "2",
                          "-u", "3", "--exact-counts")
        self.assertEqual({row["wrong_elements"] for row in run["rows"]}, {0})
        self.assertEqual(run["buffers"]["unaligned_elements"], 3)

    def test_every_root(self):
        run = self.record(3, *QUICK, "--ops", "broadcast,reduce,gather,scatter", "--sizes", "4K", "--place", "both", "-r", "all")
        self.assertEqual({row["wrong_elements"] for row in run["rows"]}, {0})
        self.assertEqual({row["root"] for row in run["rows"]}, {0, 1, 2})
        self.assertEqual(len(run["rows"]), 4 * 2 * 3)

    def test_1_rank(self):
        self.check(1)

    def test_2_ranks(self):
        self.check(2)

    def test_3_ranks(self):
        self.check(3)

    def test_4_ranks(self):
        self.check(4)

    def test_5_ranks(self):
        self.check(5)


class TimeOfDay(Scratch):
    def test_that_is_set_during_a_run_is_said(self):
        year = 31_556_952
        for step, said in ((-3600, "set back by .* finished before it started"), (3600, "set ahead by (1 h 0 min|59 min)"),
                           (1000 * year, "set ahead by"), (-1000 * year, "set back by")):
            with self.subTest(step=step):
                run = self.record(2, *QUICK, "--ops", "all_to_all_v", "--sizes", "4K",
                                  environment={"LD_PRELOAD": str(FAULTY_MPI), "FAULTY_MPI_TIME": str(step)})
                self.assertLess(run["wall_seconds"], 600)
                self.assertRegex("\n".join(run["place_notes"]), said)
                self.assertEqual(run["finished"] < run["started"], step < 0)

    def test_that_goes_on_while_the_machine_is_suspended_is_not_called_set(self):
        run = self.record(2, *QUICK, "--ops", "all_to_all_v", "--sizes", "4K",
                          environment={"LD_PRELOAD": str(FAULTY_MPI), "FAULTY_MPI_TIME": "3600", "FAULTY_MPI_SUSPENDED": "3600"})
        self.assertLess(run["wall_seconds"], 600)
        self.assertTrue(run["complete"])
        self.assertRegex("\n".join(run["place_notes"]), "was suspended for (1 h 0 min|59 min 59 s) during the run")
        self.assertNotIn("was set", "\n".join(run["place_notes"]))


class WrongData(Scratch):
    """A library that spoils every operation's result on rank 1, each MPI call in bits of its own."""

    CALLS = ["MPI_Allreduce", "MPI_Allgather", "MPI_Reduce_scatter", "MPI_Alltoall", "MPI_Sendrecv", "MPI_Alltoallv", "MPI_Bcast",
             "MPI_Reduce", "MPI_Gather", "MPI_Scatter", "MPI_Recv"]  # numbered from 1, as in faulty_mpi.cpp

    def check(self, ranks, calls):
        run = self.record(ranks, *QUICK, "--ops", ",".join(calls), "--sizes", "4K", "-r", "1", status=3,
                          environment={"LD_PRELOAD": str(FAULTY_MPI), "FAULTY_MPI_CALL": "all"})
        for row, (operation, call) in zip(run["rows"], calls.items(), strict=True):
            with self.subTest(operation):
                self.assertEqual(row["operation"].lower(), operation.replace("_", ""))
                self.assertGreater(row["wrong_elements"], 0)
                self.assertEqual([wrong["rank"] for wrong in row["wrong"]], [1])
                self.assertEqual(row["wrong"][0]["host"], run["ranks"][1]["host"])
                expected, got = (struct.unpack("I", struct.pack("f", float(row["wrong"][0][key])))[0] for key in ("expected", "got"))
                self.assertEqual(self.CALLS[(expected ^ got) - 1], call, row["wrong"])

    def test_of_many(self):
        self.check(3, {"all_reduce": "MPI_Allreduce", "all_gather": "MPI_Allgather", "reduce_scatter": "MPI_Reduce_scatter",
                       "all_to_all": "MPI_Alltoall", "send_recv": "MPI_Sendrecv", "broadcast": "MPI_Bcast", "reduce": "MPI_Reduce",
                       "gather": "MPI_Gather", "scatter": "MPI_Scatter", "all_to_all_v": "MPI_Alltoallv"})

    def test_of_a_pair(self):
        self.check(2, {"ping_pong": "MPI_Recv"})


class MoreOptions(Scratch):
    """-r, -m, -N, --counts, --samples and --config, as a whole."""

    def config(self, text):
        path = self.folder / "lab.toml"
        path.write_text(text)
        return path

    def test_ping_pong_is_one_time_for_all_ranks(self):
        run = self.record(3, *QUICK, "--ops", "ping_pong", "--sizes", "8")
        (row,) = run["rows"]
        self.assertEqual(len(set(row["rank_times"]["median_seconds"])), 1, row)

    def test_groups(self):
        run = self.record(2, "--passes", "1", "-n", "3", "-w", "0", "--time", "1", "-m", "4", "--ops", "all_reduce", "--sizes", "8")
        self.assertEqual(run["rows"][0]["iterations"], 12)
        self.assertEqual(run["rows"][0]["iterations_per_sample"] % 4, 0)

    def test_passes_without_end_end_with_the_time(self):
        """Also a row that is precise much earlier goes on, and may say so at the end."""
        run = self.record(2, "-N", "0", "--time", "4", "--ops", "all_reduce", "--sizes", "8", "-n", "5")
        self.assertIn(run["rows"][0]["stopped"], ["out of time", "precision reached"])
        self.assertGreater(run["wall_seconds"], 3)

    def test_counts(self):
        counts = self.folder / "counts.txt"
        counts.write_text("# rank 0 feeds the others\n0 300 100\n1 0 0\n1, 0, 0\n")
        run = self.record(3, *QUICK, "--ops", "all_to_all_v", "--sizes", "1600", "--counts", counts)
        (row,) = run["rows"]
        self.assertEqual((row["size_bytes"], row["count"], row["wrong_elements"]), (1600, 400, 0))
        self.assertEqual(run["traffic"], {"source": str(counts), "weights": [[0, 300, 100], [1, 0, 0], [1, 0, 0]]})

    def test_samples(self):
        path = self.folder / "samples.csv"
        run = self.record(3, "--passes", "2", "-n", "7", "-w", "0", "--time", "4", "--ops", "all_reduce,send_recv", "--sizes", "8,64K",
                          "--samples", path)
        lines = list(csv.DictReader(io.StringIO(path.read_text())))
        for index, row in enumerate(run["rows"]):
            mine = [line for line in lines if int(line["row"]) == index]
            self.assertEqual({line["operation"] for line in mine}, {row["operation"]})
            self.assertEqual({int(line["size_bytes"]) for line in mine}, {row["size_bytes"]})
            for pass_number in ("1", "2"):
                for rank in ("0", "1", "2"):
                    samples = [line for line in mine if (line["pass"], line["rank"]) == (pass_number, rank)]
                    self.assertEqual([line["sample"] for line in samples], [str(i) for i in range(len(samples))])
                    self.assertEqual(sum(int(line["iterations"]) for line in samples), 7)
                    self.assertTrue(all(float(line["seconds"]) >= 0 for line in samples))
            # The slowest rank's time of a sample is what the row's figures are taken over.
            slowest = {}
            for line in mine:
                at = (line["pass"], line["sample"])
                slowest[at] = max(slowest.get(at, 0), float(line["seconds"]))
            self.assertEqual(len(slowest), row["samples"])
            self.assertAlmostEqual(min(slowest.values()) / row["minimum_seconds"], 1, places=5)

    def test_a_config_file(self):
        config = self.config('# the lab\nops = "all_reduce"\nsizes = ["8", "1K"]\npasses = 1\niters = 2\noverwrite = true\n')
        run = self.record(2, "--config", config, "--time", "2")
        self.assertEqual([row["size_bytes"] for row in run["rows"]], [8, 1024])
        self.assertEqual(run["config_file"], str(config))
        run = self.record(2, "--config", config, "--time", "2", "--sizes", "64")
        self.assertEqual([row["size_bytes"] for row in run["rows"]], [64], "the command line wins")


class BadInput(Scratch):
    """One clear line that names the thing and the fix, once and not per rank, with the documented status."""

    def check(self, arguments, *patterns, status=2):
        result = mpirun(3, *arguments)
        self.assertEqual(result.returncode, status, result.stderr)
        lines = collbench_lines(result)
        self.assertEqual(len(lines), 1, result.stderr)
        for pattern in patterns:
            self.assertRegex(lines[0], pattern)

    def check_before_mpi_begins(self, *cases):
        """In one launch. Of each case the arguments, what the line says, and the status that rank 0 alone has."""
        answers = on_each_rank(3, [[PROGRAM, *arguments] for arguments, *_ in cases])
        for (arguments, *patterns, status), ranks in zip(cases, answers, strict=True):
            with self.subTest(arguments):
                self.assertEqual([rank.returncode for rank in ranks], [status, 0, 0], ranks)
                (line,) = collbench_lines(ranks[0])
                self.assertEqual([rank.stderr for rank in ranks[1:]], ["", ""])
                for pattern in patterns:
                    self.assertRegex(line, pattern)

    def test_torchruns_ranks_have_no_mpi_for_host_memory(self):
        """They meet, and rank 0 alone says what only MPI can do. Half of torchrun's variables are an error."""
        tasks = [{"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": "2", "MASTER_ADDR": "localhost", "MASTER_PORT": "28500"}
                 for rank in range(2)]
        ranks = [subprocess.Popen([PROGRAM, "--time", "1"], env={**os.environ, **task}, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL) for task in tasks]
        said = [rank.communicate(timeout=60) for rank in ranks]
        self.assertEqual([rank.returncode for rank in ranks], [5, 0], said)
        self.assertEqual([out for out, _ in said] + [said[1][1]], ["", "", ""])
        self.assertRegex(said[0][1], "torchrun: it started ranks without MPI, and only MPI measures host memory; .*-g N")
        del tasks[0]["MASTER_PORT"]
        half = subprocess.run([PROGRAM, "--time", "1"], env={**os.environ, **tasks[0]}, capture_output=True, text=True, timeout=60,
                              stdin=subprocess.DEVNULL, check=False)
        self.assertEqual(half.returncode, 2)
        self.assertIn("MASTER_PORT", half.stderr)

    def test_unknown_option(self):
        self.check(["--frobnicate"], "--frobnicate", "collbench help run")

    def test_what_is_no_run(self):
        damaged = self.folder / "damaged.json"
        damaged.write_text('{"schema_version": 1,')
        self.check_before_mpi_begins((["frobnicate"], "frobnicate", 2),
                                     (["-g", "8"], "-g", "mpirun -np 8", 2),
                                     (["report", self.folder / "none.json"], "none.json", "No such file", 2),
                                     (["report", damaged], "damaged.json", 2))

    def test_a_bad_config_file(self):
        cases = []
        for text, *patterns in (("time = 5\ntimme = 3\n", "lab.toml:2: unknown key 'timme'", "--help"),
                                ("time = 5\n\ntime = 3\n", "lab.toml:3: 'time' is set twice"),
                                ("# x\nminbytes = \"12Q\"\n", "lab.toml:2: minbytes: size '12Q'"),
                                ("[report]\nformat = \"md\"\n", r"lab.toml:1: \[report\] is a section"),
                                ("just words\n", "lab.toml:1: .*expected '='", "text in quotes"),
                                ("time = 5\nops = all_reduce\n", "lab.toml:2: .*value", "text in quotes")):
            config = self.folder / str(len(cases)) / "lab.toml"
            config.parent.mkdir()
            config.write_text(text)
            cases.append((["--config", config], *patterns, 2))
        self.check_before_mpi_begins(*cases, (["--config", self.folder / "none.toml"], "none.toml", 2))

    def test_sizes(self):
        self.check_before_mpi_begins((["-b", "12Q"], "-b: size '12Q' has an unknown unit 'Q'", "64K", 2),
                                     (["--sizes", "1K,-5"], "negative", 2),
                                     (["-e", "99999999999999999999G"], "too large", 2),
                                     (["--sizes", "0"], "--sizes: 0 bytes cannot be measured", 2))
        self.check(["-b", "1M", "-e", "1K"], "-b: 1 MiB is above -e 1 KiB")

    def test_numbers(self):
        cases = []
        for arguments in (["-n", "-1"], ["-n", "0"], ["-c", "x"], ["--time", "nan"], ["-a", "4"], ["-f", "1"], ["-T", "-1"], ["-m", "0"],
                          ["--passes", "99999999999999"]):
            option, value = map(re.escape, arguments)
            cases.append((arguments, f"{option}: ('{value}' is not a number|{value} is out of range); .* to ", 2))
        self.check_before_mpi_begins(*cases)

    def test_names(self):
        self.check_before_mpi_begins((["-d", "float128"], "float128", "choose among int8", 2),
                                     (["-o", "xor"], "xor", "choose among sum", 2),
                                     (["--ops", "barrier"], "barrier", "choose among all_reduce", 2),
                                     (["--ops", "hypercube"], "HyperCube", "only imported", 5))
        self.check(["--algo", "warp"], "--algo: 'warp'", "recursive_doubling")
        self.check(["--node-map", "0-1"], "leaves out rank 2")

    def test_too_much_memory(self):
        self.check(["--ops", "all_reduce", "-d", "double", "--sizes", more_than_there_is()],
                   r"the largest row, AllReduce \d+ GiB, needs about", "at most")

    def test_outputs(self):
        exists = self.folder / "exists.json"
        exists.write_text("precious")
        self.check(["-J", exists], "already exists", "--overwrite")
        self.assertEqual(exists.read_text(), "precious")
        self.check(["-J", self.folder / "missing" / "run.json"], "does not exist")
        self.check(["--csv", "/proc/run.csv"], "/proc")

    def test_too_many_rows(self):
        self.check(["-b", "0", "-e", "64M", "-i", "8"], "-i", "10000 rows")

    def test_files(self):
        self.check(["--csv", "/dev/null", "--overwrite"], "not a regular file")
        same = str(self.folder / "same")
        self.check_before_mpi_begins((["-J", same, "--csv", same], "--csv", "same file", 2))
        self.check(["-J", same, "--samples", same], "--samples", "same file as -J")

    def test_another_mpis_launcher(self):
        environment = {key: value for key, value in ENVIRONMENT.items() if not key.startswith(("OMPI_COMM", "PMI"))}
        for rank in ("0", "1"):
            result = subprocess.run([str(PROGRAM)], env={**environment, "PMI_RANK": rank, "PMI_SIZE": "2"},
                                    capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL, check=False)
            self.assertEqual(result.returncode, 5 if rank == "0" else 0, result.stderr)
            self.assertEqual(len(collbench_lines(result)), 1 if rank == "0" else 0, result.stderr)

    def test_nothing_that_can_run(self):
        result = mpirun(3, *QUICK, "--ops", "all_to_all", "--sizes", "64K", "--algo", "two_proc")
        self.assertEqual(result.returncode, 5, result.stderr)
        self.assertIn("not available", result.stdout)

    def test_a_full_disk_behind_stdout(self):
        with open("/dev/full", "w") as full:
            result = subprocess.run([str(PROGRAM), "--version"], stdout=full, stderr=subprocess.PIPE, text=True,
                                    timeout=60, check=False)
        self.assertEqual(result.returncode, 2)
        self.assertIn("No space left", result.stderr)

    def test_counts(self):
        counts = self.folder / "counts.txt"
        arguments = ["--ops", "all_to_all_v", "--counts", counts]
        self.check(arguments, "counts.txt", "No such file")
        counts.write_text("0 1 2\n1 0 x\n1 1 0\n")
        self.check(arguments, "counts.txt:2: .*'x' is not a number")
        counts.write_text("0 1\n1 0\n")
        self.check(arguments, "counts.txt is for 2 ranks, and there are 3")
        os.truncate(counts, (64 << 20) + 1)
        self.check(arguments, "counts.txt: .*is larger than 64 MiB")

    def test_letters_of_nccl_tests_without_a_meaning_here(self):
        self.check(["--ops", "reduce", "-r", "3"], "-r: there is no rank 3 among 3", "from 0 to 2, or all")

    def test_what_only_gpus_have(self):
        self.check(["-G", "1"], "-G: there are no CUDA graphs on host memory", status=5)
        self.check(["-R", "1"], "-R local: there is no NCCL to register host memory with", status=5)
        self.check(["--enqueue-time"], "--enqueue-time: an MPI call returns when it is complete", status=5)
        self.check(["-d", "f8e4m3"], "-d f8e4m3: .*a GPU data type that MPI does not have", status=5)


class Place(Scratch):
    def test_differing_programs_are_an_error(self):
        other = self.folder / "collbench"
        shutil.copy(PROGRAM, other)
        program = (PROGRAM.parent / "libcollbench.so").read_bytes()
        note = struct.pack("=III", 4, 20, 3) + b"GNU\0"  # elf(5): the header and owner of a build-id of 20 bytes
        self.assertEqual(program.count(note), 1, "the library is linked with --build-id=sha1")
        at = program.index(note) + len(note)
        (self.folder / "libcollbench.so").write_bytes(program[:at] + bytes([program[at] ^ 1]) + program[at + 1:])

        def run_both():
            return subprocess.run(["mpirun", "--oversubscribe", "-np", "1", str(PROGRAM), ":", "-np", "1", str(other)],
                                  env=ENVIRONMENT, capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL, check=False)

        # What fails on one rank alone, before MPI, is said by it.
        alone = run_both()
        self.assertNotEqual(alone.returncode, 0)
        self.assertRegex(alone.stderr, r"collbench: rank 1 \(.*\): .*: no MPI library: .*libcollbench_open_mpi.so is not there")
        shutil.copy(PROGRAM.parent / "libcollbench_open_mpi.so", self.folder)
        result = run_both()
        self.assertEqual(result.returncode, 5, result.stderr)
        self.assertIn("a different collbench program", collbench_lines(result)[0])

    def test_differing_arguments_are_an_error(self):
        result = subprocess.run(
            ["mpirun", "--oversubscribe", "-np", "1", str(PROGRAM), "--ops", "all_reduce", ":",
             "-np", "1", str(PROGRAM), "--ops", "all_to_all"],
            env=ENVIRONMENT, capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL, check=False)
        self.assertEqual(result.returncode, 5, result.stderr)
        self.assertIn("a different command line", collbench_lines(result)[0])

    def test_nodes_are_compared_with_what_is_expected(self):
        here = self.folder / "here.json"
        subprocess.run([PROGRAM, "topo", "save", "-o", here], check=True, capture_output=True, timeout=60)
        run = self.record(2, *QUICK, "--sizes", "8", "--ops", "all_reduce", "--expect", here)
        self.assertIn(f"every node matches {here}", run["cluster"]["summary"])
        run = self.record(2, *QUICK, "--sizes", "8", "--ops", "all_reduce", "--backend", "mpi", "--expect", "hgx-h100", status=1)
        self.assertRegex("\n".join(run["cluster"]["summary"]), "against hgx-h100: differs different-machine")

    def test_gpus_that_are_expected_and_not_there(self):
        """Whatever would be measured is of another machine; a plan measures nothing."""
        result = mpirun(2, *QUICK, "--ops", "all_reduce", "--sizes", "8", "--expect", "hgx-h100")
        self.assertEqual(result.returncode, 5, result.stderr)
        self.assertRegex(collbench_lines(result)[0], "it has 8 GPUs, and .* shows none; was the container started with its GPUs")
        self.assertEqual(mpirun(2, *QUICK, "--expect", "hgx-h100", "--dry-run").returncode, 0)
        unknown = mpirun(2, *QUICK, "--expect", "hgx_h100", "--dry-run")
        self.assertEqual(unknown.returncode, 2)
        self.assertIn("hgx-h100", unknown.stderr)

    def test_what_is_expected_must_be_readable(self):
        result = mpirun(2, *QUICK, "--expect", self.folder / "none.json")
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertEqual(len(collbench_lines(result)), 1, result.stderr)
        self.assertRegex(collbench_lines(result)[0], "none.json")

    def test_more_ranks_than_cores(self):
        cores = self.record(1, *QUICK, "--sizes", "8")["cores_per_node"][0]
        run = self.record(cores + 1, *QUICK, "--ops", "all_reduce", "--sizes", "8")
        self.assertRegex(" ".join(run["place_notes"]), f"{cores + 1} ranks on {cores} core")

    def test_one_rank_inside_slurm(self):
        environment = {key: value for key, value in ENVIRONMENT.items() if not key.startswith(("OMPI_COMM", "PMI"))}
        result = subprocess.run([str(PROGRAM), *QUICK, "--sizes", "8"], env={**environment, "SLURM_JOB_ID": "1"},
                                capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL, check=False)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("inside a Slurm allocation", " ".join(result.stdout.split()))


class Calibration(Scratch):
    """What wants a machine so quiet that a line fits the calibration."""

    def test_every_new_operation_has_an_expectation(self):
        run = self.record(2, *ONE_PASS, "--ops", "ping_pong,broadcast,reduce,gather,scatter,all_to_all_v", "--sizes", "4K")
        self.assertEqual(run["traffic"]["source"], "by distance")
        if not calibration_fits(self, run):
            self.skipTest("too much noise to fit the calibration")
        for row in run["rows"]:
            self.assertGreater(row["expected_seconds"], 0, row)

    def test_two_tiers_by_node_map_over_tcp(self):
        run = self.record(4, *ONE_PASS, "--ops", "all_reduce", "--sizes", "1M", "--node-map", "0-1,2-3",
                          launcher=["--mca", "btl", "self,tcp"])
        self.assertEqual([rank["node"] for rank in run["ranks"]], [0, 0, 1, 1])
        if not calibration_fits(self, run):
            self.skipTest("too much noise to fit the calibration")
        for tier in ("intra", "inter"):
            self.assertGreaterEqual(run["calibration"][tier]["alpha_seconds"], 0)
            self.assertGreater(run["calibration"][tier]["bytes_per_second"], 0)
        self.assertGreater(run["calibration"]["inter_host_bytes_per_second"], 0)
        self.assertGreater(run["rows"][0]["ring_seconds"], 0)

    def test_the_calibration_goes_as_far_as_the_rows_and_hurries(self):
        mebibyte = 1 << 20
        for size, largest in (("8", mebibyte), ("3M", 4 * mebibyte), ("20M", 16 * mebibyte)):
            run = self.record(2, *ONE_PASS, "--ops", "all_reduce", "--sizes", size, "--time", "0.1")
            points = run["calibration"]["points"]
            for kind in ("send_recv_intra", "forward_intra", "reduce_local", "copy"):
                self.assertEqual(max(point["size_bytes"] for point in points if point["kind"] == kind), largest)
            self.assertGreater(min(point["seconds"] for point in points), 0)


class Output(Scratch):
    def test_memory_that_the_library_takes_anew_in_each_call_is_counted(self):
        rows = ["--passes", "2", "-n", "3", "--time", "8", "--ops", "reduce_scatter", "--sizes", "64M"]
        kept = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": "4294967296"}
        faults = []
        for environment in ({}, kept):
            run = self.record(2, *rows, environment=environment)
            faults.append(max(run["rows"][0]["rank_times"]["page_faults"]))
            self.assertEqual({name: run["environment"].get(name) for name in kept}, {name: environment.get(name) for name in kept})
        # Open MPI's ring takes one and a half times the size; in pages of up to 2 MiB.
        self.assertGreater(faults[0], 32)
        self.assertLess(faults[1], faults[0] / 8)

    def test_sizes_that_do_not_divide_are_shown_as_run(self):
        run = self.record(3, *QUICK, "--ops", "all_gather", "--sizes", "8,100,1000")
        self.assertEqual([row["size_bytes"] for row in run["rows"]], [48, 96, 960])
        self.assertIs(run["buffers"]["exact_counts"], False)
        run = self.record(3, *QUICK, "--ops", "all_gather", "--sizes", "8,100,1000", "--exact-counts")
        self.assertEqual([row["size_bytes"] for row in run["rows"]], [12, 96, 996])
        self.assertIs(run["buffers"]["exact_counts"], True)

    def test_algorithms_have_rows_of_their_own(self):
        run = self.record(3, *QUICK, "--ops", "all_reduce", "--sizes", "8,64K", "--algo", "auto,ring,rabenseifner")
        seen = {(row["algorithm"], row["size_bytes"]): row["algorithm_ran"] for row in run["rows"]}
        self.assertEqual(seen["ring", 65536], "ring")
        self.assertEqual(seen["ring", 8], "recursive_doubling")  # 2 elements on 3 ranks
        self.assertEqual(len(seen), 6)

    def test_an_algorithm_for_two_ranks_is_unavailable_on_three(self):
        run = self.record(3, *QUICK, "--ops", "all_to_all", "--sizes", "64K", "--algo", "two_proc,pairwise")
        self.assertTrue(run["rows"][0]["unavailable"])
        self.assertFalse(run["rows"][1]["unavailable"])

    def test_formats_agree(self):
        path = self.folder / "run.json"
        table = self.folder / "run.csv"
        result = mpirun(2, *QUICK, "--ops", "all_reduce", "-J", path, "--csv", table, "--format", "csv")
        self.assertEqual(result.returncode, 0, result.stderr)
        rows = list(csv.DictReader(io.StringIO(table.read_text())))
        self.assertEqual(result.stdout.replace("\r\n", "\n"), table.read_text())
        run = json.loads(path.read_text())
        self.assertEqual(len(rows), len(run["rows"]))
        for form in ("text", "md", "csv", "json"):
            report = subprocess.run([str(PROGRAM), "report", str(path), "--format", form], env=ENVIRONMENT,
                                    capture_output=True, text=True, timeout=60, check=True).stdout
            self.assertIn("AllReduce", report)
            if form == "csv":
                self.assertEqual(report, table.read_text())
            if form == "text":
                self.assertLessEqual(max(map(len, report.splitlines())), 120)

    def test_the_record_on_stdout_and_the_tables_in_files(self):
        page, table = self.folder / "page.md", self.folder / "run.csv"
        result = mpirun(2, *QUICK, "--ops", "all_reduce", "--sizes", "8", "-J", "-", "--csv", table, "-o", page)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(len(json.loads(result.stdout)["rows"]), 1)
        self.assertIn("| --- |", page.read_text())
        self.assertEqual(len(list(csv.DictReader(io.StringIO(table.read_text())))), 1)
        text = self.folder / "run.txt"
        result = mpirun(2, *QUICK, "--ops", "all_reduce", "--sizes", "8", "--output", text, "-o", "max")
        self.assertEqual((result.returncode, result.stdout), (0, ""), result.stderr)
        self.assertRegex(text.read_text(), r"(?s)# collbench.* float   max")
        self.assertFalse(pathlib.Path("-").exists())

    def test_no_color_and_no_progress_where_nobody_looks(self):
        result = mpirun(2, *QUICK, "--ops", "all_reduce", "--sizes", "8")
        self.assertNotIn("\x1b", result.stdout + result.stderr)
        asked = mpirun(2, *QUICK, "--ops", "all_reduce", "--sizes", "8", "--color", "always", "--progress", "always")
        self.assertIn("\x1b", asked.stdout)
        self.assertIn("pass 1", asked.stderr)

    def test_dry_run_measures_nothing(self):
        path = self.folder / "run.json"
        result = mpirun(2, "--dry-run", "-J", path)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("62 rows on 2 ranks", result.stdout)
        self.assertFalse(path.exists())

    def test_g_starts_its_own_ranks(self):
        path = self.folder / "run.json"
        environment = {key: value for key, value in ENVIRONMENT.items() if not key.startswith(("OMPI_COMM", "PMI"))}
        subprocess.run([str(PROGRAM), "-g", "2", *QUICK, "--sizes", "8", "-J", str(path)], env=environment,
                       capture_output=True, timeout=60, stdin=subprocess.DEVNULL, check=True)
        self.assertEqual(len(json.loads(path.read_text())["ranks"]), 2)

    def test_verbose_tells_its_steps_on_stderr(self):
        result = mpirun(2, *QUICK, "--ops", "all_reduce", "--sizes", "8", "-v")
        self.assertRegex(result.stderr, r"(?m)^\d\d:\d\d:\d\d\.\d{3} calibrated in ")
        self.assertEqual(result.stderr.count("calibrated in"), 1)  # not once per rank


class LongRun(Scratch):
    """Would take a minute. All take the calibration of one run, which is not what they are about."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        path = pathlib.Path(folder.name) / "calibrated.json"
        calibrated = mpirun(2, *ONE_PASS, "--ops", "all_reduce", "--sizes", "8,1K", "--time", "4", "-J", path)
        if calibrated.returncode != 0:
            raise AssertionError(calibrated.stderr)
        cls.calibration = calibration_of(path)

    def start(self, *arguments, environment=None):
        """A run of two ranks that has its first pass on disk: mpirun and, by rank, the processes."""
        path = self.folder / "run.json"
        process = subprocess.Popen(
            ["mpirun", "--oversubscribe", "-np", "2", str(PROGRAM), "--ops", "all_reduce", "--sizes", "8,1K",
             "--precision", "0.01", "--time", "60", *map(str, self.calibration), "-J", str(path), *arguments],
            env={**ENVIRONMENT, **(environment or {})}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            stdin=subprocess.DEVNULL)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        deadline = time.monotonic() + 50
        while time.monotonic() < deadline and not (path.exists() and json.loads(path.read_text())["passes"]):
            time.sleep(0.05)
        ranks = subprocess.run(["pgrep", "-P", str(process.pid), "collbench"], capture_output=True, text=True,
                               check=True).stdout.split()
        return process, [int(rank) for rank in ranks]

    def kept(self):
        run = json.loads((self.folder / "run.json").read_text())
        self.assertFalse(run["complete"])
        self.assertGreaterEqual(run["passes"], 1)
        self.assertEqual(len(run["rows"]), 2)
        return run


class Interrupted(LongRun):
    """mpirun soon kills the ranks that it interrupts; on a quiet machine they have said by then what they had."""

    def test_an_interrupted_run_shows_and_keeps_what_it_had(self):
        process, _ = self.start()
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=30)
        self.assertNotEqual(process.returncode, 0)
        self.assertIn("incomplete", output)
        self.assertIn("collbench: interrupted by SIGTERM: results so far are shown above and saved in", errors)
        kept = self.kept()
        self.assertEqual(kept["rows"][0]["stopped"], "interrupted")
        self.assertEqual((kept["incident"]["kind"], kept["incident"]["ranks"]), ("interrupted", []))

    def test_a_second_interruption_leaves_a_whole_record_and_no_part_of_one(self):
        process, ranks = self.start()
        process.send_signal(signal.SIGINT)
        # mpirun has passed it on when rank 0 notes it, and ends a second later by itself.
        wait_until(lambda: process.poll() is not None or json.loads((self.folder / "run.json").read_text())["incident"])
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
        wait_until(lambda: not any(pathlib.Path(f"/proc/{rank}").exists() for rank in ranks))
        self.kept()
        # The lock of its file died with the process that held it.
        self.assertEqual({file.name for file in self.folder.iterdir()} - {".run.json.lock"}, {"run.json"})

    def test_a_warning_to_any_rank_ends_the_run_in_order(self):
        """What Slurm sends ahead (--signal=USR1@60) reaches the ranks of mpirun's own host only through mpirun."""
        process, ranks = self.start()
        os.kill(ranks[1], signal.SIGUSR1)
        output, errors = process.communicate(timeout=30)
        self.assertEqual(process.returncode, 4, errors)
        self.assertIn("incomplete", output)
        self.assertIn("collbench: interrupted by SIGUSR1 (to rank 1): results so far are shown above", errors)
        kept = self.kept()
        self.assertEqual((kept["rows"][0]["stopped"], kept["incident"]["sentence"]),
                         ("interrupted", "interrupted by SIGUSR1 (to rank 1)"))

    def test_an_interruption_before_the_first_row_says_so_and_leaves_nothing(self):
        process = subprocess.Popen(
            ["mpirun", "--oversubscribe", "-np", "2", str(PROGRAM), "-J", str(self.folder / "run.json")],
            env={**ENVIRONMENT, "LD_PRELOAD": str(FAULTY_MPI), "FAULTY_MPI_HANG": "1"}, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        wait_until(lambda: self.ranks_that_catch(process, signal.SIGUSR1) == 2)
        process.send_signal(signal.SIGUSR1)
        _, errors = process.communicate(timeout=30)
        self.assertEqual(process.returncode, 4, errors)
        lines = [line for line in errors.splitlines() if line.startswith("collbench:")]
        self.assertEqual(len(lines), 1, errors)
        self.assertRegex(lines[0], r"interrupted by SIGUSR1: in [\w ]+, before anything was measured$")
        self.assertEqual(list(self.folder.iterdir()), [])

    @staticmethod
    def ranks_that_catch(launcher, number):
        """By what the kernel says of each child (proc(5), SigCgt): until then the signal would end them."""
        count = 0
        for pid in subprocess.run(["pgrep", "-P", str(launcher.pid), "collbench"], capture_output=True, text=True, check=False).stdout.split():
            try:
                caught = re.search(r"^SigCgt:\t(\w+)$", pathlib.Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)[1]
            except OSError:
                continue
            count += int(caught, 16) >> (number - 1) & 1
        return count

    def test_a_run_ends_before_its_job(self):
        squeue = self.folder / "squeue"
        squeue.write_text("#!/bin/sh\necho 12 0:12\n")
        squeue.chmod(0o700)
        path = self.folder / "run.json"
        result = mpirun(2, "--ops", "all_reduce", "--sizes", "8", "--precision", "0.01", "--time", "60", *self.calibration,
                        "-J", path, launcher=["-x", "SLURM_JOB_ID=12", "-x", f"PATH={self.folder}:{os.environ['PATH']}"])
        self.assertEqual(result.returncode, 0, result.stderr)
        run = json.loads(path.read_text())
        self.assertTrue(run["complete"])
        self.assertRegex(" ".join(run["place_notes"]), r"the job ends in 12\S* s: --time is 6\S* s instead of 1 min 0 s")
        self.assertEqual(run["rows"][0]["stopped"], "out of time")

    def test_passes_without_end_are_complete_when_they_are_interrupted(self):
        for _ in range(3):  # where other work delays the ranks, mpirun kills them before they have written
            (self.folder / "run.json").unlink(missing_ok=True)
            process, __ = self.start("-N", "0")
            process.send_signal(signal.SIGINT)
            output, errors = process.communicate(timeout=30)
            run = json.loads((self.folder / "run.json").read_text())
            if run["complete"]:
                break
        self.assertNotIn("incomplete", output)
        self.assertNotIn("collbench: interrupted", errors)
        self.assertEqual((run["complete"], run["incident"]), (True, None))


class CutShort(LongRun):
    """Runs that do not reach their end."""

    def test_a_killed_run_keeps_what_it_had(self):
        stream = self.folder / "run.stream"
        process, ranks = self.start("--stream", stream, "--csv", self.folder / "run.csv")
        living = self.flight(ranks[0])
        self.assertEqual([(rank["rank"], rank["pid"], rank["process"]) for rank in living["ranks"]],
                         [(0, ranks[0], "running"), (1, ranks[1], "running")])
        os.kill(ranks[0], signal.SIGSTOP)
        wait_until(lambda: self.flight(ranks[0])["cause"] == "rank stopped")
        stopped = self.calls(ranks[0])
        os.kill(ranks[0], signal.SIGCONT)
        wait_until(lambda: self.calls(ranks[0]) > stopped)
        self.assertIsNone(process.poll(), "a rank that was stopped and goes on ends nothing")
        os.kill(ranks[-1], signal.SIGKILL)
        _, errors = process.communicate(timeout=30)
        self.assertNotEqual(process.returncode, 0)
        kept = self.kept()
        self.incident(kept, "rank lost", 1)
        self.assertIn(kept["incident"]["sentence"], errors)
        with (self.folder / "run.csv").open() as table:
            self.assertEqual({row["incident"] for row in csv.DictReader(table)}, {kept["incident"]["sentence"]})
        self.assertEqual([json.loads(line)["incident"] for line in stream.read_text().splitlines() if line.startswith('{"incident"')],
                         [kept["incident"]])
        for form, mark in (("text", "# INCIDENT (rank lost, "), ("md", "- **INCIDENT (rank lost, ")):
            report = subprocess.run([str(PROGRAM), "report", str(self.folder / "run.json"), "--format", form], capture_output=True,
                                    text=True, timeout=60, check=True).stdout
            self.assertIn(mark, "\n".join(report.splitlines()[:3]))
        lines = [line for line in errors.splitlines() if line.startswith("collbench:")]
        self.assertEqual(len(lines), 1, errors)
        line = lines[0]
        self.assertRegex(line, r"rank 1 \(\S+\) is gone, last seen in")
        self.assertIn("--resume", line)
        folder = re.search(r"collbench flight (\S+) shows", line).group(1)
        self.assertEqual(self.segments(folder), [], "shared memory of a run that is over")
        dead = self.flight(folder)
        self.assertEqual((dead["cause"], dead["blamed_ranks"]), ("rank gone", [1]))
        shutil.rmtree(folder)

    def incident(self, run, kind, rank):
        """That the record says so; rank 0's host is that of all."""
        incident = run["incident"]
        self.assertEqual((incident["kind"], incident["ranks"]), (kind, [{"rank": rank, "host": run["ranks"][0]["host"]}]))
        self.assertEqual(incident["exit_status"], 4)
        self.assertRegex(incident["step"], r"^(AllReduce (8 B|1 KiB)|between passes)$")
        self.assertRegex(incident["time"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")

    @staticmethod
    def segments(flight_folder):
        """What is left of the job's shared memory: Open MPI's files have its number in their names, as recorders have."""
        job = int(flight_folder.rsplit("-", 1)[1])
        return [file.name for file in pathlib.Path("/dev/shm").glob(f"vader_segment.*.{job:x}.*")]

    def flight(self, of):
        done = subprocess.run([str(PROGRAM), "flight", str(of), "--format", "json"], capture_output=True, text=True, timeout=60,
                              check=True)
        return json.loads(done.stdout)

    def calls(self, pid):
        """How many calls rank 0 has begun."""
        return self.flight(pid)["ranks"][0]["calls"]["entered"]

    def hang(self, environment):
        """A run whose rank 1 hangs at once where `environment` says: its one line, and the record's path."""
        path = self.folder / "run.json"
        result = mpirun(2, "--ops", "all_reduce", "--sizes", "8,1K", "--time", "4", "-T", "5", "-J", path,
                        environment={"LD_PRELOAD": str(FAULTY_MPI), "FAULTY_MPI_STOP": "1", **environment})
        self.assertEqual(result.returncode, 4, result.stderr)
        (line,) = collbench_lines(result)
        return line, path

    def test_a_hang_in_the_first_pass_names_a_record_that_is_there(self):
        line, path = self.hang({"FAULTY_MPI_STOP_FILE": "/dev/null"})
        self.assertIn(f"AllReduce 8 B: timed out", line)
        self.assertIn(f"results so far are saved in {path}", line)
        run = json.loads(path.read_text())
        self.assertEqual((run["complete"], run["passes"], len(run["rows"])), (False, 0, 2))
        self.incident(run, "hang", 1)
        report = subprocess.run([str(PROGRAM), "report", str(path)], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(report.returncode, 0, report.stderr)
        self.assertIn("incomplete", report.stdout)

    def test_an_error_of_mpi_names_its_row_and_rank_and_keeps_the_rows_before_it(self):
        path, stream = self.folder / "run.json", self.folder / "run.stream"
        rows = ["--ops", "all_reduce", "--sizes", "8,1K", "--passes", "2", "-n", "2"]  # no --time: a busy machine spends it in a pass
        result = mpirun(2, *rows, "-J", path, "--stream", stream,
                        environment={"LD_PRELOAD": str(FAULTY_MPI), "FAULTY_MPI_HALF_COUNT": "1"})
        self.assertEqual(result.returncode, 4, result.stderr)
        (line,) = collbench_lines(result)
        self.assertRegex(line, r"collbench: rank 1 \(\S+\): MPI_Allreduce of AllReduce 1 KiB, call 1, pass 1: MPI_ERR_TRUNCATE: .*; "
                               r"see MPI's own messages above; run the same command with --resume ")
        run = json.loads(path.read_text())
        self.incident(run, "error", 1)
        self.assertEqual([len(row["pass_seconds"]) for row in run["rows"]], [1, 0])
        result = mpirun(2, *rows, "-J", path, "--overwrite", "--resume", stream)
        self.assertEqual(result.returncode, 0, result.stderr)
        run = json.loads(path.read_text())
        self.assertEqual((run["complete"], run["incident"], run["launches"]), (True, None, 2))
        self.assertEqual([row["launch_passes"] for row in run["rows"]], [[1, 1], [2]])
        report = subprocess.run([str(PROGRAM), "report", str(stream)], capture_output=True, text=True, timeout=60, check=True)
        self.assertNotIn("INCIDENT", report.stdout)

    def test_what_one_rank_alone_runs_into_is_said_and_ends_all(self):
        """And does not let the others wait for it until they time out."""
        for rank, what, says in ((1, "memory", "out of memory; run with fewer or smaller sizes"),
                                 (0, "memory", "out of memory; run with fewer or smaller sizes"),
                                 (1, "file", "Input/output error; check that it exists")):
            with self.subTest(rank=rank, what=what):
                path = self.folder / "run.json"
                result = mpirun(2, "--ops", "all_reduce", "--sizes", "8,1K", "--passes", "2", "-n", "2", "--calibration", "none", "-J",
                                path, "--overwrite", "-T", "80",
                                environment={"LD_PRELOAD": str(FAULTY_MPI), "FAULTY_MPI_RANK": str(rank), "FAULTY_MPI_ONCE": what,
                                             "FAULTY_MPI_FILE": "/dev/null"})
                self.assertEqual(result.returncode, 2, result.stderr)
                (line,) = collbench_lines(result)
                self.assertRegex(line, rf"^collbench: rank {rank} \(\S+\): (/gone of )?AllReduce 8 B, call \d+, pass 1: {says}")
                run = json.loads(path.read_text())
                self.assertFalse(run["complete"])
                incident = run["incident"]
                self.assertEqual((incident["kind"], incident["exit_status"], [each["rank"] for each in incident["ranks"]]),
                                 ("error", 2, [rank]))
                report = subprocess.run([str(PROGRAM), "report", str(path)], capture_output=True, text=True, timeout=60, check=False)
                self.assertIn(incident["sentence"].split(": ")[-1], report.stdout)

    def test_before_the_first_row_nothing_is_said_to_be_kept(self):
        line, path = self.hang({"FAULTY_MPI_STOP_IN": "MPI_Sendrecv"})
        self.assertRegex(line, r"calibration: timed out after 5(\.0)? s without progress: rank 1 \(\S+\) is stopped")
        self.assertIn("nothing was measured yet", line)
        self.assertFalse(path.exists())


class Unbegun(Scratch):
    """Ranks and launchers that go before the first row: one sentence, about the one that went."""

    HELD = {"LD_PRELOAD": str(FAULTY_MPI), "FAULTY_MPI_HANG": "1"}  # rank 1 stays in the start of MPI, and so does the run

    def start_held(self):
        """Three ranks that are all in the start of MPI: mpirun, and by rank their processes."""
        process = subprocess.Popen(["mpirun", "--oversubscribe", "-np", "3", str(PROGRAM), "-J", str(self.folder / "run.json")],
                                   env={**ENVIRONMENT, **self.HELD}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   stdin=subprocess.DEVNULL)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        wait_until(lambda: len(self.ranks(process)) == 3)
        time.sleep(2)  # once, mpirun 4.1.4 did not end: a rank had died when it may not yet have registered there
        return process, self.ranks(process)

    @staticmethod
    def ranks(process):
        """Of those whose recorders are there, as `flight` has them."""
        found = subprocess.run(["pgrep", "-P", str(process.pid), "collbench"], capture_output=True, text=True, check=False).stdout.split()
        if not found:
            return {}
        seen = subprocess.run([str(PROGRAM), "flight", found[0], "--format", "json"], capture_output=True, text=True, timeout=60, check=False)
        return {rank["rank"]: rank["pid"] for rank in json.loads(seen.stdout)["ranks"]} if seen.returncode == 0 else {}

    def only_line(self, process):
        _, errors = process.communicate(timeout=100)
        lines = [line for line in errors.splitlines() if line.startswith("collbench:")]
        self.assertEqual(len(lines), 1, errors)
        if folder := re.search(r"collbench flight (\S+) shows", lines[0]):
            shutil.rmtree(folder[1], ignore_errors=True)
        return lines[0]

    def test_a_rank_that_dies_is_said_once_and_no_other_one(self):
        for rank in range(3):
            with self.subTest(rank):
                process, ranks = self.start_held()
                os.kill(ranks[rank], signal.SIGKILL)
                self.assertRegex(self.only_line(process), rf"^collbench: start of MPI: rank {rank} \(\S+\) is gone, last seen in start of MPI")
                self.assertNotEqual(process.returncode, 0)
                self.assertFalse((self.folder / "run.json").exists())

    def test_a_rank_that_is_stopped_is_said_once_and_has_no_word_of_its_own(self):
        for rank in (0, 1):
            with self.subTest(rank):
                path = self.folder / "run.json"
                result = mpirun(2, "--ops", "all_reduce", "--sizes", "8,1K", "--time", "4", "-T", "5", "-J", path,
                                environment={"LD_PRELOAD": str(FAULTY_MPI), "FAULTY_MPI_STOP": str(rank), "FAULTY_MPI_STOP_IN": "MPI_Sendrecv"})
                self.assertEqual(result.returncode, 4, result.stderr)
                (line,) = collbench_lines(result)
                self.assertRegex(line, rf"calibration: timed out after 5(\.0)? s without progress: rank {rank} \(\S+\) is stopped")
                self.assertFalse(path.exists())


class LostLauncher(LongRun):
    def test_mpirun_killed_is_an_incident_and_leaves_no_lock(self):
        stream = self.folder / "run.stream"
        process, ranks = self.start("--stream", stream)
        self.assertTrue((self.folder / ".run.json.lock").exists())
        process.kill()
        process.communicate(timeout=60)
        wait_until(lambda: not any(self.is_there(rank) for rank in ranks))
        incident = self.kept()["incident"]
        self.assertEqual((incident["kind"], incident["ranks"], incident["exit_status"]), ("interrupted", [], 4))
        self.assertRegex(incident["sentence"], rf": mpirun \(process {process.pid}\) is gone$")
        self.assertEqual([json.loads(line)["incident"] for line in stream.read_text().splitlines() if line.startswith('{"incident"')],
                         [incident])
        self.assertEqual({file.name for file in self.folder.iterdir()}, {"run.json", "run.stream"})
        resumed = mpirun(2, "--ops", "all_reduce", "--sizes", "8,1K", "--passes", "1", "--time", "2", *self.calibration,
                         "-J", self.folder / "run.json", "--overwrite", "--resume", stream)
        self.assertEqual(resumed.returncode, 0, resumed.stderr)

    def start_and_stop_rank_1(self, *arguments):
        """A run whose block in progress does not end."""
        file = self.folder / "now"
        process, ranks = self.start(*arguments, environment={"LD_PRELOAD": str(FAULTY_MPI), "FAULTY_MPI_STOP": "1",
                                                             "FAULTY_MPI_STOP_FILE": str(file)})
        file.touch()
        wait_until(lambda: any(self.state(rank) == "T" for rank in ranks))
        stopped, waits = sorted(ranks, key=lambda rank: self.state(rank) != "T")
        self.addCleanup(lambda: self.is_there(stopped) and os.kill(stopped, signal.SIGKILL))
        return process, stopped, waits

    def incident(self):
        return json.loads((self.folder / "run.json").read_text())["incident"]

    def test_mpirun_killed_after_an_order_to_end_does_not_hide_the_order(self):
        process, stopped, waits = self.start_and_stop_rank_1()
        os.kill(waits, signal.SIGTERM)
        wait_until(self.incident)
        process.kill()  # the kernel may wake the stopped one with SIGHUP, and that speaks too
        wait_until(lambda: not self.is_there(waits))
        if self.is_there(stopped):
            os.kill(stopped, signal.SIGKILL)
            wait_until(lambda: not self.is_there(stopped))
        self.assertRegex(self.incident()["sentence"], r": interrupted by SIGTERM, which has to wait for this block$")

    def test_a_lock_that_cannot_be_read_keeps_nobody_from_ending(self):
        process, _, _ = self.start_and_stop_rank_1("-T", "5")
        lock = self.folder / ".run.json.lock"
        lock.unlink()
        os.mkfifo(lock)  # as a file system that does not answer
        process.communicate(timeout=60)
        self.assertEqual(self.incident()["kind"], "hang")

    def test_time_in_which_mpirun_is_stopped_does_not_count(self):
        file = self.folder / "now"
        process, ranks = self.start("-T", "5", environment={"LD_PRELOAD": str(FAULTY_MPI), "FAULTY_MPI_STOP": "1",
                                                            "FAULTY_MPI_STOP_FILE": str(file)})
        process.send_signal(signal.SIGSTOP)
        file.touch()  # rank 1 stops itself in its next call
        time.sleep(8)
        self.assertTrue(all(self.is_there(rank) for rank in ranks), "ranks that ended meanwhile")
        process.send_signal(signal.SIGCONT)
        _, errors = process.communicate(timeout=60)
        self.assertRegex(errors, r"collbench: AllReduce .*: timed out after 5(\.0)? s without progress: rank 1 \(\S+\) is stopped")

    @staticmethod
    def state(pid):
        try:
            return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return None

    def is_there(self, pid):
        return self.state(pid) not in (None, "Z")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2)
