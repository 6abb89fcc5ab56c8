#!/usr/bin/env python3
"""A baseline of 365 nights, and the record of the next, for the time and memory of comparing with it and showing it.

usage: year_of_records.py RECORD FOLDER [NIGHTS]

RECORD is any record of a run with an AllReduce (collbench -J). Each night has 2 ranks and 150 rows of 6 passes: 5 operations of 30
sizes, whose times scatter by 2 %. Writes the nights into FOLDER/nights and the next into FOLDER/tonight.json; then:

  collbench compare --add FOLDER/baseline FOLDER/nights/*.json
  collbench compare FOLDER/baseline FOLDER/tonight.json --last 365
"""
import datetime
import json
import pathlib
import random
import sys

SIZES, PASSES = 30, 6
OPERATIONS = ("AllReduce", "AllGather", "ReduceScatter", "AllToAll", "SendRecv")


def row(template, operation, step):
    seconds = 1e-6 * 1.5 ** step
    passes = [seconds * random.gauss(1, 0.02) for _ in range(PASSES)]
    middle = sorted(passes)
    time = (middle[2] + middle[3]) / 2
    made = {key: value for key, value in template.items() if key != "rates"}
    made.update(operation=operation, size_bytes=16 << step, count=(4 << step) // (1 if operation in ("AllReduce", "SendRecv") else 2),
                reduction="sum" if operation in ("AllReduce", "ReduceScatter") else None, root=None, in_place=False,
                seconds=time, pass_seconds=passes, launch_passes=[PASSES], pass_probes=None, states=[],
                interval={"low_seconds": middle[0], "high_seconds": middle[-1], "confidence": 0.97, "over": "passes"})
    return made


def main():
    record, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    nights = int(sys.argv[3]) if len(sys.argv) > 3 else 365
    random.seed(1)
    run = json.loads(pathlib.Path(record).read_text(encoding="utf-8"))
    template = next(each for each in run["rows"] if each["operation"] == "AllReduce")
    run.update(complete=True, cluster=None, calibration=None, rank_probe=None, cores_per_node=[2], launches=1, repeated=False,
               ranks=[{"rank": rank, "host": "node1", "node": 0, "local_rank": rank} for rank in range(2)])
    (folder / "nights").mkdir(parents=True)
    first = datetime.datetime(2025, 1, 1, 2)
    for night in range(nights + 1):
        run["started"] = f"{first + datetime.timedelta(days=night):%Y-%m-%dT%H:%M:%SZ}"
        run["rows"] = [row(template, operation, step) for operation in OPERATIONS for step in range(SIZES)]
        path = folder / "nights" / f"{night:03}.json" if night < nights else folder / "tonight.json"
        path.write_text(json.dumps(run), encoding="utf-8")


if __name__ == "__main__":
    main()
