#!/usr/bin/env python3
"""How much of a loss the verdict sees: published healthy runs, every rate of them multiplied by a factor, judged again.

usage: research/power.py FOLDER [--program build/release/src/collbench] [-o docs/notes/power.md]
                                [--table analysis/models/nccl/healthy_ranges.cpp]

FOLDER is that of research/accuracy.py. A factor is applied to the text of the log (all rows; times by its inverse), and
the program reads it as a user's file: judge, by what is told of the machine. `words` are the program's; its ranges were
made with each of these machines in them (--table writes them), so `left out` is the same rule with the ranges that all
other machines give. That rule is stated here a second time (word_of), and the script ends with 1 where it does not give
the program's words by the program's ranges, and where the program's table is not what it would write. Losses of links
have no log: `predict` gives the rates of the damaged machine, and they are judged by the healthy one's name.

Ranges are of a class of machines and sizes (from 1 GiB on, and from 64 MiB on): each machine's slowest and quickest run, as
measured over expected at its three largest sizes, the slower of in and out of place. BELOW lies under the slowest
machine (by 3 %, or by a share that grows where one or two machines are all there is), SOUND begins where 85 % of the
machines are, at 0.80 or more, and above 0.8 × the quickest.
"""

import argparse
import bisect
import collections
import functools
import json
import math
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import typing

import accuracy
import bands

FACTORS = (1, 0.95, 0.9, 0.8, 0.7, 0.5, 0.3)
# From the one that says most good of a machine to the one that says least.
WORDS = ("SOUND", "none", "UNCLEAR", "BELOW", "FAULT")
PASSED, FOUND = WORDS[:1], WORDS[3:]
LARGE, ROWS = 64 << 20, 3  # verdict.cpp: which rows a verdict is about
FAULT_BELOW, COLLAPSE, OVERTAKEN, FAR_LARGER, COLLAPSE_FROM, BOARD_GPUS = 0.5, 3, 1.5, 8, 1 << 20, 8
ALGORITHMS = ("ring_seconds", "tree_seconds", "nvls_seconds")
SMALLEST = (1 << 30, 64 << 20)  # of a class of sizes, in the order of healthy_ranges.cpp
CLASSES = ("nvlink", "nvlink_rack", "rdma", "many_nodes", "efa", "tcpx", "plugin", "exchange", "send_recv", "pcie")
KNOWN_NETWORKS = ("ib", "roce", "efa", "tcpx", "tcpxo")
SOCKETS = "    {{{0, kNever, 1.10, 0}, {0, kNever, 1.10, 0}}},  // sockets"  # no sound run was published
SOUND_SHARE, LEAST_SOUND, MOST_SOUND = 0.15, 0.80, 0.95
# Above what a sound machine reaches: of few machines the model may be too low by more than they show.
LEAST_HIGH, LEAST_HIGH_OF_FEW = 1.05, 1.15
# Of the slowest machine, by how many there are; the last one holds for more.
BELOW_SLOWEST = (0.75, 0.85, 0.97)
# Not what a sound machine gives: its AllReduce is 0.62 and 0.71 of the ring's rate, which its AllGather and
# ReduceScatter reach.
NO_REFERENCE = (("b200_2026_08", "AllReduce"),)
NARROW, NARROW_MACHINES = 0.15, 3
# The reference machine of a log, as the column `source` of MACHINES.tsv has it; the others have none.
NAMES = {"superbench_8xa100": "hgx-a100", "panlichen_8xv100": "dgx-1v", "panlichen_8xa100": "a100-pcie",
         "oci_2node": "oci-h100", "gke_a3mega": "a3-mega", "deepops_netop": "dgx-a100", "deepops_slurm": "dgx-a100",
         "azure_aks": "ndv4", "aws_adt_2node_1": "p4de", "aws_adt_2node": "p5"}
NAME, ALGORITHM, FILE, NOTHING = TOLD = ("name", "name, algorithm", "file", "nothing")
# time, algbw, busbw; errors, or how large the largest is, follow.
TIMES = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)(\s+)(\d+\.\d{2,})(\s+)(\d+\.\d{2,})(?=\s+(?:N/A|\d+(?:e[-+]\d+)?)(?![.\d]))")
SIZE = re.compile(r"(?<![\w.])(\d+)\s+\d+\s+(?:float|double|half|bfloat16|u?int\d+)\b")
FIVE = ("all_reduce", "all_gather", "reduce_scatter", "all_to_all", "send_recv")
LOST_ON = "hgx-h100"


