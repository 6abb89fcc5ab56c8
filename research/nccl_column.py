#!/usr/bin/env python3
"""How near the column NCCL of `predict` comes to what libnccl itself expects of what it chooses.

usage: research/nccl_column.py [--program PROGRAM] [-o PAGE.md]
Asks every libnccl of `scripts/setup real-nccl`, and the program, about every reference machine on 1, 2 and 4 nodes.
No GPU is needed: NCCL's host code runs over simulated ones. Older NCCL than 2.23 does not log what it expects.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys

OPERATIONS = "all_reduce,all_gather,reduce_scatter"
SIZES = "64,1K,4K,16K,64K,256K,1M,4M,16M,64M,256M,1G,8G"
NODES = (1, 2, 4)
NEAR = 0.05
FIRST = [2, 23]  # that logs what it expects


def answer(program, *arguments):
    done = subprocess.run([program, *arguments], capture_output=True, text=True, check=False)
    if "has no NIC" in done.stderr:
        return None
    if done.returncode != 0:
        sys.exit(f"{program} {' '.join(arguments)}: {done.stderr}")
    return json.loads(done.stdout)


def library_seconds(row):
    """What NCCL expects of the algorithm and protocol that it chose; None where its log does not say."""
    chosen = row["nccl"]
    expected = chosen.get("expected")
    if not expected:
        return None
    pairs = zip(zip(expected["algorithm"], expected["protocol"]), expected["seconds"])
    return dict(pairs).get((chosen["algorithm"], chosen["protocol"]))


def ratios(program, library, machine, nodes):
    """The column's seconds over the library's, row by row; None where the machine or the column has nothing."""
    job = ["--topology", machine, "--nodes", str(nodes), "--ops", OPERATIONS, "--sizes", SIZES]
    predicted = answer(program, "predict", *job, "--format", "json")
    if predicted is None or all(row["nccl_seconds"] is None for row in predicted["rows"]):
        return None
    planned = answer(program, "nccl-plan", *job, "-J", "-", "--library", str(library))
    if planned is None:
        return None
    ours = {(row["operation"], row["size_bytes"]): row["nccl_seconds"] for row in predicted["rows"]}
    pairs = [(ours[row["operation"], row["size_bytes"]], library_seconds(row)) for row in planned["plan"]["rows"]]
    return [own / theirs for own, theirs in pairs if own and theirs]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="build/release/src/collbench")
    parser.add_argument("-o", "--output", type=pathlib.Path)
    options = parser.parse_args()
    listed = subprocess.run([options.program, "topo", "list"], capture_output=True, text=True, check=True).stdout
    machines = [line.split()[0] for line in listed.splitlines() if " × " in line and not line.startswith("checked")]
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache"), "collbench", "nccl")
    libraries = {path.parents[3].name: path for path in cache.glob("*/nvidia/nccl/lib/libnccl.so.2")}
    lines = ["# The column NCCL of predict beside libnccl's own figures", "",
             f"Made by research/nccl_column.py: AllReduce, AllGather and ReduceScatter of 64 B to 8 GiB on {', '.join(map(str, NODES))} nodes, a rank on each GPU.",
             "The column restates NCCL 2.30.7. Each cell: rows of that machine within 5 % of what the library of that version",
             "expects of its own choice, of the rows for which its log says that, and the ratio that is farthest from 1. No GPU ran.", ""]
    numbers = {version: [int(part) for part in version.split(".")] for version in libraries}
    versions = sorted((version for version in libraries if numbers[version] >= FIRST), key=numbers.get)
    table, without, totals = [], [], {version: [0, 0] for version in versions}
    for machine in machines:
        cells = []
        for version in versions:
            found = [ratios(options.program, libraries[version], machine, nodes) for nodes in NODES]
            rows = [ratio for each in found if each for ratio in each]
            near = sum(abs(ratio - 1) <= NEAR for ratio in rows)
            totals[version][0] += near
            totals[version][1] += len(rows)
            worst = max(rows, key=lambda ratio: abs(ratio - 1), default=None)
            cells.append(f"{near} of {len(rows)}, {worst:.2f}" if rows else "–")
            print(machine, version, cells[-1], file=sys.stderr)
        if set(cells) == {"–"}:
            without.append(machine)
        else:
            table.append(f"| {machine} | {' | '.join(cells)} |")
    lines += [f"| machine | {' | '.join(versions)} |", f"|{' --- |' * (1 + len(versions))}", *table,
              f"| all | {' | '.join(f'{near} of {rows}' if rows else '–' for near, rows in totals.values())} |", "",
              f"Without the column, since their GPUs do not meet in NVSwitches or NVLink joins several nodes: {', '.join(without)}."]
    text = "\n".join(lines) + "\n"
    if options.output:
        options.output.write_text(text)
    else:
        print(text, end="")


if __name__ == "__main__":
    main()
