#!/usr/bin/env python3
"""The commands that judge, compare and repeat replaced: the old form says on stdout, and by its status, what the new one says.

What each form says is held by tests/snapshot; here the two are held together. The old names go with the release after this one.

usage: old_names_test.py PROGRAM SOURCE_FOLDER [unittest arguments]
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

PROGRAM, SOURCE = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
ENVIRONMENT = {**os.environ, "LC_ALL": "C.UTF-8", "COLUMNS": "100"}
LOG = "inputs/all_reduce_2x8.log"
H100 = "--topology hgx-h100"
SAME = (
    (f"import {LOG}", f"judge {LOG}"),
    (f"import {LOG} {H100}", f"judge {LOG} {H100}"),
    (f"import {LOG} {H100}", f"judge {LOG} --expect hgx-h100"),
    (f"-v import {LOG} {H100} --format csv", f"judge {LOG} {H100} --format csv"),
    (f"import {LOG} {H100} --format json --date 2026-11-20", f"judge {LOG} {H100} --date 2026-11-20 -J -"),
    (f"import {LOG} {H100} --preset lab01", f"judge {LOG} {H100} --preset lab01"),
    (f"import inputs/all_reduce_slow.log {H100}", f"judge inputs/all_reduce_slow.log {H100}"),
    (f"import inputs/all_reduce_slow.log {H100} --fail-on none", f"judge inputs/all_reduce_slow.log {H100} --fail-on none"),
    (f"import inputs/all_reduce_slow.log {H100} --format junit", f"judge inputs/all_reduce_slow.log {H100} --format junit"),
    (f"import inputs/wrong.log {H100} --format md", f"judge inputs/wrong.log {H100} --format md"),
    ("import inputs/cut.log", "judge inputs/cut.log"),
    ("import seeds/import_log_fuzz/osu.txt", "judge seeds/import_log_fuzz/osu.txt"),
    ("import seeds/import_log_fuzz/imb.txt --run 2", "judge seeds/import_log_fuzz/imb.txt --run 2"),
    (f"import {LOG} inputs/all_gather_2x8.log {H100} -J -", f"judge {LOG} inputs/all_gather_2x8.log {H100} -J -"),
    ("import no.log", "judge no.log"),
    ("baseline show records/baseline", "compare records/baseline"),
    ("baseline show records/baseline --html -", "compare records/baseline --html -"),
    ("baseline show records", "compare records"),
    ("baseline check records/baseline records/host2.json", "compare records/baseline records/host2.json"),
    ("baseline check records/baseline records/host2.json --last 1 --any-host --format json",
     "compare --last 1 records/baseline records/host2.json --any-host --format json"),
    ("baseline check records/baseline records/host.json records/host2.json --max-slowdown 900 --fail-on slower",
     "compare records/baseline records/host.json records/host2.json --max-slowdown 900 --fail-on slower"),
    ("baseline check records/baseline records/log.json", "compare records/baseline records/log.json"),
    ("baseline check --add baseline records/host2.json", "compare baseline records/host2.json --add"),
    ("baseline add baseline records/host.json records/host2.json", "compare --add baseline records/host.json records/host2.json"),
    ("ab -- true --versus", "repeat -- true --versus"),
    ("help ab", "help repeat"),
    ("baseline --help", "compare --help"),
    ("import --help", "judge --help"),
)


class OldNames(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        for name, source in (("inputs", "tests/snapshot/inputs"), ("records", "tests/records"), ("seeds", "tests/fuzz/seeds")):
            shutil.copytree(SOURCE / source, self.folder / name)

    def collbench(self, words):
        """In a folder without a baseline yet."""
        shutil.rmtree(self.folder / "baseline", ignore_errors=True)
        return subprocess.run([PROGRAM, *words.split()], cwd=self.folder, env=ENVIRONMENT, capture_output=True, text=True, timeout=60,
                              stdin=subprocess.DEVNULL, check=False)

    def test_each_is_its_new_form(self):
        for old, new in SAME:
            with self.subTest(old):
                then, now = self.collbench(old), self.collbench(new)
                self.assertEqual((then.stdout, then.returncode), (now.stdout, now.returncode), then.stderr + now.stderr)
                said, _, rest = then.stderr.partition("\n")
                self.assertRegex(said, r"^collbench: collbench (import|ab|baseline( \w+)?) is collbench (judge|repeat|compare) .* now; "
                                       "the old name is removed in the next release$")
                self.assertEqual(rest, now.stderr)

    def test_of_several_logs_each_is_a_table(self):
        """As it was. Several files of judge are one run, as those of import were in JSON."""
        logs = (LOG, "inputs/all_gather_2x8.log")
        then = self.collbench(f"import {' '.join(logs)} --format csv")
        self.assertEqual(then.stdout, "".join(self.collbench(f"judge {log} --format csv").stdout for log in logs))
        self.assertEqual(then.stdout.count("operation,"), 2)
        self.assertEqual(self.collbench(f"judge {' '.join(logs)} --format csv").stdout.count("operation,"), 1)

    def test_no_help_and_no_completion_names_them(self):
        for words in ("--help", "help run", "completion bash", "man"):
            said = self.collbench(words)
            self.assertEqual(said.returncode, 0, said.stderr)
            self.assertNotRegex(said.stdout, r"\b(import|baseline add|baseline show|collbench ab)\b", words)

    def test_of_baseline_alone_what_there_is_instead(self):
        said = self.collbench("baseline")
        self.assertEqual((said.returncode, said.stdout), (2, ""))
        self.assertIn("collbench compare needs BASE... NEW | FOLDER [NEW...]", said.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2)
