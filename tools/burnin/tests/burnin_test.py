#!/usr/bin/env python3
"""`collbench burnin` as its users meet it: plans, refusals, and a burn-in of "hosts" that are all this machine.

Usage: burnin_test.py PROGRAM [unittest arguments]
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM = pathlib.Path(sys.argv[1]).resolve()
# Two real ranks of Open MPI, whose host gets the two names of the pair; a pair with "dead" is refused as by a host that is gone.
LAUNCHER = """#!/bin/sh
a=$1; b=$2; shift 2
case "$a $b" in *dead*) echo "ssh: connect to host dead port 22: No route to host" >&2; exit 255;; esac
record=$(mpirun --oversubscribe --allow-run-as-root -np 2 "$@") || exit
printf '%s\\n' "$record" | python3 -c 'import json, sys
run = json.load(sys.stdin)
for rank, name in zip(run["ranks"], sys.argv[1:]): rank["host"] = name
print(json.dumps(run))' "$a" "$b"
"""
# Hosts by themselves and in groups: a record of two real ranks again, or the counters, in which n1's link goes down after the first look.
GROUPS = """#!/usr/bin/env python3
import json, os, sys
hosts, words = sys.argv[1].split(","), sys.argv[3:]
def models(host, later):  # by a later look n1 would be of the other kind
    if not os.environ.get("MIXED"): return []
    return 8 * ["A100" if host in ("n4", "n5") or (later and host == "n1") else "H100"]
if any("rign" in word for word in words): sys.exit(print("--algo: 'rign' is not an algorithm", file=sys.stderr) or 2)
if words[1] == "counters":
    looks = os.environ["RECORD"] + ".looks." + hosts[0]
    if hosts == [os.environ.get("SILENT")]: sys.exit("ssh: no route")
    earlier = os.path.exists(looks)
    open(looks, "w").close()
    for host in hosts:
        print(json.dumps({"record": "collbench error counters", "host": host, "unix_seconds": 90 if earlier else 60, "notes": [],
                          "gpus": models(host, earlier), "counts": {"mlx5_0/1 link_downed": 1 + (earlier and host == "n1"), "mlx5_0/1 symbol_error": 4 + earlier}}))
    sys.exit()
if words[1] == "probe": sys.exit(5)
if "n4" in hosts and len(hosts) == 1: sys.exit("no cores")
run = json.load(open(os.environ["RECORD"]))
run["ranks"] = [dict(run["ranks"][0], rank=i, host=host) for i, host in enumerate(hosts + hosts[: 2 if len(hosts) == 1 else 0])]
for row in run["rows"]: row["pass_seconds"] = [0.002 if hosts == ["n2"] else 0.001]
print(json.dumps(run))
"""
# A record of two real ranks again, for each group: with n5 it takes twice as long over rail 1.
HALVES = """#!/usr/bin/env python3
import json, os, sys
hosts = sys.argv[1].split(",")
with open(os.environ["RECORD"] + ".launches", "a") as log: print(*hosts, os.environ.get("RAIL", "-"), file=log)
run = json.load(open(os.environ["RECORD"]))
run["ranks"] = [dict(run["ranks"][0], rank=i, host=host) for i, host in enumerate(hosts + hosts[: 2 if len(hosts) == 1 else 0])]
is_slow = "n5" in hosts and len(hosts) > 1 and os.environ.get("RAIL", "1") == "1"
for row in run["rows"]: row["pass_seconds"] = [0.002 if is_slow else 0.001]
print(json.dumps(run))
"""
# A record of two real ranks, again for each pair, with the faults that FAULT names.
PLAYBACK = """#!/usr/bin/env python3
import json, os, signal, sys, time, zlib
a, b, fault, rail = *sys.argv[1:3], os.environ["FAULT"], os.environ.get("RAIL", "0")
if fault == "dead rail" and rail == "1" and "n2" in (a, b):
    sys.exit("mlx5_1: no active port")
