#!/usr/bin/env python3
"""collbench judge and report with the real program, on logs made up here.

Usage: import_test.py PROGRAM [unittest arguments]
"""

import csv
import gzip
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM = pathlib.Path(sys.argv[1])

HEADING = (
    "#       size         count      type   redop    root     time   algbw   busbw #wrong"
    "     time   algbw   busbw #wrong\n")
ROW = (
    "  1000000000     250000000     float     sum      -1    10000  100.00  187.50      0"
    "    12500   80.00  150.00      0\n")
FOOTER = "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 168.75\n"
LOG = HEADING + ROW + FOOTER


class Import(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def file(self, text, name="a.log"):
        path = self.folder / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    def collbench(self, *arguments, status=0):
        result = subprocess.run(
            [PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(result.returncode, status, result.stdout + result.stderr)
        return result.stderr if status > 1 else result.stdout

    def test_wrong_values_that_only_the_log_counts_are_wrong_data(self):
        log = self.file(LOG.replace("values : 0 OK", "values : 5 FAILED"))
        words = "WRONG DATA: the log counts 5 wrong values (line 3), and no row here has them"
        for arguments in ((), ("--fail-on", "none"), ("--format", "junit"), ("--format", "csv")):
            self.assertIn("failed: " + words, self.collbench("judge", log, *arguments, status=3))
        record = self.folder / "counted.json"
        self.collbench("judge", log, "--nodes", 2, "-o", record, status=3)
        for arguments in (("report", record), ("judge", record, "--topology", "ndv4")):
            self.assertIn("failed: " + words, self.collbench(*arguments, status=3))
        unchecked = self.file(LOG.replace("values : 0 OK", "values : 5 FAILED").replace("     0", "   N/A"))
        self.assertIn("(line 3), and its rows do not say where", self.collbench("judge", unchecked, status=3))

    def test_a_fault_is_an_exit_status(self):
        log = self.file(LOG.replace("10000  100.00  187.50", "1000000    1.00    1.88"))
        arguments = ("judge", log, "--nodes", 2, "--topology", "ndv4")
        good = self.file(LOG.replace("12500   80.00  150.00", "10000  100.00  187.50"), "good.log")
        self.collbench("judge", good, *arguments[2:])
        self.assertIn("FAULT", self.collbench(*arguments, status=1))
        self.collbench(*arguments, "-o", self.folder / "bad.json", status=1)
        result = subprocess.run([PROGRAM, *map(str, arguments), "-o", str(self.folder / "bad.md")], capture_output=True,
                                text=True, timeout=60, check=False)
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assertEqual(result.stderr, f"collbench: wrote {self.folder / 'bad.md'}; {log}: AllReduce float FAULT\n")

    def test_wrong_data_is_status_3_in_every_command_and_format(self):
        """One row of four is wrong, and that before one that is far too slow, whatever was asked for."""
        slow = "1000000    1.00    1.88      0"
        row = ROW.replace("10000  100.00  187.50      0", slow).replace("12500   80.00  150.00      0", "10000  100.00  187.50     96")
        rows = row + row.replace("     96", "      0").replace("  1000000000     250000000", "  2000000000     500000000"
                         ).replace("1000000    1.00", "2000000    1.00").replace("  10000 ", "  20000 ")
        log = self.file(HEADING + rows + "# Out of bounds values : 1 FAILED\n# Avg bus bandwidth    : 75.94\n")
        record, base = self.folder / "run.json", self.folder / "base.json"
        place = ("--nodes", 2, "--topology", "ndv4")
        self.collbench("judge", self.file((HEADING + rows + FOOTER).replace("     96", "      0"), "good.log"), *place, "-J", base, status=1)
        note = f"collbench: failed: WRONG DATA: AllReduce 954 MiB float sum, in place: 96 elements wrong ({log}:2)"
        self.assertIn(note, self.collbench("judge", log, *place, "-J", record, status=3))
        verdicts = {(row["size_bytes"], row["in_place"]): (row["verdict"], bool(row["explanation"]))
                    for row in json.loads(record.read_text())["rows"]}
        self.assertEqual(verdicts.pop((1000000000, True)), (None, False))
        self.assertEqual({word for word, _ in verdicts.values()}, {"FAULT"})
        for command in (("judge", log, *place), ("judge", record), ("report", record)):
            for criteria in ((), ("--fail-on", "none"), ("--fail-on", "low"), ("--min-busbw", "all_reduce@1G>=1e5")):
                for form in ("text", "md", "json", "csv", "html", "prom", "junit"):
                    with self.subTest(command=command[0], criteria=criteria, form=form):
                        done = subprocess.run([PROGRAM, *map(str, command), *criteria, "--format", form], capture_output=True, text=True,
                                              timeout=60, check=False)
                        self.assertEqual(done.returncode, 3, done.stderr)
                        self.assertIn(note, done.stderr.splitlines())
                        if form in ("text", "md", "html", "junit"):
                            self.assertIn("WRONG DATA", done.stdout)
        for criteria in ((), ("--fail-on", "none"), ("--fail-on", "slower")):
            self.assertIn(note, self.collbench("compare", base, record, *criteria, status=3).splitlines())
            self.collbench("compare", record, base, *criteria)

    def test_a_log_of_wrong_data_alone_has_no_verdict(self):
        log = self.file(HEADING + ROW.replace("      0\n", "      7\n").replace("      0    12500", "      5    12500"))
        done = subprocess.run([PROGRAM, "judge", str(log), "--nodes", "2", "--topology", "ndv4"], capture_output=True, text=True,
                              timeout=60, check=False)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertEqual(done.stdout.count("WRONG DATA"), 3)  # the first line, and both rows
        self.assertIn("no verdict: the data of every row is wrong", done.stdout)
        self.assertNotIn("SOUND", done.stdout)
        page = self.folder / "page.md"
        self.assertIn(f"collbench: wrote {page}; {log}: WRONG DATA in 2 rows",
                      self.collbench("judge", log, "--nodes", 2, "--topology", "ndv4", "-o", page, status=3).splitlines())

    def test_a_log_of_other_gpus_than_the_topology_has(self):
        devices = "".join(f"#  Rank {rank:2} Group  0 Pid 100 on n{rank // 8} device {rank % 8} [0x0f] NVIDIA H100 80GB HBM3\n"
                          for rank in range(16))
        log = self.file("# Using devices\n" + devices + LOG.replace("187.50", "450.00").replace("10000  100.00", " 4166  240.00"))
        fits = "--topology hgx-h100 fits (so do p5, a3-mega, oci-h100, ndv5)"
        text = " ".join(self.collbench("judge", log, "--topology", "ndv4").replace("\n#  ", "").split())
        self.assertIn("AllReduce float, in place: UNCLEAR: the log's GPUs are NVIDIA H100 80GB HBM3 (line 2), but it is "
                      "judged as a machine with A100 SXM: " + fits, text)
        self.assertNotIn("would fit within", text)
        without = " ".join(self.collbench("judge", log).replace("\n#  ", "").split())
        self.assertIn("UNCLEAR: the machine is unknown; the log's GPUs are NVIDIA H100 80GB HBM3, 8 per node: " + fits, without)

    def test_a_log_becomes_a_record_that_report_reads(self):
        log = self.file(LOG)
        record = self.folder / "run.json"
        printed = self.collbench("judge", log, "--nodes", 2)
        self.collbench("judge", log, "--nodes", 2, "-o", record)
        run = json.loads(record.read_text())
        self.assertEqual(len(run["rows"]), 2)
        self.assertEqual(run["rows"][0]["rates"]["bus_bandwidth_gb_per_s"], 187.5)
        self.assertEqual(run["log"]["nodes"], {"value": 2, "line": 0})
        self.assertEqual(self.collbench("report", record), printed)
        self.assertIn("16 ranks on 2 hosts", " ".join(printed.replace("\n#  ", "").split()))
        for form in ("md", "csv", "json"):
            self.assertEqual(
                self.collbench("report", record, "--format", form),
                self.collbench("judge", log, "--nodes", 2, "--format", form))

    def test_csv_leaves_empty_what_is_not_known(self):
        (first, _) = csv.DictReader(io.StringIO(self.collbench("judge", self.file(LOG), "--format", "csv")))
        self.assertEqual(first["ranks"], "16")
        for column in ("nodes", "interval_low_seconds", "minimum_seconds", "p99_seconds"):
            self.assertEqual(first[column], "", column)

    def test_several_logs_are_printed_one_after_the_other(self):
        printed = self.collbench("judge", self.file(LOG), self.file(LOG, "b.log"))
        self.assertIn("a.log", printed)
        self.assertIn("b.log", printed)

    def test_the_output_of_nvbandwidth_is_sent_to_the_command_that_reads_it(self):
        for text in ("nvbandwidth Version: v0.8\nRunning device_to_device_memcpy_read_ce.\n", '{"nvbandwidth": {"testcases": []}}'):
            message = self.collbench("judge", self.file(text), status=2)
            self.assertIn("nvbandwidth", message)
            self.assertIn("collbench burnin --from", message)

    def test_invocations_of_nvbandwidth_that_differ_are_named(self):
        text = "".join(f"$ ./nvbandwidth -t host_to_device_memcpy_sm -b {size}\nnvbandwidth Version: v0.8\n" for size in (512, 1024, 512))
        message = self.collbench("judge", self.file(text), status=2)
        self.assertIn("2 invocations of nvbandwidth that differ: nvbandwidth -t host_to_device_memcpy_sm -b 1024; nvbandwidth", message)

    def test_each_invocation_in_a_log_has_a_verdict_of_its_own(self):
        slow = LOG.replace("10000  100.00  187.50", "1000000    1.00    1.88").replace("12500   80.00  150.00", "1000000    1.00    1.88")
        good = LOG.replace("12500   80.00  150.00", "10000  100.00  187.50")
        log = self.file("$ NCCL_ALGO=Tree ./all_reduce_perf -b 1G\n" + slow + "$ ./all_reduce_perf -b 1G\n" + good)
        place = ("--nodes", 2, "--ranks-per-node", 8, "--topology", "ndv4")
        text = self.collbench("judge", log, *place, status=1)
        first, second = text.split("run 2 of 2 (from line 6)")[0], text.split("run 1 of 2 (from line 1)")[1]
        self.assertIn("# FAULT", first)
        self.assertIn("NCCL_ALGO=Tree ./all_reduce_perf -b 1G (line 1)", " ".join(first.replace("\n#  ", "").split()))
        self.assertIn("# SOUND", second)
        self.assertIn("2: ./all_reduce_perf -b 1G, 0 devices, 1 row, from line 6",
                      self.collbench("judge", log, *place, "-J", self.folder / "x.json", status=2))
        for form in ("csv", "prom"):  # a line there does not say of which run it is
            self.assertIn("holds 2 runs", self.collbench("judge", log, *place, "--format", form, status=2))
        self.collbench("judge", log, *place, "--run", 2)

    def test_wrong_data_names_its_line(self):
        log = self.file(LOG.replace("187.50      0", "187.50      7"))
        self.assertIn(f"out of place: 7 elements wrong ({log}:2)", self.collbench("judge", log, "--nodes", 2, status=3))

    def test_several_logs_become_one_record(self):
        record = self.folder / "run.json"
        again = self.file(LOG.replace("10000  100.00  187.50", "12000   83.33  156.25"), "b.log")
        self.collbench("judge", self.file(LOG), again, "--label", "both", "-o", record)
        run = json.loads(record.read_text())
        self.assertEqual((run["label"], run["launches"], len(run["rows"])), ("both", 2, 2))
        self.assertAlmostEqual(run["rows"][0]["seconds"], 11000e-6)
        other = self.file("mpirun -np 3 osu_bcast\n# OSU MPI Broadcast Latency Test v7.5\n8 1.5\n", "c.log")
        self.assertIn("c.log: it is of 3 ranks", self.collbench("judge", self.file(LOG), other, "-o", self.folder / "x.json", status=2))

    def test_a_record_is_not_overwritten_unasked(self):
        log = self.file(LOG)
        record = self.file("mine", "run.json")
        self.assertIn("-o", self.collbench("judge", log, "-o", record, status=2))
        self.assertEqual(record.read_text(), "mine")
        self.collbench("judge", log, "-o", record, "--overwrite")
        self.assertIn("collbench run", record.read_text())

    def test_the_topology_is_kept_and_must_fit(self):
        log = self.file(LOG)
        run = json.loads(self.collbench(
            "judge", log, "--nodes", 2, "--topology", "hgx-h100", "--format", "json", status=1))
        self.assertEqual(run["log"]["topology"], {"value": "hgx-h100", "line": 0})
        message = self.collbench("judge", log, "--nodes", 1, "--topology", "hgx-h100", status=2)
        self.assertIn("16 ranks do not fit on a node with 8 GPUs", message)
        self.collbench("judge", log, "--topology", "no-such-machine", status=2)

    def test_bad_input_has_its_line_and_next_step(self):
        for text, words in (
                ("", "the file is empty"),
                ("hello\n", "has no table of nccl-tests in its 1 line"),
                (b"\xff\xfeh\x00", "UTF-16"),
                (b"\x7fELF\x02\x01\x00\x00", "contains NUL bytes, so it is not a text file"),
                (HEADING, "the table has a heading and no row"),
                (HEADING + ROW.replace("10000  100", "XXXXX  100"), "rows whose times are masked: 1, the first on line 2"),
                (HEADING + ROW.replace("1000000000     250000000", "0     0"), "rows of 0 bytes: 1, the first on line 2"),
                (LOG.replace("187.50", "100.00").replace("150.00", "190.00"), "fits no known operation"),
                ('{"record": "collbench run"}', "has no schema_version"),
                ('{"a": 1', "a.log:1:"),
                ('{"config": {"x": [1,\n', "the file is cut: its JSON ends here"),
                (gzip.compress(LOG.encode()), "the file is compressed (gzip); zcat {file} | collbench judge -"),
                ("<!DOCTYPE html>\n<html><body>" + LOG, "the file is an HTML page"),
                ("size,count,type,time\n8,2,float,3.0\n", "the file is CSV, not what nccl-tests prints"),
                ("%PDF-1.7\n", "the file is a PDF"),
        ):
            file = self.file(text)
            message = self.collbench("judge", file, status=2)
            self.assertIn(words.format(file=file) if "{file}" in words else words, message)
            self.assertEqual(message.count("\n"), 1, message)
            self.assertTrue(message.startswith("collbench: "), message)

    def test_a_file_that_is_no_record_is_named_as_what_it_is(self):
        for text, words in (("", "the file is empty"), (gzip.compress(b"{}"), "(gzip)"),
                            ("<html></html>", "the file is an HTML page"), ("a,b,c,d\n1,2,3,4\n", "the file is CSV"),
                            ('{"schema_version": 1, "rows": [', "the file is cut")):
            for command in ("report", "judge"):
                self.assertIn(words, self.collbench(command, self.file(text), status=2))
        self.assertIn("the file is compressed (gzip)", self.collbench("topo", "show", self.file(gzip.compress(b"x")), status=2))

    def test_a_log_is_read_from_a_pipe_in_parts(self):
        chatter = "step 17 loss 0.25 took 3 ms on node7\n" * 20000  # more than one part
        result = subprocess.run([PROGRAM, "judge", "-", "--nodes", "2", "--format", "json"], input=chatter + LOG + chatter,
                                capture_output=True, text=True, timeout=60, check=True)
        run = json.loads(result.stdout)
        self.assertEqual(len(run["rows"]), 2)
        self.assertEqual(run["log"]["operation"]["line"], 20002)

    def test_a_machine_that_cannot_have_run_the_log(self):
        lists = ("sources", "numa_nodes", "pci_devices", "gpus", "nvswitches", "nics", "nvlinks", "stated_paths",
                 "peer_access", "disagreements", "notes")
        no_gpus = self.file(json.dumps({"collbench_topology": 1, "hosts": [dict.fromkeys(lists, [])]}), "no_gpus.json")
        for machine, words in (
                (("--nodes", 2, "--topology", no_gpus), "no GPU"),
                (("--nodes", 2, "--topology", "a100-pcie"), "this topology has no NIC, so it cannot reach other nodes"),
                (("--nodes", 1, "--topology", "ndv4"), "16 ranks do not fit on a node with 8 GPUs"),
                (("--nodes", 3, "--topology", "ndv4"), "16 ranks (as"),
                (("--nodes", 2, "--ranks-per-node", 4), "busbw/algbw fits 16"),
                (("--topology", "ndv4"), "the log does not say how many nodes it ran on"),
        ):
            message = self.collbench("judge", self.file(LOG), *machine, status=2)
            self.assertIn(words, message)
            self.assertEqual(message.count("\n"), 1, message)

    def test_what_was_left_out_is_counted(self):
        bad = (ROW.replace("1000000000     250000000", "0     0") +
               ROW.replace("10000  100.00  187.50", "XXXXX  XXXX  XXXX") + ROW[:60] + "\n")
        printed = self.collbench("judge", self.file(HEADING + ROW + bad + bad))
        for words in ("rows of 0 bytes: 2, the first on line 3", "rows whose times are masked: 2, the first on line 4",
                      "rows with more or fewer columns than their heading: 2, the first on line 5",
                      "incomplete: the log ends before the end of the table"):
            self.assertIn(words, printed)

    def test_lab01_of_a_log_and_of_its_record(self):
        log = self.file(LOG)
        record = self.folder / "run.json"
        machine = ("--nodes", 2, "--topology", "hgx-h100")
        price = ("--price", "2.50", "--hours", "2", "--currency", "EUR")
        lab = self.collbench("judge", log, *machine, "--preset", "lab01", *price, status=1)
        self.assertIn("| NVLink of one GPU, line rate | 18 links × 25 GB/s | 450.00 |", lab)
        self.assertIn("| NVLink of one GPU, as NCCL counts it | 18 links × 20.6 GB/s | 370.80 |", lab)
        self.assertIn("16 GPUs × 2.50 EUR = 40.00 EUR per hour; 2 hours: 80.00 EUR.", lab)
        self.collbench("judge", log, *machine, "-o", record, status=1)
        self.assertEqual(self.collbench("report", record, "--preset", "lab01", *price), lab)
        self.assertIn("--preset", self.collbench("report", record, "--preset", "lab02", status=2))
        self.assertIn("--price", self.collbench("report", record, "--price", "2 EUR", status=2))
        self.assertIn("--hours", self.collbench("report", record, "--preset", "lab01", "--price", "2", "--hours", "0",
                                                status=2))

    def test_lab01_as_a_page_of_html_holds_the_same(self):
        log = self.file(LOG)
        page = self.folder / "lab.html"
        machine = ("--nodes", 2, "--topology", "hgx-h100")
        markdown = self.collbench("judge", log, *machine, "--preset", "lab01", "--html", page, status=1)
        text = page.read_text()
        self.assertTrue(text.startswith("<!DOCTYPE html>"))
        for words in ("NVLink of one GPU, line rate", "18 links × 25 GB/s", "Where the time goes", 'data-chart='):
            self.assertIn(words, text)
        for heading in (line[3:] for line in markdown.splitlines() if line.startswith("## ")):
            self.assertIn(f"{heading}</h2>", text)
        self.assertNotIn("**", text.split("<main", 1)[-1].split("<script", 1)[0])
        self.assertIn("--html FILE", self.collbench("judge", log, "--preset", "lab01", "-o", self.folder / "x.html", status=2))

    def test_lab01_with_the_machine_given_afterwards_is_the_page_of_that_machine(self):
        log = self.file(LOG)
        record = self.folder / "run.json"
        self.collbench("judge", log, "--nodes", 2, "-o", record)
        without = self.collbench("report", record, "--preset", "lab01")
        self.assertIn("No topology is given", without)
        self.assertNotIn("Where the time goes", without)
        other = self.collbench("report", record, "--preset", "lab01", "--topology", "dgx-a100")
        self.assertIn("12 links × 25 GB/s", other)
        self.assertIn("Where the time goes", other)
        self.assertIn("machine dgx-a100 (given)", other)
        second = self.folder / "second.json"
        self.collbench("judge", log, "--nodes", 2, "--topology", "hgx-h100", "-o", second, status=1)
        self.assertEqual(self.collbench("report", second, "--preset", "lab01", "--topology", "dgx-a100"), other)

    def test_a_page_a_table_and_a_record_each_where_it_is_asked_for(self):
        log = self.file(LOG)
        page, table, record = (self.folder / name for name in ("page.md", "run.csv", "run.json"))
        machine = ("--nodes", 2, "--topology", "hgx-h100")
        printed = self.collbench("judge", log, *machine, "--preset", "lab01", "-o", page, "-J", record, "--csv", table, status=1)
        self.assertEqual(printed, "")
        self.assertEqual(page.read_text(), self.collbench("judge", log, *machine, "--preset", "lab01", status=1))
        self.assertEqual(table.read_text(), self.collbench("judge", log, *machine, "--csv", "-", status=1))
        self.assertEqual(record.read_text(), self.collbench("judge", log, *machine, "-J", "-", status=1))
        for command in (("report", record), ("judge", record)):
            self.assertIn("collbench run", self.collbench(*command, "-J", "-", status=1 if command[0] == "judge" else 0))
            written = self.folder / f"{command[0]}.md"
            self.collbench(*command, "-o", written, status=1 if command[0] == "judge" else 0)
            self.assertIn("| --- |", written.read_text())
        self.assertIn("lab01 is a page of Markdown", self.collbench("judge", log, "--preset", "lab01", "-o", "x.json", status=2))
        self.assertFalse(pathlib.Path("-").exists())

    def test_a_prediction_and_a_diff_are_written_alike(self):
        arguments = ("predict", "--topology", "hgx-h100", "--sizes", "1G")
        for ending, words in (("md", "| --- |"), ("csv", "operation,"), ("json", '"rows"'), ("txt", "# ")):
            file = self.folder / f"table.{ending}"
            self.assertEqual(self.collbench(*arguments, "-o", file), "")
            self.assertIn(words, file.read_text())
        self.assertIn("already exists", self.collbench(*arguments, "-o", self.folder / "table.md", status=2))
        self.assertEqual(self.collbench(*arguments, "-J", "-"), self.collbench(*arguments, "--format", "json"))
        self.assertEqual(self.collbench(*arguments, "--csv", "-"), self.collbench(*arguments, "--format", "csv"))
        differences = self.folder / "diff.json"
        self.collbench("topo", "diff", "hgx-h100", "hgx-h100", "-o", differences)
        json.loads(differences.read_text())
        self.assertIn("cannot be written as csv", self.collbench("topo", "diff", "hgx-h100", "hgx-h100", "-o", "x.csv", status=2))
        self.collbench("topo", "list", "-o", self.folder / "list.txt")
        self.assertIn("hgx-h100", (self.folder / "list.txt").read_text())
        self.assertIn("collbench_topology", self.collbench("topo", "save", "hgx-h100", "-o", "-"))
        self.assertIn("--sizes: 0 bytes", self.collbench("predict", "--topology", "hgx-h100", "--sizes", "0", status=2))

    def test_an_ascii_locale_a_dumb_terminal_and_columns(self):
        log = self.file(LOG)
        for locale, ascii in (("C", True), ("C.UTF-8", False)):
            environment = {**os.environ, "LC_ALL": "", "LC_CTYPE": "", "LANG": locale, "TERM": "dumb", "COLUMNS": "90"}
            result = subprocess.run([PROGRAM, "judge", log], capture_output=True, env=environment, timeout=60, check=True)
            self.assertEqual(result.stdout.isascii(), ascii)
            self.assertLessEqual(max(map(len, result.stdout.decode().splitlines())), 90)
            self.assertNotIn(b"\x1b", result.stdout)

    def test_bad_options_are_named(self):
        log = self.file(LOG)
        for option, value in (("--nodes", "0"), ("--run", "x"), ("--operation", "barrier"), ("--format", "pdf")):
            self.assertIn(option, self.collbench("judge", log, option, value, status=2))
        for hosts, wrong in (("a,a", "a is there twice"), ("10.0.0.1", "is an address"), ("n[2-1]", "the brackets of")):
            self.assertIn(f"--host: {wrong}" if hosts == "a,a" else wrong, self.collbench("judge", log, "--host", hosts, status=2))
        self.assertIn("cannot be read", self.collbench("judge", self.folder / "none.log", status=2))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
