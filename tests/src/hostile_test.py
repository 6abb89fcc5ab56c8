#!/usr/bin/env python3
"""Records and files of others whose every string wants to be more than text, through every command and format that reads them.

A string that cannot be just any (a host's name, a word of a list) is refused with its key; all others are shown, and show
nothing but themselves: no formula of a spreadsheet, no line of their own, no escape of a terminal, no markup.

Usage: hostile_test.py PROGRAM SOURCE_FOLDER [unittest arguments]
"""

import copy
import csv
import io
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from page_test import full_record, generic, leaves, log_text, put

PROGRAM, SOURCE = (pathlib.Path(each).resolve() for each in sys.argv[1:3])

CONTROLS = "\nforged: line\r\nforged: line\x1b[31mred\x1b]0;title\x07\x00\x08\x7f\x85\u009b31m\u2028forged\u202e\u2066\u200b\ufeff"
MARKUP = "<img src=x onerror=y></script><script>y()</script>\"]; node [URL=\"x\"]; '&lt; `$(reboot)` | [a](b) ]]>\\,"
TEXTS = ["=cmd|' /C calc'!A0" + CONTROLS + MARKUP, "@SUM(1)\",=x" + CONTROLS, "-1+1" + MARKUP + CONTROLS, "\t+1;=x" + CONTROLS + MARKUP]
TEXTS = TEXTS[:int(os.environ.get("COLLBENCH_TEXTS", "4"))]
HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u2028\u202e\u2066\ufeff]")
PATH = re.compile(r"json(?::\d+)?: ([A-Za-z_][\w.\[\]-]*) is ")


def run(*arguments):
    return subprocess.run([str(PROGRAM), *map(str, arguments)], capture_output=True, timeout=100, stdin=subprocess.DEVNULL, check=False,
                          env={**os.environ, "COLUMNS": "500"})


def is_number(text):
    try:
        float(text)
        return True
    except ValueError:
        return False


def value_at(document, path):
    for key in path:
        document = document[key]
    return document