class Run(typing.NamedTuple):
    """One log, and all that is told of it."""
    name: str
    machine: str
    text: str
    told: str
    options: tuple  # of judge, beside the topology
    topology: typing.Any  # a reference machine, or a description that becomes a file
    class_of: typing.Callable  # of an operation, as bands.py has it
    transport: str = ""
    nodes: int = 1


class Range(typing.NamedTuple):
    below: float
    sound: float
    high: float
    machines: int = 0


class Series(typing.NamedTuple):
    """What is asked of the rows of one run and operation: a word for each factor, by the program and left out."""
    run: Run
    operation: str
    band_class: str
    ratio: float  # measured over expected, of the largest rows
    expected_by: str
    rows: int    # that the ratio is a median of
    words: dict
    left_out: dict


def with_decimals_of(printed, value):
    return f"{value:.{len(printed.partition('.')[2])}f}"


def scaled(text, factor, busbw_over_algbw):
    """The log of a run whose rates are all so many times what they were.

    All columns follow from the time, as in nccl-tests: the program takes the operation from how they are rounded.
    """
    sizes = [(found.start(), int(found[1])) for found in SIZE.finditer(text)]

    def row(found):
        time, gap, algbw, other_gap, busbw = found.groups()
        longer = with_decimals_of(time, float(time) / factor)
        size = sizes[bisect.bisect(sizes, (found.start(),)) - 1][1]
        rate = size / float(longer) / 1e3 if float(longer) else 0
        return (f"{longer}{gap}{with_decimals_of(algbw, rate)}{other_gap}"
                f"{with_decimals_of(busbw, rate * busbw_over_algbw)}")
    return text if factor == 1 else TIMES.sub(row, text)


def text_of(path):
    return path.read_bytes().decode("utf-8", "surrogateescape")


def interval(count, total):
    """Clopper and Pearson's 95 % interval of a share: by halving, for the standard library has no quantile of it."""
    def tail(share, counts):
        return sum(math.comb(total, k) * share ** k * (1 - share) ** (total - k) for k in counts)

    def where(is_below):
        low, high = 0.0, 1.0
        for _ in range(40):
            middle = (low + high) / 2
            low, high = (middle, high) if is_below(middle) else (low, middle)
        return low

    lowest = where(lambda share: tail(share, range(count, total + 1)) < 0.025) if count else 0.0
    highest = where(lambda share: tail(share, range(count + 1)) > 0.025) if count < total else 1.0
    return lowest, highest


class Program:
    def __init__(self, program, scratch):
        self.program, self.scratch = program, pathlib.Path(scratch)

    def call(self, *words):
        return subprocess.run([str(word) for word in (self.program, *words)], capture_output=True, text=True,
                              check=False)

    def read(self, *words):
        result = self.call(*words)
        if result.returncode not in (0, 1):  # 1 is BELOW or FAULT
            raise SystemExit(f"power: {' '.join(map(str, words))}: {result.stderr.strip()}")
        return json.loads(result.stdout)

    def judged(self, run, factor=1, busbw_over_algbw=1):
        """The record of the scaled log, judged; None where the program asks for what the log does not say."""
        log, topology = self.scratch / "log.txt", self.scratch / "node.json"
        log.write_bytes(scaled(run.text, factor, busbw_over_algbw).encode("utf-8", "surrogateescape"))
        place = run.topology
        if not isinstance(place, str):
            topology.write_text(json.dumps(accuracy.topology_of(place)), encoding="utf-8")
            place = topology
        if run.told == NOTHING:
            result = self.call("judge", log, "--format", "json")
            return json.loads(result.stdout) if result.returncode in (0, 1) else None
        return self.read("judge", log, "--topology", place, *run.options, "--format", "json")


def series_of(record, wanted=max):
    """As verdict.cpp: the rows of an operation, type, reduction and algorithm, by size, the slower of both places."""
    found = collections.defaultdict(dict)
    for row in record["rows"] if record else []:
        if row["seconds"]:
            of_size = found[tuple(row[name] for name in ("operation", "type", "reduction", "algorithm"))]
            known = of_size.get(row["size_bytes"])
            of_size[row["size_bytes"]] = wanted((row, known or row), key=lambda each: each["seconds"])
    return {key: [rows[size] for size in sorted(rows)] for key, rows in found.items()}


