#!/usr/bin/env python3
"""How near the expectation comes to published logs of nccl-tests.

usage: research/accuracy.py FOLDER [--program build/release/src/collbench] [-o docs/notes/accuracy.md]

FOLDER holds the logs, and MACHINES.tsv: for each log its operation, GPU, NVLink GB/s per GPU (as NCCL counts), nodes,
ranks per node, NICs, GB/s of a NIC, transport, GPUs per process, ok or bad, class (tight: NVLink or one GPU a node, and
a known transport) and source. Every log is imported and judged by the topology that the table describes; nothing is
fitted to the log that is judged. Exits 1 when a healthy log is called BELOW or a fault, when a bad one is no fault, when
a tight log misses a goal and the table of causes does not name it, and when the bands of the program, with each machine
left out in turn (research/bands.py), hold less or more of the rows than they should.
"""

import argparse
import csv
import json
import math
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import typing

import bands


class SizeClass(typing.NamedTuple):
    """The goals for tight logs: median and nine in ten (%) from the topology alone, and all of them in words."""
    title: str
    low: int
    high: int
    median: float
    ninth: float
    goals: str


CLASSES = (
    SizeClass("≥ 1 GiB", 1 << 30, 1 << 63, 3, 10, "3 / 10"),
    SizeClass("≥ 64 MiB", 64 << 20, 1 << 63, 5, 15, "5 / 15"),
    SizeClass("64 KiB–16 MiB", 64 << 10, 16 << 20, 25, math.inf, "25, 15"),
    SizeClass("< 64 KiB", 1, (64 << 10) - 1, 20, math.inf, "20, 10"),
)
TOPOLOGY, LEFT_OUT, NEAREST, PLAIN = METHODS = (
    "from the topology alone", "the same, without what only this machine showed",
    "nearest algorithm of the band, own smallest time", "plain ring formula")
# Constants that one machine of the corpus showed and no other, in µs, and what is left without it: of a network hop
# (transport.cpp) the mean of the other plugins', of a launch for each GPU (latency.cpp) what the other machine showed.
HOPS = {"aws_adt_2node_1": (63, (15 + 57) / 2), "aws_adt_2node_2": (15, (63 + 57) / 2),
        "aws_adt_2node_3": (15, (63 + 57) / 2), "gke_a3mega_2node_1": (57, (63 + 15) / 2)}
ONE_THREAD, BY_THREAD = 4.3, {"AllReduce": 6.0, "Broadcast": 1.7, "Reduce": 1.7}  # latency.cpp; others:
OTHER_BY_THREAD = 4.2
GPUS_LAUNCHED = 8
NVSWITCHES = {"V100": 6, "A100": 6, "H100": 4}  # chips of a board (NVIDIA's data sheets)
NCCL_NVLINK = {"V100": 20, "A100": 20, "H100": 20.6}  # GB/s of one link, NCCL 2.30 src/graph/topo.h
CAUSES = "## Causes of the misses"
# Healthy logs that MACHINES.tsv does not have: 2 × RTX 4090 in two sockets (bus 01 and c1), without peer access. The
# ring through the host does not depend on the GPU, and A100 PCIe stands in for it.
EXTRA = {f"panlichen_2x4090_{operation}.txt": operation
         for operation in ("all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce")}
LISTS = ("sources", "numa_nodes", "pci_devices", "gpus", "nvswitches", "nics", "nvlinks", "stated_paths", "peer_access",
         "disagreements", "notes")


def run(*command):
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    if result.returncode not in (0, 1):  # 1 is BELOW
        raise SystemExit(f"accuracy: {' '.join(map(str, command))}: {result.stderr.strip()}")
    return result.stdout


def topology_of(machine):
    """One node of the machine, as `topo save` would write it."""
    host = {name: [] for name in LISTS}
    host["sources"] = [{"reader": "MACHINES.tsv", "place": machine["log"], "version": ""}]
    model = machine["gpu"].split("+")[0]
    generation = model.split("-")[0]
    links = round(float(machine["nvlink_GBs_per_gpu(NCCL)"]) / NCCL_NVLINK[generation])
    ranks = int(machine["ranks_per_node"])
    for _ in range(ranks):
        host["gpus"].append({"model": [f"NVIDIA {model}", 0], "nvlinks_active": [links, 0]})
    if links and ranks == 2:
        for a, b in ((0, 1), (1, 0)):
            host["nvlinks"].append({"from": ["gpu", a], "to": ["gpu", b], "count": [links, 0]})
    elif links:
        switches = NVSWITCHES[generation]
        host["nvswitches"] = [{} for _ in range(switches)]
        for gpu in range(ranks):
            for index in range(switches):
                count = links // switches + (1 if index < links % switches else 0)
                host["nvlinks"].append({"from": ["gpu", gpu], "to": ["nvswitch", index], "count": [count, 0]})
    for index in range(int(machine["nics"])):
        port = {"number": 1, "gigabits_per_second": [8 * float(machine["nic_GBs"]), 0], "state": ["ACTIVE", 0]}
        host["nics"].append({"label": [f"NIC{index}", 0], "ports": [port]})
    return {"collbench_topology": 1, "hosts": [host]}


