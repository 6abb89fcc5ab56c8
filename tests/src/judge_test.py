#!/usr/bin/env python3
"""`collbench judge` as its users meet it: a record of a run on GPUs against a topology.

Usage: judge_test.py PROGRAM [unittest arguments]
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM = pathlib.Path(sys.argv[1])


def collbench(*arguments):
    return subprocess.run([str(PROGRAM), *map(str, arguments)], capture_output=True, text=True, timeout=60, check=False)


def row(size, seconds):
    empty = dict.fromkeys(("minimum", "mean", "median", "p95", "p99"), 0)
    return {
        "operation": "AllReduce", "size_bytes": size, "count": size // 4, "type": "float", "reduction": "sum",
        "in_place": False, "algorithm": "auto", "unavailable": "", "algorithm_ran": "auto", "note": "",
        "seconds": seconds, "interval": None, "pass_seconds": [], "stopped": "", "iterations": 20,
        "iterations_per_sample": 1, "samples": 0, **{f"{name}_seconds": 0 for name in empty}, "variation": 0,
        "rank_times": {"rank": [], "median_seconds": [], "p99_seconds": []}, "wrong_elements": None, "wrong": [],
        "ring_seconds": None, "tree_seconds": None, "expected_seconds": None, "expected_by": "", "rates": {},
    }


def record(busbw, ranks=16, backend="nccl"):
    """AllReduce of 1 MiB to 4 GiB on two nodes at `busbw` GB/s."""
    sizes = [1 << power for power in range(20, 33, 2)]
    times = [2 * (ranks - 1) / ranks * size / (busbw * 1e9) + 1e-4 for size in sizes]
    return {
        "record": "collbench run", "schema_version": 1,
        "versions": dict.fromkeys(("collbench", "mpi", "hwloc", "nccl", "cuda"), ""), "started": "", "finished": "",
        "complete": True, "command_line": [], "environment": {}, "backend": backend, "time_reduction": "avg",
        "simulated": False, "passes": 1, "wall_seconds": 0, "validation_seconds": 0, "calibration_seconds": 0,
        "cores_per_node": [], "place_notes": [], "calibration": None,
        "ranks": [{"rank": rank, "host": f"n{rank // (ranks // 2)}", "node": min(rank // (ranks // 2), 1),
                   "local_rank": rank % (ranks // 2) if rank < ranks - ranks % 2 else ranks // 2}
                  for rank in range(ranks)],
        "rows": [row(size, time) for size, time in zip(sizes, times)],
    }


class Judge(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name) / "run.json"

    def judge(self, run, *arguments):
        self.path.write_text(json.dumps(run))
        return collbench("judge", self.path, *arguments)

    def verdict(self, busbw, status, *more):
        result = self.judge(record(busbw), "--topology", "ndv4", "--format", "json", *more)
        self.assertEqual(result.returncode, status, result.stderr)
        last = json.loads(result.stdout)["rows"][-1]
        return last["verdict"], last["explanation"]

    def test_verdicts_and_exit_statuses(self):
        self.assertEqual(self.verdict(187, 0)[0], "SOUND")
        self.assertEqual(self.verdict(165, 0)[0], "UNCLEAR")
        self.assertEqual(self.verdict(165, 1, "--fail-on", "below,unclear")[0], "UNCLEAR")
        self.assertEqual(self.verdict(140, 1)[0], "BELOW")
        self.assertEqual(self.verdict(250, 0)[0], "UNCLEAR")
        self.assertIn("the given machine or rank count is wrong", self.verdict(250, 0)[1])
        verdict, why = self.verdict(3.2, 1)
        self.assertEqual(verdict, "FAULT")
        self.assertIn("sockets", why)
        self.assertIn("sockets, as given", self.verdict(3.2, 0, "--transport", "sockets")[1])  # of which no sound run is known

    def test_the_report_says_it(self):
        text = self.judge(record(3.2), "--topology", "ndv4").stdout
        self.assertTrue(text.startswith("# FAULT: 2 × 8 ranks against ndv4; worst: AllReduce, 0.02 of expected (SOUND from "), text)
        self.assertRegex(text, r"AllReduce float: FAULT: 3\.\d GB/s at 4 GiB")

    def test_the_machine_that_it_is_judged_against_is_named(self):
        text = self.judge(record(187), "--topology", "ndv4").stdout
        self.assertIn("judged against --topology ndv4", text)
        run = record(187)
        run["place_notes"] = ["no row has an expectation or a verdict: this topology has no GPU", "2 ranks share a core"]
        text = self.judge(run, "--topology", "ndv4").stdout
        self.assertNotIn("no row has an expectation", text)
        self.assertIn("2 ranks share a core", text)
        log = self.path.parent / "a.log"
        log.write_text("#       size         count      type   redop    root     time   algbw   busbw #wrong"
                       "     time   algbw   busbw #wrong\n"
                       "  1000000000     250000000     float     sum      -1    10000  100.00  187.50      0"
                       "    10000  100.00  187.50      0\n")
        saved = collbench("judge", log, "--nodes", 2, "--topology", "ndv4", "-o", self.path, "--overwrite")
        self.assertEqual(saved.returncode, 0, saved.stderr)
        judged = collbench("judge", self.path, "--topology", "hgx-a100")
        words = " ".join(judged.stdout.replace("\n#  ", "").split())
        self.assertIn("machine hgx-a100 (given)", words)
        self.assertIn("imported with --topology ndv4, judged against hgx-a100", words)
        again = collbench("judge", self.path, "--topology", "hgx-a100", "--format", "json")
        self.assertEqual(json.loads(again.stdout)["log"]["topology"]["value"], "hgx-a100")
        self.assertNotIn("judged against", collbench("judge", self.path).stdout)

    def test_a_record_in_a_file_is_said_with_its_verdict(self):
        out = self.path.parent / "judged.json"
        result = self.judge(record(3.2), "--topology", "ndv4", "-o", out)
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assertEqual(result.stderr, f"collbench: wrote {out}; {self.path}: AllReduce float FAULT\n")

    def test_without_a_machine_a_record_is_shown_as_it_is(self):
        result = self.judge(record(187))
        self.assertEqual((result.returncode, result.stderr), (0, f"collbench: {self.path}: no --topology, so no verdict\n"))
        self.assertEqual(result.stdout, collbench("report", self.path).stdout)
        judged = self.path.parent / "judged.json"
        self.judge(record(3.2), "--topology", "ndv4", "-J", judged)
        again = collbench("judge", judged)
        self.assertEqual((again.returncode, again.stderr), (1, ""))
        self.assertIn("AllReduce float: FAULT", again.stdout)

    def test_several_records_are_launches_of_one_machine(self):
        paths = []
        for number, busbw in enumerate((187, 150, 185)):
            paths.append(self.path.parent / f"{number}.json")
            paths[-1].write_text(json.dumps(record(busbw)))
        result = collbench("judge", *paths, "--topology", "ndv4", "-J", "-")
        run = json.loads(result.stdout)
        self.assertEqual((result.returncode, run["launches"], run["rows"][-1]["verdict"]), (0, 3, "SOUND"))
        self.assertAlmostEqual(run["rows"][-1]["rates"]["bus_bandwidth_gb_per_s"], 185, delta=1)
        paths[1].write_text(json.dumps(record(187, ranks=8)))
        refused = collbench("judge", *paths, "--topology", "ndv4")
        self.assertEqual(refused.returncode, 2)
        self.assertIn(f"{paths[1]}: it is of 8 ranks, and {paths[0]} of 16 ranks", refused.stderr)

    def test_a_log_is_answered_with_what_the_doctor_finds_in_it(self):
        log = self.path.with_suffix(".log")
        log.write_text(
            "# nThread 1 nGpus 1 minBytes 8388608 maxBytes 8388608 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1\n"
            "# Using devices\n"
            "#  Rank  0 Group  0 Pid   11 on   n1 device  0 [0x07] NVIDIA A100-SXM4-40GB\n"
            "#  Rank  1 Group  0 Pid   12 on   n2 device  0 [0x07] NVIDIA A100-SXM4-40GB\n"
            "n1:11:15 [0] NCCL INFO Channel 00/0 : 1[0] -> 0[0] [receive] via NET/Socket/0\n"
            "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong\n"
            "     8388608       2097152     float     sum      -1   4194.3    2.00    2.00      0   4194.3    2.00    2.00      0\n"
            "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 2.0\n", encoding="utf-8")
        said = collbench("judge", log)
        self.assertEqual(said.returncode, 0, said.stderr)
        self.assertIn("slow      log-sockets", said.stdout)
        told = collbench("judge", log, "--format", "csv")
        self.assertNotIn("log-sockets", told.stdout)
        self.assertIn("log-sockets (slow): NCCL speaks TCP", told.stderr)

    def test_a_log_from_standard_input_is_not_accepted_unread_by_the_doctor(self):
        """A record has no such log."""
        def accept(text):
            return subprocess.run([PROGRAM, "judge", "-", "--topology", "ndv4", "--accept"], input=text, capture_output=True,
                                  text=True, timeout=60, check=False)
        log = self.path.with_suffix(".log")
        log.write_text(
            "# Collective test starting: all_reduce_perf\n# nThread 1 nGpus 2 minBytes 8 maxBytes 8 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1\n# Using devices\n"
            "#  Rank  0 Group  0 Pid   11 on   n1 device  0 [0x00] NVIDIA A100-SXM4-80GB\n"
            "#  Rank  1 Group  0 Pid   11 on   n1 device  1 [0x01] NVIDIA A100-SXM4-80GB\n"
            "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong\n"
            "           8             2     float     sum      -1    20.0    0.00    0.00      0    20.0    0.00    0.00      0\n"
            "# Out of bounds values : 0 OK\n")
        refused = accept(log.read_text())
        self.assertEqual(refused.returncode, 2, refused.stderr)
        self.assertIn("--accept: the doctor reads the log, too", refused.stderr)
        self.assertNotIn("the doctor reads the log", accept(json.dumps(record(187))).stderr)

    def test_no_machine_is_accepted_whose_log_shows_what_breaks_jobs(self):
        def log(nccl="", rate=465.0, after=""):
            microseconds = 1073741.824 * 1.75 / rate
            half = f"  {microseconds:.1f}  {1073741.824 / microseconds:.2f}  {rate:.2f}      0"
            path = self.path.with_suffix(".log")
            path.write_text(
                "# Collective test starting: all_reduce_perf\n"
                "# nThread 1 nGpus 8 minBytes 1073741824 maxBytes 1073741824 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1\n"
                "# Using devices\n" + "".join(
                    f"#  Rank  {rank} Group  0 Pid   11 on   n1 device  {rank} [0x0{rank}] NVIDIA H100 80GB HBM3\n" for rank in range(8)) +
                "n1:11:15 [0] NCCL INFO NCCL version 2.27.7+cuda12.9\n" + nccl +
                "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong\n"
                f"  1073741824     268435456     float     sum      -1{half}{half}\n"
                "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 1\n" + after, encoding="utf-8")
            return collbench("judge", path, "--topology", "hgx-h100", "--accept")
        self.assertEqual(log().returncode, 0, log().stderr)
        xid = log(after="[ 8123.456789] NVRM: Xid (PCI:0000:52:00): 48, pid=5713, name=all_reduce_perf, DBE (double bit error) detected\n")
        self.assertEqual(xid.returncode, 1, xid.stdout)
        self.assertIn("failed: ", xid.stderr)
        self.assertIn(": xid (broken): ", xid.stderr)
        self.assertRegex(xid.stdout.splitlines()[0], "^# UNCLEAR: .*; the log shows what breaks jobs: xid ")
        said = collbench("doctor", self.path.with_suffix(".log")).stdout
        self.assertIn("1 finding (1 broken)", said)
        self.assertIn("1 finding\n", xid.stdout)
        died = log(after="n1: Test CUDA failure common.cu:1500 'an illegal memory access was encountered'\n")
        self.assertEqual(died.returncode, 1, died.stdout)
        self.assertTrue(died.stdout.startswith("# UNCLEAR: 1 × 8 ranks on hgx-h100; the job ended with an error: "), died.stdout[:200])
        # The ring's rate, where NVLS was lost: of a sound machine it is not.
        no_nvls = log("n1:11:15 [0] NCCL INFO 16 coll channels, 16 collnet channels, 0 nvls channels, 16 p2p channels\n", 361.0)
        self.assertEqual(no_nvls.returncode, 1, no_nvls.stdout)
        self.assertTrue(no_nvls.stdout.startswith("# BELOW: "), no_nvls.stdout[:200])
        self.assertIn("NCCL set up no NVLS channels (line 13)", no_nvls.stderr)

    def test_a_log_without_a_table_says_why_it_has_none(self):
        log = self.path.with_suffix(".log")
        log.write_text("[1,0]<stdout>:n1:1:9 [0] misc/ibvwrap.cc:278 NCCL WARN Call to ibv_reg_mr_iova2 failed with error Cannot allocate memory\n")
        told = collbench("judge", log)
        self.assertEqual(told.returncode, 2)
        self.assertIn("has no table of nccl-tests in its 1 line. The log shows log-memory-registration (broken): NCCL could not", told.stderr)
        self.assertIn(f"see collbench doctor {log}; for a verdict give what", told.stderr)
        self.assertEqual(told.stderr.count("\n"), 1)
        # Of several files each finding names its own.
        other = self.path.with_suffix(".other.log")
        other.write_text("n1:1:9 [0] NCCL INFO Bootstrap : Using eth0:10.0.0.1<0>\n")
        told = collbench("judge", other, log)
        self.assertIn(f"log-memory-registration (broken, {log}): ", told.stderr)

    def test_of_several_runs_the_worst_is_first(self):
        def run(microseconds, more):
            return (f"$ all_reduce_perf -b 1G -e 1G{more}\n"
                    "# nThread 1 nGpus 8 minBytes 1073741824 maxBytes 1073741824 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1\n"
                    "# Using devices\n" + "".join(
                        f"#  Rank  {rank} Group  0 Pid   11 on   n1 device  {rank} [0x0{rank}] NVIDIA H100 80GB HBM3\n" for rank in range(8)) +
                    "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong\n"
                    f"  1073741824     268435456     float     sum      -1  {microseconds:.1f}  {1073741.824 / microseconds:.2f}"
                    f"  {1073741.824 / microseconds * 1.75:.2f}      0  {microseconds:.1f}  {1073741.824 / microseconds:.2f}"
                    f"  {1073741.824 / microseconds * 1.75:.2f}      0\n"
                    "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 1\n")
        log = self.path.with_suffix(".log")
        log.write_text(run(4000, "") + run(40000, " -n 5"))
        said = collbench("judge", log, "--topology", "hgx-h100")
        self.assertEqual(said.returncode, 1, said.stderr)
        self.assertTrue(said.stdout.startswith("# FAULT: "), said.stdout[:300])
        self.assertIn("run 2 of 2", said.stdout.split("# SOUND: ")[0])
        self.assertIn("run 1 of 2", said.stdout.split("# SOUND: ")[1])

    def test_jobs_in_a_flat_folder_or_in_a_file_are_read_apart(self):
        def job(host, communicator, says):
            return "".join(f"{host}:1:1 [0] NCCL INFO {words}\n" for words in (
                "NCCL version 2.26.2+cuda12.2", says,
                f"ncclCommInitRank comm 0x1 rank 0 nranks 2 cudaDev 0 nvmlDev 0 busId 1000 commId 0x{communicator} - Init COMPLETE"))
        # Each alone is what the other would hide: NCCL asks libfabric for each of its protocols in turn.
        good = job("n1", "47", "NET/OFI Selected Provider is efa (found 4 nics)")
        bad = job("n9", "99", "NET/OFI No eligible providers were found")
        folder = self.path.parent / "jobs"
        folder.mkdir()
        (folder / "good.log").write_text(good)
        (folder / "bad.log").write_text(bad)
        both = self.path.parent / "both.log"
        both.write_text(good + bad)
        for evidence, worst in ((folder, folder / "bad.log"), (both, f"{both}:4-6")):
            said = collbench("doctor", evidence)
            self.assertEqual(said.returncode, 1, said.stderr)
            lines = said.stdout.splitlines()
            self.assertEqual(lines[0], "2 jobs: 0 with something broken, 1 slow, 0 at risk, 1 without a finding")
            self.assertTrue(lines[1].startswith(f"{worst}: 1 finding"), lines[1])
        self.assertIn("log-no-provider (slow)", collbench("judge", both).stderr)
        # What the machine itself says stands once.
        (folder / "environment.txt").write_text("NCCL_IB_DISABLE=1\n")
        said = collbench("doctor", folder)
        self.assertEqual(said.stdout.splitlines()[0],
                         "1 machine, 2 jobs: 0 with something broken, 2 slow, 0 at risk, 1 without a finding")

    def test_several_folders_are_a_fleet(self):
        nodes = self.path.parent / "nodes"
        for name, words in (("n1", "NCCL_DEBUG=INFO"), ("n2", "NCCL_IB_DISABLE=1")):
            (nodes / name).mkdir(parents=True)
            (nodes / name / "environment.txt").write_text(words + "\n")
        for arguments in ([nodes], [nodes / "n1", nodes / "n2"]):
            said = collbench("doctor", *arguments)
            self.assertEqual(said.returncode, 1, said.stderr)
            lines = said.stdout.splitlines()
            self.assertEqual(lines[0], "2 machines: 0 with something broken, 1 slow, 0 at risk, 1 without a finding")
            self.assertTrue(lines[1].startswith(f"{nodes / 'n2'}: 1 finding"), lines[1])
        sys_copy = self.path.parent / "copy"
        for folder in ("class/net", "bus/pci/devices"):
            (sys_copy / folder).mkdir(parents=True)
        said = collbench("doctor", sys_copy)
        self.assertNotIn("2 machines", said.stdout)
        self.assertIn(str(sys_copy), said.stdout + said.stderr)

    def test_a_low_run_names_the_findings_on_its_path(self):
        machine = self.path.parent / "node.json"
        saved = collbench("topo", "save", "ndv4", "-o", machine)
        self.assertEqual(saved.returncode, 0, saved.stderr)
        shapes = json.loads(machine.read_text())
        for nic in shapes["hosts"][0]["nics"][:4]:
            nic["ports"][0]["gigabits_per_second"] = [100, 0]
        run = record(140)
        run["cluster"] = {"summary": [], "placement": [], "shapes": shapes,
                          "nodes": [{"host": name, "shape": 0, "identity": {}} for name in ("n0", "n1")]}
        result = self.judge(run, "--topology", "ndv4", "--format", "json")
        why = json.loads(result.stdout)["rows"][-1]["explanation"]
        self.assertRegex(why, r"Findings on its path: n0 and n1, degraded nic-port-slower .*cost: AllReduce on 2 nodes: ring")

    def test_a_damaged_machine_is_no_yardstick(self):
        machine = self.path.parent / "node.json"
        collbench("topo", "save", "ndv4", "-o", machine)
        shapes = json.loads(machine.read_text())
        for nic in shapes["hosts"][0]["nics"]:
            nic["ports"][0]["state"] = ["DOWN" if nic is not shapes["hosts"][0]["nics"][0] else "ACTIVE", 0]
        machine.write_text(json.dumps(shapes))
        result = self.judge(record(23), "--topology", machine, "--format", "json")
        self.assertEqual(result.returncode, 1, result.stderr)
        judged = json.loads(result.stdout)
        self.assertEqual(judged["yardstick"], {"kind": "detected", "machine": "hgx-a100", "differences": []})
        last = judged["rows"][-1]
        self.assertEqual(last["verdict"], "FAULT")
        self.assertIn("broken nic-port-down", last["explanation"])
        self.assertRegex(last["explanation"], r"As it was found, the machine would give 0\.\d\d of the expected rate, ")
        text = self.judge(record(23), "--topology", machine).stdout.replace("\n#  ", "")
        self.assertIn("FAULT: 2 × 8 ranks against hgx-a100; worst: AllReduce", " ".join(text.split()))

    def test_what_sound_rates_do_not_show_is_a_warning(self):
        machine = self.path.parent / "node.json"
        collbench("topo", "save", "ndv4", "-o", machine)
        text = self.judge(record(187), "--topology", machine).stdout
        self.assertNotIn("these rates do not show", text)
        shapes = json.loads(machine.read_text())
        shapes["hosts"][0]["nics"][3]["ports"][0]["state"] = ["DOWN", 0]
        machine.write_text(json.dumps(shapes))
        result = self.judge(record(187), "--topology", machine)
        self.assertEqual(result.returncode, 0)
        words = " ".join(result.stdout.replace("\n#  ", "").split())
        self.assertIn("warning: these rates do not show what was found on the machine. Findings on its path:", words)
        self.assertIn("nic-port-down", words)

    def test_accept_asks_for_everything(self):
        failed = self.judge(record(187), "--topology", "ndv4", "--accept")
        self.assertEqual(failed.returncode, 1, failed.stderr)
        self.assertIn("failed: the data of some rows was not checked (-c 1)", failed.stderr)
        self.assertNotIn("failed: UNCLEAR", failed.stderr)
        self.assertIn("not checked: throttled: the record has no telemetry of GPUs", failed.stderr)
        run = record(187)
        for each in run["rows"]:
            each["wrong_elements"] = 0
        untested = self.judge(run, "--topology", "ndv4", "--accept")
        self.assertEqual(untested.returncode, 1)
        self.assertIn("failed: not tested: these operations do not show the 8 NICs at 50 %", untested.stderr)
        for each in run["rows"]:
            each["algorithm_ran"] = "ring"
        self.assertEqual(self.judge(run, "--topology", "ndv4", "--accept").returncode, 0)
        machine = self.path.parent / "node.json"
        collbench("topo", "save", "ndv4", "-o", machine)
        shapes = json.loads(machine.read_text())
        shapes["hosts"][0]["nics"] = shapes["hosts"][0]["nics"][:7]
        machine.write_text(json.dumps(shapes))
        own = self.judge(run, "--topology", machine, "--accept")
        self.assertEqual(own.returncode, 1)
        self.assertIn("failed: UNCLEAR: no reference machine is like this one", own.stderr)
        nothing = self.judge(run, "--accept")
        self.assertEqual(nothing.returncode, 2)
        self.assertIn("--accept: there is nothing to judge", nothing.stderr)

    def test_nics_may_be_stated_in_place_of_a_machine(self):
        log = self.path.with_suffix(".log")
        log.write_text("# nThread 1 nGpus 1 minBytes 1073741824 maxBytes 1073741824 step: 2(factor) warmup iters: 5 iters: 20\n" + "".join(
            f"#  Rank {rank:2} Group  0 Pid   11 on   n{rank // 8} device  {rank % 8} [0x0{rank % 8}] NVIDIA A100-SXM4-80GB\n"
            for rank in range(16)) +
            "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong\n"
            "  1073741824     268435456     float     sum      -1    21475   50.00   93.75      0    21475   50.00   93.75      0\n"
            "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 93.75\n",
            encoding="utf-8")
        for nics, word, status in (8, "BELOW", 1), (4, "SOUND", 0), (2, "UNCLEAR", 0):
            said = collbench("judge", log, "--nics", nics, "--nic-rate", 200)
            self.assertTrue(said.stdout.startswith(f"# {word}: 2 × 8 ranks against 8 × A100 SXM with {nics} NICs of 200 Gb/s; "),
                            said.stdout[:200] + said.stderr)
            self.assertEqual(said.returncode, status)
        collbench("judge", log, "--topology", "ndv4", "-o", self.path)
        again = collbench("judge", self.path, "--nics", "4", "--nic-rate", "200")
        self.assertTrue(again.stdout.startswith("# SOUND: 2 × 8 ranks against 8 × A100 SXM with 4 NICs of 200 Gb/s; "), again.stdout[:200])
        self.assertIn("imported with --topology ndv4, judged against 8 × A100 SXM with 4 NICs", again.stdout.replace("\n#  ", ""))
        log.write_text("".join(line for line in log.read_text(encoding="utf-8").splitlines(keepends=True) if "Rank" not in line), encoding="utf-8")
        shape = "--operation", "all_reduce", "--nodes", "2", "--ranks-per-node", "8", "--nics", "4", "--nic-rate", "200"
        said = collbench("judge", log, *shape)
        self.assertIn("does not name its GPUs; give with --topology a reference machine that has them", said.stderr)
        said = collbench("judge", log, *shape, "--topology", "dgx-a100")
        self.assertTrue(said.stdout.startswith("# SOUND: 2 × 8 ranks against 8 × A100 SXM with 4 NICs of 200 Gb/s; "), said.stdout[:200] + said.stderr)

    def test_bad_input(self):
        for run, arguments, says in (
            (record(187), ("--own-floor",), "--topology: there is no machine to judge the run by"),
            (record(187), ("--nics", "8", "--nic-rate", "200"), "is no log of a run on GPUs; give the machine with --topology"),
            (record(187), ("--nics", "8", "--nic-rate", "200", "--preset", "lab01"), "the page of Lab 01 shows the links of a machine"),
            (record(187), ("--nics", "8"), "--nics is only used with --nic-rate"),
            (record(187), ("--nics", "8", "--nic-rate", "200", "--topology", "node.json"), "node.json has its own NICs"),
            (record(187), ("--nodes", "2"), "it is a record, which says itself where and when it ran, and what"),
            (record(187), ("--topology", "no-such"), "no such file or folder, and no reference machine of that name"),
            (record(187, backend="mpi"), ("--topology", "ndv4"), "measured through MPI"),
            (record(187, ranks=18), ("--topology", "ndv4"), "9 ranks do not fit on a node with 8 GPUs"),
            (record(187), ("--topology", "a100-pcie"), "this topology has no NIC"),
        ):
            result = self.judge(run, *arguments)
            self.assertEqual(result.returncode, 2, result.stderr)
            self.assertIn(says, result.stderr)
            self.assertEqual(result.stdout, "")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
