#!/usr/bin/env python3
"""`collbench burnin` as its users meet it: plans, refusals, and a burn-in of "hosts" that are all this machine.

Usage: burnin_test.py PROGRAM [unittest arguments]
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM = pathlib.Path(sys.argv[1]).resolve()
# Two real ranks of Open MPI; a pair with "dead" is refused as by a host that is gone.
LAUNCHER = """#!/bin/sh
a=$1; b=$2; shift 2
case "$a $b" in *dead*) echo "ssh: connect to host dead port 22: No route to host" >&2; exit 255;; esac
exec mpirun --oversubscribe --allow-run-as-root -np 2 "$@"
"""


def burnin(*arguments, timeout=120):
    return subprocess.run([str(PROGRAM), "burnin", *map(str, arguments)], capture_output=True, text=True, timeout=timeout,
                          check=False, env={**os.environ, "COLUMNS": "120"})


class Burnin(unittest.TestCase):
    def refused(self, *arguments, says):
        result = burnin(*arguments)
        self.assertEqual(result.returncode, 2, result.stdout)
        self.assertEqual(result.stdout, "")
        self.assertRegex(result.stderr, says)
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)

    def test_what_cannot_be_done_is_refused(self):
        for arguments, says in (
            (("--hosts", "a"), "fewer than two"),
            (("--hosts", "a,b,a"), "twice"),
            (("--hosts", "a,b", "--rails", 2), "--rail-setting"),
            (("--hosts", "a,b", "--resume"), "give it with -J"),
            (("--hosts", "a,b", "--format", "xml"), "--format"),
            (("--hosts", "@/nowhere/hosts"), "/nowhere/hosts"),
        ):
            with self.subTest(arguments=arguments):
                self.refused(*arguments, says=says)

    def test_a_plan(self):
        hosts = ",".join(f"n{i}" for i in range(8))
        plan = burnin("--hosts", hosts, "--rails", 2, "--rail-setting", "X={rail}", "--dry-run").stdout
        self.assertIn("28 of 28 pairs on 2 rails in 7 rounds, about 42", plan)
        self.assertEqual(plan.count("round "), 7)
        short = burnin("--hosts", hosts, "--dry-run", "--time", 7).stdout
        self.assertIn("8 of 28 pairs", short)
        self.assertIn("5 rounds are left out", short)

    def test_a_host_that_is_gone_is_not_tested_and_the_rest_goes_on(self):
        with tempfile.TemporaryDirectory() as folder:
            launcher, record = pathlib.Path(folder) / "launch", pathlib.Path(folder) / "burnin.json"
            launcher.write_text(LAUNCHER)
            launcher.chmod(0o755)
            common = ("--hosts", "n0,n1,n2,n3,dead", "--launcher", f"{launcher} {{a}} {{b}}", "--pair-seconds", 0.3, "--bytes",
                      "1M", "--parallel", 1, "-J", record)
            result = burnin(*common)
            self.assertEqual(result.returncode, 4, result.stdout + result.stderr)
            self.assertRegex(result.stdout, r"dead not tested: n\d with dead: exit status 255: ssh: connect to host dead")
            read = json.loads(record.read_text())
            self.assertEqual({bucket["node"]: bucket["bucket"] for bucket in read["buckets"]}["dead"], "not tested")
            self.assertFalse(any(alone for *_, alone in read["times"][:12]))
            self.assertEqual({(a, b) for a, b, *_ in read["times"]}, {(a, b) for a in range(4) for b in range(4) if a != b})
            self.assertEqual(len(read["failures"]), 4)
            # Nothing is measured twice, and the matrix has each direction.
            again = burnin(*common, "--resume", "--format", "csv")
            lines = again.stdout.splitlines()
            self.assertEqual(lines[0], "from,to,rail,gigabytes_per_second,alone")
            self.assertGreaterEqual(len(lines), 13)
            self.assertEqual(json.loads(record.read_text())["times"][:12], read["times"][:12])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