def machines_of(folder):
    """The lines of MACHINES.tsv, and those of EXTRA."""
    with open(folder / "MACHINES.tsv", encoding="utf-8") as table:
        machines = list(csv.DictReader(table, delimiter="\t"))
    listed = {machine["log"] for machine in machines}
    for log, operation in EXTRA.items():
        if log not in listed and (folder / log).exists():
            machines.append({"log": log, "op": operation.title().replace("_", ""), "gpu": "A100-PCIE-40",
                             "nvlink_GBs_per_gpu(NCCL)": "0", "nodes": "1", "ranks_per_node": "2", "nics": "0",
                             "nic_GBs": "0", "transport": "-", "label": "ok", "class": "loose"})
    return machines


def judged(program, folder, machine, scratch, *more):
    record = scratch / "record.json"
    record.unlink(missing_ok=True)
    topology = scratch / "topology.json"
    topology.write_text(json.dumps(topology_of(machine)))
    operation = ["--operation", EXTRA[machine["log"]]] if machine["log"] in EXTRA else []
    run(program, "judge", folder / machine["log"], "--nodes", machine["nodes"], "--ranks-per-node",
        machine["ranks_per_node"], "-o", record, *operation)
    transport = [] if machine["transport"] == "-" else ["--transport", machine["transport"]]
    return json.loads(run(program, "judge", record, "--topology", topology, *transport, *more, "--format", "json"))


def busbw(row):
    return row["rates"]["bus_bandwidth_gb_per_s"] or 0


def best_rows(record):
    """The better of out of place and in place of each size, largest last."""
    rows = {}
    for row in record["rows"]:
        size = row["size_bytes"]
        if size and busbw(row) and (size not in rows or busbw(row) > busbw(rows[size])):
            rows[size] = row
    return [rows[size] for size in sorted(rows)]


def plain_seconds(machine, row):
    """The plain ring formula: 20 µs (40 across nodes) and the least of NVLink and 0.96 × the NICs."""
    links = float(machine["nvlink_GBs_per_gpu(NCCL)"]) or 24  # PCIe x16 Gen4 where there is no NVLink
    nodes = int(machine["nodes"])
    rate = min(links, 0.96 * int(machine["nics"]) * float(machine["nic_GBs"])) if nodes > 1 else links
    factor = busbw(row) * 1e9 * row["seconds"] / row["size_bytes"]
    return (40e-6 if nodes > 1 else 20e-6) + factor * row["size_bytes"] / (rate * 1e9)


def errors(rows, seconds_of):
    """(size, error of busbw) of each row: measured over expected, less 1."""
    expected = [(row, seconds_of(row)) for row in rows]
    return [(row["size_bytes"], seconds / row["seconds"] - 1) for row, seconds in expected if seconds]


def left_out_seconds(name, row):
    """The expectation without the constants that only the log's machine showed."""
    expected = row["expected_seconds"]
    operation = row["operation"]
    if not expected:
        return expected
    if name in HOPS:
        own, others = HOPS[name]
        crossings = 2 if operation == "AllReduce" else 1  # of two nodes
        return expected + crossings * (others - own) / 1e6
    by_thread = BY_THREAD.get(operation, OTHER_BY_THREAD)
    if name.startswith("superbench_8xa100"):
        own, others = ONE_THREAD, statistics.mean((*{*BY_THREAD.values()}, OTHER_BY_THREAD))
    elif name.startswith("panlichen_8xv100"):
        own, others = by_thread, ONE_THREAD
    else:
        return expected
    # Launch and work overlap: the cube root of the sum of cubes.
    launch, instead = (GPUS_LAUNCHED * each / 1e6 for each in (own, others))
    return (expected ** 3 - launch ** 3 + instead ** 3) ** (1 / 3)


def noise(record):
    """(size, difference) of each row: busbw out of place over that in place, less 1."""
    places = {True: {}, False: {}}
    for row in record["rows"]:
        if row["size_bytes"] and busbw(row):
            places[row["in_place"]][row["size_bytes"]] = busbw(row)
    return [(size, places[False][size] / places[True][size] - 1) for size in places[False] if size in places[True]]


def of_band(row):
    """Error against the nearest algorithm of the band: which one ran, most logs do not tell."""
    known = [row[name] for name in ("ring_seconds", "tree_seconds", "expected_seconds") if row[name]]
    return min(known, key=lambda seconds: abs(math.log(seconds / row["seconds"]))) if known else None


