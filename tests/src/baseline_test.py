#!/usr/bin/env python3
"""Records over time, `collbench compare FOLDER`, and what a nightly job asks of a run: --min-busbw, --fail-on, Prometheus, JUnit, --label.

Usage: baseline_test.py PROGRAM [unittest arguments]
"""

import copy
import csv
import io
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request
import xml.etree.ElementTree

PROGRAM = pathlib.Path(sys.argv[1]).resolve()
DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"
LOG = """# Using devices
#  Rank  0 Group  0 Pid 101 on n0 device  0 [0x18] NVIDIA H100 80GB HBM3
#  Rank  1 Group  0 Pid 102 on n0 device  1 [0x2a] NVIDIA H100 80GB HBM3
#       size         count      type   redop    root     time   algbw   busbw #wrong
     1048576        262144     float     sum      -1    20.00   52.43   52.43      0
  1073741824     268435456     float     sum      -1   3000.0  357.91  357.91      0
# Out of bounds values : 0 OK
# Avg bus bandwidth    : 205.17
"""


class Baseline(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.record = pathlib.Path(folder.name) / "run.json"
        log = cls.record.with_suffix(".log")
        log.write_text(LOG)
        subprocess.run([str(PROGRAM), "judge", str(log), "--operation", "all_reduce", "--label", "first", "-J", str(cls.record)],
                       capture_output=True, timeout=60, check=True)
        cls.run_of_a_night = json.loads(cls.record.read_text())

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.baseline = self.folder / "baseline"

    def collbench(self, *arguments, status=0):
        done = subprocess.run([str(PROGRAM), *map(str, arguments)], capture_output=True, text=True, timeout=60,
                              stdin=subprocess.DEVNULL, check=False)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def night(self, number, factor=1.0, host="n0", name="night"):
        """The run of another night, whose times are `factor` as long, give or take half a percent."""
        run = copy.deepcopy(self.run_of_a_night)
        run["started"] = f"2026-{1 + number // 28:02}-{1 + number % 28:02}T02:00:00Z"
        for rank in run["ranks"]:
            rank["host"] = host
        for row in run["rows"]:
            row["seconds"] *= factor * (1 + 0.005 * (number * 7 % 5 - 2) / 2)
            row["pass_seconds"] = [row["seconds"]]
        path = self.folder / f"{name}-{host}-{number}.json"
        path.write_text(json.dumps(run))
        return path

    def test_without_a_comparison_every_format_is_a_document_of_its_kind(self):
        page = self.folder / "check.html"
        self.collbench("compare", self.baseline, self.night(1), "--add", "--html", page)
        text = page.read_text()
        self.assertTrue(text.startswith("<!DOCTYPE html>"), text[:80])
        self.assertIn("no earlier record of", text)
        self.assertIn("Content-Security-Policy", text)
        shutil.rmtree(self.baseline)
        (row,) = csv.DictReader(io.StringIO(
            self.collbench("compare", self.baseline, self.night(1), "--add", "--csv", "-").stdout))
        self.assertEqual(row["change"], "not compared")

    def test_a_baseline_has_a_page_of_its_own(self):
        self.collbench("compare", "--add", self.baseline, *[self.night(i, 1 if i < 12 else 1.2) for i in range(24)])
        page = self.folder / "baseline.html"
        self.collbench("compare", self.baseline, "--html", page)
        text = page.read_text()
        for words in ("level between changes", "20 % slower from there on", "24 records", "data-chart="):
            self.assertIn(words, text)

    def test_a_damaged_record_in_the_folder_is_named_with_what_to_do(self):
        self.collbench("compare", "--add", self.baseline, self.night(1), self.night(2))
        (first, _) = sorted(self.baseline.rglob("*.json"))
        whole = first.read_text()
        for damage, words in ((whole[:-40], "the file is cut: its JSON ends here"), (whole.replace('"rows": [', '"rows": oops ['), "'oops [' cannot stand here"),
                              ("{}", "is not a run record")):
            first.write_text(damage)
            for command in ((self.baseline,), (self.baseline, self.night(3))):
                (line,) = self.collbench("compare", *command, status=2).stderr.splitlines()
                self.assertIn(str(first), line)
                self.assertIn(words, line)
                self.assertTrue(line.endswith("put a whole copy in its place, or move it out of the baseline"), line)

    def test_today_is_held_against_the_last_nights(self):
        nights = [self.night(i) for i in range(12)]
        first = self.collbench("compare", self.baseline, nights[0], "--add")
        self.assertIn("no earlier record of nccl-2ranks-1node-nvidia-h100-80gb-hbm3-avg", first.stdout)
        self.collbench("compare", "--add", self.baseline, *nights[1:])
        self.assertEqual(len(list(self.baseline.rglob("*.json"))), 12)
        good = self.collbench("compare", self.baseline, self.night(12))
        self.assertIn("against the last 10 records", good.stdout)
        self.assertEqual(good.stderr, "")
        bad = self.collbench("compare", self.baseline, self.night(13, 1.2), status=1)
        self.assertEqual(len(bad.stderr.splitlines()), 2, bad.stderr)
        self.assertRegex(bad.stderr.splitlines()[1], r"failed: AllReduce 1 GiB float sum, out of place: SLOWER, 1\.2 times as "
                         r"long \(1\.\d+ to 1\.\d+\)$")
        self.collbench("compare", self.baseline, self.night(14, 1.2), "--max-slowdown", 25)
        self.collbench("compare", self.baseline, self.night(15), "--min-busbw", "all_reduce@1G>=500", status=1)
        other = self.collbench("compare", self.baseline, self.night(16, 1.2, "n9"))
        self.assertIn("on these hosts (--any-host)", other.stdout)
        self.collbench("compare", self.baseline, self.night(16, 1.2, "n9"), "--any-host", status=1)
        # Two machines that both say localhost are not one, until one is named.
        local = self.night(17, 1, "localhost")
        self.collbench("compare", "--add", self.baseline, self.night(16, 1, "localhost"))
        self.assertIn("calls its host localhost, as any other machine may: name it", self.collbench("compare", self.baseline, local).stdout)
        self.assertIn("against the last 10 records", self.collbench("compare", self.baseline, local, "--host", "n0").stdout)
        self.collbench("compare", self.baseline, self.night(18), "--host", "n2", status=2)
        self.assertEqual(json.loads(self.collbench("compare", self.baseline, nights[3], "--format", "json").stdout)
                         ["rows"][0]["base_launches"], 3)

    def test_the_night_of_a_change_is_named(self):
        self.collbench("compare", "--add", self.baseline, *[self.night(i, 1.0 if i < 12 else 1.3) for i in range(24)])
        shown = " ".join(self.collbench("compare", self.baseline).stdout.replace("\n#  ", "").split())
        self.assertIn("24 records, 2026-01-01 02:00 to 2026-01-24 02:00", shown)
        self.assertRegex(shown, r"2026-01-13 02:00: AllReduce 1 GiB float sum, out of place: 30 % slower")

    def test_a_fleet_is_one_table_odd_nodes_first(self):
        self.collbench("compare", "--add", self.baseline, *[self.night(1, 2.0 if i == 7 else 1.0, f"node{i:02}") for i in range(12)])
        lines = self.collbench("compare", self.baseline).stdout.splitlines()
        self.assertTrue(lines[0].startswith("# odd: node07; "), lines[0])
        nodes = [line.split() for line in lines if re.match(r"  node\d\d ", line)]
        self.assertEqual(nodes[0], ["node07", "2.00!", "2.00!"])
        self.assertEqual([node[0] for node in nodes[1:]], [f"node{i:02}" for i in range(12) if i != 7])

    def test_writers_at_once_lose_nothing(self):
        nights = [self.night(i) for i in range(40)]
        writers = [subprocess.Popen([str(PROGRAM), "compare", "--add", str(self.baseline), *map(str, nights[first:first + 25])],
                                    stdout=subprocess.DEVNULL) for first in (0, 15)]  # ten are added by both
        for writer in writers:
            self.assertEqual(writer.wait(timeout=60), 0)
        kept = list(self.baseline.rglob("*"))
        self.assertEqual(len([path for path in kept if path.suffix == ".json"]), 40)
        self.assertEqual([path for path in kept if path.is_file() and path.suffix != ".json"], [])
        self.assertIn("is there already", self.collbench("compare", "--add", self.baseline, nights[0]).stdout)

    def test_a_log_without_a_time_is_given_one(self):
        nameless = self.folder / "nameless.log"
        nameless.write_text(LOG[LOG.index("#       size"):])
        job = ("--operation", "all_reduce", "--nodes", 2, "--ranks-per-node", 1)
        for day, record in ((None, "a.json"), ("2026-11-20", "b.json"), ("2026-11-21 02:00", "c.json")):
            when = () if day is None else ("--date", day, "--host", "n1,n2")
            self.collbench("judge", nameless, *job, *when, "-J", self.folder / record)
        done = self.collbench("compare", "--add", self.baseline, self.folder / "a.json", status=2)
        self.assertIn("does not say when it was measured", done.stderr)
        self.assertIn("--date", done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1)
        self.collbench("compare", "--add", self.baseline, self.folder / "b.json", self.folder / "c.json")
        self.assertIn("on n1, n2: 2 records, 2026-11-20 00:00 to 2026-11-21 02:00",
                      self.collbench("compare", self.baseline).stdout.replace("\n#  ", ""))
        undated = self.collbench("compare", self.baseline, self.folder / "a.json", "--any-host", "--add", status=2)
        self.assertIn("against the last 2 records", undated.stdout)  # as the newest
        self.assertIn("not added: ", undated.stderr)

    def test_a_machine_without_a_record_is_said_and_can_fail(self):
        self.collbench("compare", "--add", self.baseline, self.night(0))
        new = self.night(1, host="n9")
        self.assertEqual(self.collbench("compare", self.baseline, new).stderr, "")  # the page says it
        quiet = self.collbench("compare", self.baseline, new, "-o", self.folder / "check.json")
        self.assertIn("not compared: no earlier record of nccl-2ranks", quiet.stderr)
        bad = self.collbench("compare", self.baseline, new, "--fail-on", "slower,missing", status=1)
        self.assertIn("failed: no earlier record of nccl-2ranks", bad.stderr)

    def test_bad_input_is_one_line(self):
        cut = self.night(0)
        cut.write_text(cut.read_text().replace('"complete": true', '"complete": false'))
        (self.folder / "empty").mkdir()
        for arguments, words in ((["--add", self.baseline, cut], "the run was cut short"),
                                 ([self.folder / "empty"], "holds no baseline"),
                                 ([self.folder / "nowhere"], "No such file"),
                                 ([self.folder / "nowhere", self.record], "No such file"),
                                 ([self.folder, self.record, "--last", 0], "--last: 0 is out of range"),
                                 ([self.folder, self.record, "--fail-on", "slow"], "did you mean slower?"),
                                 ([self.record], "there is nothing to compare with"),
                                 ([self.record, self.record, "--last", 3], "--last: it is only used with a folder of records"),
                                 ([self.folder, "--fail-on", "slower"], "--fail-on: it has no part in a history"),
                                 ([self.folder, "--format", "csv"], "choose text or html"),
                                 ([self.folder, "-J", "x.json"], "-J: this cannot be written as json"),
                                 ([self.folder, "--add"], "--add: there is no record to add"),
                                 (["--add", self.folder, self.record, "--fail-on", "slower"], "write --add behind the records"),
                                 (["--add", self.record, self.night(1)], "Not a directory")):
            with self.subTest(words):
                done = self.collbench("compare", *arguments, status=2)
                self.assertIn(words, done.stderr)
                self.assertEqual(len(done.stderr.splitlines()), 1)

    def test_a_night_of_other_rows_or_none_does_not_stop_the_nightly_job(self):
        none = json.loads(self.night(0).read_text())
        for row in none["rows"]:
            row.update(seconds=0, pass_seconds=[], launch_passes=[], unavailable="no time left")
        unmeasured = self.folder / "unmeasured.json"
        unmeasured.write_text(json.dumps(none))
        refused = self.collbench("compare", "--add", self.baseline, unmeasured, status=2)
        self.assertIn("no row of the record was measured", refused.stderr)
        self.collbench("compare", "--add", self.baseline, self.night(0))
        other = json.loads(self.night(1).read_text())
        for row in other["rows"]:
            row.update(size_bytes=row["size_bytes"] * 2, count=row["count"] * 2)
        changed = self.folder / "changed.json"
        changed.write_text(json.dumps(other))
        check = ("compare", self.baseline, changed, "-o", self.folder / "page.json", "--overwrite")
        self.assertIn("failed: no row of it is in the last 1 record of", self.collbench(*check, "--fail-on", "missing", status=1).stderr)
        self.assertIn("below the minimum", self.collbench(*check, "--min-busbw", "all_reduce@2G>=5000", status=1).stderr)
        added = self.collbench(*check, "--add")
        self.assertIn("not compared: no row of it", added.stderr)
        self.assertIn("added ", added.stderr)
        self.assertIsNone(json.loads((self.folder / "page.json").read_text())["comparison"])

    def test_records_of_one_time_have_each_other_before_them(self):
        nights = [self.night(3, factor, name=f"log{factor}") for factor in (1.0, 1.01, 1.02)]
        self.collbench("compare", "--add", self.baseline, *nights)
        for night in nights:
            made = json.loads(self.collbench("compare", self.baseline, night, "--format", "json").stdout)
            self.assertEqual(made["rows"][0]["base_launches"], 2)

    def test_wrong_data_and_a_cut_run_always_fail_and_are_not_kept(self):
        for name, change, words, status in (("wrong", {"rows": [{"wrong_elements": 5}]}, "5 elements wrong", 3),
                                            ("cut", {"complete": False}, "was cut short", 1)):
            run = json.loads(self.night(1).read_text())
            run["rows"][0].update(change.pop("rows", [{}])[0])
            run.update(change)
            bad = self.folder / f"{name}.json"
            bad.write_text(json.dumps(run))
            with self.subTest(name):
                first = self.collbench("compare", self.baseline, bad, "--add", status=status)
                self.assertIn(words, first.stderr)
                self.assertIn("not added: ", first.stderr)
                self.assertIn("nothing to compare with", first.stdout)
                self.assertFalse(self.baseline.exists())

    def test_compare_fails_of_wrong_data_and_of_rows_that_a_cut_run_lacks(self):
        run = json.loads(self.record.read_text())
        run["rows"][0]["wrong_elements"] = 5
        bad = self.folder / "bad.json"
        bad.write_text(json.dumps(run))
        self.assertIn("5 elements wrong", self.collbench("compare", self.record, bad, status=3).stderr)
        run = json.loads(self.record.read_text())
        run["complete"] = False
        bad.write_text(json.dumps(run))
        self.assertIn("new run: cut short", self.collbench("compare", self.record, bad).stdout)
        run["rows"].pop()
        bad.write_text(json.dumps(run))
        self.assertIn("lacks 1 row", self.collbench("compare", self.record, bad, status=1).stderr)

    def test_only_nights_before_count_and_documents_hold_one_comparison(self):
        nights = [self.night(i) for i in range(6)]
        self.collbench("compare", "--add", self.baseline, *nights[2:])
        made = json.loads(self.collbench("compare", self.baseline, nights[0], "--format", "json").stdout)
        self.assertIsNone(made["comparison"])
        self.assertIn("no earlier record", made["reason"])
        made = json.loads(self.collbench("compare", self.baseline, nights[4], "--format", "json").stdout)
        self.assertEqual(made["rows"][0]["base_launches"], 2)
        done = self.collbench("compare", self.baseline, *nights[4:], "--format", "json", status=2)
        self.assertIn("json cannot hold several comparisons", done.stderr)

    def test_criteria_in_every_command(self):
        limit = ("--min-busbw", "all_reduce@1G>=450,all_reduce@1M>=1")
        words = "failed: AllReduce 1 GiB float sum, out of place: busbw 358 GB/s is 20.5 % below the minimum of 450 GB/s\n"
        for arguments in (["report", self.record], ["judge", self.record, "--topology", "hgx-h100", "--fail-on", "none"],
                          ["compare", self.record, self.record],
                          ["judge", self.record.with_suffix(".log"), "--operation", "all_reduce"]):
            with self.subTest(arguments[0]):
                self.assertEqual(self.collbench(*arguments, *limit, status=1).stderr, "collbench: " + words)
                self.collbench(*arguments, "--min-busbw", "all_reduce@1G>=350")
        self.assertIn("not checked: late: nobody probed", self.collbench("report", self.record, "--fail-on", "late").stderr)
        self.assertIn("--fail-on: 'slower' is unknown",
                      self.collbench("report", self.record, "--fail-on", "slower", status=2).stderr)

    def test_label_host_and_versions_are_in_every_file(self):
        (_, row) = csv.DictReader(io.StringIO(self.collbench("report", self.record, "--format", "csv").stdout))
        self.assertEqual((row["label"], row["hosts"], row["schema_version"]), ("first", "n0", "2"))
        self.assertIn("# label: first\n", self.collbench("report", self.record).stdout)
        suite = xml.etree.ElementTree.fromstring(self.collbench(
            "report", self.record, "--format", "junit", "--min-busbw", "all_reduce@1G>=450", status=1).stdout).find("testsuite")
        self.assertEqual((suite.get("name"), suite.get("tests"), suite.get("failures"), suite.get("hostname")),
                         ("collbench first", "3", "1", "n0"))
        self.collbench("report", self.record, "-o", self.folder / "junit.xml")
        self.collbench("topo", "save", "-o", self.folder / "topology.xml")  # JUnit's ending, of what is none

    def test_node_exporter_serves_the_file(self):
        exporter = shutil.which("prometheus-node-exporter")
        if exporter is None:
            self.skipTest("no prometheus-node-exporter")
        self.collbench("report", self.record, "-o", self.folder / "collbench.prom")
        process = subprocess.Popen([exporter, "--collector.disable-defaults", "--collector.textfile",
                                    f"--collector.textfile.directory={self.folder}", "--web.listen-address=127.0.0.1:19173"],
                                   stderr=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        served = ""
        for _ in range(100):
            try:
                served = urllib.request.urlopen("http://127.0.0.1:19173/metrics", timeout=10).read().decode()
                break
            except OSError:
                time.sleep(0.1)
        self.assertIn("node_textfile_scrape_error 0", served)
        self.assertRegex(served, r'collbench_bus_bandwidth_bytes_per_second\{[^}]*label="first"[^}]*size_bytes="1073741824"[^}]*\} '
                         r"3\.57\d+e\+11")

    def test_the_snippet_of_the_docs_reads_records(self):
        try:
            import pandas  # noqa: F401
        except ImportError:
            self.skipTest("no pandas (Debian: python3-pandas)")
        page = (DOCS / "compare.md").read_text()
        code = re.search(r"```python\n(.*?)```", page, re.S).group(1)
        self.collbench("compare", "--add", self.baseline, *[self.night(i) for i in range(3)])
        code = code.replace("/data/baseline", str(self.baseline))
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("2026-01-03", done.stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
