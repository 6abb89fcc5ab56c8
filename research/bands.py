#!/usr/bin/env python3
"""How far healthy runs lie from the model, by class of machine and size: the table in analysis/models/nccl/bands.cpp.

usage: research/bands.py FOLDER [--program build/release/src/collbench] [-o analysis/models/nccl/bands.cpp]

FOLDER is that of research/accuracy.py (logs and MACHINES.tsv); ../scaleout/published.tsv beside it holds points of
published tables, of which those of machines that nobody called broken are taken, from 64 MiB on. Each row gives two
ratios of busbw: measured over the slowest algorithm that may run (the low side), and over the best one (the high side).

Rows of one machine depend on each other, so a machine counts once: by the 5 % quantile of its low side and the 95 %
one of its high side, as logarithms. A class's center and spread are those of its machines and of SHRINK machines'
worth of the next wider class (PARENTS), up to all machines. A band reaches `spreads` spreads beyond the center, wider by
Student's t where the machines are few (widening()), as a prediction interval for one more machine is. `spreads` is one
number for each class of sizes and each group of classes (GROUPS): that with which LEVEL of the group's rows lie inside
when each machine in turn is left out of center and spread.

LEVEL is more than WANTED, for a width that was fitted with a machine in it flatters that machine: with each machine left
out of the width as well, LEVEL is the one number, for all classes, that brings WANTED of the rows inside (± 3 %). No
band reaches farther than all rows of its group. Verdicts have ranges of their own (research/power.py). From FULL_RANKS ranks on, sizes count as if there were so many: what matters is
what each rank sends.
"""

import argparse
import collections
import csv
import functools
import json
import math
import pathlib
import re
import statistics
import subprocess
import tempfile
import typing

SIZES = (("≥ 1 GiB", 1 << 30), ("64 MiB–1 GiB", 64 << 20), ("64 KiB–64 MiB", 64 << 10), ("< 64 KiB", 0))
SHRINK = 2
WANTED = 0.9
LEVEL = 0.95
# Student's t, its 95 % quantile by degrees of freedom (tables); more than the last count as that.
T = (6.314, 2.920, 2.353, 2.132, 2.015, 1.943, 1.895, 1.860, 1.833, 1.812, 1.796, 1.782, 1.771, 1.761, 1.753)
NORMAL = 1.645
FULL_RANKS = 64
# A class's next wider one. Only the first eleven are in the program, in the order of its BandClass.
PARENTS = {"nvlink": "measured", "nvlink_rack": "open", "rdma": "measured", "many_nodes": "open", "efa": "plugins",
           "tcpx": "plugins", "plugin": "plugins", "exchange": "all", "pcie_switches": "pcie", "pcie_host": "pcie",
           "sockets": "open", "pcie": "all", "plugins": "open", "measured": "all", "open": "all", "all": ""}
# TCP, and RDMA through host memory: no healthy run was published, and their model is a ceiling. Under a tenth of it is
# what TCP gave where RDMA should have run.
CEILINGS_ONLY = {"sockets": 0.1}
GROUPS = ("nvlink", "rdma", "pcie", "exchange", "open")
IN_PROGRAM = tuple(PARENTS)[:11]
EXCHANGES = ("AllToAll", "SendRecv")
# Logs of one machine that differ in more than their last part; all others are machines of their own.
ONE_MACHINE = ("superbench_8xa100", "panlichen_8xv100", "panlichen_8xa100", "panlichen_2x4090", "mew0",
               "aws_adt_2node_1")
MANY_NODES = 8
GPUS_OF_A_BOARD = 8


class Published(typing.NamedTuple):
    """A machine of published.tsv: how its lines are known, what it is, and its class between nodes."""
    source: str
    name: str
    topology: typing.Any  # a reference machine, or a line as of MACHINES.tsv
    transport: str
    states_algorithm: bool = False
    nccl: str = ""  # NCCL_VERSION_CODE, where its source tells it: what decides the channels of its sends

    def told(self, operation):
        return self.nccl if operation == "sendrecv" else ""


def node(gpus, nics, gigabytes):
    return {"log": "published.tsv", "gpu": "A100", "nvlink_GBs_per_gpu(NCCL)": "240", "ranks_per_node": str(gpus),
            "nics": str(nics), "nic_GBs": str(gigabytes)}