def largest(rows):
    return [row for row in rows if row["expected_seconds"] and row["size_bytes"] >= LARGE][-ROWS:]


def median_ratio(rows, seconds_of):
    return statistics.median(seconds_of(row) / row["seconds"] for row in rows)


def expected(row):
    return row["expected_seconds"]


def other_algorithm(rows, low, high):
    """Whether the rows have another algorithm's rate, and may have run it."""
    if all(row["algorithm_ran"].split("/")[0] == row["expected_by"] for row in rows):
        return False
    return any(all(row[name] and abs(row[name] / expected(row) - 1) > 0.01 for row in rows)
               and low <= median_ratio(rows, lambda row, name=name: row[name]) <= high for name in ALGORITHMS)


def likely_seconds(rows, index):
    if not index or not expected(rows[index - 1]):
        return math.inf
    size, before = rows[index]["size_bytes"], rows[index - 1]
    if index + 1 == len(rows):
        return before["seconds"] * size / before["size_bytes"]
    after = rows[index + 1]
    if not expected(after):
        return math.inf
    part = (size - before["size_bytes"]) / (after["size_bytes"] - before["size_bytes"])
    return before["seconds"] + part * (after["seconds"] - before["seconds"])


def collapses(rows):
    for index, row in enumerate(rows):
        if row["size_bytes"] >= COLLAPSE_FROM and expected(row) and row["seconds"] > COLLAPSE * expected(row) and (
                any(expected(larger) and row["seconds"] > larger["seconds"] * (
                    OVERTAKEN if larger["size_bytes"] < FAR_LARGER * row["size_bytes"] else 1) for larger in rows[index + 1:])
                or row["seconds"] > COLLAPSE * likely_seconds(rows, index)):
            return True
    return False


