#!/usr/bin/env python3
"""`collbench burnin` inside a real Slurm of four nodes on this machine (tests/slurm-lab), by the launchers that docs/burnin.md gives.

Usage: burnin_slurm_test.py PROGRAM [unittest arguments]      (exit 77: skipped)
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

PROGRAM = pathlib.Path(sys.argv[1]).resolve()
SOURCES = pathlib.Path(__file__).resolve().parents[3]
LAB = SOURCES / "tests" / "slurm-lab"
LAUNCHER, GROUP_LAUNCHER = (
    re.search(f'(?m)^{name}="(srun [^"]+)"$', (SOURCES / "docs" / "burnin.md").read_text()).group(1) for name in ("pairs", "groups"))
ENVIRONMENT = {
    **{key: value for key, value in os.environ.items() if not key.startswith(("CUDA_", "NCCL_", "PMI", "OMPI_", "SLURM_"))},
    "OMPI_MCA_hwloc_base_binding_policy": "none",
    "OMPI_MCA_mpi_yield_when_idle": "1",
    "COLUMNS": "500",
}


def burnin(folder, group_launcher, *arguments):
    """Again, at most twice, where a launch gave nothing: this Slurm's PMIx now and then lets a rank wait in MPI_Init for 30 s or more, or crash there."""
    reasons = []
    for _ in range(3):
        try:
            result, made = burnin_once(folder, group_launcher, *arguments)
        except subprocess.TimeoutExpired:
            reasons.append("timed out")
            continue
        reasons += [each["why"] for each in made["group_failures"] + made["failures"]] if made else []
        if not made or not (made["group_failures"] or made["failures"]):
            return result, made
    raise AssertionError(f"three tries, and each had a launch without a result: {reasons}")


def burnin_once(folder, group_launcher, *arguments):
    record = pathlib.Path(folder) / "burnin.json"
    result = subprocess.run(
        [str(LAB), "4", "0", "salloc", "--quiet", "-N4", "--ntasks-per-node=2", str(PROGRAM), "burnin", "--hosts", "n[1-4]", "--launcher", LAUNCHER,
         "--group-launcher", group_launcher, "--pair-seconds", "0.2", "--bytes", "64K", "--parallel", "2", "-J", str(record), "--overwrite",
         *arguments],
        env=ENVIRONMENT, capture_output=True, text=True, timeout=110, stdin=subprocess.DEVNULL, check=False)
    return result, json.loads(record.read_text()) if record.exists() else None


class BurninInSlurm(unittest.TestCase):
    def test_the_documented_launchers_reach_the_hosts_that_are_asked_for(self):
        with tempfile.TemporaryDirectory() as folder:
            result, made = burnin(folder, GROUP_LAUNCHER, "--phases", "nodes,pairs,whole")
            self.assertIn(result.returncode, (0, 1), result.stdout + result.stderr)  # the nodes share two cores
            self.assertEqual((made["launcher_errors"], made["without_counters"], made["group_failures"], made["failures"]), ({}, {}, [], []),
                             result.stdout)
            self.assertEqual({(a, b) for a, b, *_ in made["times"]}, {(a, b) for a in range(4) for b in range(4) if a != b})
            self.assertEqual({tuple(each["nodes"]) for each in made["groups"]}, {("n1",), ("n2",), ("n3",), ("n4",), ("n1", "n2", "n3", "n4")})

    def test_without_the_number_of_nodes_srun_takes_others_and_no_host_is_to_blame(self):
        with tempfile.TemporaryDirectory() as folder:
            result, made = burnin(folder, GROUP_LAUNCHER.replace("-N {nodes} ", ""), "--phases", "nodes", "--no-counters")
            self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
            self.assertEqual([each["bucket"] for each in made["buckets"]], 4 * ["not tested"], result.stdout)
            self.assertRegex(made["summary"], "4 nodes: 0 good, 0 suspect, 0 bad, 4 not tested; phase nodes ended by its launcher")
            self.assertRegex(made["launcher_errors"]["phase nodes"], r"a rank ran on n\d, and n\d was asked for; .*-N \{nodes\}")


if __name__ == "__main__":
    ready = subprocess.run([str(LAB), "1", "0", "true"], env=ENVIRONMENT, capture_output=True, text=True, timeout=100, check=False)
    if ready.returncode in (5, 6):
        print(ready.stderr.strip())
        sys.exit(77)
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
