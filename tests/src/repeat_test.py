#!/usr/bin/env python3
"""`collbench repeat`: launches, their one record, interruptions, and what it makes of exit statuses.

Usage: repeat_test.py PROGRAM FAULTY_MPI_LIBRARY [unittest arguments]
"""

import datetime
import json
import math
import os
import pathlib
import re
import signal
import statistics
import sys
import unittest

from real_ranks import Scratch, collbench_lines, descendants, mpirun, run, unwrapped, wait_until

PROGRAM = pathlib.Path(sys.argv[1])
FAULTY_MPI = pathlib.Path(sys.argv[2])
QUICK = ["--ops", "all_reduce", "--sizes", "8,64", "--passes", "2", "--calibration", "none"]
FIFTY = mpirun(2, PROGRAM, *QUICK, "-n", "50")


class Repeated(Scratch):
    def setUp(self):
        super().setUp()
        self.path = self.folder / "runs.json"

    def repeat(self, *arguments, command=None, status=0, environment=None, timeout=200):
        result = run(PROGRAM, "repeat", *arguments, "--", *(command or FIFTY), environment=environment, timeout=timeout)
        self.assertEqual(result.returncode, status, result.stdout + result.stderr)
        return result

    def record(self):
        return json.loads(self.path.read_text())

    def launch_files(self):
        return sorted(path.name for path in (self.folder / "runs.json.launches").iterdir())


class Precision(Repeated):
    """Launches that follow each other on a busy machine are alike, so that more of them are needed. A rank that is late after each
    call makes a time that time slices do not multiply: within +- 1000 % they are all the same."""

    LAUNCH = mpirun(2, "env", f"LD_PRELOAD={FAULTY_MPI.resolve()}", "FAULTY_MPI_LATE=1", "FAULTY_MPI_WHERE=between",
                    "FAULTY_MPI_SECONDS=3e-3", PROGRAM, *QUICK, "-n", "10")

    def test_launches_until_the_interval_is_as_tight_as_asked(self):
        result = self.repeat("--precision", "1000", "-J", self.path, command=self.LAUNCH, timeout=570)
        run_record = self.record()
        count = run_record["launches"]
        self.assertGreaterEqual(count, 8)  # a busy machine may need more
        self.assertTrue(run_record["repeated"])
        self.assertTrue(run_record["complete"])
        single = [json.loads((self.folder / "runs.json.launches" / name).read_text()) for name in self.launch_files()]
        self.assertEqual(len(single), count)
        # The largest l with P(Bin(n, 1/2) < l) <= 0.025, counted from 0.
        low = max(order for order in range(count) if sum(math.comb(count, i) for i in range(order + 1)) <= 0.025 * 2**count)
        for i, row in enumerate(run_record["rows"]):
            times = sorted(launch["rows"][i]["seconds"] for launch in single)
            self.assertEqual(row["launch_passes"], [2] * count)
            self.assertEqual(row["stopped"], "precision reached")
            self.assertEqual(row["interval"]["over"], "launches")
            self.assertGreaterEqual(row["launch_variation"]["between"], 0)
            self.assertGreater(row["launch_variation"]["within"], 0)
            if row["states"]:
                continue  # other work changed the machine's state: time and interval are those of the commonest state alone
            self.assertAlmostEqual(row["seconds"], statistics.median(times))
            ends = row["interval"]["low_seconds"], row["interval"]["high_seconds"]
            self.assertTrue(set(ends) <= set(times), "order statistics")
            self.assertLessEqual(ends[0], times[low])  # further out where launches that follow each other are alike
            self.assertGreaterEqual(ends[1], times[-1 - low])
        self.assertIn(f"{count} launches", result.stdout)
        self.assertIn("of that median over launches", unwrapped(result.stdout))
        self.assertRegex(result.stdout, r"times vary by [\d.]+ % between launches and by [\d.]+ % between passes")
        self.assertEqual(result.stderr, "")


