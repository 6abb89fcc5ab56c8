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
    def test_has_versions_what_the_doctor_finds_and_the_record(self):
        status, page, said = report_bug(RECORD)
        self.assertEqual((status, said), (0, ""))
        self.assertEqual(re.findall(r"^## .*", page, re.MULTILINE), ["## Versions", "## This machine", "## The run"])
        self.assertRegex(page, r"collbench \d+\.\d+\.\d+")
        self.assertRegex(page, r"\d+ of \d+ checks healthy|findings?")
        self.assertIn("# AllReduce:", page)
        kept = json.loads(page.rsplit("```text\n", 1)[1].rsplit("```", 1)[0])
        self.assertEqual([row["seconds"] for row in kept["rows"]], [row["seconds"] for row in json.loads(RECORD.read_text())["rows"]])

    def test_leaves_secrets_out_that_a_script_put_into_a_record(self):
        record = json.loads(RECORD.read_text())
        record["command_line"] += ["--label", "API_TOKEN=hunter2", "--api-key", "hunter2"]
        record["environment"]["NCCL_AUTH_TOKEN"] = "hunter2"
        record["label"] = "password=hunter2"
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "run.json"
            file.write_text(json.dumps(record))
            status, page, _ = report_bug(file)
        self.assertEqual(status, 0)
        self.assertNotIn("hunter2", page)
        self.assertIn("(set, not recorded)", page)

    def test_a_record_that_cannot_be_read_may_be_the_bug(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "run.json"
            file.write_text("{\n``````\n")
            status, page, _ = report_bug(file)
        self.assertEqual(status, 0)
        self.assertIn(f"{file}", page.split("## The run")[1])

    def test_no_text_ends_its_block_of_code(self):
        record = json.loads(RECORD.read_text())
        record["label"] = "````\n# injected"
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "run.json"
            file.write_text(json.dumps(record))
            _, page, _ = report_bug(file)
        run = page.split("## The run\n")[1]
        self.assertTrue(run.lstrip().startswith("`````text\n"), run[:200])

    def test_a_file_that_is_not_there_is_refused(self):
        status, page, said = report_bug("no.json")
        self.assertEqual((status, page), (2, ""))
        self.assertIn("no.json", said)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
