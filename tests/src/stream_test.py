#!/usr/bin/env python3
"""--stream and --resume: a run that is killed at any moment loses the block in hand and nothing else.

Usage: stream_test.py PROGRAM FAULTY_MPI_LIBRARY [unittest arguments]; COLLBENCH_KILLS: how many runs are killed (5)
"""

import json
import os
import pathlib
import random
import signal
import sys
import tempfile
import time
import unittest

from real_ranks import Scratch, descendants, mpirun, run, collbench_lines, unwrapped, wait_until

PROGRAM = pathlib.Path(sys.argv[1])
FAULTY_MPI = pathlib.Path(sys.argv[2]).resolve()
PASSES = 12
ROWS = ["--ops", "all_reduce,all_gather", "--sizes", "8,1K,16K", "-n", "20", "--time", "600", "--calibration", "none"]
# A rank that is late by so much after each AllReduce: blocks that last long enough to be killed in, of calls so few that ranks
# which wait for a busy machine's time slices end them too.
SLOWLY = ["env", f"LD_PRELOAD={FAULTY_MPI}", "FAULTY_MPI_LATE=1", "FAULTY_MPI_WHERE=between", "FAULTY_MPI_SECONDS=1e-3"]
KILLS = int(os.environ.get("COLLBENCH_KILLS", "5"))


def whole_lines(path):
    text = path.read_bytes()
    return [json.loads(line) for line in text[: text.rfind(b"\n") + 1].splitlines()]


def launches(path):
    """Of each launch in a stream, its blocks as (row, pass)."""
    found = []
    for line in whole_lines(path):
        if "launch" in line:
            found.append([])
        elif "block" in line:
            found[-1].append((line["block"]["row"], line["block"]["pass"]))
    return found


def passes_of(record):
    return [len(row["pass_seconds"]) for row in record["rows"]]


class KilledRun(Scratch):
    def setUp(self):
        super().setUp()
        self.stream = self.folder / "run.stream"
        self.record = self.folder / "run.json"

    def kill_one(self, blocks, seconds=0.0, passes=PASSES):
        """After so many blocks, and so many seconds into what follows them."""
        process = self.start(*mpirun(2, *SLOWLY, PROGRAM, *ROWS, "--passes", passes, "--stream", self.stream, "-J", self.record))
        wait_until(lambda: self.stream.exists() and self.stream.read_bytes().count(b"\n") > blocks)
        time.sleep(seconds)
        for victim in [*descendants(process.pid), process.pid]:
            try:
                os.kill(victim, signal.SIGKILL)
            except ProcessLookupError:
                pass  # mpirun may have been quicker
        process.wait(timeout=20)

    def test_what_was_finished_is_there_and_is_not_measured_again(self):
        chance = random.Random(1)
        for _ in range(KILLS):
            for path in (self.stream, self.record):
                path.unlink(missing_ok=True)
            self.kill_one(chance.randrange(PASSES * 5), chance.uniform(0, 0.02))
            before = self.stream.read_bytes()
            finished = launches(self.stream)[0]
            if self.record.exists():  # written at the end of each pass: the stream has all of that, and more
                for row, passes in enumerate(passes_of(json.loads(self.record.read_text()))):
                    self.assertGreaterEqual(sum(each[0] == row for each in finished), passes)
            result = run(*mpirun(2, PROGRAM, *ROWS, "--passes", PASSES, "--resume", self.stream, "-J", self.record, "--overwrite"))
            self.assertEqual(result.returncode, 0, result.stderr)
            after = self.stream.read_bytes()
            self.assertTrue(after.startswith(before[: before.rfind(b"\n") + 1]), "the first launch's lines stay")
            blocks = [block for launch in launches(self.stream) for block in launch]
            for row in range(6):
                self.assertEqual(sum(block[0] == row for block in blocks), PASSES, "no pass twice, and none missing")
            self.assertTrue(json.loads(run(PROGRAM, "report", self.stream, "--format", "json").stdout)["complete"])
            complete = json.loads(self.record.read_text())
            self.assertTrue(complete["complete"])
            self.assertEqual(passes_of(complete), [PASSES] * 6)
            self.assertEqual(complete["launches"], 2)
            some = [sum(block[0] == row for block in finished) for row in range(6)]
            self.assertEqual([row["launch_passes"] for row in complete["rows"]],
                             [[count for count in (own, PASSES - own) if count] for own in some])
            if any(0 < own < PASSES for own in some):
                self.assertIn("span several launches", unwrapped(result.stdout))

    def test_a_report_is_made_of_what_there_is(self):
        self.kill_one(10, passes=10_000)
        result = run(PROGRAM, "report", self.stream, "--format", "json")
        self.assertEqual(result.returncode, 0, result.stderr)
        record = json.loads(result.stdout)
        self.assertFalse(record["complete"])
        finished = launches(self.stream)[0]
        self.assertEqual(passes_of(record), [sum(block[0] == row for block in finished) for row in range(6)])


