#!/usr/bin/env python3
"""`collbench flight` of what other tools left, as its users meet it: which files it reads, and which it refuses.

Usage: flight_test.py PROGRAM [unittest arguments]
"""

import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import unittest

PROGRAM = pathlib.Path(sys.argv[1])
ANSWERS = pathlib.Path(__file__).resolve().parents[1] / "analysis/hang/answers"
CONFIG = {"0": {"desc": "default_pg", "ranks": "[0, 1, 2, 3]"}}


def dump(call=5, padding=0):
    """A rank's dump, as PyTorch's flight recorder writes it."""
    entry = {"process_group": ["0", "default_pg"], "collective_seq_id": call, "profiling_name": "nccl:all_reduce",
             "input_sizes": [[8]], "input_dtypes": ["Float"], "state": "started"}
    return json.dumps({"pg_config": CONFIG, "entries": [entry]}) + " " * padding


class Flight(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)
        self.dumps = self.folder / "dumps"
        self.dumps.mkdir()

    def flight(self, *of):
        return subprocess.run([PROGRAM, "flight", *of], capture_output=True, text=True, timeout=60, check=False,
                              env={**os.environ, "COLUMNS": "500"})

    def write(self, rank, **how):
        file = self.dumps / f"nccl_trace_rank_{rank}"
        file.write_text(dump(**how))
        return file

    def refused(self, *of):
        done = self.flight(*of)
        self.assertEqual((done.returncode, done.stdout), (2, ""), done)
        self.assertEqual(done.stderr.count("\n"), 1, done)
        return done.stderr

    def test_a_folder_of_dumps_may_have_a_folder_in_it(self):
        for rank in range(4):
            self.write(rank)
        (self.dumps / "older").mkdir()
        done = self.flight(self.dumps)
        self.assertEqual(done.returncode, 0, done)
        self.assertIn("ranks 0-3 all wait in call 5", done.stdout)

    def test_an_answer_may_come_from_a_pipe(self):
        done = subprocess.run([PROGRAM, "flight", "-"], capture_output=True, text=True, timeout=60, check=False,
                              input=(ANSWERS / "ras_stopped_rank.txt").read_text())
        self.assertEqual(done.returncode, 0, done)
        self.assertIn("rank 2 (192.0.2.2, process 22747) is not heard of", " ".join(done.stdout.split()))

    def test_a_rank_whose_dump_is_not_there_is_not_called_gone(self):
        done = self.flight(self.write(0))
        self.assertEqual(done.returncode, 0, done)
        self.assertIn("ranks 1-3 left nothing of this group here; rank 0 waits in call 5", " ".join(done.stdout.split()))

    @unittest.skipIf(b"__asan_init" in PROGRAM.read_bytes(), "AddressSanitizer reserves more than that")
    def test_a_file_of_empty_lines_takes_no_hundred_times_its_size(self):
        empty = self.folder / "empty.log"
        empty.write_text("\n" * (16 << 20))
        done = subprocess.run([PROGRAM, "flight", empty], capture_output=True, text=True, timeout=60, check=False,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (512 << 20, 512 << 20)))
        self.assertEqual(done.returncode, 2)
        self.assertIn(f"{empty}: is neither a recorder of collbench", done.stderr)

    def test_of_several_files_those_that_say_nothing_are_named(self):
        silent = self.dumps / "stdout.log"
        silent.write_text("step 1 loss 0.3\n")
        done = self.flight(self.write(0), silent)
        self.assertEqual(done.returncode, 0, done)
        self.assertIn("rank 0 waits in call 5", " ".join(done.stdout.split()))
        self.assertIn("stdout.log: says nothing of a hang, and is left out", done.stderr)
        self.assertEqual(self.flight(silent).returncode, 2)

    def test_no_argument_is_dropped(self):
        file = self.write(0)
        for other, said in (("999999999", "no run of yours on this host has this process"), (self.folder / "none", "none"),
                            (self.folder / "empty", "no flight recorder and no dump is in this folder")):
            (self.folder / "empty").mkdir(exist_ok=True)
            for arguments in ((file, other), (other, file)):
                self.assertIn(said, self.refused(*arguments))

    def test_a_folder_without_recorders_and_dumps_is_an_error(self):
        (self.dumps / "older").mkdir()
        self.assertIn("no flight recorder and no dump is in this folder", self.refused(self.dumps))

    @unittest.skipIf(b"__asan_init" in PROGRAM.read_bytes(), "AddressSanitizer keeps memory that was freed")
    def test_one_dump_is_in_memory_at_a_time(self):
        padding = 8 << 20
        few, many = (self.peak_bytes(count, padding) for count in (1, 4))
        self.assertLess(many - few, padding * 3 // 2, "of three dumps more")

    def peak_bytes(self, count, padding):
        files = [self.write(rank, padding=padding) for rank in range(count)]
        with subprocess.Popen([PROGRAM, "flight", *files], stdout=subprocess.DEVNULL) as child:
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(child.returncode, 0)
        return usage.ru_maxrss * 1024


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
