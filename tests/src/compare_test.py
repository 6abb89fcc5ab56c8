#!/usr/bin/env python3
"""`collbench compare` as its users meet it: two saved runs, row by row.

Usage: compare_test.py PROGRAM [unittest arguments]
"""

import csv
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
        subprocess.run([str(PROGRAM), "judge", str(log), "--operation", "all_reduce", "-J", str(path)], capture_output=True,
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
                    self.collbench("judge", logs / log, *options, "-J", self.folder / record, "--overwrite")
                made = json.loads(self.collbench("compare", self.folder / "before.json", self.folder / "after.json",
                                                 "--fail-on", "none", "--format", "json").stdout)
                changes = {row["change"] for row in made["rows"] if row["size_bytes"] >= from_bytes}
                self.assertEqual(changes, {expected})

    # What a careful reader of published figures of one machine with two settings or versions expects, written down before compare
    # was run on them: (fabric, nodes, operation, the first's settings, the second's, the class, why). Of one launch each only what
    # exceeds 10 % counts, so that UNCLEAR is all that can be said of less.
    PUBLISHED = (
        ("IB, 8 rails", 2, "all_reduce", "Ring, NVLS 0", "NVLS 1", "FASTER", "NVLS takes less of each NVLink: 1.30"),
        ("IB, 8 rails", 2, "all_reduce", "Ring, NVLS 0", "NVLS 0, COLLNET 1 (IB SHARP not active)", "UNCLEAR", "a setting that had no effect"),
        ("IB, 8 rails", 2, "all_reduce", "NVLS 1", "NVLS 1, COLLNET 1", "UNCLEAR", "the same"),
        ("IB, use3a-ss", 4, "all_reduce", "Ring; healthy median", "SHARP; healthy median", "FASTER", "switches reduce: 1.55"),
        ("IB, use3a-ss", 32, "all_reduce", "Ring; 32 healthy", "SHARP; 32 healthy", "FASTER", "the same at 256 GPUs: 1.74"),
        ("IB, use3a-ss", 32, "all_reduce", "Ring; 32 healthy", "Ring; 24 healthy + 8 suspects", "UNCLEAR", "0.5 %"),
        ("NDR 400G IB, 8 compute rails/node", 1, "all_reduce", "Ring; 62n: two nodes drained", "Tree", "SLOWER", "2S leaves a GPU: 1.23"),
        ("NDR 400G IB, 8 compute rails/node", 16, "all_reduce", "Ring; 62n: two nodes drained", "Tree", "SLOWER", "2S leaves a node: 1.99"),
        ("NDR 400G IB, 8 compute rails/node", 16, "all_reduce", "Ring; 62n: two nodes drained", "NVLS/NVLSTree", "UNCLEAR", "the NICs bound both"),
        ("NDR 400G IB, 8 compute rails/node", 2, "all_gather", "Ring", "NVLS", "UNCLEAR", "the NICs bound both"),
        ("NDR IB 8x400G", 2, "all_reduce", "Ubuntu 24.04, NCCL 2.29.2, driver 570", "Rocky 8, NCCL 2.29.2, driver 590", "SLOWER",
         "another system and driver: 1.15"),
        ("NDR IB 8x400G", 2, "broadcast", "Ubuntu 24.04, NCCL 2.29.2, driver 570", "Rocky 8, NCCL 2.29.2, driver 590", "UNCLEAR", "1.8 %"),
        ("NDR IB 8x400G", 2, "scatter", "Ubuntu 24.04, NCCL 2.29.2, driver 570", "Rocky 8, NCCL 2.29.2, driver 590", "FASTER",
         "the same two systems, this one the other way: 0.89"),
        ("Slingshot 11 dragonfly, 2 NIC/node", 2, "all_gather", "nccl_2_18 environment", "nccl_2_21 environment", "UNCLEAR", "1.7 %"),
    )

    @unittest.skipUnless("COLLBENCH_CORPUS" in os.environ, "COLLBENCH_CORPUS is not set")
    def test_published_settings_are_told_apart(self):
        table = pathlib.Path(os.environ["COLLBENCH_CORPUS"]) / "scaleout" / "published.tsv"
        with table.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))

        def figure(fabric, nodes, operation, settings):
            found = [row for row in rows if (row["fabric"], int(row["nodes"]), row["op"]) == (fabric, nodes, operation)
                     and (row["settings"] == settings or row["settings"].startswith(settings) and "environment" in settings)]
            self.assertTrue(found, (fabric, nodes, operation, settings))
            return max(found, key=lambda row: int(row["size_bytes"]))

        for fabric, nodes, operation, *settings, expected, why in self.PUBLISHED:
            with self.subTest(f"{operation}, {nodes} nodes, {settings[0]} to {settings[1]}: {why}"):
                records = []
                for name, setting in zip(("before", "after"), settings):
                    row = figure(fabric, nodes, operation, setting)
                    size, busbw, ranks = int(row["size_bytes"]), float(row["busbw_GBs"]), int(row["gpus"])
                    factor = {"all_reduce": 2 * (ranks - 1) / ranks, "broadcast": 1}.get(operation, (ranks - 1) / ranks)
                    log, path = self.folder / f"{name}.log", self.folder / f"{name}.json"
                    count = size // 4 // (1 if operation in ("all_reduce", "broadcast") else ranks)
                    log.write_text("#  size  count  type  redop  root  time  algbw  busbw #wrong  time  algbw  busbw #wrong\n"
                                   f"  {size}  {count}  float  {'sum' if operation == 'all_reduce' else 'none'}  "
                                   f"{0 if operation in ('broadcast', 'scatter') else -1}  "
                                   + f"{size * factor / busbw / 1e3:.1f}  {busbw / factor:.4f}  {busbw:.4f}  0  " * 2 + "\n")
                    self.collbench("judge", log, "--operation", operation, "--nodes", nodes, "--ranks-per-node", ranks // nodes,
                                   "-J", path, "--overwrite")
                    records.append(path)
                made = json.loads(self.collbench("compare", *records, "--fail-on", "none", "--format", "json").stdout)
                self.assertEqual({row["change"] for row in made["rows"]}, {expected})

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
                ([], "needs BASE... NEW | FOLDER [NEW...]")):
            lines = self.collbench("compare", *arguments, status=2).stderr.splitlines()
            self.assertEqual(len(lines), 1, lines)
            self.assertIn(words, lines[0])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