class Refusals(Scratch):
    QUICK = ["--ops", "all_reduce", "--sizes", "8,64", "--passes", "2", "-n", "2", "--calibration", "none"]

    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            stream = pathlib.Path(folder) / "run.stream"
            result = run(*mpirun(2, PROGRAM, *cls.QUICK, "--stream", stream))
            if result.returncode != 0:
                raise AssertionError(result.stderr)
            cls.whole_stream = stream.read_bytes()

    def setUp(self):
        super().setUp()
        self.stream = self.folder / "run.stream"
        self.stream.write_bytes(self.whole_stream)

    def refusal(self, *arguments, ranks=2, status=2):
        before = self.stream.read_bytes()
        result = run(*mpirun(ranks, PROGRAM, *arguments))
        self.assertEqual(result.returncode, status, result.stderr)
        self.assertEqual(len(collbench_lines(result)), 1, result.stderr)
        self.assertEqual(self.stream.read_bytes(), before, "a refused stream is left as it is")
        return collbench_lines(result)[0]

    def test_another_measurement(self):
        message = self.refusal("--ops", "all_reduce", "--sizes", "8,128", "--resume", self.stream)
        self.assertIn("run.stream:1", message)
        self.assertIn("row 2 as AllReduce 64 B", message)
        self.assertIn("and this is AllReduce 128 B", message)
        self.assertIn("2 ranks, and this is 3 ranks", self.refusal(*self.QUICK, "--resume", self.stream, ranks=3))
        self.assertIn("reduced over ranks by max, and this is avg",
                      self.refusal(*self.QUICK, "-a", "1", "--resume", self.stream))

    def test_a_damaged_stream(self):
        lines = self.stream.read_text().splitlines(keepends=True)
        lines[2] = lines[2].replace('"seconds"', '"secs"', 1)
        self.stream.write_text("".join(lines))
        self.assertIn("run.stream:3: rank 0 on", self.refusal(*self.QUICK, "--resume", self.stream))

    def test_a_file_that_is_no_stream(self):
        record = self.folder / "run.json"
        run(*mpirun(2, PROGRAM, *self.QUICK, "-J", record))
        self.stream.write_text(record.read_text())
        self.assertIn("run.stream:1", self.refusal(*self.QUICK, "--resume", self.stream))

    def test_a_stream_that_is_there_already_or_is_not(self):
        self.assertIn("already exists", self.refusal(*self.QUICK, "--stream", self.stream))
        self.assertIn("No such file", self.refusal(*self.QUICK, "--resume", self.folder / "none"))
        self.refusal(*self.QUICK, "--resume", self.stream, "--stream", self.stream)

    def test_a_run_that_was_killed_before_its_first_line_begins_anew(self):
        self.stream.write_text('{"launch":{"rec')
        result = run(*mpirun(2, PROGRAM, *self.QUICK, "--resume", self.stream))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual([len(launch) for launch in launches(self.stream)], [4])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2)