def in_class(values, sizes):
    return [100 * abs(value) for size, value in values if sizes.low <= size <= sizes.high]


def ninth(values):
    return sorted(values)[max(0, math.ceil(0.9 * len(values)) - 1)]


def cells(values):
    found = [in_class(values, sizes) for sizes in CLASSES]
    return " | ".join(f"{statistics.median(each):.1f} / {ninth(each):.1f}" if each else "–" for each in found)


def misses_a_goal(values):
    found = [(sizes, in_class(values, sizes)) for sizes in CLASSES]
    return any(each and (statistics.median(each) > sizes.median or ninth(each) > sizes.ninth) for sizes, each in found)


def heading(*columns, words=1):
    return ["| " + " | ".join(columns) + " |", "|" + " --- |" * words + " ---: |" * (len(columns) - words)]


class Log:
    """One line of MACHINES.tsv and what the program makes of it."""

    def __init__(self, program, folder, machine):
        with tempfile.TemporaryDirectory() as scratch:
            alone = judged(program, folder, machine, pathlib.Path(scratch))
            told = judged(program, folder, machine, pathlib.Path(scratch), "--own-floor")
        self.machine = machine
        self.name = machine["log"].rsplit(".", 1)[0]
        self.healthy = machine["label"] == "ok"
        self.tight = machine["class"] == "tight"
        rows = best_rows(alone)
        if not rows:
            raise SystemExit(f"accuracy: {machine['log']}: no row")
        self.largest = rows[-1]
        self.noise = noise(alone)
        self.points = bands.points_of_log(machine, rows)
        self.errors = {
            TOPOLOGY: errors(rows, lambda row: row["expected_seconds"]),
            LEFT_OUT: errors(rows, lambda row: left_out_seconds(self.name, row)),
            NEAREST: errors(best_rows(told), of_band),
            PLAIN: errors(rows, lambda row: plain_seconds(machine, row)),
        }

    def line(self):
        ratio = self.largest["expected_seconds"] / self.largest["seconds"]
        measured = busbw(self.largest)
        return (f"| {self.name} | {self.machine['op']} | {self.machine['label']} | {measured:.1f} | "
                f"{measured / ratio:.1f} | {ratio:.2f} | {self.largest['verdict']} | {self.largest['explanation']} |")

    def wrongly_judged(self):
        return self.largest["verdict"] in ("FAULT", "BELOW") if self.healthy else self.largest["verdict"] != "FAULT"


def calibration_of(program, folder, logs):
    published = bands.published_points(program, folder.parent / "scaleout/published.tsv", topology_of, best_rows)
    return bands.Calibration([*together([log for log in logs if log.healthy], lambda log: log.points), *published])


def percent(inside_of_total):
    inside, total = inside_of_total
    return f"{100 * inside / total:.0f} % of {total}" if total else "–"


def pair(values):
    return f"{statistics.median(values):.1f} / {ninth(values):.1f}" if values else "–"


def coverage_section(calibration):
    """Rows inside the bands, and errors, with every machine and with each left out."""
    text = ["## Bands, each machine left out in turn", "",
            "The band of a class and size is calibrated over the healthy logs above and over the points of published "
            "tables ([model.md](../model.md#the-band)). *Fitted*: rows inside the band that all machines gave. *Left "
            "out*: inside the one that all other machines gave, the machine having no part in its center, its spread or "
            "its width, which is what a machine that nobody has seen meets. The program's table is the fitted one.", "",
            *heading("size", "classes", "machines", "spreads", "fitted", "left out", words=2)]
    for size, (title, _) in enumerate(bands.SIZES):
        for group in (*bands.GROUPS, "all"):
            machines = len({key[2] for key in calibration.rows if key[1] == size and bands.within(key[0], group)})
            spreads = f"{calibration.spreads[(group, size)]:.2f}" if group in bands.GROUPS else "–"
            cells_of = [percent(calibration.coverage(size, left_out, group)) for left_out in (False, True)]
            text.append(f"| {title} | {group} | {machines} | {spreads} | {' | '.join(cells_of)} |")
    text.append(f"| all sizes | all | – | – | {percent(calibration.coverage(None, False))} | "
                f"{percent(calibration.coverage(None, True))} |")
    text += ["", "By class, where it has rows; errors are \\|measured/expected − 1\\| in %, median / nine in ten, "
             "against the model as it is, and *left out*: against the model × the median ratio of the class's other "
             "machines (as it is where there is no other).", "",
             *heading("class", "size", "machines", "band, low to high", "fitted", "left out", "errors",
                      "errors, left out", words=2)]
    for band_class in bands.IN_PROGRAM:
        for size, (title, _) in enumerate(bands.SIZES):
            machines = calibration.machines(band_class, size)
            if not machines:
                continue
            low, high = calibration.band(band_class, size)
            cells_of = [percent(calibration.coverage(size, left_out, band_class)) for left_out in (False, True)]
            errors_of = [pair(calibration.errors(size, band_class, left_out)) for left_out in (False, True)]
            text.append(f"| {band_class} | {title} | {machines} | {low:.2f} to {high:.2f} | "
                        f"{' | '.join(cells_of)} | "
                        f"{' | '.join(errors_of)} |")
    return text