class Repeat(Repeated):
    def test_it_stops_at_the_most_launches_and_says_what_was_not_reached(self):
        result = self.repeat("--launches", "2", "--precision", "0.01", "-J", self.path)
        self.assertEqual(self.record()["launches"], 2)
        self.assertIn("precision not reached in 2 of 2 rows (2 launches: 2)", result.stdout)

    def test_launches_start_no_oftener_than_asked(self):
        self.repeat("--launches", "3", "--every", "4", "-J", self.path)
        starts = [datetime.datetime.fromisoformat(json.loads((self.folder / "runs.json.launches" / name).read_text())["started"])
                  for name in self.launch_files()]
        for before, after in zip(starts, starts[1:]):
            self.assertGreaterEqual((after - before).total_seconds(), 3)  # records know whole seconds

    def test_no_launch_begins_that_would_outlive_the_job(self):
        squeue = self.folder / "squeue"
        squeue.write_text("#!/bin/sh\necho 12 0:01\n")
        squeue.chmod(0o700)
        launch = ["env", "-u", "SLURM_JOB_ID", *FIFTY]
        result = self.repeat("--launches", "5", "--precision", "0.01", "-J", self.path, command=launch,
                             environment={"SLURM_JOB_ID": "12", "PATH": f"{self.folder}:{os.environ['PATH']}"})
        self.assertEqual(self.record()["launches"], 1)
        self.assertRegex(result.stderr, r"collbench: repeat: the job ends in 1\S* s, and a launch takes .*: this is the report of 1 launch$")

    def test_an_interruption_between_launches(self):
        process = self.start(PROGRAM, "repeat", "--launches", "3", "--every", "1000", "-J", self.path, "--progress", "always",
                             "--", *FIFTY)
        wait_until(self.path.exists)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=30)
        self.assertEqual(process.returncode, 4, errors)
        self.assertIn("1 launch complete; run the same command with --resume", errors)
        self.assertEqual(self.record()["launches"], 1)

    def test_without_a_record_nothing_is_left_behind(self):
        temporary = self.folder / "tmp"
        temporary.mkdir()
        result = self.repeat("--launches", "1", "--format", "json", environment={"TMPDIR": str(temporary)})
        self.assertEqual(json.loads(result.stdout)["launches"], 1)
        self.assertEqual([path for path in temporary.iterdir() if path.name.startswith("collbench")], [])

    def test_an_interrupted_repetition_goes_on(self):
        process = self.start(PROGRAM, "repeat", "--launches", "3", "-J", self.path, "--", *FIFTY)
        wait_until(self.path.exists)
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=30)
        self.assertEqual(process.returncode, 4, errors)
        self.assertIn("with --resume to continue", errors)
        self.assertIn("AllReduce", output)
        kept = self.record()["launches"]
        self.assertIn(kept, (1, 2))
        first = (self.folder / "runs.json.launches" / "launch-001.json").read_bytes()
        self.repeat("--launches", "3", "--resume", "-J", self.path)
        self.assertEqual(self.record()["launches"], 3)
        self.assertEqual((self.folder / "runs.json.launches" / "launch-001.json").read_bytes(), first)
        message = collbench_lines(self.repeat("-J", self.path, "--resume", status=2,
                                   command=mpirun(2, PROGRAM, "--ops", "all_reduce", "--sizes", "8", "-n", "5")))
        self.assertIn("2 rows, and this is 1 row", message[0])

    def test_a_rank_that_is_killed_is_a_lost_rank_whatever_mpirun_says(self):
        process = self.start(PROGRAM, "repeat", "--launches", "1", "-J", self.path, "--",
                             *mpirun(2, PROGRAM, "--ops", "all_reduce", "--sizes", "8", "--precision", "0.01"))
        launch = self.folder / "runs.json.launches" / "launch-001.json"
        wait_until(lambda: launch.exists() and json.loads(launch.read_text())["passes"])  # it is there from the start
        ranks = [each for each in descendants(process.pid)
                 if pathlib.Path(f"/proc/{each}/comm").read_text().strip() == "collbench"]
        os.kill(ranks[-1], signal.SIGKILL)
        _, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 4, errors)
        self.assertEqual(len(errors.splitlines()), 1, errors)
        self.assertRegex(errors, r"launch 1: exit status 137: rank 1 on \S+ was killed by signal 9 \(Killed\)( (inside|in) .*|);"
                                 " run the same command with --resume to continue; "
                                 + re.escape(str(launch)) + " has what this launch measured")
        self.assertGreaterEqual(json.loads(launch.read_text())["passes"], 1, "what was measured is kept")

    def test_a_launch_that_hangs_is_ended(self):
        result = self.repeat("-T", "1", "-J", self.path, status=4, command=["bash", "-c", "sleep 60"])
        self.assertIn("launch 1: timed out after 1 s", result.stderr)

    def test_a_launch_that_is_refused_ends_it_with_its_own_words(self):
        result = self.repeat(status=2, command=mpirun(2, PROGRAM, "--sizes", "x"))
        self.assertIn("--sizes", result.stderr)
        self.assertEqual(len(collbench_lines(result)), 1, result.stderr)

    def test_wrong_data_end_it(self):
        result = self.repeat(status=3, environment={"FAULTY_MPI_CALL": "MPI_Allreduce", "LD_PRELOAD": str(FAULTY_MPI)})
        self.assertIn("WRONG DATA", result.stdout)
        self.assertIn("1 launch,", result.stdout)

    def test_wrong_data_end_it_whatever_the_launcher_makes_of_the_status(self):
        for ends, status in ((0, 3), (1, 3)):
            with self.subTest(ends):
                launcher = ["sh", "-c", f'"$@"; exit {ends}', "sh"]
                environment = {"FAULTY_MPI_CALL": "MPI_Allreduce", "LD_PRELOAD": str(FAULTY_MPI)}
                result = self.repeat("--launches", "2", "-J", self.path, "--overwrite", status=status, environment=environment,
                                     command=[*launcher, *FIFTY])
                launch = self.folder / "runs.json.launches" / "launch-001.json"
                self.assertEqual(collbench_lines(result)[-1],
                                 f"collbench: launch 1: its data is wrong; collbench report {launch} names the rows and ranks")
                self.assertRegex(run(PROGRAM, "report", launch).stdout, r"WRONG DATA.*\n(.*\n)*.*rank 1")
                self.assertEqual(self.record()["launches"], 1)
        # Of launches that are there already: what they have is not forgotten.
        result = self.repeat("--launches", "1", "-J", self.path, "--resume", status=3)
        self.assertIn("failed: WRONG DATA: AllReduce 8 B", result.stderr)

    def test_what_cannot_be_repeated(self):
        for command, status, words in (
                (["no-such-launcher", PROGRAM], 5, "no-such-launcher cannot be started"),
                (["true"], 5, "must start collbench"),
                (mpirun(2, PROGRAM, "-J", "x.json"), 2, "-J comes after --"),
                (mpirun(2, PROGRAM, "--resume=x"), 2, "--resume comes after --")):
            result = self.repeat(status=status, command=command)
            self.assertEqual(len(collbench_lines(result)), 1, result.stderr)
            self.assertIn(words, collbench_lines(result)[0])
        result = run(PROGRAM, "repeat")
        self.assertEqual(result.returncode, 2, result.stderr)
        result = run(*mpirun(1, PROGRAM, "repeat", "--", "true"))
        self.assertIn("it was started as a rank", result.stderr)
        self.path.write_text("{}")
        self.assertIn("already exists", self.repeat("-J", self.path, status=2).stderr)


