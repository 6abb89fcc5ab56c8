#!/usr/bin/env python3
"""Pages of HTML as a reader meets them: in a browser, on paper, without JavaScript, with a screen reader's rules.

Usage: page_test.py PROGRAM [unittest arguments]

COLLBENCH_SCREENSHOTS names a folder for pictures of the pages, to be looked at. Without Chromium, or axe-core
(scripts/setup test installs both), this is skipped with the reason: status 77.
"""

import base64
import copy
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from chromium import Chromium, find_chromium

PROGRAM = pathlib.Path(sys.argv[1]).resolve()
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "collbench"
AXE = CACHE / "axe" / "axe_playwright_python" / "axe.min.js"
SCREENSHOTS = os.environ.get("COLLBENCH_SCREENSHOTS")

# Two GPUs of a node; the largest size of the table that is in place is slow.
LOG_HEAD = """# nThread 1 nGpus 2 minBytes 8 maxBytes 1073741824 step: 4(factor) warmup iters: 5 iters: 20 agg iters: 1 validation: 1 graph: 0
#
# Using devices
#  Rank  0 Group  0 Pid 101 on n0 device  0 [0x18] NVIDIA H100 80GB HBM3
#  Rank  1 Group  0 Pid 102 on n0 device  1 [0x2a] NVIDIA H100 80GB HBM3
#
#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
"""
HOSTILE = "</script><script>window.hacked=1</script><img src=x onerror=window.hacked=1>\" ' & &lt; \u2028 \u202e {{7*7}} javascript:hacked=1"


