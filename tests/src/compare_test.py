#!/usr/bin/env python3
"""`collbench compare` as its users meet it: two saved runs, row by row.

Usage: compare_test.py PROGRAM [unittest arguments]
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM = pathlib.Path(sys.argv[1]).resolve()
LOG = """# nThread 1 nGpus 2 minBytes 1048576 maxBytes 1073741824 step: 4(factor) warmup iters: 5 iters: 20 agg iters: 1 validation: 1 graph: 0
#
# Using devices
#  Rank  0 Group  0 Pid 101 on n0 device  0 [0x18] NVIDIA H100 80GB HBM3
#  Rank  1 Group  0 Pid 102 on n0 device  1 [0x2a] NVIDIA H100 80GB HBM3
#
#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
     1048576        262144     float     sum      -1    {0:.2f}   {1:.2f}   {1:.2f}      0    {0:.2f}   {1:.2f}   {1:.2f}      0
  1073741824     268435456     float     sum      -1  {2:.1f}   {3:.2f}   {3:.2f}      0  {2:.1f}   {3:.2f}   {3:.2f}      0
"""


class Compare(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.base = self.record("base", 1)

    def collbench(self, *arguments, status=0):
        done = subprocess.run([str(PROGRAM), *map(str, arguments)], capture_output=True, text=True, timeout=60,
                              stdin=subprocess.DEVNULL, check=False)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def record(self, name, factor):
        """A run of one launch whose largest row takes `factor` times as long."""
        small, large = 20.0, 3000.0 * factor
        log, path = self.folder / f"{name}.log", self.folder / f"{name}.json"
        log.write_text(LOG.format(small, 1048576 / small / 1e3, large, 1073741824 / large / 1e3))
        subprocess.run([str(PROGRAM), "import", str(log), "--operation", "all_reduce", "-J", str(path)], capture_output=True,
                       timeout=60, check=False)  # 1: a row is LOW
        return path

    def changes(self, *arguments, status=0):
        made = json.loads(self.collbench("compare", *arguments, "--format", "json", status=status).stdout)
        return {row["change"] for row in made["rows"] if row["size_bytes"] == 1 << 30}

    def test_of_one_launch_each_only_what_is_beyond_the_allowance_counts(self):
        self.assertEqual(self.changes(self.base, self.record("slow", 1.3), status=1), {"SLOWER"})
        self.assertEqual(self.changes(self.base, self.record("near", 1.05)), {"UNCLEAR"})
        self.assertEqual(self.changes(self.base, self.folder / "near.json", "--allowance", "2", status=1), {"SLOWER"})
        self.assertEqual(self.changes(self.folder / "slow.json", self.base), {"FASTER"})
        text = self.collbench("compare", self.base, self.folder / "slow.json", status=1).stdout
        self.assertIn("2 SLOWER, 2 UNCLEAR", text)
        self.assertIn("beyond 10 %", text)

    def test_what_fails_is_asked_for(self):
        slow = self.record("slow", 1.3)
        self.changes(self.base, slow, "--max-slowdown", "50")
        self.changes(self.base, slow, "--fail-on", "none")
        self.changes(self.base, slow, "--fail-on", "unclear", status=1)

    def test_a_log_has_no_interval_and_none_is_made_up(self):
        (row, *_) = json.loads(self.collbench("compare", self.base, self.base, "--format", "json").stdout)["rows"]
        self.assertEqual((row["ratio"], row["ratio_low"], row["ratio_high"]), (1, None, None))

    def test_a_record_and_itself_are_said_to_be_one(self):
        text = self.collbench("compare", self.base, self.base, "--fail-on", "slower,unclear").stdout
        self.assertEqual(text.splitlines()[1][:31], "# both are the same record: eve")
        self.assertIn("4 SAME", text)

    @unittest.skipUnless("COLLBENCH_CORPUS" in os.environ, "COLLBENCH_CORPUS is not set")
    def test_published_pairs_are_told_apart(self):
        """What a reader of the logs' sources expects of each pair, written down before compare was run on it."""
        logs = pathlib.Path(os.environ["COLLBENCH_CORPUS"]) / "nccl-tests"
        pairs = (
            # TCP over InfiniBand in place of RDMA: from a few MiB on by far; below, latencies, of which one run's first row is wild
            ("azure_aks_1.txt", "azure_aks_2.txt", 2 << 20, "SLOWER", ["--nodes", 2, "--ranks-per-node", 8]),
            # 1 of 12 NVLinks between two GPUs
            ("mew0_2xa100_normal_debug.log", "mew0_2xa100_NVLINKFAULT_debug.log", 1 << 20, "SLOWER", []),
            # the same command twice: one launch each shows no change, and rules none out
            ("panlichen_8xa100_2G4G_all_reduce0.txt", "panlichen_8xa100_2G4G_all_reduce1.txt", 1, "UNCLEAR", []))
        for before, after, from_bytes, expected, options in pairs:
            with self.subTest(after):
                for log, record in ((before, "before.json"), (after, "after.json")):
                    self.collbench("import", logs / log, *options, "-J", self.folder / record, "--overwrite")
                made = json.loads(self.collbench("compare", self.folder / "before.json", self.folder / "after.json",
                                                 "--fail-on", "none", "--format", "json").stdout)
                changes = {row["change"] for row in made["rows"] if row["size_bytes"] >= from_bytes}
                self.assertEqual(changes, {expected})

    def test_a_folder_of_runs_is_the_base(self):
        for name, factor in (("b", 1.01), ("c", 0.99), ("d", 1.0)):
            self.record(name, factor)
        slow = self.record("slow", 1.3)  # in the folder as well, and not its own base
        text = self.collbench("compare", "--baseline", self.folder, slow, status=1).stdout
        self.assertIn("4 runs of", text)
        self.assertRegex(text, r"AllReduce 1 GiB .* SLOWER .* 4/1")

    def test_bad_input_is_one_line(self):
        (self.folder / "empty").mkdir()
        for arguments, words in (
                ([self.base], "nothing to compare with"),
                ([self.base, self.folder / "none.json"], "none.json: cannot be read"),
                (["--baseline", self.folder / "empty", self.base], "holds no other .json file"),
                (["--baseline", self.folder / "nowhere", self.base], "No such file"),
                ([self.base, self.base, "--fail-on", "slow"], "--fail-on"),
                ([self.base, self.base, "--format", "yaml"], "yaml"),
                ([self.base, self.base, "--allowance", "x"], "--allowance"),
                ([], "needs RECORDS")):
            lines = self.collbench("compare", *arguments, status=2).stderr.splitlines()
            self.assertEqual(len(lines), 1, lines)
            self.assertIn(words, lines[0])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