class Hostile(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def save(self, name, document):
        file = self.folder / name
        file.write_text(document if isinstance(document, str) else json.dumps(document))
        return file

    def versions(self, name, document, command, fixed=("record",), members=()):
        """The files of `document` with each of TEXTS in all its strings that can be any; `members` are objects whose keys can."""
        kept = {(each,) if isinstance(each, str) else each for each in fixed}
        files = []
        for index, text in enumerate(TEXTS):
            while True:
                changed = copy.deepcopy(document)
                for path in list(leaves(document)):
                    # A row that has a reason is one that was not run.
                    is_reason = path[-1] == "unavailable" and not value_at(document, path)
                    if not is_reason and "shapes" not in path and not any(generic(path)[-len(each):] == each for each in kept):
                        put(changed, path, text)
                for path in members:
                    place = changed
                    for key in path[:-1]:
                        place = place[key]
                    place[path[-1]] = {text: value for value in place[path[-1]].values()}
                file = self.save(f"{name}{index}.json", changed)
                done = run(*command, file)
                if done.returncode != 2:
                    self.assertIn(done.returncode, (0, 1, 3), done.stderr)
                    break
                said = done.stderr.decode()
                self.harmless("stderr", said)
                found = PATH.search(said)
                self.assertTrue(found, f"a refusal without its key: {said}")
                path = tuple(int(key) if key.isdigit() else key for key in re.findall(r"[^.\[\]]+", found[1]))
                at = generic(path)
                if not isinstance(value_at(document, path), str):  # a pair whose first word is wrong
                    at = (*at, "*")
                self.assertNotIn(at, kept, said)
                kept.add(at)
            files.append(file)
        strings = {generic(path) for path in leaves(document)}
        free = {path for path in strings if not any(path[-len(each):] == each for each in kept)}
        self.assertGreater(len(free), len(strings) // 3, f"hardly anything is free: {kept}")
        return files

    def harmless(self, kind, text):
        self.assertNotRegex(text, HIDDEN, kind)
        if kind == "json":
            for line in text.splitlines() if text.count("\n{") and not text.startswith(("{\n", "[\n")) else [text]:
                json.loads(line)
            return
        self.assertNotRegex(text, r"(?m)^forged", kind)
        if kind == "csv":
            rows = list(csv.reader(io.StringIO(text)))
            for row in rows:
                self.assertEqual(len(row), len(rows[0]), row)
                for cell in row:
                    self.assertTrue(not cell.lstrip(" ").startswith(("=", "+", "-", "@")) or is_number(cell), cell)
        elif kind in ("svg", "junit", "nccl-xml"):
            xml.etree.ElementTree.fromstring(text)
        elif kind == "html":
            for raw in ("<img src=x", "<script>y()", "forged\u2028"):
                self.assertNotIn(raw, text)
        elif kind == "md":
            for raw in ("<img", "`$(", "[a](b)"):
                self.assertNotRegex(text, r"(?<!\\)" + re.escape(raw))
        elif kind in ("hostfile", "nodelist", "slurm"):
            self.assertRegex(text, r"\A[\w.,\[\]\n-]*\Z")
        elif kind == "prom":
            for line in text.splitlines():
                self.assertRegex(line, r'^(#|[a-z_]+(\{([a-z_]+="([^"\\]|\\.)*",?)*\})? \S+$)')
        elif kind == "dot":
            self.assertNotIn('"]; node [', text.replace('\\"', ""))

    def each_format(self, formats, *command):
        for kind in formats:
            self.said(kind, *command, *([] if kind == "plain" else ["--format", kind]))

    def said(self, kind, *command):
        with self.subTest(" ".join(map(str, command))):
            done = run(*command)
            self.assertIn(done.returncode, (0, 1, 3), done.stderr)
            self.harmless(kind, done.stdout.decode())
            self.harmless("stderr", done.stderr.decode())
            return done.stdout.decode()

    def test_records_of_runs(self):
        record = full_record(self.folder)
        record.update({"started": "2026-11-20T02:00:00Z", "finished": "2026-11-20T02:01:00Z", "complete": True})
        base = self.save("base.json", record)
        shapes = json.loads(run("topo", "save", "hgx-h100", "-o", "-").stdout)
        row = record["rows"][0]
        host = record["ranks"][0]["host"] or "n0"
        record.update({
            "label": "x", "config_file": "x", "complete": False,
            "incident": {"kind": "rank lost", "sentence": "x", "ranks": [{"rank": 0, "host": host}], "step": "x", "pass": 0,
                         "call": 0, "time": "x", "exit_status": 4},
            "pauses": [{"rank": 0, "host": host, "step": "x", "pass": 0, "seconds": 1.5}],
            "nccl_untold": {"use": "x", "expectation": "x"}, "nccl_networks": {"used": ["x", "y"], "unknown_reason": "x"},
            "place_notes": ["x"],
            "telemetry": {"readings": 3, "notes": ["x"], "gpus": [{
                "host": host, "uuid": "x", "address": "x", "source": "NVML", "sm_clock_hertz": None, "temperature_celsius": None,
                "power_watts": None, "ecc_corrected": None, "ecc_uncorrected": {"before": 0, "after": 1}, "pcie_replays": None,
                "troubles": ["SW power cap"]}]},
            "cluster": {"summary": ["x"], "nodes": [{"host": host, "shape": 0, "identity": {"GPU 0": {"uuid": "x"}}}], "shapes": shapes,
                        "placement": [{"rank": 0, "gpu": "x", "gpu_address": "x", "nic": "x", "numa_node": None, "guess": True,
                                       "note": "x"}]}})
        row["wrong_elements"], row["wrong"] = 1, [
            {"rank": 1, "host": host, "count": 1, "first_index": 0, "expected": "x", "got": "x"}]
        row["nccl"] = {"algorithm": "x", "protocol": "x", "channels": 2, "expected": {
            "algorithm": ["x", "y"], "protocol": ["x", "y"], "seconds": [1e-5, 2e-5]}}
        record["rows"][1]["unavailable"] = "x"
        for file in self.versions("run", record, ["report"], members=[("environment",)]):
            formats = ("text", "md", "csv", "json", "html", "prom", "junit")
            self.each_format(formats, "report", file)
            self.said("text", "report", file, "--plot")
            self.said("text", "report", file, "--percentiles")
            self.said("md", "report", file, "--preset", "lab01", "--topology", "hgx-h100")
            refused = run("--ops", "all_reduce", "--sizes", "8", "--calibration", file)
            self.assertEqual(refused.returncode, 2, refused.stderr)
            self.harmless("stderr", refused.stderr.decode())
            self.each_format(formats, "judge", file, "--topology", "hgx-h100")
            self.each_format(("text", "md", "json", "html", "csv"), "compare", file, file)
            picture = self.folder / "chart.svg"
            self.said("text", "report", file, "--plot-file", picture, "--overwrite")
            self.harmless("svg", picture.read_text())
            stream = self.save("run.stream", json.dumps({"launch": json.loads(file.read_text())}) + "\n")
            self.each_format(("text", "csv", "html"), "report", stream)
        # What is compared has the same rows, and a time.
        fixed = ("record", "started", "finished", ("rows", "*", "algorithm"))
        for file in self.versions("new", {**record, "complete": True, "incident": None}, ["report"], fixed=fixed):
            for pair in ((base, file), (file, base)):
                self.each_format(("text", "md", "json", "html", "csv"), "compare", *pair)
            nights = self.folder / f"nights-{file.stem}"
            self.said("text", "compare", "--add", nights, base)
            self.each_format(("text", "md", "json", "html", "csv"), "compare", nights, file)
            run("compare", "--add", nights, file)
            self.each_format(("text", "html"), "compare", nights)

    def test_records_of_burn_ins(self):
        hosts = [f"n{i}" for i in range(6)]
        table = "from,to,GB/s\n" + "".join(f"{a},{b},{24 if 'n4' in (a, b) else 48}\n" for a in hosts for b in hosts if a != b)
        record = json.loads(run("burnin", "--from", self.save("pairs.csv", table), "--format", "json").stdout)
        launch = {"phase": "nodes", "nodes": ["n1"], "rail": None, "alone": False}
        probe = json.loads((SOURCE / "docs/notes/lab00.json").read_text())
        record.update({
            "source": "x", "settings": {"x": "y"}, "phases_left_out": ["x"], "counter_notes": ["x"], "without_counters": {"n1": "x"},
            "launcher_errors": {"phase nodes": "x"},
            "groups": [{**launch, "nodes": [host], "operation": "AllReduce", "bus_bytes_per_second": 1e10 if host != "n3" else 1e9,
                        "slowest_bus_bytes_per_second": 1e9, "memory": "GPU"} for host in hosts],
            "group_failures": [{**launch, "why": "x"}],
            "counter_rises": [{"phase": "pairs", "host": "n2", "counter": "x", "from": 1, "to": 3, "seconds": 2.0}],
            "failures": [{"a": 0, "b": 1, "rail": 0, "why": "x", "alone": False}],
            "probes": [{**probe, "host": "n1"}], "gpu_models": {"n1": ["x", "y"], "n2": ["z"]}})
        for file in self.versions("burnin", record, ["burnin", "--from"], members=[("settings",)]):
            self.each_format(("text", "json", "csv", "matrix", "svg", "html", "junit", "prom", "hostfile", "nodelist", "drain"),
                             "burnin", "--from", file)

    def test_records_of_probes(self):
        record = json.loads((SOURCE / "docs/notes/lab00.json").read_text())
        window = {"sm_clock_hertz": 1.7e9, "power_watts": 650, "temperature_celsius": 60, "throttled_by": ["SW power cap"]}
        part = {"model": "x", "numa": 0, "cpu_share": None, "telemetry": [window]}
        record.update({
            "host": "n1", "notes": ["x"], "failures": [{"part": "x", "measurement": "x", "what": "x"}], "gpu_window_seconds": 0.1,
            "gpus": [{"name": f"GPU {i}", "model": "x", "uuid": "x", "address": "x", "memory_bytes": 8 << 30, "power_limit_watts": 700,
                      "driver": "x"} for i in range(4)]})
        record["measurements"] += [
            {"id": "gpu-gemm-bf16", "name": "x", "unit": "flop/s", "size": 64, "by": "x", "work": "x",
             "parts": [{**part, "name": f"GPU {i}", "windows": [1e12 * (1 + i)]} for i in range(4)]},
            {"id": "gpu-p2p", "name": "x", "unit": "B/s", "size": 0, "by": "x", "work": "x",
             "parts": [{**part, "name": "x", "windows": [1e9], "peer": {"from": "GPU 0", "to": "GPU 1", "direct": True}}]}]
        for fixed in ((), (("measurements", "*", "parts", "*", "name"), ("gpus", "*", "name"), ("peer", "from"), ("peer", "to"),
                           ("measurements", "*", "id"))):
            for file in self.versions("probe", record, ["probe"], fixed=("record", *fixed)):
                self.each_format(("text", "md", "json", "csv"), "probe", file)
                self.each_format(("text", "md"), "probe", file, SOURCE / "docs/notes/lab00.json")

    def test_machines(self):
        machine = json.loads(run("topo", "save", "hgx-h100", "-o", "-").stdout)
        host = machine["hosts"][0]
        for key in ("product", "fabric_manager", "driver_version", "cuda_version", "peer_memory"):
            host[key] = ["x", 0]
        for gpu in host["gpus"]:
            gpu.update({key: ["x", 0] for key in ("uuid", "serial", "nvlink_state", "fabric_state", "cpu_affinity", "virtualization")})
        for nic in host["nics"]:
            nic.update({key: ["x", 0] for key in ("label", "interfaces", "guid", "system_guid", "driver", "board", "firmware")})
            for port in nic["ports"]:
                port.update({key: ["x", 0] for key in ("physical_state", "gid")})
        for node in host["numa_nodes"]:
            node.update({"cpu_name": ["x", 0], "cpus": ["0-3", 0]})
        host["notes"], host["sources"][0]["place"] = ["x"], "x"
        host["disagreements"] = [{"device": "x", "attribute": "x", "kept": "x", "kept_source": 0, "other": "x", "other_source": 0}]
        host["peer_access"] = [{"from": ["gpu", 0], "to": ["gpu", 1], "state": ["x", 0]}]
        addresses = (("pci_devices", "*", "address"), ("pci_devices", "*", "parent"))
        placed = (*addresses, ("gpus", "*", "pci_address", "*"), ("nics", "*", "pci_address", "*"), ("nvswitches", "*", "pci_address", "*"),
                  ("gpus", "*", "model", "*"), ("host_bridge", "*"))
        named = copy.deepcopy(machine)
        named["hosts"][0]["name"] = ["node1", 0]
        record = self.save("run.json", full_record(self.folder))
        log = self.folder / "run.log"
        for fixed, document in ((addresses, machine), (placed, named)):
            for file in self.versions("node", document, ["topo", "show"], fixed=fixed):
                self.said("text", "topo", "show", file, "--matrix", "--sources")
                self.said("json", "topo", "save", file, "-o", "-")
                self.said("nccl-xml", "topo", "save", file, "--format", "nccl-xml", "-o", "-")
                self.said("text", "topo", "save", file, "-o", self.folder / "again.json", "--overwrite")
                self.said("text", "topo", "detect", file)
                drawing = self.folder / "node.dot"
                self.said("text", "topo", "draw", file, "-o", drawing, "--overwrite", "--against", "hgx-h100")
                self.harmless("dot", drawing.read_text())
                for pair in (("hgx-h100", file), (file, "hgx-h100"), (file, file)):
                    self.each_format(("text", "md", "json", "html", "hostfile", "slurm"), "topo", "diff", *pair)
                if document is named:
                    self.each_format(("text", "md", "csv", "json"), "predict", "--topology", file)
                    self.said("md", "predict", "--topology", file, "--preset", "lab01")
                    self.each_format(("text", "md", "html", "csv", "json"), "plan", "--model", "llama-3.1-8b", "--tp", "8", "--topology", file)
                    self.each_format(("text", "json", "html"), "judge", log, "--operation", "all_reduce", "--topology", file)
                    self.each_format(("text", "json", "html"), "judge", record, "--topology", file)
                    self.said("md", "report", record, "--preset", "lab01", "--topology", file)

    def test_dumps_of_ranks_that_hang(self):
        seeds = SOURCE / "tests/fuzz/seeds/hang_dump_fuzz"
        answer = json.loads((seeds / "ras_stopped_rank.json").read_text())
        for file in self.versions("ras", answer, ["flight"], fixed=()):
            self.each_format(("text", "json"), "flight", file)
        for text in TEXTS:
            dump = {"version": "2.10", "pg_config": {"0": {"name": text, "desc": text, "ranks": "[0, 1]"}}, "pg_status": {}, "entries": [
                {"record_id": 1, "pg_id": 0, "process_group": ["0", text], "collective_seq_id": 1, "p2p_seq_id": 0, "op_id": 1,
                 "profiling_name": text, "input_sizes": [[8]], "input_dtypes": [text], "state": "scheduled", "is_p2p": False,
                 "frames": [{"name": text, "filename": text, "line": 1}]}]}
            self.each_format(("text", "json"), "flight", self.save("nccl_trace_rank_0.json", dump))

    def test_logs(self):
        """Their lines end where a text does: what follows a line end is a line of the log."""
        for text in TEXTS:
            text = re.sub("[\r\n\x85\u2028\x00]", "", text)
            word = text.replace(" ", "")
            log = (f"# nThread 1 nGpus 1 minBytes 8 {text}\n"
                   f"{word}:100:100 [0] NCCL INFO NCCL version {text}\n{word}:100:100 [0] NCCL INFO NET/IB : Using [0]{text}\n#\n"
                   + log_text().replace(" on n0 ", f" on {word} ", 1).replace("80GB HBM3", text))
            file = self.save("run.log", log)
            said = self.said("text", "judge", file, "--operation", "all_reduce")
            self.assertIn("is not the name of a host", said or "")
            self.each_format(("md", "csv", "json", "html", "prom", "junit"), "judge", file, "--operation", "all_reduce")
            record = self.folder / "imported.json"
            run("judge", file, "--operation", "all_reduce", "-J", record, "--overwrite")
            self.said("text", "report", record)

    def test_what_a_machine_says_of_itself(self):
        counters = {"record": "collbench error counters", "host": "n1", "unix_seconds": 1.0, "counts": {"x": 1}, "notes": ["x"], "gpus": ["x"]}
        for file in self.versions("counters", counters, ["counters", "--sys", self.folder, "--since"], members=[("counts",)]):
            self.said("text", "counters", "--sys", self.folder, "--since", file)
        words = (SOURCE / "tests/fuzz/seeds/doctor_fuzz/paste.txt").read_text()
        for text in TEXTS:
            # A file with other controls is refused as none of text.
            word = re.sub("[\x00-\x08\x0a-\x1a\x7f\x85\u2028]", "", text)
            evidence = self.save("evidence.txt", re.sub(r"\bx\b", lambda _: word, words))
            self.each_format(("text", "md", "json"), "doctor", evidence)

    def test_a_host_of_any_name(self):
        """What it records is read again."""
        named = ["unshare", "-ru", sys.executable, "-c", "import os, socket, sys; socket.sethostname(sys.argv[1]); os.execv(sys.argv[2], sys.argv[2:])"]
        if subprocess.run([*named, "a", "/bin/true"], capture_output=True, check=False).returncode:
            self.skipTest("this user cannot name a host")
        rows = ["--ops", "all_reduce", "--sizes", "8", "-n", "1", "-w", "0", "--passes", "1", "--calibration", "none"]
        for index, name in enumerate(["(none)", "=cmd|' /C calc'!A0", "-a b;reboot"]):
            for command, reads in ((["counters", "--format", "json"], ["counters", "--sys", self.folder, "--since"]),
                                   (["probe", "--time", "0.05", "--only", "triad", "--format", "json"], ["probe"]),
                                   (["topo", "save", "-o", "-"], ["topo", "show"]),
                                   ([*rows, "--format", "json"], ["report"])):
                with self.subTest(name=name, command=command):
                    done = subprocess.run([*named, name, PROGRAM, *command], capture_output=True, timeout=100, check=False)
                    self.assertIn(done.returncode, (0, 1), done.stderr)
                    self.said("text", *reads, self.save(f"own{index}.json", done.stdout.decode()))

    def test_names_of_files(self):
        machine = run("topo", "save", "hgx-h100", "-o", "-").stdout.decode()
        nodes = self.folder / "nodes"
        nodes.mkdir()
        for index, text in enumerate(TEXTS):
            for name in (f"n{index}.json", text.replace("/", "").replace("\x00", "").replace(".", "") + ".json"):
                (nodes / name).write_text(machine)
        for kind in ("text", "md", "json", "html", "hostfile", "slurm"):
            self.said(kind, "topo", "diff", nodes, "--format", kind)
        self.said("text", "topo", "show", nodes, "--sources")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
