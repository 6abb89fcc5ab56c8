#!/usr/bin/env python3
"""`collbench plan` as its users meet it.

Usage: plan_test.py PROGRAM [unittest arguments]
"""

import csv
import io
import json
import pathlib
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
        self.refused(*model, *machine, "--tp", "3", says="does not divide 16 GPUs")
        self.refused(*model, *machine, "--gbs", "17", says="--gbs: 17 samples do not divide")
        self.refused(*model, *machine, "--precision", "int3", says="--precision")
        self.refused(*model, *machine, "--fsdp", "often", says="--fsdp")
        self.refused(*model, *machine, "--tokens", "lots", says="--tokens")
        self.refused("--model", "llama-3.1-405b", *machine, says="it does not fit: parameters 811.*stack megatron.*--exceed-memory true")
        self.refused(*model, *machine, "--tp", "65536", "--pp", "65536", says="is more than 16 GPUs")
        self.refused(*model, *machine, "--price", "3", says="--price: .*--tokens")
        self.refused(*model, "--topology", "hgx-h100", "--nodes", "9999999", says="too many")

    def test_a_changed_model_is_not_called_by_the_catalogs_name(self):
        found = planned("--model", "llama-3.1-70b", "--layers", "4", "--topology", "hgx-h100")
        self.assertEqual(found["job"]["model"], "llama-3.1-70b (changed)")
        self.assertEqual(planned("--model", "llama-3.1-8b", "--topology", "hgx-h100", "--tp", "2")["job"]["model"], "llama-3.1-8b")

    def test_a_table_has_a_plan_for_each_line_and_says_what_is_wrong_with_one(self):
        table = "id\tmodel\ttp\tn_gpus\tzero\na\tllama-3.1-8b\t2\t8\t1\nb\tllama-3.1-8b\t3\t8\t\n"
        result = plan("--table", "-", "--topology", "hgx-h100", "--format", "csv", text=table)
        self.assertEqual(result.returncode, 0, result.stderr)
        rows = list(csv.DictReader(io.StringIO(result.stdout)))
        self.assertEqual([row["label"] for row in rows], ["a", "b"])
        self.assertGreater(float(rows[0]["step_seconds"]), 0)
        self.assertIn("does not divide 8 GPUs", rows[1]["refused"])
        result = plan("--table", "-", "--topology", "hgx-h100", "--format", "csv", text="id\tmodel\ttp\nb\tllama-3.1-8b\t3\n\n")
        self.assertEqual(result.returncode, 2, "no line can be planned")
        self.assertEqual(len(list(csv.DictReader(io.StringIO(result.stdout)))), 1, "an empty line is no plan")
        result = plan("--table", "-", "--topology", "hgx-h100", text="id\tspeed\n")
        self.assertEqual(result.returncode, 2)
        self.assertIn("stdin:1: unknown column 'speed'", result.stderr)

    def test_text_is_for_a_page_and_formats_agree(self):
        text = plan(*RECIPE).stdout
        self.assertIn("Each part at half its cost", text)
        self.assertIn("$", text)
        self.assertTrue(plan(*RECIPE, "--format", "md").stdout.startswith("# Training plan"))
        self.assertIn("tp_exposed", plan("--assumptions").stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