class Ab(Repeated):
    """Two commands in turn. One series of launches shows what it does; what it decides are unit tests."""

    def ab(self, *arguments, a, b, status=0):
        result = run(PROGRAM, "repeat", *arguments, "--", *a, "--versus", *b)
        self.assertEqual(result.returncode, status, result.stdout + result.stderr)
        return result

    def test_two_algorithms_in_turn(self):
        one = FIFTY
        path = self.folder / "ab.json"
        result = self.ab("--rounds", "3", "--seed", "5", "-J", path, a=[*one, "--algo", "ring"],
                         b=["env", "OMPI_MCA_btl_vader_eager_limit=2048", *one, "--algo", "recursive_doubling"])
        record = json.loads(path.read_text())
        self.assertEqual(record["rounds"], 3)
        self.assertEqual([row["base_launches"] for row in record["rows"]], [3, 3])
        self.assertIn("ring → recursive_doubling", record["rows"][0]["notes"])
        self.assertIn("3 rounds of at most 3, in each A and B in an order drawn with --seed 5", record["differences"])
        self.assertTrue(any("eager_limit" in line for line in record["differences"]), record["differences"])
        self.assertTrue(all(row["ratio"] > 0 for row in record["rows"]))
        self.assertIn("B/A", result.stdout)
        self.assertIn("of at most 3, in each A and B", unwrapped(result.stdout))
        self.assertEqual(result.stderr, "")
        launches = [json.loads((self.folder / "ab.json.launches" / f"launch-{number:03}.json").read_text())
                    for number in range(1, 7)]
        asked = [launch["rows"][0]["algorithm"] for launch in launches]
        self.assertEqual(sorted(asked), ["recursive_doubling"] * 3 + ["ring"] * 3)
        for turn in (0, 2, 4):
            self.assertNotEqual(asked[turn], asked[turn + 1], "each round has one of each")
        # The series is a record of compare's: a launch has its probes, from which states are found.
        probes = launches[0]["rows"][0]["pass_probes"]
        self.assertEqual(len(probes["round_trip_seconds"]), 2)  # null where the two ranks had to share a core
        self.assertGreater(min(probes["steps_per_second"]), 0)

    def test_secrets_of_the_commands_are_nowhere(self):
        path = self.folder / "ab.json"
        command = ["env", "NCCL_TOKEN=hunter2", *FIFTY]
        result = self.ab("--rounds", "1", "-J", path, "--format", "html", a=command, b=command)
        for text in (result.stdout, result.stderr, path.read_text()):
            self.assertNotIn("hunter2", text)
        self.assertIn("A: env NCCL_TOKEN=(set, not recorded)", json.loads(path.read_text())["differences"][0])

    def test_what_cannot_be_compared_is_known_after_one_round(self):
        path = self.folder / "ab.json"
        result = self.ab("--rounds", "20", "-J", path, a=FIFTY,
                         b=mpirun(2, PROGRAM, *["broadcast" if word == "all_reduce" else word for word in QUICK], "-n", "50"), status=2)
        self.assertIn("A and B: no row is in both", result.stderr)
        self.assertEqual(len(list((self.folder / "ab.json.launches").iterdir())), 2)

    def test_what_cannot_be_launched(self):
        for words, status, expected in (
                (["true", "--versus"], 2, "--versus has to stand once between two commands"),
                (["--versus", "true"], 2, "--versus has to stand once"),
                (["true", "--versus", "true", "--versus", "true"], 2, "--versus has to stand once"),
                (["true", "-J", "x.json", "--versus", "true"], 2, "-J comes after --"),
                (["no-such-launcher", "-J", "job", "collbench", "--versus", "no-such-launcher", "-J", "job", "collbench"], 5,
                 "no-such-launcher cannot be started"),
                (["no-such-launcher", "collbench", "-J", "x", "--versus", "true"], 2, "-J comes after --"),
                (["true", "--versus", "no-such-launcher"], 5, "both commands must start collbench"),
                (["no-such-launcher", "--versus", "no-such-launcher"], 5, "no-such-launcher cannot be started")):
            result = run(PROGRAM, "repeat", "--", *words)
            self.assertEqual(result.returncode, status, result.stderr)
            self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
            self.assertIn(expected, result.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2)