if fault == "interrupted" and (a, b) == ("n1", "n3"):
    os.kill(os.getppid(), signal.SIGINT)
    time.sleep(20)
if fault == "out of time" and (a, b) == ("n0", "n1"):
    time.sleep(3)
    sys.exit("no answer")
if fault == "slow to start":
    time.sleep(1)
if fault == "flaky" and (a, b) in (("n0", "n1"), ("n2", "n3"), ("n4", "n5")):
    sys.exit("srun: error: Unable to create step")
if fault == "banner" and (a, b) == ("n1", "n3"):
    sys.exit(print("Welcome to the cluster"))
run = json.load(open(os.environ["RECORD"]))
for rank, name in zip(run["ranks"], ("login", "login") if fault == "elsewhere" else (a, b)):
    rank["host"] = name
for row in run["rows"]:
    row["pass_seconds"] = [0.001 * (1 + zlib.crc32(f"{a} {b} {row}".encode()) % 1000 / 500 if fault == "scatter" else 1)]
print(json.dumps(run))
"""


def burnin(*arguments, timeout=120):
    return subprocess.run([str(PROGRAM), "burnin", *map(str, arguments)], capture_output=True, text=True, timeout=timeout,
                          check=False, env={**os.environ, "COLUMNS": "120"})


class Burnin(unittest.TestCase):
    def refused(self, *arguments, says):
        result = burnin(*arguments)
        self.assertEqual(result.returncode, 2, result.stdout)
        self.assertEqual(result.stdout, "")
        self.assertRegex(result.stderr, says)
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)

    def test_what_cannot_be_done_is_refused(self):
        for arguments, says in (
            ((), "no hosts are named; give --hosts"),
            (("--hosts", "a"), "1 host cannot be told apart"),
            (("--hosts", "a,b,c"), "3 hosts cannot be told apart"),
            (("--from", "/nowhere/burnin.json"), "/nowhere/burnin.json"),
            (("--from", "x.json", "--hosts", "a,b,c,d"), "--from says what a file says"),
            (("--from", "x.json", "--resume"), "--from says what a file says"),
            (("--hosts", "a,b,c,d", "--where", "test=x"), "--where: it chooses from a table of pairs"),
            (("--from", "x.csv", "--where", "test"), "'test' is no column and cell"),
            (("--hosts", "a,b,c,d", "--html", "-"), "give --format html"),
            (("--hosts", "a,b,c,d", "--plot-file", "map.png"), "ends in .svg"),
            (("--hosts", "a,b,c,d", "--csv", "/nowhere/pairs.csv"), "the folder /nowhere does not exist"),
            (("--hosts", "a,b,c,d", "--csv", "x.html", "--html", "x.html"), "the same file"),
            (("--hosts", "a,b,c,a"), "a is there twice"),
            (("--hosts", "10.0.0.[1-4]"), "10.0.0.1 is an address"),
            (("--hosts", "n[1-3]"), "3 hosts cannot be told apart.*name at least 4"),
            (("--hosts", __file__), "is a file; write @"),
            (("--hosts", "a,b,c,d", "--rails", 2), "--rail-setting"),
            (("--hosts", "a,b,c,d", "--resume"), "give it with -J"),
            (("--hosts", "a,b,c,d", "--format", "xml"), "--format"),
            (("--hosts", "a,b,c,d", "--launcher", "", "--rail-setting", "A=B"), "lacks {a}"),
            (("--hosts", "a,b,c,d", "--launcher", "mpirun --host {a},b"), "lacks {b}"),
            (("--hosts", "@/nowhere/hosts"), "/nowhere/hosts"),
            (("--hosts", "a,b,c,d", "--phases", "nodes,all"), "--phases"),
            (("--hosts", "a,b,c,d", "--phases", "nodes", "--launcher", "x {a} {b}"), "--launcher starts pairs only.*--group-launcher"),
            (("--hosts", "a,b,c,d", "--group-launcher", "mpirun -np 4"), "names no hosts"),
            (("--hosts", "a,b,c,d", "--diagnose", "--phases", "nodes"), "--phases"),
            (("--hosts", "a,b,c,d", "--diagnose", "--expected", "40"), "--expected: it is a rate of pairs"),
        ):
            with self.subTest(arguments=arguments):
                self.refused(*arguments, says=says)

    def test_pairs_that_others_measured(self):
        with tempfile.TemporaryDirectory() as folder:
            table = pathlib.Path(folder, "pairs.csv")
            rows = [f"{test},n{a},n{b},{24 if 2 in (a, b) else 48}" for test in ("one", "two") for a in range(6) for b in range(a)]
            table.write_text("\n".join(["test,node_a,node_b,busbw", *rows]))
            self.refused("--from", table, says=r"pairs\.csv:17: n1 and n0 stand there more than once: test is one and two; .*--where")
            result = burnin("--from", table, "--where", "test=one")
            self.assertEqual((result.returncode, result.stderr), (1, ""))
            self.assertRegex(result.stdout, "(?s)6 nodes: 5 good, 1 suspect.*measured by others: .*rows of test one.*n2: compared with the median")
            self.assertEqual(burnin("--from", table, "--where", "test=two", "--format", "hostfile").stdout, "n0\nn1\nn3\nn4\nn5\n".replace(
                "n0\nn1", "n1\nn0"))

    def test_a_plan(self):
        hosts = ",".join(f"n{i}" for i in range(8))
        plan = burnin("--hosts", hosts, "--rails", 2, "--rail-setting", "X={rail}", "--dry-run").stdout
        self.assertIn("28 of 28 pairs on 2 rails in 7 rounds, about 42", plan)
        self.assertEqual(plan.count("\nround "), 7)
        self.assertEqual(burnin("--hosts", "n[0-7]", "--rails", 2, "--rail-setting", "X={rail}", "--dry-run").stdout, plan)
        for says in ("phase nodes: 8 jobs in 1 round, about 3 s", "phase rails: 4 jobs in 3 rounds", "phase groups: 2 jobs in 1 round",
                     "phase whole: 1 job in 1 round"):
            self.assertIn(says, plan)
        part = burnin("--hosts", hosts, "--phases", "nodes,groups", "--parallel", 3, "--dry-run").stdout
        self.assertIn("phase nodes: 8 jobs in 3 rounds", part)
        self.assertIn("left out: gpus (--phases), rails (--phases), pairs (--phases), whole (--phases)", part)
        self.assertNotIn("phase pairs", part)
        groups = ("--hosts", hosts, "--diagnose", "--dry-run")
        self.assertIn("--leaf-nodes 40: all ", burnin(*groups, "--leaf-nodes", 40, "--nvlink-nodes", 50).stdout)
        self.assertIn("; --nvlink-nodes 50: all ", burnin(*groups, "--leaf-nodes", 40, "--nvlink-nodes", 50).stdout)
        self.assertNotIn("are taken to be", burnin(*groups, "--leaf-nodes", 2).stdout)
        one_by_one = burnin("--hosts", hosts, "--dry-run", "--parallel", 1).stdout
        self.assertIn("in 7 rounds, about 1 min 24 s", one_by_one)
        # Three seconds of them are the phase before it; that the rest does not fit is said.
        short = burnin("--hosts", hosts, "--dry-run", "--time", 10).stdout
        self.assertIn("8 of 28 pairs", short)
        self.assertIn("5 rounds do not fit into --time; a host is judged with 3 partners, and each gets at least 2", short)
        self.assertIn("in all about 15 s of measuring, and 2 min 51 s of phase gpus where there are GPUs (8 launches), without retests: "
                      "19 launches in 5 rounds, and 48 that read error counters; start-up time is known only after the first", short)
        self.assertIn("more than --time, so the last of it is left out", short)

    def test_one_slow_nic_is_found_by_halving(self):
        with tempfile.TemporaryDirectory() as folder:
            launcher, record, burned_in = (pathlib.Path(folder) / name for name in ("launch", "pair.json", "burnin.json"))
            launcher.write_text(HALVES)
            launcher.chmod(0o755)
            subprocess.run(["mpirun", "--oversubscribe", "--allow-run-as-root", "-np", "2", str(PROGRAM), "--ops", "all_reduce", "--sizes", "1M", "-c",
                            "0", "-n", "2", "--time", "0.1", "-J", str(record)], check=True, capture_output=True)
            os.environ["RECORD"] = str(record)
            self.addCleanup(os.environ.pop, "RECORD", None)
            common = ("--hosts", "n[0-23]", "--leaf-nodes", 4, "--rails", 2, "--rail-setting", "RAIL={rail}", "--group-launcher",
                      f"{launcher} {{hosts}} {{ranks}}", "--diagnose", "--no-counters", "-J", burned_in)
            plan = burnin(*common, "--dry-run").stdout
            self.assertRegex(plan, r"diagnosis by halving: 6 launches in 1 round, about 3 s where all are good, \d+ launches in \d+ rounds, about \d+ s where one")
            result = burnin(*common)
            self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
            flat = " ".join(result.stdout.split())
            self.assertTrue(flat.startswith("24 nodes: 23 good, 0 suspect, 1 bad, 0 not tested"), flat)
            self.assertIn("NIC, 2.00 times the time of its like (line 1.05), confirmed by exclusion and swap: n5: with n", flat)
            self.assertIn("; without it n4, n6, n7 are well; on rail 1 all_reduce makes ", flat)
            self.assertIn("left out, so what they would show is not known: gpus (--diagnose), ", flat)
            # Its schedule is said before, and what it took is every launcher that was started.
            started = len(pathlib.Path(f"{record}.launches").read_text().splitlines())
            self.assertRegex(result.stderr, f"^burnin: predicted after the first launches, .* rounds one after the other, {started} launches in all, ")
            self.assertRegex(flat, f"halving took .* {started} launches in all, .*; predicted .* {started} launches in all, ")
            self.assertIn(f"where all are good, {started} launches in ", plan)
            self.assertEqual(burnin("--from", burned_in).stdout, result.stdout)
            self.assertIn("n5: with n", burnin("--from", burned_in, "--format", "drain").stdout)
            self.assertEqual(burnin(*common, "--resume").stdout, result.stdout)
            self.assertEqual(len(pathlib.Path(f"{record}.launches").read_text().splitlines()), started, "nothing is measured twice")

    def test_a_host_that_is_gone_is_not_tested_and_the_rest_goes_on(self):
        with tempfile.TemporaryDirectory() as folder:
            launcher, record = pathlib.Path(folder) / "launch", pathlib.Path(folder) / "burnin.json"
            launcher.write_text(LAUNCHER)
            launcher.chmod(0o755)
            common = ("--hosts", "n0,n1,n2,n3,dead", "--launcher", f"{launcher} {{a}} {{b}}", "--pair-seconds", 0.3, "--bytes",
                      "1M", "--parallel", 1, "-J", record)
            result = burnin(*common)
            self.assertEqual(result.returncode, 4, result.stdout + result.stderr)
            self.assertRegex(result.stdout, r"dead not tested: n\d with dead: exit status 255: ssh: connect to host dead")
            read = json.loads(record.read_text())
            self.assertEqual({bucket["node"]: bucket["bucket"] for bucket in read["buckets"]}["dead"], "not tested")
            self.assertFalse(any(time[4] for time in read["times"][:12]))
            self.assertEqual({(a, b) for a, b, *_ in read["times"]}, {(a, b) for a in range(4) for b in range(4) if a != b})
            self.assertEqual(len(read["failures"]), 4)
            # Nothing is measured twice, and the matrix has each direction.
            again = burnin(*common, "--resume", "--format", "csv")
            lines = again.stdout.splitlines()
            self.assertEqual(lines[0], "from,to,rail,gigabytes_per_second,alone,repeat")
            self.assertGreaterEqual(len(lines), 13)
            self.assertEqual(json.loads(record.read_text())["times"][:12], read["times"][:12])
            # Of other ranks, or for other seconds, nothing is like what was measured.
            self.refused(*common, "--resume", "--ranks-per-host", 2, says=r"--ranks-per-host '1' \(now '2'\).*another -J")


    def test_counters_since_a_look_at_another_host_are_refused(self):
        def counters(*arguments):
            return subprocess.run([str(PROGRAM), "counters", *map(str, arguments)], capture_output=True, text=True, timeout=60, check=False)

        with tempfile.TemporaryDirectory() as folder:
            look = pathlib.Path(folder) / "look.json"
            look.write_text(counters("--format", "json").stdout)
            self.assertIn(counters("--since", look).returncode, (0, 1))
            self.assertIn("events", json.loads(look.read_text())["unit"])
            result = counters("--since", look, "--format", "json")
            self.assertEqual((result.returncode, result.stdout), (2, ""))
            look.write_text(json.dumps({**json.loads(look.read_text()), "host": "elsewhere"}))
            result = counters("--since", look)
            self.assertEqual((result.returncode, result.stdout), (2, ""))
            self.assertRegex(result.stderr, "look.json: is a look at elsewhere, and this is .*; run it on elsewhere")
            # A copy of /sys does not say whose it is.
            result = counters("--since", look, "--sys", folder)
            self.assertEqual(result.returncode, 1)  # what that look had is not here
            self.assertIn(f"whether elsewhere and {folder} are one host is not known", result.stdout)
            # Nor is its folder the name of a host, and what it had is read again.
            look.write_text(counters("--sys", folder, "--format", "json").stdout)
            count = pathlib.Path(folder, "class/infiniband/mlx5_0/ports/1/counters/symbol_error")
            count.parent.mkdir(parents=True)
            count.write_text("5\n")
            look.write_text(counters("--sys", folder, "--format", "json").stdout)
            count.write_text("900\n")
            result = counters("--since", look, "--sys", folder)
            self.assertIn("mlx5_0/1 symbol_error: 5 to 900 within an unknown time, noted", result.stdout)
            count.write_text("5\n")
            self.assertIn("none went up", counters("--since", look, "--sys", folder).stdout)

    def test_no_fault_passes_as_good(self):
        with tempfile.TemporaryDirectory() as folder:
            launcher, record = pathlib.Path(folder) / "launch", pathlib.Path(folder) / "pair.json"
            launcher.write_text(PLAYBACK)
            launcher.chmod(0o755)
            subprocess.run(["mpirun", "--oversubscribe", "--allow-run-as-root", "-np", "2", str(PROGRAM), "--ops", "broadcast", "--root", "all",
                            "--sizes", "1M", "-c", "0", "-n", "2", "--time", "0.1", "-J", str(record)], check=True, capture_output=True)
            (pathlib.Path(folder) / "hosts").write_text("".join(f"n{i} slots=8  # rack 1\n" for i in range(6)))

            def run(fault, *arguments):
                result = subprocess.run([str(PROGRAM), "burnin", "--hosts", f"@{folder}/hosts", "--launcher", f"{launcher} {{a}} {{b}}",
                                         *arguments], capture_output=True, text=True, timeout=120, check=False,
                                        env={**os.environ, "COLUMNS": "120", "FAULT": fault, "RECORD": str(record)})
                return result.returncode, result.stdout, result.stderr

            status, out, err = run("none")
            self.assertEqual(status, 0, out)
            self.assertIn("6 nodes: 6 good", out)
            self.assertRegex(err, r"\Aburnin: (the first launches took up to [^\n]*s to start: )?about [1-9][^\n]* s in all, without retests\n"
                                  r"burnin: took [^\n]* with its retests; predicted [1-9][^\n]* s without\n\Z")
            self.assertRegex(out, r"left out, so what they would show is not known: gpus \(no --group-launcher\), nodes \(no --group-launcher\), rails")
            # All phases: a host that is slow by itself, one whose launch fails, and a port that went down.
            groups = pathlib.Path(folder) / "groups"
            groups.write_text(GROUPS)
            groups.chmod(0o755)
            status, out, err = run("none", "--group-launcher", f"{groups} {{hosts}} {{ranks}}")
            self.assertEqual(status, 1, out + err)
            self.assertIn("6 nodes: 3 good, 2 suspect, 1 bad", out)
            flat = " ".join(out.split())
            self.assertRegex(flat, "n2 bad: n2 by itself: broadcast makes .* and again with nothing beside it")
            self.assertIn("n4 suspect: no result in phase nodes: exit status 1: no cores", flat)
            self.assertIn("n1 suspect: its errors went up: n1 mlx5_0/1 link_downed: 1 to 2 within 30 s, fatal (any is too many)", flat)
            self.assertIn("phase nodes: n0 mlx5_0/1 symbol_error: 4 to 5 within 30 s, noted", flat)
            for phase in ("nodes", "groups", "whole"):
                self.assertIn(f"phase {phase}: ", out)
            # What follows no host is no host's, and keeps nobody out of the groups. A --time that the prediction exceeds says so.
            flaky = pathlib.Path(folder) / "flaky.json"
            status, out, err = run("flaky", "--group-launcher", f"{groups} {{hosts}} {{ranks}}", "--phases", "pairs,whole", "--no-counters",
                                   "-J", str(flaky))
            self.assertEqual(status, 1, out + err)
            self.assertIn("6 nodes: 0 good, 0 suspect, 0 bad, 6 not tested", out)
            self.assertIn("failures follow no host", " ".join(out.split()))
            self.assertEqual({len(each["nodes"]) for each in json.loads(flaky.read_text())["groups"]}, {6})
            status, _, err = run("slow to start", "--time", "3", "--parallel", "1", "--pair-seconds", "0.1")
            self.assertRegex(err, r"\Aburnin: the first launches took up to [^\n]* to start: about [^\n]* s in all, without retests; more than --time, so the last of it is left out\n\Z")
            # Two kinds of GPUs: pairs among the four alike ones, by the first look at them; in the whole all take part, and an algorithm
            # that the library refuses costs only itself.
            mixed = pathlib.Path(folder) / "mixed.json"
            os.environ["MIXED"] = "1"
            self.addCleanup(os.environ.pop, "MIXED", None)
            for looks in pathlib.Path(folder).glob("*.looks.*"):
                looks.unlink()
            status, out, err = run("none", "--group-launcher", f"{groups} {{hosts}} {{ranks}}", "--phases", "pairs,whole", "--group-algos", "rign",
                                   "-J", str(mixed))
            del os.environ["MIXED"]
            self.assertEqual(status, 1, out + err)
            made = json.loads(mixed.read_text())
            self.assertEqual({end for each in made["times"] for end in each[:2]}, {0, 1, 2, 3})
            self.assertEqual({len(each["nodes"]) for each in made["groups"]}, {6})  # of two rows
            flat = " ".join(out.split())
            self.assertIn("n4, n5 not tested: only 2 hosts here with A100; pairs need at least 4", flat)
            self.assertIn("no result in phase whole: with rign forced (--group-algos): exit status 2", flat)
            files = {name: pathlib.Path(folder) / f"burnin.{name}" for name in ("json", "html", "svg", "csv")}
            status, out, _ = run("dead rail", "--rails", "2", "--rail-setting", "RAIL={rail}", "-J", files["json"], "--html", files["html"],
                                 "--plot-file", files["svg"], "--csv", files["csv"])
            self.assertEqual(status, 1, out)
            self.assertIn("n2", files["svg"].read_text())
            self.assertIn("6 nodes: 5 good, 0 suspect", files["html"].read_text())
            # The record says the same again, in each format.
            for form, says in (("text", "^6 nodes: 5 good"), ("json", '"bucket": "bad"'), ("csv", files["csv"].read_text()),
                               ("matrix", r"\nrail 1, GB/s(.|\n)* n2 +x +x +x +x +x\n"), ("svg", "<svg"), ("html", "<!DOCTYPE html>"),
                               ("junit", 'name="n2">\n *<failure message="bad: 5 of 5 pairs'), ("hostfile", "^n0\nn1\nn3\nn4\nn5\n$"),
                               ("prom", 'collbench_burnin_host_bucket{host="n2",bucket="bad"} 1')):
                again = burnin("--from", files["json"], "--format", form)
                # Who is left out of a list, or stands in no pair, is said beside it.
                alone = "" if form in ("text", "json", "svg", "html", "junit", "prom") else "burnin: 6 nodes: 5 good, 0 suspect, 1 bad, 0 not tested\n"
                self.assertEqual((again.returncode, again.stderr), (1, alone), form)
                self.assertRegex(again.stdout, says)
            self.assertEqual(burnin("--from", files["json"]).stdout, out)
            self.assertRegex(out, r"n2 bad: 5 of 5 pairs on rail 1 gave no time: n\d with n\d: exit status 1: mlx5_1: no active port")
            self.assertIn("6 nodes: 5 good", out)
            for form, says in (("hostfile", "^\n$"), ("text", "6 nodes: 0 good, 6 suspect(.|\n)*n5 suspect: not known")):
                status, out, _ = run("scatter", "--format", form)
                self.assertEqual(status, 1, out)
                self.assertRegex(out, says)
            # n0 with n1 is the first pair of the second round, and takes what was left: the rest of its round is left out, too, and
            # it is not tried again.
            status, out, _ = run("out of time", "--time", "3", "--parallel", "1", "--pair-seconds", "0.1")
            self.assertEqual(status, 1, out)
            self.assertIn("11 of 15 pairs and rails were left out for want of time", out)
            self.assertIn("1 retest ", out)
            status, out, err = run("interrupted")
            self.assertEqual((status, out), (4, ""), err)
            self.assertIn("interrupted", err)
            status, out, _ = run("banner")
            self.assertEqual(status, 1, out)
            self.assertRegex(out, "n1, n3 suspect: 1 of 5 pairs gave no time: n1 with n3: what it printed is no record")
            # Ranks on other hosts end the phase after its first round, and are no host's fault.
            status, out, _ = run("elsewhere")
            self.assertEqual(status, 1, out)
            flat = " ".join(out.split())
            self.assertTrue(flat.startswith("6 nodes: 0 good, 0 suspect, 0 bad, 6 not tested; phase pairs ended by its launcher "), flat)
            self.assertRegex(flat, 'phase pairs ended by --launcher: a rank ran on login, and n0 to n5 were asked for; under Slurm give '
                             '"srun .* -N 2 -n 2 -w {a},{b}"')
            os.environ["SILENT"] = "n3"
            self.addCleanup(os.environ.pop, "SILENT", None)
            status, out, err = run("none", "--group-launcher", f"{groups} {{hosts}} {{ranks}}", "--phases", "pairs")
            self.assertEqual(status, 1, out + err)
            self.assertTrue(out.startswith("6 nodes: 6 good, 0 suspect, 0 bad, 0 not tested; error counters of 1 not read\n"), out)
            self.assertIn("n3 gave no error counters: exit status 1: ssh: no route", out)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
