#!/usr/bin/env python3
"""What the flight recorder and the watchdog cost an AllReduce of 8 B on 2 ranks: launches with and without, in turn.

Usage: recorder_cost.py WITH WITHOUT [PAIRS (24)]

WITH and WITHOUT are two builds of the same sources, WITHOUT after without_recorder.patch: no call is counted, and no thread
watches. As root the ranks have real-time priority, so that nothing else gets their cores.
Prints the ratio of the medians of each pair, their median, and its 95 % interval by order statistics.
"""

import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile

ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
PRIORITY = ["chrt", "-r", "10"] if os.geteuid() == 0 else []


def seconds(program, folder):
    record = pathlib.Path(folder) / "run.json"
    subprocess.run([*PRIORITY, "mpirun", "-np", "2", program, "--ops", "all_reduce", "--sizes", "8", "-c", "0", "-n", "50000", "-N", "40",
                    "--time", "1", "-J", record, "--overwrite"], env=ENVIRONMENT, check=True, capture_output=True)
    return json.loads(record.read_text())["rows"][0]["seconds"]


def interval(values):
    """Of the median: the widest pair of order statistics that leaves out less than 5 %."""
    ordered, count = sorted(values), len(values)
    left, out = 0, 0.0
    while (more := out + 2 * math.comb(count, left) / 2**count) < 0.05:
        left, out = left + 1, more
    return ordered[max(0, left - 1)], ordered[count - max(1, left)]


def main():
    programs, pairs = sys.argv[1:3], int(sys.argv[3]) if len(sys.argv) > 3 else 24
    ratios = []
    with tempfile.TemporaryDirectory() as folder:
        for pair in range(pairs):
            order = (0, 1) if pair % 2 == 0 else (1, 0)
            took = {which: seconds(programs[which], folder) for which in order}
            ratios.append(took[0] / took[1])
            print(f"{took[0] * 1e9:.1f} ns with, {took[1] * 1e9:.1f} ns without: {ratios[-1]:.4f}", flush=True)
    low, high = interval(ratios)
    ordered = sorted(ratios)
    median = (ordered[(pairs - 1) // 2] + ordered[pairs // 2]) / 2
    print(f"{pairs} pairs: median {median:.4f}, 95 % interval {low:.4f} to {high:.4f}, extremes {ordered[0]:.4f} and {ordered[-1]:.4f}")


if __name__ == "__main__":
    main()