# Left out: complaints (nccl#2409, nccl-tests#106), AMD, PyTorch's own timing, SHARP and CollNet (judge is not asked
# about them here), averages of rows that stand beside them, Scatter, and Polaris's AllToAll on 256 nodes: 2.9 GB/s at
# 64 MiB and 0.6 at 256 MiB is a network that collapses, and no healthy run.
PUBLISHED = (
    Published(r"^coreweave", "coreweave_gb200", "gb200-nvl72", "ib"),
    Published(r"57382123767", "azure_ndv5", "ndv5", "ib"),
    Published(r"66225889673(?!.*MD1)|66264445509", "slinky_b200", "hgx-b200", "ib", True),
    Published(r"66678924292", "use3a_b200", "hgx-b200", "ib", True),
    Published(r"^argonne", "polaris", node(4, 2, 25), "plugin"),
    Published(r"^xxrjun", "xxrjun_h100", "hgx-h100", "ib", nccl="22902"),
    Published(r"66195978878", "h100_nccl_2.28", "hgx-h100", "ib", True),
    Published(r"63121195579", "b200_2026_08", "hgx-b200", "ib"),
    Published(r"nccl#527", "p4d", node(8, 4, 12.5), "efa"),
    Published(r"^alps\.tsv", "alps", "alps", "plugin"),
)
# nccl-tests' name, reduction, root, busbw/algbw by ranks; ours.
OPERATIONS = {
    "all_reduce": ("AllReduce", "sum", -1, lambda n: 2 * (n - 1) / n, "all_reduce", True),
    "all_gather": ("AllGather", "none", -1, lambda n: (n - 1) / n, "all_gather", False),
    "reduce_scatter": ("ReduceScatter", "sum", -1, lambda n: (n - 1) / n, "reduce_scatter", False),
    "alltoall": ("AllToAll", "none", -1, lambda n: (n - 1) / n, "all_to_all", False),
    "sendrecv": ("SendRecv", "sum", -1, lambda n: 1, "send_recv", True),
    "broadcast": ("Broadcast", "none", 0, lambda n: 1, "broadcast", True),
}
HEADING = "# size count type redop root time algbw busbw #wrong time algbw busbw #wrong"


class Point(typing.NamedTuple):
    machine: str
    band_class: str
    size: int
    low: float   # measured busbw over that of the slowest algorithm that may run
    high: float  # over that of the best


def size_class(size, band_class=""):
    """Sends and receives are too few to be told apart from 64 MiB on."""
    index = next(index for index, (_, least) in enumerate(SIZES) if size >= least)
    return 0 if band_class == "exchange" and index == 1 else index


def machine_of(log):
    return next((name for name in ONE_MACHINE if log.startswith(name)),
                "p5" if log.startswith("aws_adt_2node") else log.rsplit(".", 1)[0])