def word_of_largest(large, range_of, is_known):
    middle = range_of(large[::-1][len(large) // 2])
    if median_ratio(large, lambda row: expected(row) / range_of(row).high) > 1:
        return "UNCLEAR"
    if median_ratio(large, lambda row: expected(row) / range_of(row).sound) >= 1:
        return "SOUND"
    if median_ratio(large, lambda row: expected(row) / range_of(row).below) >= 1:
        return "UNCLEAR"
    if other_algorithm(large, middle.below, middle.high) and (not is_known or large[-1]["expected_by"] == "tree"):
        return "UNCLEAR"
    ring = median_ratio(large, lambda row: row["ring_seconds"] or expected(row))
    return "FAULT" if ring < FAULT_BELOW else "BELOW"


def word_of(rows, quicker, range_of, is_known):
    """judge_series() of verdict.cpp for rows without intervals; range_of: of a row, what it is judged by."""
    if not any(expected(row) for row in rows):
        return "none"
    word, large = "UNCLEAR", largest(rows)
    if large:
        word = word_of_largest(large, range_of, is_known)
        quick = largest(quicker)
        if (word == "BELOW" and all(row["in_place"] and row["operation"] == "all_gather" for row in quick)
                and median_ratio(quick, lambda row: expected(row) / range_of(row).sound) >= 1
                and median_ratio(quick, lambda row: expected(row) / range_of(row).high) <= 1):
            word = "UNCLEAR"  # slow by a rank's own copy
        for row in large:
            edges = range_of(row)
            if word not in FOUND and expected(row) / row["seconds"] < edges.below:
                word = "BELOW" if edges.below == edges.sound else "UNCLEAR" if word == "SOUND" else word
    return "BELOW" if word not in FOUND and collapses(quicker) else word


def choice_is_known(record):
    """By NCCL's version and with all GPUs of a board: what it takes is what is expected."""
    nodes = len({rank["node"] for rank in record["ranks"]})
    return bool(record["versions"]["nccl"]) and len(record["ranks"]) / max(nodes, 1) >= BOARD_GPUS


def program_range(row):
    found = row["healthy_range"]
    return Range(found["below"], math.inf if found["sound"] is None else found["sound"], found["high"])


def healthy_class(band_class, operation, transport, nodes):
    """As healthy_class() in the program."""
    if band_class.startswith("pcie"):
        return "pcie" if nodes == 1 or transport in KNOWN_NETWORKS else "plugin"
    if band_class != "nvlink" and transport not in KNOWN_NETWORKS:
        return "plugin"
    return "send_recv" if band_class == "exchange" and operation == "SendRecv" else band_class


def size_index(size, ranks):
    return 0 if size * min(1, bands.FULL_RANKS / ranks) >= SMALLEST[0] else 1


class HealthyRanges:
    """What machines make of what is expected, by class and size; `without` leaves one out."""

    def __init__(self):
        self.ratios = collections.defaultdict(lambda: collections.defaultdict(list))  # (class, size): machine: ratios

    def add(self, healthy, machine, operation, rows, ranks):
        for index, (low, high) in enumerate(((SMALLEST[0], math.inf), (SMALLEST[1], SMALLEST[0]))):
            few = [row for row in rows if expected(row) and low <= row["size_bytes"] * min(1, bands.FULL_RANKS / ranks) < high
                   and row["size_bytes"] >= LARGE][-ROWS:]
            if not few or (machine, operation) in NO_REFERENCE:
                continue
            ratios = [median_ratio(few, expected)]
            # Where nobody told what ran, and it is well below what is expected, the ring may have.
            if ratios[0] < LEAST_SOUND and not all(row["algorithm_ran"].split("/")[0] == row["expected_by"] for row in few):
                ratios.append(median_ratio(few, lambda row: row["ring_seconds"] or 0))
            ratio = next((each for each in ratios if LEAST_SOUND <= each <= 1.1), ratios[0])
            self.ratios[(healthy, index)][machine].append(ratio)

    @functools.cache
    def range(self, healthy, index, without=None):
        machines = {name: ratios for name, ratios in self.ratios[(healthy, index)].items() if name != without}
        if not machines:
            if index:
                return self.range(healthy, 0, without)._replace(machines=0)
            # No other machine of the class: the widest one.
            return Range(min(self.range(each, 0).below for each in CLASSES if each != healthy), MOST_SOUND,
                         LEAST_HIGH_OF_FEW)
        slowest, quickest = [min(each) for each in machines.values()], max(max(each) for each in machines.values())
        few = max(0, 1 - 0.1 / len(machines)) if len(machines) < len(BELOW_SLOWEST) else 1
        sound = max(LEAST_SOUND, 0.8 * quickest + 0.02, bands.quantile(slowest, SOUND_SHARE) * few)
        return Range(min(slowest) * BELOW_SLOWEST[min(len(machines), len(BELOW_SLOWEST)) - 1], min(MOST_SOUND, sound),
                     max(LEAST_HIGH if len(machines) >= len(BELOW_SLOWEST) else LEAST_HIGH_OF_FEW, 1.03 * quickest),
                     len(machines))

    def table(self):
        lines = []
        for healthy in (*CLASSES[:CLASSES.index("send_recv")], "pcie_switches", "pcie_host", "send_recv"):
            kind = "pcie" if healthy.startswith("pcie") else healthy
            cells = [self.range(kind, index) for index in range(len(SMALLEST))]
            if healthy == "pcie_switches":  # none was published
                cells = [each._replace(machines=0) for each in cells]
            words = ", ".join(f"{{{each.below:.2f}, {each.sound:.2f}, {each.high:.2f}, {each.machines}}}" for each in cells)
            lines.append(f"    {{{{{words}}}}},  // {healthy}")
        lines.insert(-1, SOCKETS)
        return "\n".join(lines)


def check_factor(run, factor, healthy, record):
    """That the program read what was meant: every time of it."""
    before, after = ([row["seconds"] for row in each["rows"]] for each in (healthy, record))
    if len(before) != len(after) or any(abs(b - a * factor) > 1e-3 * b + 6e-7 for b, a in zip(before, after)):
        raise SystemExit(f"power: {run.name}: its rates are not × {factor} of what they were")


def severity(word):
    return WORDS.index(word)


class Judged(typing.NamedTuple):
    """A run, and the program's record of it for each factor."""
    run: Run
    records: dict

    def healthy_class(self, operation):
        return healthy_class(self.run.class_of(operation), operation, self.run.transport, self.run.nodes)

    @staticmethod
    def has_one_range(rows, ranks):
        """The record has the range of the middle one of the largest rows; of others it may be another."""
        large = largest(rows)
        one = len({size_index(row["size_bytes"], ranks) for row in large}) == 1
        return len(large) == 1 or (one and "limit" not in large[0]["healthy_range"]["source"])

    def judged(self, ranges):
        """A Series for each operation."""
        words, left_out = (collections.defaultdict(lambda: collections.defaultdict(list)) for _ in range(2))
        ratios = collections.defaultdict(list)
        for factor, record in self.records.items():
            known, ranks = choice_is_known(record), max(1, len(record["ranks"]))
            quicker_of = series_of(record, min)
            for key, rows in series_of(record).items():
                # Where no machine is known, the run has the word and no row has.
                unknown = (record["yardstick"] or {}).get("kind") == "unknown"
                operation, word = key[0], rows[-1]["verdict"] or ("UNCLEAR" if unknown else "none")
                words[operation][factor].append(word)
                if self.run.told == NOTHING:
                    continue
                if self.has_one_range(rows, ranks):
                    again = word_of(rows, quicker_of[key], program_range, known)
                    if again != word:
                        raise SystemExit(f"power: {self.run.name} × {factor} by {self.run.told}: {word}, and word_of() gives "
                                         f"{again}: it is not the program's rule any more")
                healthy = self.healthy_class(operation)
                left_out[operation][factor].append(word_of(rows, quicker_of[key], lambda row, healthy=healthy: ranges.range(
                    healthy, size_index(row["size_bytes"], ranks), self.run.machine), known))
                if factor == 1 and largest(rows):
                    ratios[operation].append((median_ratio(largest(rows), expected), largest(rows)[-1]["expected_by"],
                                              len(largest(rows))))

        def worse(of_factors):
            return {factor: max(each, key=severity) for factor, each in of_factors.items()}
        return [Series(self.run, operation, self.healthy_class(operation),
                       *min(ratios[operation], default=(math.nan, "", 0)), worse(words[operation]),
                       worse(left_out[operation])) for operation in words]


def judge(program, run):
    """None where the program asks for what the log does not say."""
    healthy = program.judged(run)
    if healthy is None:
        return None
    rates = healthy["rows"][-1]["rates"]
    over = rates["bus_bandwidth_gb_per_s"] / rates["algorithm_bandwidth_gb_per_s"]
    records = {factor: program.judged(run, factor, over) for factor in FACTORS}
    for factor, record in records.items():
        check_factor(run, factor, healthy, record)
    return Judged(run, records)


def refused(run):
    return Series(run, "?", "-", math.nan, "", 0, dict.fromkeys(FACTORS, "none"), {})


def ranges_of(all_judged):
    ranges = HealthyRanges()
    for each in all_judged:
        if each.run.told != NOTHING:
            for key, rows in series_of(each.records[1]).items():
                ranges.add(each.healthy_class(key[0]), each.run.machine, key[0], rows, max(1, len(each.records[1]["ranks"])))
    return ranges


def runs_of_logs(folder):
    for machine in accuracy.machines_of(folder):
        if machine["label"] != "ok":
            continue
        text = text_of(folder / machine["log"])
        operation = ("--operation", accuracy.EXTRA[machine["log"]]) if machine["log"] in accuracy.EXTRA else ()
        job = ("--nodes", machine["nodes"], "--ranks-per-node", machine["ranks_per_node"], *operation)
        transport = () if machine["transport"] == "-" else ("--transport", machine["transport"])
        name = next((each for log, each in NAMES.items() if machine["log"].startswith(log)), None)

        def class_of(kind, machine=machine):
            return bands.class_of(kind, int(machine["nodes"]), int(machine["ranks_per_node"]),
                                  float(machine["nvlink_GBs_per_gpu(NCCL)"]) > 0, machine["transport"])
        run = Run(machine["log"].rsplit(".", 1)[0], bands.machine_of(machine["log"]), text, FILE,
                  (*job, *transport), machine, class_of, machine["transport"], int(machine["nodes"]))
        yield run
        if name:
            yield run._replace(told=NAME, options=job, topology=name)
        yield run._replace(told=NOTHING, options=())


def runs_of_tables(table):
    """Points of published tables, of which logs are made; so there is nothing to read in them."""
    for key, sizes in bands.published_series(table).items() if table.exists() else ():
        name, nodes, ranks, operation, algorithm, *_ = key
        machine = next(each for each in bands.PUBLISHED if each.name == name)
        named = isinstance(machine.topology, str)

        def class_of(kind, job=(nodes, ranks // nodes, True, machine.transport, machine.topology == "gb200-nvl72")):
            return bands.class_of(kind, *job)
        words = [name, operation, f"{nodes} nodes", algorithm]
        yield Run(" ".join(filter(None, words)), name, bands.as_log(operation, ranks, sizes, algorithm, machine.told(operation)),
                  (ALGORITHM if algorithm else NAME) if named else FILE,
                  ("--operation", bands.OPERATIONS[operation][4], "--nodes", str(nodes), "--ranks-per-node",
                   str(ranks // nodes), "--transport", machine.transport), machine.topology, class_of, machine.transport,
                  nodes)


class Unit(typing.NamedTuple):
    """A machine and operation, of one class, by what was told: what is counted."""
    told: str
    band_class: str
    machine: str
    operation: str
    series: list

    def word(self, factor, left_out):
        """Of several runs the one that speaks most against the program: at × 1 the worst word, below it the best."""
        words = [each.left_out[factor] if left_out and each.left_out else each.words[factor] for each in self.series]
        return (max if factor == 1 else min)(words, key=severity)

    def name(self):
        return f"{self.machine} {self.operation} ({self.band_class})"


def units_of(all_series):
    found = collections.defaultdict(list)
    for series in all_series:
        run = series.run
        operation = "any" if run.told == NOTHING and series.operation == "?" else series.operation
        found[(run.told, "-" if run.told == NOTHING else series.band_class, run.machine, operation)].append(series)
    order = list(CLASSES)
    return sorted((Unit(*key, each) for key, each in found.items()),
                  key=lambda unit: (TOLD.index(unit.told), order.index(unit.band_class) if unit.band_class in order else
                                    len(order), unit.machine, unit.operation))


def share(count, total):
    low, high = interval(count, total)
    return f"{count} of {total} ({100 * low:.0f}–{100 * high:.0f} %)"


def counted(units, factor, words, left_out):
    return share(sum(unit.word(factor, left_out) in words for unit in units), len(units))


def words_section(units):
    named = [word if word != "none" else "no verdict" for word in WORDS]
    text = ["## Words by factor", "",
            *accuracy.heading("told", "rates ×", *named, "SOUND, left out", "BELOW or FAULT, left out")]
    for told in TOLD:
        members = [unit for unit in units if unit.told == told]
        rows = [[counted(members, factor, (word,), False) for word in WORDS] +
                [counted(members, factor, each, True) if told != NOTHING else "–" for each in (PASSED, FOUND)]
                for factor in FACTORS if members]
        if rows and all(row == rows[0] for row in rows):
            text.append(f"| {told} | any | {' | '.join(rows[0])} |")
        else:
            text += [f"| {told} | {factor:g} | {' | '.join(row)} |" for factor, row in zip(FACTORS, rows)]
    return text


def by_class(units):
    found = collections.defaultdict(list)
    for unit in units:
        if unit.told != NOTHING:
            found[(unit.band_class, unit.told)].append(unit)
    return {key: found[key] for key in sorted(found, key=lambda key: (CLASSES.index(key[0]),
                                                                      TOLD.index(key[1])))}


def ranges(units):
    """Measured over expected by class and algorithm: {(class, algorithm): {machine: ratios}}; once for each machine."""
    named = {unit.machine for unit in units if unit.told in (NAME, ALGORITHM)}
    found = collections.defaultdict(lambda: collections.defaultdict(list))
    for unit in units:
        if unit.told in (NAME, ALGORITHM) or (unit.told == FILE and unit.machine not in named):
            for each in unit.series:
                if not math.isnan(each.ratio):
                    found[(unit.band_class, each.expected_by)][unit.machine].append(each.ratio)
    return dict(sorted(found.items(), key=lambda item: (CLASSES.index(item[0][0]), item[0][1])))


def classes_section(units):
    text = ["## Healthy runs by class and algorithm", "",
            "Measured over expected at the largest sizes, by the name where there is one, each machine at its lowest and "
            "highest. *Narrow*: all within ± 15 % of 1, of at least 3 machines. Nothing of a machine's own rate is in what is "
            "expected of it but the model's constants.", "",
            *accuracy.heading("class", "expected by", "machines", "runs", "lowest", "median", "highest", "", "lowest of",
                              words=2)]
    for (band_class, algorithm), machines in ranges(units).items():
        ratios = sorted(each for of_machine in machines.values() for each in of_machine)
        narrow = len(machines) >= NARROW_MACHINES and 1 - NARROW <= ratios[0] and ratios[-1] <= 1 + NARROW
        cells = [f"{each:.2f}" for each in (ratios[0], statistics.median(ratios), ratios[-1])]
        text.append(f"| {band_class} | {algorithm} | {len(machines)} | {len(ratios)} | {' | '.join(cells)} | "
                    f"{'narrow' if narrow else 'wide'} | {min(machines, key=lambda name: min(machines[name]))} |")
    for title, words in (("SOUND", PASSED), ("BELOW or FAULT", FOUND)):
        text += ["", f"## {title} by class, left out", "",
                 *accuracy.heading("class", "told", *(f"× {factor:g}" for factor in FACTORS), words=2)]
        text += [f"| {band_class} | {told} | "
                 f"{' | '.join(counted(members, factor, words, True) for factor in FACTORS)} |"
                 for (band_class, told), members in by_class(units).items()]
    return text


def misses_section(units):
    told_of = [unit for unit in units if unit.told != NOTHING]
    called = [f"{unit.name()} ({unit.word(1, True)}; {unit.told})" for unit in told_of if unit.word(1, True) in FOUND]
    text = ["## Misses by name, left out", "", f"BELOW or FAULT at × 1: {', '.join(called) or 'none'}.", "",
            "The smallest factor at which a machine and operation is still SOUND:", "",
            *accuracy.heading("told", "×", "machine and operation", words=3)]
    for told in TOLD[:3]:
        passing = collections.defaultdict(list)
        for unit in told_of:
            factors = [factor for factor in FACTORS if unit.word(factor, True) in PASSED]
            if unit.told == told and factors and min(factors) < 0.95:
                passing[min(factors)].append(unit.name())
        text += [f"| {told} | {factor:g} | {', '.join(passing[factor])} |" for factor in sorted(passing)]
    return text


def one_nic(host, change):
    nics = host["nics"]
    if change == "gone":
        nics.pop()
    else:
        rate = nics[-1]["ports"][0]["gigabits_per_second"]
        rate[0] /= 2


def without_nvlinks(host):
    """GPU 0 without the four links to the switch that it has four to."""
    link = next(each for each in host["nvlinks"] if each["from"] == ["gpu", 0] and each["count"][0] == 4)
    host["nvlinks"] = [each for each in host["nvlinks"] if each is not link]
    host["gpus"][0]["nvlinks_active"][0] -= 4


def on_x8(host):
    address = host["gpus"][0]["pci_address"][0]
    device = next(each for each in host["pci_devices"] if each["address"] == address)
    device |= {"link_rate_now": device["link_rate_max"], "link_width_now": [8, 0]}


LOSSES = (("one of 8 NICs gone", lambda host: one_nic(host, "gone")),
          ("one of 8 NICs at half its rate", lambda host: one_nic(host, "half")),
          ("4 of the 18 NVLinks of a GPU", without_nvlinks), ("one GPU on PCIe x8", on_x8))


def losses_section(program):
    """What predict gives with the loss on every node, over what it gives without, and the word for it."""
    ours = {value[4]: key for key, value in bands.OPERATIONS.items()}
    node, log = program.scratch / "lost.json", program.scratch / "log.txt"

    def rates(machine, nodes):
        rows = program.read("predict", "--topology", machine, "--nodes", nodes, "--ops", ",".join(FIVE), "--sizes",
                            "1G,2G,4G", "--format", "json")["rows"]
        found = collections.defaultdict(dict)
        for row in rows:
            found[row["operation"]][row["size_bytes"]] = row["expected_bus_bandwidth_gb_per_s"]
        return list(found.values())  # in the order asked for
    text = ["## Losses in the model", "",
            f"{LOST_ON}: the rate that `predict` gives with the loss on every node, over the one without, and the word for "
            "a run of exactly that rate by the machine's name. A machine that is quicker than the model, within its class, hides "
            "more. *topo diff*: what is left of AllReduce by NCCL's best algorithm, for each case that it prices.", "",
            *accuracy.heading("loss", "nodes", *FIVE, "found by", "topo diff", words=2)]
    program.call("topo", "save", LOST_ON, "-o", node, "--overwrite")
    whole = json.loads(node.read_text(encoding="utf-8"))
    for loss, change in LOSSES:
        host = json.loads(json.dumps(whole))
        change(host["hosts"][0])
        node.write_text(json.dumps(host), encoding="utf-8")
        findings = program.read("topo", "diff", LOST_ON, node, "--format", "json")["pairs"][0]["findings"]
        for nodes in (1, 2):
            cells, found = [], []
            for operation, damaged, healthy in zip(FIVE, rates(node, nodes), rates(LOST_ON, nodes)):
                log.write_text(bands.as_log(ours[operation], 8 * nodes, damaged, ""), encoding="utf-8")
                options = ("--operation", operation, "--nodes", nodes, "--ranks-per-node", 8)
                judged = program.read("judge", log, "--topology", LOST_ON, *options, "--format", "json")
                word = max((row["verdict"] for row in judged["rows"]), key=severity)
                size = max(damaged)
                cells.append(f"{damaged[size] / healthy[size]:.2f} {word if word != 'none' else 'no verdict'}")
                found += [operation] if word in FOUND else []
            text.append(f"| {loss} | {nodes} | {' | '.join(cells)} | {', '.join(found) or 'none'} | "
                        f"{prices(findings, nodes)} |")
    return text


def prices(findings, nodes):
    """"0.88 all_nodes, 0.94 at_start"."""
    costs = next((finding["costs"] for finding in findings if finding["costs"]), [])
    of_best = [(cost["best"]["faulty_gb_per_s"] / cost["best"]["healthy_gb_per_s"], cost["case"]) for cost in costs
               if cost["nodes"] == nodes]
    return ", ".join(f"{left:.2f}" + (f" {case}" if case != "any" else "") for left, case in of_best) or "not priced"


def document(units, losses):
    series = [each for unit in units for each in unit.series if unit.told != NOTHING]
    machines = len({unit.machine for unit in units})
    single = sum(each.rows == 1 for each in series)
    asked = sum(each.operation == "?" for unit in units for each in unit.series)
    return "\n".join([
        "# Power: how much of a loss the verdict sees", "",
        "Task: look up how slow a run may be before the verdict says so. Written by `research/power.py`: the healthy logs "
        "and tables of [accuracy](accuracy.md), every rate multiplied by a factor in the text of the log, which is judged "
        f"by what is told of the machine: {machines} machines, {len(series)} runs (a log counts twice where it has "
        "a name and a file) that nobody who published them called broken. The losses are made. "
        f"{single} of the runs are a single point.", "",
        "Counted is a machine and operation of one class. Of its runs the worst word counts at × 1 and the best one below, so "
        "false alarms and what is passed are both at their most. In brackets: Clopper and Pearson's 95 % interval as if "
        "operations of one machine were independent, which they are not: the true one is wider.", "",
        "*name*: a reference machine, nodes and ranks. *name, algorithm*: the log also states what NCCL ran. *file*: a "
        "description of the node instead. *nothing*: `judge LOG` alone, of logs only "
        f"(refused with a question: {asked}). The words are the program's, whose ranges "
        "have seen each machine. *Left out*: the same rule by the ranges that all other machines give, without providers' "
        "limits; the constants of the model stay, and have seen them all.", "",
        *words_section(units), "", *classes_section(units), "", *misses_section(units), "", *losses]) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--program", type=pathlib.Path, default=pathlib.Path("build/release/src/collbench"))
    parser.add_argument("-o", "--output", type=pathlib.Path, default=pathlib.Path("docs/notes/power.md"))
    parser.add_argument("--table", type=pathlib.Path, help="write the program's ranges, and nothing else")
    arguments = parser.parse_args()
    runs = [*runs_of_logs(arguments.folder), *runs_of_tables(arguments.folder.parent / "scaleout/published.tsv")]
    with tempfile.TemporaryDirectory() as scratch:
        program = Program(arguments.program, scratch)
        all_judged = [(run, judge(program, run)) for run in runs]
        ranges = ranges_of(each for _, each in all_judged if each)
        if arguments.table:
            source = arguments.table.read_text(encoding="utf-8")
            begin = source.index("kEdges{{\n") + len("kEdges{{\n")
            end = source.index("\n", source.index("// send_recv\n", begin))
            arguments.table.write_text(source[:begin] + ranges.table() + source[end:], encoding="utf-8")
            return
        units = units_of([series for run, each in all_judged
                          for series in (each.judged(ranges) if each else [refused(run)])])
        losses = losses_section(program)
    arguments.output.write_text(document(units, losses), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
