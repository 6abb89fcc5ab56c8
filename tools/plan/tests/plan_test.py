#!/usr/bin/env python3
"""`collbench plan` as its users meet it.

Usage: plan_test.py PROGRAM [unittest arguments]
"""

import csv
import io
import json
import pathlib
import shutil
import random
import re
import subprocess
import sys
import tempfile
import unittest

PROGRAM = pathlib.Path(sys.argv[1]).resolve()
RECIPE = ("--model", "llama-3.1-70b", "--topology", "hgx-h100", "--nodes", "128", "--tp", "4", "--pp", "4", "--cp", "2",
          "--vpp", "5", "--mbs", "1", "--gbs", "2048", "--seq", "8192", "--precision", "bf16", "--recompute", "none",
          "--zero", "1", "--tokens", "1T", "--price", "3")
NUMBERS = ("--layers", "80", "--hidden", "8192", "--ffn", "28672", "--heads", "64", "--kv-heads", "8", "--vocab", "128256")


def plan(*arguments, text=None):
    return subprocess.run([str(PROGRAM), "plan", *map(str, arguments)], capture_output=True, text=True, timeout=60,
                          check=False, input=text)


def planned(*arguments):
    result = plan(*arguments, "--format", "json")
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


class Plan(unittest.TestCase):
    def refused(self, *arguments, says):
        result = plan(*arguments)
        self.assertEqual(result.returncode, 2, result.stdout)
        self.assertEqual(result.stdout, "")
        self.assertRegex(result.stderr, says)
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)

    def test_the_recipe_takes_what_nvidia_measured(self):
        found = planned(*RECIPE)
        self.assertAlmostEqual(found["step_seconds"], 14.86, delta=1.5)
        self.assertAlmostEqual(found["run"]["days"], 10.25, delta=1.0)
        self.assertAlmostEqual(sum(term["exposed_seconds"] for term in found["terms"]), found["step_seconds"], places=9)
        self.assertIn("full attention", found["mfu_convention"])

    def test_a_model_by_numbers_is_the_catalogs(self):
        by_name = planned(*RECIPE)
        by_numbers = planned(*NUMBERS, *RECIPE[2:])
        self.assertEqual(by_name["step_seconds"], by_numbers["step_seconds"])

    def test_a_model_file_is_the_catalogs_and_an_unknown_key_has_its_line(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "model.toml"
            file.write_text("name = \"ours\"\nlayers = 80\nhidden = 8192\nffn = 28672\nheads = 64\nkv_heads = 8\nvocab = 128256\n")
            found = planned("--model", file, *RECIPE[2:])
            self.assertEqual(found["step_seconds"], planned(*RECIPE)["step_seconds"])
            self.assertEqual(found["job"]["model"], "ours")
            file.write_text("layers = 80\nwidth = 8192\n")
            self.refused("--model", file, *RECIPE[2:], says=r"model\.toml:2: unknown key 'width'")
            file.write_text("layers = 80\nhidden = 81.5\n")
            self.refused("--model", file, *RECIPE[2:], says=r"model\.toml:2: ")

    def test_what_cannot_run_is_refused_in_one_line(self):
        machine = ("--topology", "hgx-h100", "--nodes", "2")
        model = ("--model", "llama-3.1-8b")
        self.refused("--model", "lama-3.1-8b", *machine, says="did you mean llama-3.1-8b")
        self.refused(*machine, says="the model needs --layers, --hidden, --heads, --vocab, --ffn")
        self.refused(*model, says="--topology")
        self.refused(*model, *machine, "--tp", "-1", says="--tp")
        self.refused(*model, *machine, "--experts", "8648640", says="--experts")
        self.refused(*model, *machine, "--tp", "3", says="does not divide 16 GPUs")
        self.refused(*model, *machine, "--gbs", "17", says="--gbs: 17 samples do not divide")
        self.refused(*model, *machine, "--precision", "int3", says="--precision")
        self.refused(*model, *machine, "--fsdp", "often", says="--fsdp")
        self.refused(*model, *machine, "--tokens", "lots", says="--tokens")
        self.refused("--model", "llama-3.1-405b", *machine, says="it does not fit: [0-9]+ of 80 GB per GPU with tp 1, pp 1, cp 1, mbs 1; no split of it over 16 GPUs fits")
        self.refused("--model", "llama-3.1-405b", *machine, "--fault", "banana", says="--fault: .*banana")
        self.refused("--model", "llama-3.1-405b", *machine, "--fault", "nic 9 at half", says="--fault: .*9")
        self.refused(*model, *machine, "--tp", "65536", "--pp", "65536", says="is more than 16 GPUs")
        self.refused(*model, *machine, "--price", "3", says="--price: .*--tokens")
        self.refused(*model, "--topology", "hgx-h100", "--nodes", "9999999", says="too many")

    def test_a_changed_model_is_not_called_by_the_catalogs_name(self):
        found = planned("--model", "llama-3.1-70b", "--layers", "4", "--topology", "hgx-h100")
        self.assertEqual(found["job"]["model"], "llama-3.1-70b (changed)")
        self.assertEqual(planned("--model", "llama-3.1-8b", "--topology", "hgx-h100", "--tp", "2")["job"]["model"], "llama-3.1-8b")

    def test_publishers_words_are_read(self):
        written = planned("--model", "Qwen3_30B_a3B", "--topology", "gb200-nvl72", "--n-gpus", 8, "--ep", 8, "--mbs", 4,
                          "--gbs", 512, "--precision", "FP8-MX", "--recompute", "NONE")
        ours = planned("--model", "qwen3-30b-a3b", "--topology", "gb200-nvl72", "--n-gpus", 8, "--ep", 8, "--mbs", 4,
                       "--gbs", 512, "--precision", "mxfp8", "--recompute", "none")
        self.assertEqual(written, ours)
        rest = [word for word in RECIPE if word not in ("--recompute", "none")]
        self.assertEqual(planned(*rest, "--recompute", "core_attn")["step_seconds"],
                         planned(*rest, "--recompute", "selective")["step_seconds"])
        head = "id\tmodel\ttopology\tn_gpus\ttp\tpp\tvpp\tep\tgbs\n"
        done = plan("--table", "-", "--format", "csv",
                    text=head + "a\tllama-3-70b\thgx-h100\t64\t8\t4\tn/a\tNA\t128\nb\tLLAMA3_70B\thgx-h100\t64\t8\t4\t\t-\t128\n")
        lines = list(csv.DictReader(io.StringIO(done.stdout)))
        self.assertEqual([line["refused"] for line in lines], ["", ""], done.stdout)
        self.assertEqual(lines[0]["step_seconds"], lines[1]["step_seconds"])

    def test_a_mixture_waits_for_its_launches_by_its_software(self):
        step = ("--model", "qwen3-30b-a3b", "--topology", "hgx-b200", "--ep", 8, "--gbs", 512, "--precision", "mxfp8")
        found = [planned(*step, "--stack", stack) for stack in ("megatron-eager", "megatron", "megatron-2026")]
        waits = [sum(term["exposed_seconds"] for term in each["terms"] if term["part"] == "waiting_for_launches") for each in found]
        self.assertGreater(waits[0], waits[1])
        self.assertGreater(waits[1], 0)
        self.assertEqual(waits[2], 0)

    def test_a_table_has_a_plan_for_each_line_and_says_what_is_wrong_with_one(self):
        table = "id\tmodel\ttp\tn_gpus\tzero\na\tllama-3.1-8b\t8\t8\t1\nb\tllama-3.1-8b\t3\t8\t\nc\tllama-3.1-8b\t2\t8\t1\n"
        result = plan("--table", "-", "--topology", "hgx-h100", "--format", "csv", text=table)
        self.assertEqual(result.returncode, 0, result.stderr)
        rows = list(csv.DictReader(io.StringIO(result.stdout)))
        self.assertEqual([row["label"] for row in rows], ["a", "b", "c"])
        self.assertLess(float(rows[2]["step_seconds"]), float(rows[0]["step_seconds"]))
        self.assertIn("does not divide 8 GPUs", rows[1]["refused"])
        first = plan("--table", "-", "--topology", "hgx-h100", text=table).stdout.splitlines()[0]
        self.assertRegex(first, r"^stdin: 2 of 3 plans can be made, 1 refused; most tokens/s per GPU: \d+ \(c\)$")
        first = plan("--table", "-", "--topology", "hgx-h100", text=table + "d\tllama-3.1-70b\t8\t64\t1\n").stdout.splitlines()[0]
        self.assertEqual(first, "stdin: 3 of 4 plans can be made, 1 refused", "tokens of two models do not compare")
        result = plan("--table", "-", "--topology", "hgx-h100", "--format", "csv", text="id\tmodel\ttp\nb\tllama-3.1-8b\t3\n\n")
        self.assertEqual(result.returncode, 2, "no line can be planned")
        self.assertRegex(result.stderr, "^collbench: stdin: no plan can be made from its 1 line; the first, b: tp 3 .* does not divide 8 GPUs\n$")
        short = plan("--table", "-", "--topology", "hgx-h100", text="id\tmodel\ttp\nb\tllama-3.1-8b\t3\n").stdout
        self.assertRegex(short, r"(?m)^  b .*refused +tp 3 × pp 1", "the reason is not left out of a short line")
        self.assertEqual(len(list(csv.DictReader(io.StringIO(result.stdout)))), 1, "an empty line is no plan")
        result = plan("--table", "-", "--topology", "hgx-h100", text="id\tmodel\tzero\na\x1b[31m\tllama-3.1-8b\t1\n")
        self.assertNotIn("\x1b", result.stdout, "what a terminal obeys")
        result = plan("--table", "-", "--topology", "hgx-h100", text="id\tmodel\ttp\na\tllama-3.1-8b\tx\n")
        self.assertIn("the first, a: tp: 'x' is not a number", result.stderr, "which cell it is")
        result = plan("--table", "-", "--topology", "hgx-h100", text="id\tspeed\n")
        self.assertEqual(result.returncode, 2)
        self.assertIn("stdin:1: unknown column 'speed'", result.stderr)
        result = plan("--table", "-", "--topology", "hgx-h100", text="id\t" + "x" * 10**6)
        self.assertLess(len(result.stderr), 300)
        result = plan("--table", "-", "--topology", "hgx-h100", text="id\tmodel\n\n")
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        self.assertIn("stdin: has no line below its head", result.stderr)

    def test_a_batch_that_is_not_given_is_4_mi_tokens_whatever_the_split(self):
        machine = ("--model", "llama-3.1-8b", "--topology", "hgx-h100", "--seq", "4096")
        batches = [planned(*machine, *split)["job"]["gbs"] for split in (("--tp", "2"), ("--pp", "4"), ("--n-gpus", "24", "--tp", "2"))]
        self.assertEqual(batches, [1024, 1024, 1032], "of 12 ranks: 86 samples each")
        self.assertEqual(planned("--best", *machine)["plans"][0]["plan"]["job"]["gbs"], 1024)
        page = " ".join(plan(*machine, "--n-gpus", "24", "--tp", "2").stdout.split())
        self.assertIn("gbs 1032 (4 Mi tokens a step, rounded up to micro-batches of all ranks)", page)

    def test_the_catalog_is_listed_and_suffixes_are_read(self):
        names = [line.split()[0] for line in plan("--models").stdout.splitlines()[1:] if line]
        self.assertIn("llama-3.1-405b", names)
        machine = ("--model", "llama-3.1-8b", "--topology", "hgx-h100", "--tp", "2")
        found = planned(*machine, "--seq", "4k", "--tokens", "15T", "--price", "$2.50", "--gpu", "h100")
        self.assertEqual((found["job"]["seq"], found["run"]["tokens"], found["gpu"]), (4096, 15e12, "H100 SXM"))
        self.assertAlmostEqual(found["run"]["dollars"], 2.5 * found["run"]["gpu_hours"])
        self.assertIn("15T tokens", plan(*machine, "--tokens", "15T").stdout)
        self.refused(*machine, "--seq", "4q", says="--seq: '4q' is not a number; .*8k")
        self.refused(*machine, "--seq", "99M", says="--seq: 99M is out of range")
        self.refused(*machine, "--tokens", "15Q", says="--tokens: '15Q' is not a number; .*15T")
        self.refused("--model", "llama-70b", says="did you mean")

    def test_zero_3_of_today_has_not_the_rate_of_2021(self):
        machine = ("--model", "llama-3.1-8b", "--topology", "hgx-h100", "--nodes", "4", "--tp", "8", "--gbs", "256", "--seq", "4k")
        self.assertEqual(planned(*machine, "--zero", "3")["step_seconds"], planned(*machine, "--fsdp", "full")["step_seconds"])

    def test_a_refusal_for_memory_names_a_split_that_is_planned(self):
        machine = ("--model", "llama-3.1-70b", "--topology", "hgx-h100", "--nodes", "8")
        advice = re.search(r"give (--tp .*?) \(", plan(*machine).stderr)
        self.assertIsNotNone(advice)
        advised = planned(*machine, *advice[1].split())
        self.assertLessEqual(advised["memory_bytes"] / advised["memory_capacity_bytes"], 0.95)

    def test_best_and_scale(self):
        machine = ("--model", "llama-3.1-405b", "--topology", "hgx-h100", "--seq", "8k", "--gbs", "2048")
        best = planned("--best", *machine, "--n-gpus", "16384")["plans"]
        self.assertEqual(len(best), 10)
        seconds = [each["plan"]["step_seconds"] for each in best]
        self.assertEqual(seconds, sorted(seconds))
        self.assertLessEqual(planned("--best", *RECIPE[:6], "--seq", "8k", "--gbs", "2048")["plans"][0]["plan"]["step_seconds"],
                             planned(*RECIPE)["step_seconds"], "NVIDIA's own split is one of those that are compared")
        result = plan("--scale", "64,1024,16384", *machine, "--plot")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("none of", result.stdout, "405 B parameters do not fit into 64 GPUs of 80 GB")
        self.assertRegex(result.stdout, "Strong scaling: It (stops paying|pays up)")
        self.assertIn("thousand tokens/s", result.stdout)
        result = plan("--scale", "100,1024", "--tp", "8", "--pp", "4", "--tokens", "15T", "--price", "2.5", *RECIPE[:4])
        self.assertEqual(result.stdout.count("100 GPUs: tp 8 × pp 4 × cp 1 = 32 does not divide 100 GPUs."), 1, result.stdout)
        self.assertRegex(result.stdout, r"step \(s\).* days  dollars")
        self.assertIn("Not given, so assumed: gbs 512 (4 Mi tokens a step); seq 8192", " ".join(result.stdout.split()))
        self.refused("--scale", "100", "--tp", "8", "--pp", "4", *RECIPE[:4], says="--scale: 100 GPUs: tp 8 × pp 4 × cp 1 = 32 does not divide 100 GPUs; ")
        text = " ".join(plan("--best", *RECIPE[:6], "--tokens", "15T", "--price", "2.5").stdout.split())
        for words in ("days dollars", "s a step, the fastest of", "assumed: gbs 512 (4 Mi tokens a step)"):
            self.assertIn(words, text)
        rows = list(csv.DictReader(io.StringIO(plan("--best", *RECIPE[:6], "--tokens", "15T", "--price", "2.5", "--format", "csv").stdout)))
        self.assertAlmostEqual(float(rows[0]["dollars"]), 2.5 * float(rows[0]["gpu_hours"]), places=3)
        self.refused("--plot-file", "x.svg", *machine, says="--plot-file: only --scale has a chart")
        self.refused(*machine, "-o", "plan.pdf", says="-o: a plan cannot be written as plan.pdf")
        self.refused("--scale", "64,8", *machine, says="--scale: 8 follows 64")
        self.refused("--plot", *machine, says="only --scale has a chart")
        self.refused("--best", *machine, "--n-gpus", "64", says="none of .* splits fits")

    def test_leaf_switches_and_the_order_of_ranks_are_in_the_time(self):
        fabric = ("--fabric", "rail-optimized,leaf=8,oversubscription=4")
        usual, below = planned(*RECIPE), planned(*RECIPE, *fabric)
        self.assertGreater(below["step_seconds"], usual["step_seconds"])
        groups = {each["group"]: each for each in below["placement"]["groups"]}
        self.assertEqual(below["placement"]["order"], "tp-cp-ep-dp-pp")
        self.assertEqual((groups["PP"]["hops_out_of_leaf"], groups["PP"]["rate_left_by_fabric"]), (4, 0.25))
        self.assertEqual((groups["DP × CP"]["hops_out_of_leaf"], groups["DP × CP"]["hops_between_domains"]), (4, 32))
        self.assertIsNone(groups["TP"]["hops_out_of_leaf"])
        self.assertIsNone(usual["placement"]["fabric"])
        turned = planned(*RECIPE, *fabric, "--order", "tp-cp-pp-dp")
        self.assertEqual({each["group"]: each for each in turned["placement"]["groups"]}["PP"]["hops_out_of_leaf"], 0)
        text = plan(*RECIPE, *fabric).stdout
        self.assertIn("Where ranks lie: numbered tp-cp-ep-dp-pp", text)
        self.assertIn("8 nodes a leaf switch, 4:1", " ".join(text.split()))
        self.assertRegex(text, r"PP sends .*25 % of it")
        self.refused(*RECIPE, "--order", "tp-dp-sp", says="--order: 'sp' is no kind of parallelism")
        self.refused(*RECIPE, "--fabric", "torus", says="--fabric: 'torus' is not known")
        self.refused("--model", "llama-3.1-8b", "--topology", "hgx-h100", "--tp", "2", *fabric, says="--fabric: all ranks are in one node")
        self.assertEqual(plan("--scale", "8,64", *RECIPE[:4], *fabric, "--seq", "8k", "--gbs", "64").returncode, 0)

    def test_one_question_has_one_answer(self):
        machine = ("--model", "llama-3.1-70b", "--topology", "hgx-h100", "--gpus", "64", "--gbs", "512", "--seq", "8k")
        best = planned("--best", *machine)["plans"][0]["plan"]
        self.assertLessEqual(best["memory_bytes"], 0.95 * best["memory_capacity_bytes"])
        advice = re.search(r"give (--tp .*?) \(", plan(*machine).stderr)
        self.assertEqual(planned(*machine, *advice[1].split())["step_seconds"], planned("--best", "--precision", "bf16", *machine)["plans"][0]["plan"]["step_seconds"])

    def test_what_a_run_takes_stands_beside_what_its_steps_take(self):
        text = " ".join(plan(*RECIPE).stdout.split())
        for words in ("of the steps alone; each off by up to", "published ones 17 % more GPU-hours (Llama 3.1 405B)", "MW (servers",
                      "TFLOP/s per GPU", "a checkpoint of 988 GB every", "published: above 90 % on 16,384 GPUs"):
            self.assertIn(words, text)
        text = " ".join(plan(*RECIPE, "--interruption-gpu-hours", "30").stdout.split())
        self.assertIn("the run does not advance", text)
        self.assertNotIn("with them about", text)
        text = " ".join(plan(*RECIPE, "--storage-gbps", "2", "--async-checkpoint", "true").stdout.split())
        self.assertRegex(text, "is written in 8 min .* beside it")
        self.refused(*RECIPE, "--async-checkpoint", "true", says="--async-checkpoint: .*--storage-gbps")

    def test_what_a_model_and_a_split_have_besides(self):
        base = planned(*RECIPE)
        self.assertEqual(planned(*[word.replace("--nodes", "--gpus").replace("128", "1024") for word in RECIPE])["step_seconds"], base["step_seconds"])
        for words in (("--parallel-block", "true"), ("--window", "2048"), ("--window", "2048", "--window-layers", "40")):
            self.assertLess(planned(*RECIPE, *words)["step_seconds"], base["step_seconds"])
        self.assertGreater(planned(*RECIPE, "--qk-norm", "true")["step_seconds"], base["step_seconds"])
        self.refused(*RECIPE, "--window-layers", "4", says="--window-layers")
        self.assertIn("tp 16 is beyond the 8 KV heads", " ".join(plan("--model", "llama-3.1-70b", "--topology", "gb200-nvl72", "--gpus", "64", "--tp", "16", "--gbs", "64").stdout.split()))
        self.refused(*RECIPE, "--schedule", "dualpipe", says="dualpipe has no chunks")
        self.assertRegex(plan(*RECIPE[:6], "--pp", "8", "--tp", "8", "--schedule", "dualpipe", "--gbs", "512", "--timeline", "x.svg").stderr, "not drawn")
        far = plan(*RECIPE[:4], "--gpus", "4096", "--tp", "4", "--pp", "4", "--precision", "fp8", "--gbs", "2048", "--recompute", "full")
        self.assertIn("ran on up to 2,304 GPUs", " ".join(far.stdout.split()))

    def test_a_schedule_without_bubbles(self):
        split = (*RECIPE[:10], "--mbs", "1", "--gbs", "512", "--seq", "8192", "--cp", "2")
        usual, zero = planned(*split), planned(*split, "--schedule", "zb-h1")
        bubble = [next(term["exposed_seconds"] for term in each["terms"] if term["part"] == "pipeline_bubble") for each in (usual, zero)]
        self.assertLess(bubble[1], 0.7 * bubble[0])
        self.assertEqual((usual["job"]["schedule"], zero["job"]["schedule"]), ("1f1b", "zb-h1"))
        self.assertIsNone(zero["published_error"])
        self.refused(*RECIPE, "--schedule", "zb-h1", says="--schedule: zb-h1 has no chunks, and --vpp is 5")
        self.refused(*RECIPE, "--schedule", "1f1b", says="--schedule: 1f1b has no chunks, and --vpp is 5")
        self.refused(*split, "--schedule", "interleaved", says="--schedule: interleaved needs chunks")
        self.refused(*split, "--schedule", "zb-h1", "--recompute", "full", says="--schedule: .*recomputing everything")
        self.refused(*split, "--schedule", "gpipe", says="--schedule")

    def test_a_fault_has_its_price_and_a_step_its_timeline(self):
        with tempfile.TemporaryDirectory() as folder:
            good, bad = pathlib.Path(folder) / "good.json", pathlib.Path(folder) / "bad.json"
            subprocess.run([str(PROGRAM), "topo", "save", "hgx-h100", "-o", str(good)], check=True, capture_output=True)
            machine = json.loads(good.read_text())
            machine["hosts"][0]["nics"][3]["ports"][0]["gigabits_per_second"][0] = 200.0
            bad.write_text(json.dumps(machine))
            split = (*RECIPE[:-4], "--price", "3", "--faulty", bad)
            fault = planned(*split)["fault"]
            self.assertIn("200 Gb/s instead of 400", fault["findings"][0])
            self.assertGreater(fault["slower"], 0)
            self.assertAlmostEqual(fault["dollars_lost_per_day"], 24 * 1024 * 3 * fault["slower"] / (1 + fault["slower"]))
            self.assertRegex(plan(*split).stdout, r"One node like \S+ \(NIC3[^$]*\$1,700\s+a\s+day")
            in_words = planned(*split[:-2], "--fault", "nic 3 of node 17 at half")["fault"]
            self.assertEqual(in_words["dollars_lost_per_day"], fault["dollars_lost_per_day"], "the same fault")
            self.assertRegex(plan(*split[:-2], "--fault", "NIC 3 at 25 %").stdout, r"Fault: NIC 3 at 25 % \(NIC3")
            self.refused(*split[:-2], "--fault", "nic 3 of node 128 at half", says="--fault: there is no node 128: the job has 128")
            self.refused(*split[:-2], "--fault", "nic 3 at half", "--nic-gbps-per-gpu", "100", says="--fault: --nic-gbps-per-gpu")
            self.refused(*split[:-2], "--fault", "nic 3 is tired", says="--fault: .*write 'nic 3 of node 17 at half'")
            down = (*split[:-2], "--fault", "nic 3 of node 17 down")
            self.assertRegex(" ".join(plan(*down).stdout.split()), r"the job stops once .* \$1,900 .*restarted with 7 NICs in that node")
            self.assertGreater(planned(*down)["fault"]["stall_seconds"], 600)
            trace, picture, page = (pathlib.Path(folder) / name for name in ("t.json", "t.svg", "p.html"))
            self.assertEqual(plan(*RECIPE, "--timeline", trace, "--html", page).returncode, 0)
            events = json.loads(trace.read_text())["traceEvents"]
            self.assertEqual({event["ph"] for event in events}, {"M", "X"})
            self.assertIn("Timeline", page.read_text())
            self.assertEqual(plan(*RECIPE, "--timeline", picture).returncode, 0)
            self.assertIn("<svg", picture.read_text())
            self.refused(*RECIPE, "--timeline", "t.txt", says="--timeline: .*FILE.json")
            self.refused("--best", *RECIPE[:6], "--timeline", trace, says="a timeline is of one plan")

    def test_a_record_speaks_for_the_groups_that_it_measured(self):
        # Two nodes of eight, as nccl-tests prints them; AllReduce alone.
        rank = "#  Rank {0:2d} Group  0 Pid {1} on host{2} device {3} [0x1b] NVIDIA H100 80GB HBM3\n"
        log = "# nThread 1 nGpus 1 minBytes 1048576 maxBytes 1073741824 step: 32(factor) warmup iters: 5 iters: 20 agg iters: 1 validation: 1 graph: 0\n#\n# Using devices\n"
        log += "".join(rank.format(i, 100 + i, i // 8, i % 8) for i in range(16))
        log += ("#\n#                                                              out-of-place                       in-place\n"
                "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong\n"
                "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)\n")
        for size in (1 << 20, 1 << 25, 1 << 30):
            row = f"{size / 1e3 + 400:.1f} 1.00 1.88 0"  # 1 GB/s: sockets
            log += f"{size:12d} {size // 4:13d}     float     sum      -1   {row}   {row}\n"
        with tempfile.TemporaryDirectory() as folder:
            text, record = pathlib.Path(folder) / "log.txt", pathlib.Path(folder) / "run.json"
            text.write_text(log)
            done = subprocess.run([str(PROGRAM), "judge", "--apart", str(text), "-J", str(record)], capture_output=True, text=True, check=False)
            self.assertTrue(record.exists(), done.stderr)
            job = ("--model", "llama-3.1-8b", "--topology", "hgx-h100", "--nodes", "2", "--tp", "8", "--seq", "4k", "--gbs", "32")
            usual, slow = planned(*job, "--zero", "0"), planned(*job, "--zero", "0", "--measured", record)
            self.assertGreater(slow["step_seconds"], usual["step_seconds"])
            self.assertEqual(slow["measured"]["across_nodes"], True)
            self.assertAlmostEqual(slow["measured"]["slower"], slow["step_seconds"] / usual["step_seconds"] - 1)
            self.assertRegex(plan(*job, "--zero", "0", "--measured", record, "--price", "3").stdout,
                             r"What this record costs,[^$]*\$[0-9,]+\s+a\s+day")
            self.assertIsNone(slow["published_error"], "that of the model's own collectives")
            self.refused(*job, "--measured", record, says="--measured: .* has no AllGather, ReduceScatter, which the step runs between nodes; measure also --ops all_gather,reduce_scatter")

    def test_a_damaged_table_or_model_file_is_refused_and_never_planned_wrong(self):
        """Each byte-wise damage of both ends with status 0 or 2, with one line of reason where nothing is planned."""
        generator = random.Random(22)
        table = "id\tmodel\ttp\tpp\tmbs\tseq\tzero\nx\tllama-3.1-8b\t2\t2\t1\t4k\t1\n"
        model = "layers = 32\nhidden = 4096\nffn = 14336\nheads = 32\nkv_heads = 8\nvocab = 128256\n"
        pieces = ["\t", "\n", "-1", "0", "99999999999", "1e308", "nan", '"', "=", "[", "\x00", "\u00e9", "k", ""]
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "model.toml"
            for _ in range(20):
                damaged = []
                for text in (table, model):
                    at = generator.randrange(len(text))
                    damaged.append(text[:at] + generator.choice(pieces) + text[at + generator.randrange(4):])
                file.write_text(damaged[1])
                for result in (plan("--table", "-", "--topology", "hgx-h100", "--format", "csv", text=damaged[0]),
                               plan("--model", file, "--topology", "hgx-h100", "--tp", "2")):
                    self.assertIn(result.returncode, (0, 2), (damaged, result.stderr))
                    self.assertNotIn("internal", result.stderr)
                    if not result.stdout:
                        self.assertEqual(result.stderr.count("\n"), 1, (damaged, result.stderr))

    def test_text_is_for_a_page_and_formats_agree(self):
        text = plan(*RECIPE).stdout
        self.assertIn("Each part at half its cost", text)
        self.assertRegex(text, r"(?m)^  DP collectives .*  1 NIC per GPU, 50\s+GB/s$")
        run = " ".join(plan(*RECIPE[:-4], "--tokens", "15T", "--price", "2.5").stdout.split())
        days, dollars, whole_days, whole_dollars, hours = map(float, re.search(
            r"^[\d.]+ s a step .*; 15T tokens: about ([\d.]+) days and \$([\d.]+)M, ([\d.]+) and \$([\d.]+)M with interruptions; "
            r"[\d.]+ of 80 GB per GPU.* days, ([\d.]+)M GPU-hours", run).groups())
        self.assertAlmostEqual(dollars / hours, 2.5, delta=0.02)
        self.assertAlmostEqual(whole_dollars / dollars, whole_days / days, delta=0.01)
        self.assertIn("$", text)
        self.assertTrue(plan(*RECIPE, "--format", "md").stdout.startswith("# Training plan"))
        self.assertIn("tp_exposed", plan("--assumptions").stdout)


class Tool(unittest.TestCase):
    """A program of its own beside collbench, which becomes it."""

    def run_words(self, *words, program=PROGRAM):
        return subprocess.run([str(program), *words], capture_output=True, text=True, timeout=60, check=False)

    def test_collbench_becomes_it_and_asks_it_for_help(self):
        own = self.run_words("plan", "--help")
        self.assertIn("Usage: collbench plan", own.stdout)
        for words in (("help", "plan"), ("--help", "plan"), ("-h", "plan"), ("plan", "-h"), ("-v", "plan", "--help")):
            with self.subTest(words):
                self.assertEqual(self.run_words(*words).stdout, own.stdout)
        beside = PROGRAM.with_name("collbench-plan")
        self.assertEqual(self.run_words("--help", program=beside).stdout, own.stdout)
        self.assertIn("collbench", self.run_words("--version", program=beside).stdout)
        self.assertEqual(self.run_words("plan", "--models").stdout, self.run_words("--models", program=beside).stdout)

    def test_man_pages_and_completions_have_its_options(self):
        self.assertIn("kv-heads", self.run_words("man", "collbench-plan").stdout.replace("\\", ""))
        self.assertIn("--kv-heads", self.run_words("__offers", "plan", "--kv").stdout)

    def test_without_its_program_collbench_says_what_is_missing(self):
        with tempfile.TemporaryDirectory() as folder:
            alone = pathlib.Path(folder) / "collbench"
            shutil.copy(PROGRAM, alone)
            shutil.copy(PROGRAM.parent / "libcollbench.so", folder)
            done = self.run_words("plan", "--models", program=alone)
            self.assertEqual((done.returncode, done.stdout), (5, ""))
            self.assertIn(f"{folder}/collbench-plan, which cannot be started: No such file or directory; install it beside", done.stderr)
            for words in (("--help",), ("man",), ("completion", "zsh")):
                self.assertEqual(self.run_words(*words, program=alone).returncode, 0)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