def class_of(operation, nodes, ranks_per_node, nvlink, transport, rack=False):
    """As band_class() in the program."""
    domains = -(-nodes // 18) if rack else nodes
    if domains > 1 and operation in EXCHANGES:
        return "exchange"
    if not nvlink and ranks_per_node > 1:
        return "pcie_host"
    if rack and nodes * ranks_per_node > GPUS_OF_A_BOARD:
        return "nvlink_rack"
    if domains == 1:
        return "nvlink"
    known = {"ib": "rdma", "roce": "rdma", "efa": "efa", "tcpx": "tcpx", "tcpxo": "tcpx"}.get(transport, "plugin")
    return "many_nodes" if domains > MANY_NODES and known != "plugin" else known


def points(record, machine, ranks, class_of_row):
    found = []
    for row in record:
        if not row["expected_seconds"]:
            continue
        known = row.get("algorithm_ran", "auto") != "auto"
        slowest = row["expected_seconds"] if known else row["ring_seconds"] or row["expected_seconds"]
        size = row["size_bytes"] * min(1, FULL_RANKS / ranks)
        found.append(Point(machine, class_of_row(row), size, slowest / row["seconds"],
                           row["expected_seconds"] / row["seconds"]))
    return found


def points_of_log(machine, rows):
    """Of a line of MACHINES.tsv and its judged rows."""
    nvlink = float(machine["nvlink_GBs_per_gpu(NCCL)"]) > 0
    ranks = int(machine["nodes"]) * int(machine["ranks_per_node"])
    return points(rows, machine_of(machine["log"]), ranks, lambda row: class_of(
        row["operation"], int(machine["nodes"]), int(machine["ranks_per_node"]), nvlink, machine["transport"]))


def algorithm_stated(settings, operation, nodes):
    if operation != "all_reduce":
        return ""
    if "Ring" in settings:
        return "RING"
    return "TREE" if settings.startswith("Tree") else "NVLS" if nodes == 1 else "NVLS_TREE"


def as_log(operation, ranks, sizes, algorithm, nccl=""):
    """A log of nccl-tests with these points (size: busbw) in it, and NCCL's version where it is told."""
    name, reduction, root, factor, _, whole = OPERATIONS[operation]
    lines, chosen = [HEADING], [f"# nccl-tests version 2.17.8 nccl-headers={nccl} nccl-library={nccl}"] if nccl else []
    for size, busbw in sorted(sizes.items()):
        blocks = 1 if whole else ranks
        count = size // 4 // blocks
        size = 4 * count * blocks
        micros = factor(ranks) * size / busbw / 1e3
        half = f"{micros:.4f} {size / micros / 1e3:.6f} {busbw:.6f} N/A"
        lines.append(f"{size} {count} float {reduction} {root} {half} {half}")
        if algorithm:
            chosen.append(f"n:1:2 [0] NCCL INFO {name}: {size} Bytes -> Algo {algorithm} proto SIMPLE "
                          "channel{Lo..Hi}={0..15}")
    return "\n".join([*chosen, *lines, "# Out of bounds values : 0 OK"]) + "\n"


def published_series(path):
    """(machine, nodes, ranks, operation, algorithm): {size: busbw}, one for each line of settings and kind."""
    series = collections.defaultdict(dict)
    with open(path, encoding="utf-8") as table:
        for line in csv.DictReader(table, delimiter="\t"):
            settings = line["settings"] or ""
            machine = next((each for each in PUBLISHED if re.search(each.source, line["source"])), None)
            if (machine is None or line["op"] not in OPERATIONS or not line["size_bytes"].isdigit()
                    or "SHARP" in settings or "COLLNET" in settings
                    or (machine.name == "azure_ndv5" and line["kind"].startswith("avg"))
                    or (machine.name == "polaris" and line["op"] == "alltoall" and line["nodes"] == "256")):
                continue
            algorithm = algorithm_stated(settings, line["op"], int(line["nodes"])) if machine.states_algorithm else ""
            key = (machine.name, int(line["nodes"]), int(line["gpus"]), line["op"], algorithm, settings, line["kind"],
                   line["source"])
            series[key][int(line["size_bytes"])] = float(line["busbw_GBs"])
    return series


def alps_series(path):
    """The same of alps.tsv: of each size the quickest setting with right results, for the others wait for strangers."""
    series = collections.defaultdict(dict)
    with open(path, encoding="utf-8") as table:
        for line in csv.DictReader(table, delimiter="\t"):
            if line["wrong_oop"] == line["wrong_ip"] == "0":
                of_size = series[("alps", int(line["nodes"]), int(line["ranks"]), line["op"], "")]
                busbw = max(float(line["busbw_oop"]), float(line["busbw_ip"]))
                of_size[int(line["size_bytes"])] = max(busbw, of_size.get(int(line["size_bytes"]), 0))
    return series


def command(*words):
    result = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False)
    if result.returncode not in (0, 1):  # 1 is BELOW
        raise SystemExit(f"bands: {' '.join(map(str, words))}: {result.stderr.strip()}")
    return result.stdout


