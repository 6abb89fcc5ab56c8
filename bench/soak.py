#!/usr/bin/env python3
"""Whether a run that goes on for long needs more and more memory or files: -N 0 with a record and a stream.

usage: soak.py PROGRAM SECONDS

Looks at each rank 120 times: resident memory, and open files. Prints, for each rank, the medians of the second and of the last quarter
(the first is left out: buffers are made there). Exit status 1 where the last is more than 1 % above, and 1 KiB for each row and pass
measured in between of the first of them (rank 0 keeps each pass for the record), or one file.
"""

import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_mpi_yield_when_idle": "1",
               "OMPI_MCA_hwloc_base_binding_policy": "none"}
LOOKS = 120


def children(pid):
    return [int(each) for thread in pathlib.Path(f"/proc/{pid}/task").iterdir() for each in (thread / "children").read_text().split()]


def resident_kib(rank):
    return next(int(line.split()[1]) for line in pathlib.Path(f"/proc/{rank}/status").read_text().splitlines() if line.startswith("VmRSS"))


def main():
    program, seconds = pathlib.Path(sys.argv[1]).resolve(), float(sys.argv[2])
    seen = {}
    with tempfile.TemporaryDirectory() as folder:
        run = subprocess.Popen(["mpirun", "--oversubscribe", "-np", "2", program, "--ops", "all_reduce", "--sizes", "8,64K,1M", "-N", "0", "--time",
                                str(seconds), "-J", f"{folder}/run.json", "--stream", f"{folder}/run.jsonl"], env=ENVIRONMENT, stdout=subprocess.DEVNULL)
        for _ in range(LOOKS):
            time.sleep(seconds / LOOKS)
            if run.poll() is not None:
                break
            for rank in children(run.pid):
                try:
                    seen.setdefault(rank, []).append((resident_kib(rank), len(list(pathlib.Path(f"/proc/{rank}/fd").iterdir()))))
                except (OSError, StopIteration):
                    pass  # it ends
        if status := run.wait(timeout=600):
            sys.exit(f"soak: the run ended with {status}")
        record = json.loads(pathlib.Path(f"{folder}/run.json").read_text())
    grown, kept_kib = False, record["passes"] * len(record["rows"]) / 2
    seen = {rank: looks for rank, looks in seen.items() if len(looks) > LOOKS / 2}
    for rank, looks in sorted(seen.items()):
        quarter = len(looks) // 4
        (before, files_before), (after, files_after) = ([statistics.median(each) for each in zip(*part, strict=True)]
                                                        for part in (looks[quarter:2 * quarter], looks[-quarter:]))
        grown = grown or after > 1.01 * before + (kept_kib if rank == min(seen) else 0) or files_after > files_before + 1
        print(f"process {rank}: {before:.0f} KiB and {files_before:.0f} files in the second quarter, {after:.0f} KiB ({after / before - 1:+.2%}) and "
              f"{files_after:.0f} files in the last; {len(looks)} looks in {seconds:.0f} s, {record['passes']} passes of {len(record['rows'])} rows")
    return int(grown or len(seen) != 2)


if __name__ == "__main__":
    sys.exit(main())