def collbench(*arguments, status=0):
    done = subprocess.run([str(PROGRAM), *map(str, arguments)], capture_output=True, text=True, timeout=60,
                          stdin=subprocess.DEVNULL, check=False)
    if status is not None and done.returncode != status:
        raise AssertionError(f"{arguments}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done


def log_text():
    lines = LOG_HEAD
    for power in range(3, 31):
        size = 2**power
        micros = 12.0 + size / 3.2e5
        rate = size / micros / 1e3
        lines += f"{size:12} {size // 4:12}     float     sum      -1  {micros:.2f} {rate:.2f} {rate:.2f} 0  {micros * 1.1:.2f} {rate / 1.1:.2f} {rate / 1.1:.2f} 0\n"
    return lines


def full_record(folder):
    """A record with an interval, times of each rank, and something in every list that a page shows."""
    log, path = folder / "run.log", folder / "run.json"
    log.write_text(log_text())
    collbench("judge", log, "--operation", "all_reduce", "--topology", "hgx-h100", "-J", path, status=None)
    record = json.loads(path.read_text())
    for row in record["rows"]:
        seconds = row["seconds"]
        row["interval"] = {"low_seconds": seconds * 0.95, "high_seconds": seconds * 1.08, "confidence": 0.96, "over": "passes"}
        row["rank_times"] = {"rank": [0, 1], "median_seconds": [seconds, seconds * 0.6], "p99_seconds": [seconds * 1.2, seconds],
                             "page_faults": [None, None]}
    record["environment"] = {"NCCL_DEBUG": "INFO", "NCCL_ALGO": "ring"}
    record["load_notes"] = ["another program took 20 % of n0's cores"]
    record["command_line"] = ["collbench", "-e", "1G"]
    return record


def leaves(value, path=()):
    """The paths of all strings."""
    if isinstance(value, str):
        yield path
    elif isinstance(value, (dict, list)):
        for key, each in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(each, (*path, key))


def put(record, path, text):
    for key in path[:-1]:
        record = record[key]
    record[path[-1]] = text


def generic(path):
    """A path without its positions: what is true of one row is true of all."""
    return tuple("*" if isinstance(key, int) else key for key in path)


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.scratch.cleanup)
        cls.folder = pathlib.Path(cls.scratch.name)
        cls.record = full_record(cls.folder)
        cls.page = cls.write("page", cls.record)
        cls.browser = Chromium(find_chromium())
        cls.addClassCleanup(cls.browser.close)

    @classmethod
    def write(cls, name, record):
        path, page = cls.folder / f"{name}.json", cls.folder / f"{name}.html"
        path.write_text(json.dumps(record))
        collbench("report", path, "--html", page, "--overwrite")
        return page

    def setUp(self):
        self.browser.size(1280, 900)
        self.browser.prefer()

    def open(self, page):
        self.browser.open(page)
        self.assertEqual(self.browser.errors, [])
        # A data: URL is in the file itself.
        self.assertEqual([url for url in self.browser.requests if not url.startswith("data:")], [page.as_uri()])

    def look(self, name, whole=True):
        if SCREENSHOTS:
            made = self.browser.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
            (pathlib.Path(SCREENSHOTS) / f"{name}.png").write_bytes(base64.b64decode(made["data"]))

    def violations(self):
        self.browser.evaluate(AXE.read_text() + ";0")
        return self.browser.evaluate("axe.run().then((found) => found.violations.map((each) => each.id + ': ' + "
                                     "each.nodes.map((node) => node.html.slice(0, 200)).join(' | ')))")

    def test_charts_are_drawn_and_can_be_pointed_at(self):
        self.open(self.page)
        charts = self.browser.evaluate("document.querySelectorAll('figure.chart').length")
        self.assertEqual(charts, 2)
        painted = self.browser.evaluate("""[...document.querySelectorAll('canvas')].map((canvas) => {
            const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
            let painted = 0;
            for (let i = 3; i < data.length; i += 4) painted += data[i] > 0 ? 1 : 0;
            return painted; })""")
        self.assertEqual(len(painted), charts)
        self.assertGreater(min(painted), 5000)
        # Of the last point: the rate that the record has, and the interval's ends.
        box = self.browser.evaluate("""(() => { const live = Chart.getChart(document.querySelector('canvas'));
            const at = live.getDatasetMeta(0).data.at(-1), box = live.canvas.getBoundingClientRect();
            return [box.x + at.x, box.y + at.y]; })()""")
        self.browser.point_at(*box)
        shown = "Chart.getChart(document.querySelector('canvas')).tooltip"
        self.assertEqual(self.browser.evaluate(f"{shown}.opacity"), 1)
        self.assertIn("1 GiB: 319 GB/s (95 %: 295 GB/s to 336 GB/s)", self.browser.evaluate(f"{shown}.body[0].lines[0]"))
        self.look("desktop")

    def test_charts_can_be_walked_through_by_keyboard(self):
        self.open(self.page)
        reading = "document.querySelector('.reading').textContent"
        self.browser.evaluate("document.querySelector('canvas').focus()")
        self.browser.press("ArrowRight")
        self.assertTrue(self.browser.evaluate(reading).startswith("measured: float sum, out of place, 8 B: "))
        self.browser.press("End")
        self.assertIn("1 GiB: 319 GB/s", self.browser.evaluate(reading))
        self.browser.press("ArrowDown")
        self.assertIn("in place, 1 GiB: 290 GB/s", self.browser.evaluate(reading))
        self.browser.press("Escape")
        self.assertEqual(self.browser.evaluate(reading), "")
        scale = "Chart.getChart(document.querySelector('canvas')).scales.y.type"
        self.assertEqual(self.browser.evaluate(scale), "linear")
        self.browser.evaluate("document.querySelector('button').click()")
        self.assertEqual(self.browser.evaluate(scale), "logarithmic")
        self.assertEqual(self.browser.errors, [])

    def test_a_screen_reader_finds_its_way_in_light_and_dark_and_on_a_phone(self):
        for name, width, scheme in (("light", 1280, "light"), ("dark", 1280, "dark"), ("phone", 390, "light")):
            with self.subTest(name):
                self.browser.size(width, 844)
                self.browser.prefer(color_scheme=scheme)
                self.open(self.page)
                self.assertEqual(self.violations(), [])
                self.assertLessEqual(self.browser.evaluate("document.documentElement.scrollWidth"), width)
                self.look(name)

    def test_paper_has_pictures_and_all_numbers(self):
        self.open(self.page)
        self.browser.prefer(media="print")
        shown = self.browser.evaluate("[...document.querySelectorAll('figure.chart')].map((each) => "
                                      "[each.querySelector('img').offsetHeight > 0, each.querySelector('canvas').offsetHeight > 0])")
        self.assertEqual(shown, [[True, False]] * 2)
        printed = self.browser.call("Page.printToPDF", preferCSSPageSize=True)["data"]
        if SCREENSHOTS:
            (pathlib.Path(SCREENSHOTS) / "print.pdf").write_bytes(base64.b64decode(printed))

    def test_without_scripts_there_are_pictures_and_tables(self):
        self.browser.call("Emulation.setScriptExecutionDisabled", value=True)
        try:
            self.browser.forget()
            self.browser.call("Page.navigate", url=self.page.as_uri())
            while not self.browser.loaded:
                self.browser.call("Page.getFrameTree")
        finally:
            # So that the page can be asked; it does not run its scripts again.
            self.browser.call("Emulation.setScriptExecutionDisabled", value=False)
        self.assertEqual(self.browser.evaluate("document.querySelectorAll('canvas').length"), 0)
        self.assertEqual(self.browser.evaluate("[...document.querySelectorAll('img')].map((each) => each.naturalWidth)"),
                         [760, 760])
        text = self.browser.evaluate("document.querySelector('#all_reduce').textContent")
        for row in self.record["rows"]:
            self.assertIn(str(row["size_bytes"]), text)
        self.look("without-scripts")

    def test_pages_of_a_comparison_and_of_a_diff(self):
        slower = copy.deepcopy(self.record)
        for row in slower["rows"]:
            row["seconds"] *= 1.5
            row["interval"] = None
        (self.folder / "slower.json").write_text(json.dumps(slower))
        pages = {"compare": ("compare", self.folder / "page.json", self.folder / "slower.json"),
                 "diff": ("topo", "diff", "hgx-h100", "dgx-a100")}
        for name, command in pages.items():
            with self.subTest(name):
                page = self.folder / f"{name}.html"
                collbench(*command, "--html", page, status=1)
                self.open(page)
                self.assertEqual(self.violations(), [])
                self.look(name)
        self.assertTrue(self.browser.evaluate("[...document.images].every((each) => each.naturalWidth > 100)"))
        self.browser.open(self.folder / "compare.html")
        self.assertEqual(self.browser.evaluate("document.querySelectorAll('canvas').length"), 4)
        self.assertEqual(self.browser.evaluate("Chart.getChart(document.querySelector('canvas')).data.datasets.map((each) => each.label.split(':')[0])"),
                         ["base", "new"])

    def test_pages_of_a_baseline_and_of_the_lab(self):
        nights = []
        for night in range(24):
            record = copy.deepcopy(self.record)
            record.update(started=f"2026-10-{night + 1:02}T02:00:00Z", complete=True)
            for number, row in enumerate(record["rows"]):
                row["seconds"] *= (1 if night < 12 or number % 9 else 1.2) * (1 + 0.001 * (night * 7 % 5))
            nights.append(self.folder / f"night{night}.json")
            nights[-1].write_text(json.dumps(record))
        collbench("compare", "--add", self.folder / "baseline", *nights)
        pages = {"baseline": (("compare", self.folder / "baseline"), 7),
                 "nothing to compare": (("compare", self.folder / "empty", nights[0], "--add"), 0),
                 "lab01": (("judge", self.folder / "run.log", "--operation", "all_reduce", "--topology", "hgx-h100", "--preset", "lab01"), 2)}
        for name, (command, charts) in pages.items():
            with self.subTest(name):
                page = self.folder / f"{name.replace(' ', '-')}.html"
                collbench(*command, "--html", page, status=None)
                self.open(page)
                self.assertEqual(self.violations(), [])
                drawn = self.browser.evaluate("document.querySelectorAll('canvas').length")
                self.assertGreaterEqual(drawn, charts)
                self.assertLessEqual(self.browser.evaluate("document.documentElement.scrollWidth"), 1280)
                self.look(name.replace(" ", "-"))

    def test_no_text_of_a_record_becomes_markup(self):
        accepted, tried = [], {}
        for path in leaves(self.record):
            kind = generic(path)
            if kind not in tried:
                record = copy.deepcopy(self.record)
                put(record, path, HOSTILE)
                file = self.folder / "one.json"
                file.write_text(json.dumps(record))
                tried[kind] = collbench("report", file, "--html", self.folder / "one.html", "--overwrite", status=None).returncode == 0
            if tried[kind]:
                accepted.append(path)
        self.assertGreater(sum(tried.values()), 15, "free texts of a record")
        hostile = copy.deepcopy(self.record)
        for path in accepted:
            put(hostile, path, HOSTILE)
        hostile["environment"] = {HOSTILE: HOSTILE}
        page = self.write("hostile", hostile)
        self.open(page)
        self.assertIsNone(self.browser.evaluate("window.hacked"))
        self.assertEqual(self.browser.evaluate("document.querySelectorAll('script').length"), 2)
        self.assertEqual(self.browser.evaluate("document.querySelectorAll('img:not(.still)').length"), 0)
        self.assertIn("</script><script>window.hacked=1", self.browser.evaluate("document.body.innerText"))
        self.assertNotIn("\u202e", page.read_text())


if __name__ == "__main__":
    missing = [what for what, there in (("Chromium", find_chromium()), ("axe-core", AXE.exists())) if not there]
    if missing:
        print(f"skipped: {' and '.join(missing)} not found; scripts/setup test installs both", file=sys.stderr)
        sys.exit(77)
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