def together(logs, values_of):
    return [value for log in logs for value in values_of(log)]


def document(logs, causes, calibration):
    healthy = [log for log in logs if log.healthy]
    tight = [log for log in healthy if log.tight]
    titles = [sizes.title for sizes in CLASSES]
    text = ["# Accuracy", "",
            "Task: look up how near the expectation comes to published logs of nccl-tests. Each log is imported and judged "
            "by the topology that a table beside the logs describes (GPU, NVLink rate, nodes, ranks per node, NICs and their "
            "rate, transport, healthy or bad); only the bands are fitted to such logs, and how well they hold on "
            "machines that are left out is said [below](#bands-each-machine-left-out-in-turn). *Tight* logs are of "
            "machines with NVLink, or with one GPU a node, and a known transport; the goals are for them: median / "
            "nine in ten, or two medians, from the topology alone and by the second line.", "",
            "Written by `research/accuracy.py`. busbw in GB/s, the better of out of place and in place, at the largest "
            "size.",
            "", "## Errors by size", "",
            "\\|measured/expected − 1\\| in %, median / nine in ten, over all rows of healthy logs.", "",
            *heading("class, method", *titles)]
    for kind, members in (("tight", tight), ("all", healthy)):
        for method in METHODS:
            text.append(f"| {kind}, {method} | {cells(together(members, lambda log, m=method: log.errors[m]))} |")
    text += ["| goals (tight) | " + " | ".join(sizes.goals for sizes in CLASSES) + " |", "",
             "Noise: \\|out of place/in place − 1\\| of busbw in %, median / nine in ten, over all rows of the "
             f"{sum(bool(log.noise) for log in healthy)} healthy logs that have both.", "", *heading("", *titles),
             f"| noise | {cells(together(healthy, lambda log: log.noise))} |", "", "## Each log", "",
             "| log | operation | label | measured | expected | ratio | verdict | explanation |",
             "| --- | --- | --- | ---: | ---: | ---: | --- | --- |", *(log.line() for log in logs), "",
             "## Errors of each healthy log, from the topology alone", "", *heading("log", "class", *titles, words=2)]
    text += [f"| {log.name} | {log.machine['class']} | {cells(log.errors[TOPOLOGY])} |" for log in healthy]
    text += ["", *coverage_section(calibration)]
    return "\n".join([*text, "", causes]).rstrip("\n") + "\n"


def written_causes(path):
    """What people wrote about the misses, which stays; empty in a file that is not there."""
    _, found, causes = (path.read_text(encoding="utf-8") if path.exists() else "").partition(CAUSES)
    return found + causes


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--program", type=pathlib.Path, default=pathlib.Path("build/release/src/collbench"))
    parser.add_argument("-o", "--output", type=pathlib.Path, default=pathlib.Path("docs/notes/accuracy.md"))
    arguments = parser.parse_args()
    logs = [Log(arguments.program, arguments.folder, machine) for machine in machines_of(arguments.folder)]
    causes = written_causes(arguments.output)
    calibration = calibration_of(arguments.program, arguments.folder, logs)
    text = document(logs, causes, calibration)
    arguments.output.write_text(text, encoding="utf-8")
    print(text.split("\n## Each log")[0].split("## Errors by size\n\n")[1])

    named = re.findall(r"\w+", causes)
    complaints = [f"{log.name}: healthy and called BELOW or a fault, or bad and no fault" for log in logs
                  if log.wrongly_judged()]
    inside, total = calibration.coverage(None, True)
    if abs(inside / total - bands.WANTED) > 0.03:
        complaints.append(f"{percent((inside, total))} rows of machines left out are inside the band")
    missing = [log.name for log in logs if log.healthy and log.tight and misses_a_goal(log.errors[TOPOLOGY])]
    complaints += [f"{name}: misses a goal, and '{CAUSES}' does not name it" for name in missing if name not in named]
    table = pathlib.Path(__file__).parent.parent / "analysis/models/nccl/bands.cpp"
    source = table.read_text(encoding="utf-8")
    if bands.with_table(source, calibration) != source:
        complaints.append(f"the bands of {table.name} are not what these logs give: run research/bands.py, and say why")
    for complaint in complaints:
        print(f"accuracy: {complaint}", file=sys.stderr)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
