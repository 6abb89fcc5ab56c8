#!/usr/bin/env python3
"""The files of a run while others interfere: a second run, a folder that goes, a stdout that nobody reads.

Usage: output_files_test.py PROGRAM [unittest arguments]
"""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

from failing_file_system import FailingFileSystem, can_be_mounted
from real_ranks import ENVIRONMENT, Scratch, collbench_lines, run, wait_until

PROGRAM = pathlib.Path(sys.argv[1])
ROWS = ["--ops", "all_reduce", "--sizes", "8", "-n", "2", "-w", "0"]
LONG = [*ROWS, "-N", "0", "--time", "100"]
SHORT = [*ROWS, "--passes", "1", "--time", "1"]
GOES_ON = " (the measurement goes on)"


class OutputFiles(Scratch):
    def refused(self, *arguments):
        result = run(PROGRAM, *arguments)
        self.assertEqual(result.returncode, 2, result.stderr)
        (line,) = collbench_lines(result)
        return line

    def test_others_are_refused_and_what_goes_is_said_file_by_file(self):
        out = self.folder / "out"
        out.mkdir()
        names = [out / name for name in ("run.json", "run.csv", "run.stream", "samples.csv")]
        process = self.start(PROGRAM, *LONG, "-J", names[0], "--csv", names[1], "--stream", names[2], "--samples", names[3])
        wait_until(lambda: names[0].exists() and json.loads(names[0].read_text())["passes"])
        for arguments, name in ((["-J", names[0], "--overwrite"], "run.json"), (["--csv", names[1], "--overwrite"], "run.csv"),
                                (["--stream", names[2], "--overwrite"], "run.stream"), (["--resume", names[2]], "run.stream"),
                                (["--samples", names[3], "--overwrite"], "samples.csv")):
            self.assertRegex(self.refused(*SHORT, *arguments),
                             rf"{arguments[0]}: \S+{name} is being written by another run \(process {process.pid} on ")
        self.assertIn("is being written by another run",
                      self.refused("repeat", "-J", names[0], "--overwrite", "--", PROGRAM, *SHORT))
        shutil.rmtree(out)
        lines = [process.stderr.readline() for _ in names]
        for name, line in zip(names, lines, strict=True):
            self.assertTrue(line.startswith(f"collbench: {name}: "), line)
            self.assertTrue(line.endswith(GOES_ON + "\n"), line)
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=30)
        self.assertEqual(process.returncode, 2)
        self.assertIn("# wall time", output)
        self.assertTrue(errors.startswith(f"collbench: {names[0]}: cannot be written"), errors)
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_tables_that_no_file_takes_are_shown(self):
        out = self.folder / "out"
        out.mkdir()
        names = [out / "page.md", out / "page.html"]
        process = self.start(PROGRAM, *LONG, "-J", self.folder / "run.json", "-o", names[0], "--html", names[1])
        wait_until(lambda: (self.folder / "run.json").exists() and json.loads((self.folder / "run.json").read_text())["passes"])
        shutil.rmtree(out)
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=30)
        self.assertEqual(process.returncode, 2)
        self.assertIn("# wall time", output)
        for name in names:
            self.assertIn(f"collbench: {name}: ", errors)

    def test_a_stdout_that_takes_nothing_does_not_take_the_record_with_it(self):
        record = self.folder / "run.json"
        for close, reason in ((False, "Broken pipe"), (True, "Bad file descriptor")):
            reader, writer = os.pipe()
            os.close(reader)
            result = subprocess.run([str(PROGRAM), *SHORT, "-J", str(record), "--overwrite"], env=ENVIRONMENT, stdout=writer,
                                    stderr=subprocess.PIPE, text=True, timeout=60, check=False,
                                    preexec_fn=(lambda: os.close(1)) if close else None)
            os.close(writer)
            self.assertEqual(result.returncode, 2, result.stderr)
            first, last = collbench_lines(result)
            self.assertIn(f"stdout: {reason}", first)
            self.assertEqual(first, last + GOES_ON)
            self.assertTrue(json.loads(record.read_text())["complete"])
        self.assertEqual([path.name for path in self.folder.iterdir()], ["run.json"])

    def test_a_file_beyond_the_limit_of_its_size_is_said(self):
        page = self.folder / "page.html"
        limited = ["bash", "-c", 'ulimit -f 2 && exec "$@"', "bash"]
        said = run(*limited, PROGRAM, *SHORT, "--html", page)
        self.assertEqual(said.returncode, 2, said.stderr)
        self.assertEqual(said.stdout.count("# wall time"), 1, "shown once, though the page is lost")
        self.assertRegex(said.stderr, rf"collbench: {page}: .*cannot be written: File too large")

    def test_a_reader_that_is_gone_is_status_2_in_every_command_that_prints(self):
        """As `collbench … 2>&1 | head -3`, whose stderr has no reader either: nothing can be said, and nothing aborts."""
        record, machine = self.folder / "run.json", self.folder / "machine.json"
        run(PROGRAM, *SHORT, "-J", record)
        self.assertTrue(record.exists())
        self.assertEqual(run(PROGRAM, "topo", "save", "-o", machine).returncode, 0)
        log = self.folder / "a.log"
        log.write_text("# size  count  type  redop  root  time  algbw  busbw #wrong  time  algbw  busbw #wrong\n"
                       "  4096  1024  float  sum  -1  10.0  0.41  0.41  0  20.0  0.20  0.20  0\n")
        repeated = [PROGRAM, *SHORT]
        commands = [SHORT, ["--help"], ["--version"], ["help", "columns"], ["report", "--help"], ["man", "collbench"], ["completion", "bash"],
                    ["report", record], ["compare", record, record], ["judge", log, "--operation", "all_reduce", "--nodes", "1"],
                    *(["report", record, "--format", form] for form in ("md", "csv", "json", "html", "prom", "junit")),
                    ["predict", "--topology", "hgx-h100"], ["topo", "show"], ["topo", "show", "hgx-h100"],
                    ["topo", "diff", machine, "hgx-h100"], ["doctor"], ["counters"],
                    ["repeat", "--launches", "1", "--", *repeated], ["repeat", "--rounds", "1", "--", *repeated, "--versus", *repeated]]
        for command in commands:
            # A parent that ignores SIGPIPE, as many schedulers' daemons do, and one that does not.
            for disposition, streams in ((signal.SIG_DFL, "both"), (signal.SIG_IGN, "both"), (signal.SIG_DFL, "stdout")):
                with self.subTest(command=" ".join(map(str, command)), disposition=disposition.name, streams=streams):
                    reader, writer = os.pipe()
                    os.close(reader)
                    done = subprocess.run([str(PROGRAM), *map(str, command)], env=ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=writer,
                                          stderr=writer if streams == "both" else subprocess.PIPE, timeout=60, check=False, text=True,
                                          restore_signals=False, preexec_fn=lambda: signal.signal(signal.SIGPIPE, disposition))
                    os.close(writer)
                    self.assertEqual(done.returncode, 2, done.stderr)
                    if streams == "stdout":
                        self.assertIn("collbench: stdout: Broken pipe; let its reader read to the end", done.stderr)

    def test_a_missing_mpirun_is_status_5_where_nobody_reads_it(self):
        reader, writer = os.pipe()
        os.close(reader)
        done = subprocess.run([str(PROGRAM), "-g", "2"], env={**ENVIRONMENT, "PATH": "/none"}, stdin=subprocess.DEVNULL, stdout=writer,
                              stderr=writer, timeout=60, check=False)
        os.close(writer)
        self.assertEqual(done.returncode, 5)

    def test_a_closed_stderr_changes_no_status(self):
        for command, status in ((["report", self.folder / "none.json"], 2), (["no-such-command"], 2),
                                (["repeat", "--launches", "1", "--progress", "always", "--", PROGRAM, *SHORT], 0)):
            done = subprocess.run([str(PROGRAM), *map(str, command)], env=ENVIRONMENT, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.DEVNULL, timeout=60, check=False, preexec_fn=lambda: os.close(2))
            self.assertEqual(done.returncode, status, command)

    def test_a_planted_folder_of_launches_is_refused(self):
        elsewhere = self.folder / "elsewhere"
        elsewhere.mkdir()
        (elsewhere / "launch-001.json").write_text("precious")
        (self.folder / "runs.json.launches").symlink_to(elsewhere)
        line = self.refused("repeat", "-J", self.folder / "runs.json", "--overwrite", "--", PROGRAM, *SHORT)
        self.assertIn("runs.json.launches is no folder that only you can write in", line)
        self.assertEqual((elsewhere / "launch-001.json").read_text(), "precious")

    def test_a_file_has_one_purpose(self):
        same = self.folder / "same"
        self.assertIn("--stream: it is the same file as -J", self.refused(*SHORT, "-J", same, "--stream", same))
        self.assertIn("--resume: it is the same file as -J", self.refused(*SHORT, "-J", same, "--resume", same))


