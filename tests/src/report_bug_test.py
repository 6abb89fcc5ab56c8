#!/usr/bin/env python3
"""What `collbench report-bug` puts into its page, and what it leaves out.

usage: report_bug_test.py PROGRAM SOURCE_FOLDER [unittest arguments]
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

PROGRAM, SOURCE = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
RECORD = SOURCE / "tests/records/host.json"


def report_bug(*words):
    done = subprocess.run([PROGRAM, "report-bug", *words], capture_output=True, text=True, check=False, timeout=120,
                          env={**os.environ, "LC_ALL": "C.UTF-8"})
    return done.returncode, done.stdout, done.stderr


class ReportBug(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def changed(self, **changes):
        file = self.folder / "run.json"
        file.write_text(json.dumps({**json.loads(RECORD.read_text()), **changes}))
        return file

    def test_has_versions_what_the_doctor_finds_and_the_run(self):
        status, page, said = report_bug(RECORD)
        self.assertEqual(status, 0)
        self.assertEqual(re.findall(r"^## .*", page, re.MULTILINE),
                         ["## The command", "## What you expected", "## What came out", "## Versions", "## This host, now (not when the run was)",
                          "## The run"])
        self.assertRegex(page, r"collbench \d+\.\d+\.\d+")
        self.assertRegex(page, f"kernel: Linux {re.escape(os.uname().release)}")
        self.assertRegex(page, r"\d+ of \d+ checks healthy|findings?")
        self.assertIn("# AllReduce:", page)
        self.assertIn("read it before you post it", said)

    def test_the_record_lies_beside_the_page(self):
        page, record = self.folder / "bug.md", self.folder / "bug.md.record.json"
        status, out, said = report_bug(RECORD, "-o", page)
        self.assertEqual((status, out), (0, ""))
        self.assertIn(f"attach {record}", said)
        seconds = [[row["seconds"] for row in json.loads(file.read_text())["rows"]] for file in (record, RECORD)]
        self.assertEqual(*seconds)
        page.unlink()
        status, _, said = report_bug(RECORD, "-o", page)
        self.assertEqual(status, 2)
        self.assertIn(f"{record}", said)
        self.assertFalse(page.exists())
        self.assertEqual(report_bug(RECORD, "-o", page, "--overwrite")[0], 0)

    def test_leaves_secrets_out_that_a_script_put_into_a_record(self):
        record = json.loads(RECORD.read_text())
        file = self.changed(command_line=[*record["command_line"], "--label", "API_TOKEN=hunter2", "--api-key", "hunter2"],
                            environment={**record["environment"], "NCCL_AUTH_TOKEN": "hunter2", "NCCL_X": "ghp_hunter2hunter2hunter2hun"},
                            label="password=hunter2", config_file="/x?token=hunter2", place_notes=["API_TOKEN=hunter2 was set"])
        self.assertEqual(report_bug(file, "-o", self.folder / "bug.md")[0], 0)
        for name in ("bug.md", "bug.md.record.json"):
            self.assertNotIn("hunter2", (self.folder / name).read_text())
        self.assertIn("(set, not recorded)", (self.folder / "bug.md.record.json").read_text())

    def test_a_record_that_cannot_be_read_may_be_the_bug(self):
        file = self.folder / "run.json"
        file.write_text("{\n`````` PASSWORD=hunter2 x\n")
        status, page, _ = report_bug(file)
        self.assertEqual(status, 0)
        self.assertIn(f"{file}", page.split("## The run")[1])
        self.assertNotIn("hunter2", page)

    def test_no_text_ends_its_block_of_code(self):
        _, page, _ = report_bug(self.changed(label="````\n# injected"))
        run = page.split("## The run\n")[1]
        self.assertTrue(run.lstrip().startswith("`````text\n"), run[:200])

    def test_a_file_that_is_not_there_is_refused(self):
        status, page, said = report_bug("no.json")
        self.assertEqual((status, page), (2, ""))
        self.assertIn("no.json", said)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
