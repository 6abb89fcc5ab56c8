#!/usr/bin/env python3
"""Charts without a browser: pictures of --plot-file and the letters of --plot.

Usage: plot_test.py PROGRAM [unittest arguments]
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from page_test import HOSTILE, PROGRAM, collbench, full_record
from real_ranks import mpirun, run


class Plots(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.folder = pathlib.Path(scratch.name)
        cls.record = full_record(cls.folder)
        cls.file = cls.folder / "full.json"
        cls.file.write_text(json.dumps(cls.record))

    def refused(self, *arguments):
        return collbench(*arguments, status=2).stderr

    def test_one_chart_as_a_file(self):
        picture = self.folder / "time.svg"
        tables = collbench("report", self.file, "--plot-file", picture, "--chart", "time-all_reduce").stdout
        self.assertIn("busbw", tables)  # a picture is beside the tables
        self.assertIn("AllReduce: time by size", "".join(xml.etree.ElementTree.parse(picture).getroot().itertext()))
        self.assertIn("--overwrite", self.refused("report", self.file, "--plot-file", picture))

    def test_what_cannot_be_drawn_is_refused(self):
        for arguments, said in (
                (("--plot-file", self.folder / "a.gif"), "rsvg-convert makes a PNG of it"),
                (("--plot-file", self.folder / "a.png"), "write FILE.svg"),
                (("--plot-file", self.folder / "a.svg", "--chart", "busbw-reduce"), "choose busbw-all_reduce, time-all_reduce"),
                (("--plot", "--format", "md"), "charts of letters stand below text"),
                (("--chart", "time"), "add --plot or --plot-file FILE.svg")):
            with self.subTest(said):
                self.assertIn(said, self.refused("report", self.file, *arguments))
        self.assertFalse((self.folder / "a.svg").exists())
        self.assertIn("add it to --ops", self.refused("--ops", "all_reduce", "--plot", "--chart", "time-reduce"))

    def test_a_run_ends_with_its_charts(self):
        picture, short = self.folder / "run.svg", ("--sizes", "1K,4K", "-n", "2", "-w", "0", "--passes", "1", "--time", "1")
        done = run(*mpirun(2, PROGRAM, "--ops", "all_reduce,broadcast", *short, "--plot", "--plot-file", picture))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertLess(done.stdout.index("busbw"), done.stdout.index("AllReduce: bus bandwidth by size"))
        self.assertIn("Broadcast: bus bandwidth by size", done.stdout)
        self.assertIn("AllReduce: bus bandwidth by size", picture.read_text())
        # One rank moves nothing, so it has no bus bandwidth: the tables stay, and so does the record.
        record = self.folder / "one.json"
        done = run(PROGRAM, "--ops", "all_reduce", *short, "--plot", "--plot-file", self.folder / "one.svg", "--chart", "busbw", "-J", record)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertRegex(done.stdout, "4096 +1024 +float")
        self.assertIn("--plot: there is no chart 'busbw' of what was measured; choose time-all_reduce", done.stdout)
        self.assertIn("choose time-all_reduce", done.stderr)
        self.assertTrue(json.loads(record.read_text())["complete"])

    def test_charts_of_letters_fit_the_page(self):
        for locale, columns in (("C.UTF-8", 80), ("C", 80), ("C.UTF-8", 120)):
            environment = {**os.environ, "LC_ALL": locale, "COLUMNS": str(columns)}
            text = subprocess.run([str(PROGRAM), "report", str(self.file), "--plot"], capture_output=True, text=True, timeout=60,
                                  env=environment, encoding="utf-8", check=True).stdout
            chart = text[text.index("AllReduce: bus bandwidth by size"):]
            self.assertLessEqual(max(map(len, chart.splitlines())), columns)
            self.assertEqual(chart.isascii(), locale == "C")
            self.assertIn("  * measured" if locale == "C" else "  ● measured", chart)

    def test_both_runs_of_a_comparison(self):
        slower = json.loads(json.dumps(self.record))
        for row in slower["rows"]:
            row["seconds"] *= 1.5
        other, picture = self.folder / "slower.json", self.folder / "ratio.svg"
        other.write_text(json.dumps(slower))
        text = collbench("compare", self.file, other, "--plot", "--plot-file", picture, "--chart", "ratio", status=None).stdout
        self.assertRegex(text, "AllReduce .*: new time over base time")
        self.assertIn("· no difference", text)
        xml.etree.ElementTree.parse(picture)

    def test_text_of_others_is_text(self):
        hostile, picture = json.loads(json.dumps(self.record)), self.folder / "hostile.svg"
        for row in hostile["rows"]:
            row["algorithm"] = HOSTILE
        path = self.folder / "hostile.json"
        path.write_text(json.dumps(hostile))
        text = collbench("report", path, "--plot", "--plot-file", picture).stdout
        self.assertIn("window.hacked", text)
        self.assertNotIn("\u202e", text)
        self.assertNotIn("script", {each.tag.split("}")[-1] for each in xml.etree.ElementTree.parse(picture).iter()})


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
