#!/usr/bin/env python3
"""`collbench probe` as its users meet it, and docs/notes/lab00.md, which is what it prints of docs/notes/lab00.json.

Usage: probe_test.py PROGRAM SOURCE_FOLDER [unittest arguments]
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM = pathlib.Path(sys.argv[1]).resolve()
DOCS = pathlib.Path(sys.argv[2]).resolve() / "docs/notes"


def probe(*arguments, folder=None):
    return subprocess.run([str(PROGRAM), "probe", *map(str, arguments)], capture_output=True, text=True, timeout=120, check=False,
                          cwd=folder)


class Probe(unittest.TestCase):
    def test_a_probe_of_this_host_and_its_record(self):
        with tempfile.TemporaryDirectory() as folder:
            result = probe("--time", 0.05, "-J", "probe.json", folder=folder)
            self.assertIn(result.returncode, (0, 1), result.stderr)  # 1: a core was slower than the others
            record = json.loads((pathlib.Path(folder) / "probe.json").read_text())
            ids = {measurement["id"] for measurement in record["measurements"]}
            self.assertLessEqual({"fma-fp64", "fma-fp32", "triad"}, ids)
            self.assertTrue("gemm-fp64" in ids or any(note.startswith("GEMM: not measured") for note in record["notes"]))
            for measurement in record["measurements"]:
                self.assertEqual(len(measurement["parts"]), record["cores"])
            # Nothing is measured for what a record says.
            again = probe("probe.json", folder=folder)
            self.assertEqual(again.stdout, result.stdout)
            page = probe("probe.json", "--preset", "lab00", "--plot-file", "roofline.svg", folder=folder)
            self.assertIn("![Roofline](roofline.svg)", page.stdout)
            self.assertIn("<svg", (pathlib.Path(folder) / "roofline.svg").read_text())
            # As three hosts, of which one is slow.
            slow = json.loads(json.dumps(record))
            slow["host"] = "slow"
            other = {**json.loads(json.dumps(record)), "host": "other"}
            for measurement in slow["measurements"]:
                for part in measurement["parts"]:
                    part["windows"] = [rate / 2 for rate in part["windows"]]
            for name, each in (("slow.json", slow), ("a.json", record), ("b.json", other)):
                each["taken_share"] = 0.0
                for part in (part for measurement in each["measurements"] for part in measurement["parts"]):
                    part["cpu_share"] = 1.0
                (pathlib.Path(folder) / name).write_text(json.dumps(each))
            compared = probe("a.json", "b.json", "slow.json", folder=folder)
            self.assertEqual(compared.returncode, 1, compared.stdout)
            self.assertIn("bad: all cores of slow: triad makes 0.500 of the median of 3 hosts",
                          " ".join(compared.stdout.split()))
            # One document is of one host, and one host is counted once.
            for arguments, says in ((("a.json", "b.json", "--format", "json"), "--format json: it is of one host"),
                                    (("a.json", "b.json", "-J", "c.json"), "-J: it is of one host"),
                                    (("a.json", "b.json", "--plot-file", "c.svg"), "--plot-file: it is of one host"),
                                    (("a.json", "b.json", "a.json"), "as another record here")):
                refused = probe(*arguments, folder=folder)
                self.assertEqual((refused.returncode, refused.stdout), (2, ""), refused.stderr)
                self.assertIn(says, " ".join(refused.stderr.split()))
            # The link to the picture is from the page's folder.
            (pathlib.Path(folder) / "out").mkdir()
            self.assertIn(probe("a.json", "--preset", "lab00", "-o", "out/l.md", "--plot-file", "out/l.svg", folder=folder).returncode,
                          (0, 1))
            self.assertIn("![Roofline](l.svg)", (pathlib.Path(folder) / "out/l.md").read_text())

    def test_what_cannot_be_done_is_refused(self):
        for arguments, says in (
            (("--time", 0), "--time"),
            (("--preset", "lab07"), "--preset"),
            (("--price", 3), "--preset"),
            (("/nowhere/probe.json",), "/nowhere/probe.json"),
            (("--preset", "lab00", "--only", "gpu,triad"), "--preset lab00 needs arithmetic in FP64 and a triad"),
            ((DOCS / "lab00.json", DOCS / "lab00.json", "--preset", "lab00"), "one host"),
        ):
            with self.subTest(arguments=arguments):
                result = probe(*arguments)
                self.assertEqual((result.returncode, result.stdout), (2, ""), result.stderr)
                self.assertIn(says, result.stderr)

    def test_the_page_of_lab_00_is_what_its_command_prints(self):
        document = (DOCS / "lab00.md").read_text()
        command = next(line.split("#")[0].split() for line in document.splitlines() if line.startswith("collbench probe lab00.json"))
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "lab00.json").write_text((DOCS / "lab00.json").read_text())
            page = probe(*command[2:], folder=folder)
            self.assertEqual(page.returncode, 1, page.stderr)  # others were at work, and its first line says so
            self.assertIn("**Not clean: others took 5 %", page.stdout)
            self.assertIn(page.stdout.split("\n", 2)[2].strip(), document)
            self.assertEqual((pathlib.Path(folder) / "lab00.svg").read_text(), (DOCS / "lab00.svg").read_text())


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
