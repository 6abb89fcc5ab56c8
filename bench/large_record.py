#!/usr/bin/env python3
"""A record of 8,192 ranks and 150 rows with made-up times, for the time and memory of report and compare.

usage: large_record.py RECORD OUT SEED

RECORD is any record of a run with an AllReduce (collbench -J): what the rows do not need stays as it is there. Times of rows
and ranks scatter by 2 %.
"""
import json
import random
import sys

RANKS, PER_NODE, SIZES = 8192, 8, 30
OPERATIONS = ("AllReduce", "AllGather", "ReduceScatter", "AllToAll", "SendRecv")


def row(template, operation, step):
    seconds = 1e-3 * 1.3 ** step
    size = RANKS * 8 * (2 + step % 2) * 2 ** (step // 2) // 2
    passes = [seconds * random.gauss(1, 0.02) for _ in range(3)]
    ranks = {"rank": list(range(RANKS)), "median_seconds": [seconds * random.gauss(1, 0.02) for _ in range(RANKS)],
             "p99_seconds": [seconds * random.gauss(1.1, 0.02) for _ in range(RANKS)], "page_faults": [0.0] * RANKS}
    made = {key: value for key, value in template.items() if key != "rates"}
    made.update(operation=operation, size_bytes=size, count=size // 4 // (1 if operation in ("AllReduce", "SendRecv") else RANKS),
                reduction="sum" if operation in ("AllReduce", "ReduceScatter") else None, root=None, in_place=False,
                expected_by="ring", ring_seconds=0.9 * seconds, tree_seconds=0.9 * seconds, expected_seconds=0.9 * seconds,
                seconds=sorted(passes)[1], pass_seconds=passes, launch_passes=[3], pass_probes=None,
                minimum_seconds=0.9 * seconds, mean_seconds=seconds, median_seconds=seconds, p95_seconds=1.1 * seconds,
                p99_seconds=1.2 * seconds, rank_times=ranks)
    return made


def main():
    record, out, seed = sys.argv[1:]
    random.seed(int(seed))
    with open(record) as file:
        run = json.load(file)
    template = next(each for each in run["rows"] if each["operation"] == "AllReduce")
    run.update(cluster=None, calibration=None, place_notes=[], load_notes=[], cores_per_node=[PER_NODE] * (RANKS // PER_NODE),
               ranks=[{"rank": rank, "host": f"node{rank // PER_NODE:04}", "node": rank // PER_NODE, "local_rank": rank % PER_NODE}
                      for rank in range(RANKS)],
               rows=[row(template, operation, step) for operation in OPERATIONS for step in range(SIZES)])
    with open(out, "w") as file:
        json.dump(run, file)


if __name__ == "__main__":
    main()