@unittest.skipUnless(can_be_mounted(), "no /dev/fuse, no right to mount, or no fusepy (scripts/setup test)")
class FailingServer(Scratch):
    """What a server of files answers that lost a handle, a disk that breaks, a quota (read-only: scripts/faults)."""

    NAMES = ("run.json", "run.csv", "run.stream", "samples.csv")

    def begin(self, *options):
        """What it says and its process, once it has measured."""
        self.said, record = self.folder / "said", self.system.mount_point / "run.json"
        with self.said.open("w") as said:
            process = subprocess.Popen([str(word) for word in (PROGRAM, *LONG, "-J", record, *options, "--overwrite")], env=ENVIRONMENT,
                                       stdout=subprocess.DEVNULL, stderr=said, stdin=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        wait_until(lambda: self.passes() > 1)
        return process

    def passes(self, name="run.json"):
        record = self.system.shown / name
        return json.loads(record.read_text())["passes"] if record.exists() else 0

    def lines(self):
        return self.said.read_text().splitlines()

    def end(self, process):
        process.send_signal(signal.SIGINT)
        return process.wait(30)

    def test_is_said_of_each_file_and_what_was_measured_before_can_be_read(self):
        changed, all_files = self.NAMES[:2], self.NAMES
        for faults, reason, failing in (({"rename": "ESTALE"}, "Stale file handle", changed),
                                        ({"write": "EDQUOT"}, "Disk quota exceeded", all_files),
                                        ({"fsync": "EIO"}, "Input/output error", all_files),
                                        ({"getattr": "ESTALE"}, "Stale file handle", all_files)):
            with self.subTest(faults), FailingFileSystem(pathlib.Path(tempfile.mkdtemp(dir=self.folder))) as self.system:
                mounted = self.system.mount_point
                options = ("--csv", "--stream", "--samples")
                process = self.begin(*(word for pair in zip(options, (mounted / name for name in self.NAMES[1:]), strict=True)
                                       for word in pair))
                passes = self.passes()
                self.system.fail(**faults)
                wait_until(lambda: len(self.lines()) >= len(failing))
                kept = self.passes("run.json.kept")
                self.assertEqual(self.end(process), 2)
                said, last = sorted(self.lines()[:-1]), self.lines()[-1]
                self.assertEqual(len(said), len(failing), "each once, and one again at the end")
                for name, line in zip(sorted(failing), said, strict=True):
                    self.assertRegex(line, f"^collbench: {mounted / name}: cannot be (written|looked at): {reason}; .*goes on\\)$")
                self.system.fail()
                record = "run.json"
                if failing == changed:  # it could be written, and not renamed
                    record = "run.json.kept"
                    self.assertIn(f"what it should hold is in {mounted / record}: move that", last)
                    self.assertGreater(self.passes(record), kept, "the newest is kept")
                self.assertGreaterEqual(self.passes(record), passes)
                for name in (record, "run.stream"):
                    self.assertEqual(run(PROGRAM, "report", mounted / name).returncode, 0)

    def test_that_recovers_leaves_a_whole_record_and_is_no_failure(self):
        with FailingFileSystem(self.folder) as self.system:
            process = self.begin()
            self.system.fail(write="EDQUOT")
            wait_until(self.lines)
            self.system.fail()
            passes = self.passes()
            wait_until(lambda: self.passes() > passes)
            self.assertEqual(self.end(process), 0)
            self.assertEqual(len(self.lines()), 1, "that it failed, when it did")
            self.assertTrue(json.loads((self.system.mount_point / "run.json").read_text())["complete"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[1:])