def published_points(program, path, topology_of, best_rows):
    if not path.exists():
        return []
    found = []
    with tempfile.TemporaryDirectory() as folder:
        log, record, topology = (pathlib.Path(folder) / name for name in ("log.txt", "run.json", "node.json"))
        series = {**published_series(path), **alps_series(path.parent / "alps.tsv")}
        for (name, nodes, ranks, operation, algorithm, *_), sizes in series.items():
            machine = next(each for each in PUBLISHED if each.name == name)
            log.write_text(as_log(operation, ranks, sizes, algorithm, machine.told(operation)), encoding="utf-8")
            record.unlink(missing_ok=True)
            command(program, "judge", log, "--operation", OPERATIONS[operation][4], "--nodes", nodes,
                    "--ranks-per-node", ranks // nodes, "-o", record)
            place = machine.topology
            if isinstance(place, dict):
                topology.write_text(json.dumps(topology_of(place)), encoding="utf-8")
                place = topology
            judged = json.loads(command(program, "judge", record, "--topology", place, "--transport",
                                        machine.transport, "--format", "json"))
            job = (nodes, ranks // nodes, True, machine.transport, machine.topology == "gb200-nvl72")
            found += points(best_rows(judged), machine.name, ranks,
                            lambda row, job=job: class_of(row["operation"], *job))
    return [point for point in found if point.size >= SIZES[1][1] or point.machine == "alps"]


def quantile(values, share):
    values = sorted(values)
    at = share * (len(values) - 1)
    below = int(at)
    above = min(below + 1, len(values) - 1)
    return values[below] + (at - below) * (values[above] - values[below])


def within(band_class, node_):
    while band_class and band_class != node_:
        band_class = PARENTS[band_class]
    return band_class == node_


def group_of(band_class):
    return next(group for group in GROUPS if within(band_class, group))


def widening(machines):
    """What a prediction interval of so many machines is wider by than that of many."""
    count = max(2, machines)
    return T[min(count - 2, len(T) - 1)] * math.sqrt(1 + 1 / count) / NORMAL


class Calibration:
    """Bands of all classes and sizes, from all machines or without one."""

    def __init__(self, all_points):
        self.points = list(all_points)
        self.rows = collections.defaultdict(list)  # (class, size class, machine)
        for point in self.points:
            self.rows[(point.band_class, size_class(point.size, point.band_class), point.machine)].append(point)
        self.edges = {key: (math.log(quantile([row.low for row in rows], 0.05)),
                            math.log(quantile([row.high for row in rows], 0.95))) for key, rows in self.rows.items()}
        self.spreads = {(group, size): self._fitting_spreads(group, size)
                        for group in GROUPS for size in range(len(SIZES))}

    @functools.cached_property
    def unseen(self):
        """machine → the calibration that never saw it."""
        names = {point.machine for point in self.points}
        return {name: Calibration([point for point in self.points if point.machine != name]) for name in names}

    def machines(self, band_class, size, without=None):
        return sum(key[:2] == (band_class, size) and key[2] != without for key in self.rows)

    @functools.cache
    def _center(self, band_class, size, side, without):
        values = [edges[side] for (kind, of_size, machine), edges in self.edges.items()
                  if of_size == size and machine != without and within(kind, band_class)]
        parent = PARENTS[band_class]
        if not parent:
            return statistics.mean(values), statistics.stdev(values)
        center, spread = self._center(parent, size, side, without)
        if not values:
            return center, spread
        share = len(values) + SHRINK
        center = (sum(values) + SHRINK * center) / share
        return center, math.sqrt((sum((value - center) ** 2 for value in values) + SHRINK * spread ** 2) / share)

    def _weight(self, band_class, size, without):
        """The machines that a class's center stands on; one without any is the next wider one."""
        own = sum(key[1] == size and key[2] != without and within(key[0], band_class) for key in self.rows)
        parent = PARENTS[band_class]
        return own + SHRINK if own or not parent else self._weight(parent, size, without)

    def _edge(self, band_class, size, side, without, spreads):
        """The edge so many spreads out, as a logarithm, below (side 0) or above (1)."""
        center, spread = self._center(band_class, size, side, without)
        reach = spreads * widening(self._weight(band_class, size, without)) * spread
        return center + reach if side else center - reach

    def band(self, band_class, size):
        size = size_class(SIZES[size][1], band_class)
        spreads = self.spreads[(group_of(band_class), size)]
        lowest = math.exp(self._edge(band_class, size, 0, None, spreads))
        highest = math.exp(self._edge(band_class, size, 1, None, spreads))
        return min(lowest, CEILINGS_ONLY.get(band_class, lowest)), max(1.0, highest)

    def _rows(self, size, node_):
        """(class, rows, the calibration that never saw them)."""
        return [(kind, rows, self.unseen[machine]) for (kind, of_size, machine), rows in self.rows.items()
                if (size is None or of_size == size) and within(kind, node_)]

    def coverage(self, size, left_out, node_="all"):
        """(rows inside, rows), by the band of all machines or by that of all others; of every size for None."""
        inside = total = 0
        for kind, rows, others in self._rows(size, node_):
            low, high = (others if left_out else self).band(kind, size_class(rows[0].size, kind))
            inside += sum(low <= row.low and row.high <= high for row in rows)
            total += len(rows)
        return inside, total

    def _spreads_to_hold(self, row, band_class, size, machine=None):
        """How many spreads the band (of the other machines) must reach for the row to be inside."""
        needed = 0.0
        for side, value in ((0, row.low), (1, row.high)):
            center, spread = self._center(band_class, size, side, machine)
            beyond = center - math.log(value) if side == 0 else math.log(value) - center
            if side == 0 or value > 1:
                needed = max(needed, beyond / (spread * widening(self._weight(band_class, size, machine))))
        return needed

    def _fitting_spreads(self, group, size):
        members = {key[2] for key in self.rows if key[1] == size and within(key[0], group)}
        group = group if len(members) > 1 else "all"  # one machine says nothing of another
        rows = [(row, kind, size, machine) for (kind, of_size, machine), each in self.rows.items()
                if of_size == size and within(kind, group) for row in each]
        needed = sorted(self._spreads_to_hold(*row) for row in rows)[math.ceil(LEVEL * len(rows)) - 1]
        # Where the few machines differ as never seen otherwise: no farther than all that was measured.
        farthest = max(self._spreads_to_hold(*row[:3]) for row in rows)
        # Rounded up to twentieths: more would pretend to be exact.
        return math.ceil(20 * min(needed, farthest)) / 20

    def errors(self, size, band_class, left_out):
        """|measured over expected, less 1| in %, the expected one as it is, or by the other machines' median ratio."""
        found = []
        for (kind, of_size, machine), rows in self.rows.items():
            if of_size != size or kind != band_class:
                continue
            others = [row.high for (k, s, m), each in self.rows.items() for row in each
                      if s == size and k == band_class and m != machine]
            scale = statistics.median(others) if left_out and others else 1
            found += [100 * abs(row.high / scale - 1) for row in rows]
        return found


def edge_text(edge):
    return f"{edge:.2f}" if edge >= 0.1 else f"{max(edge, 0.001):.3f}"


def table(calibration):
    lines = []
    for band_class in IN_PROGRAM:
        cells = []
        for size in range(len(SIZES)):
            low, high = calibration.band(band_class, size)
            machines = calibration.machines(band_class, size_class(SIZES[size][1], band_class))
            cells.append(f"{{{', '.join(map(edge_text, (low, high)))}, {machines}}}")
        lines.append(f"    {{{{{', '.join(cells)}}}}},  // {band_class}")
    return "\n".join(lines)


def with_table(source, calibration):
    begin = source.index("kBands{{\n") + len("kBands{{\n")
    end = source.index("\n}};", begin)
    return source[:begin] + table(calibration) + source[end:]


def main():
    import accuracy  # which imports this file

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--program", type=pathlib.Path, default=pathlib.Path("build/release/src/collbench"))
    parser.add_argument("-o", "--output", type=pathlib.Path, default=pathlib.Path("analysis/models/nccl/bands.cpp"))
    arguments = parser.parse_args()
    logs = [accuracy.Log(arguments.program, arguments.folder, machine)
            for machine in accuracy.machines_of(arguments.folder)]
    calibration = accuracy.calibration_of(arguments.program, arguments.folder, logs)
    source = arguments.output.read_text(encoding="utf-8")
    arguments.output.write_text(with_table(source, calibration), encoding="utf-8")
    print("\n".join(accuracy.coverage_section(calibration)))


if __name__ == "__main__":
    main()
