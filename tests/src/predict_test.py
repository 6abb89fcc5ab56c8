#!/usr/bin/env python3
"""`collbench predict` as its users meet it.

Usage: predict_test.py PROGRAM [unittest arguments]
"""

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

PROGRAM = pathlib.Path(sys.argv[1]).resolve()
LISTS = ("sources", "numa_nodes", "pci_devices", "gpus", "nvswitches", "nics", "nvlinks", "stated_paths",
         "peer_access", "disagreements", "notes")
NO_GPUS = json.dumps({"collbench_topology": 1, "hosts": [{name: [] for name in LISTS}]})


def predict(*arguments, **environment):
    return subprocess.run([str(PROGRAM), "predict", *map(str, arguments)], capture_output=True, text=True, timeout=60,
                          check=False, env={**os.environ, **environment})


def rows(*arguments):
    result = predict(*arguments, "--format", "json")
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)["rows"]


class Predict(unittest.TestCase):
    def refused(self, *arguments, says):
        result = predict(*arguments)
        self.assertEqual(result.returncode, 2, result.stdout)
        self.assertEqual(result.stdout, "")
        self.assertRegex(result.stderr, says)
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)

    def test_two_nodes(self):
        table = predict("--topology", "hgx-a100", "--nodes", 2).stdout
        self.assertIn("2 nodes × 8 A100 SXM (16 ranks)", table)
        for operation in ("AllReduce", "AllGather", "ReduceScatter", "AllToAll", "SendRecv"):
            self.assertRegex(table, rf"(?m)^# {operation}$")
        self.assertIn("8 NICs per node, 25 GB/s each", table)

    def test_the_fabric_the_algorithm_and_the_version_can_be_told(self):
        def rate(operation, nodes, *told):
            arguments = ("--topology", "hgx-b200", "--nodes", nodes, "--ops", operation, "--sizes", "32G", *told)
            return rows(*arguments)[0]["expected_bus_bandwidth_gb_per_s"]

        whole = rate("all_gather", 64)
        half = rate("all_gather", 64, "--fabric", "fat-tree,leaf=16,oversubscription=32")
        self.assertAlmostEqual(half / whole, 0.5, delta=0.01)
        self.assertLess(rate("all_reduce", 64, "--algo", "tree"), 0.6 * rate("all_reduce", 64, "--algo", "ring"))
        sharp = rows("--topology", "hgx-b200", "--nodes", 8, "--ops", "all_reduce", "--sizes", "16G", "--fabric", "sharp")
        self.assertEqual(sharp[0]["expected_by"], "collnet_direct")
        # One channel a peer of 17.2 GB/s up to 2.28 from 33 ranks on, two of 13.2 from 2.29 on.
        self.assertAlmostEqual(rate("send_recv", 8, "--nccl-version", "2.28.9"), 17.2, delta=0.1)
        self.assertAlmostEqual(rate("send_recv", 8, "--nccl-version", "2.29.2"), 26.4, delta=0.1)
        text = predict("--topology", "hgx-b200", "--nodes", 64, "--fabric", "fat-tree,routing=static").stdout
        self.assertIn("32 ports down (assumed)", " ".join(text.replace("#", "").split()))

    def test_what_ring_and_tree_share_is_said_where_both_are(self):
        said = "ring and tree of AllReduce: each at its own rate, with the latency of the quicker one"
        for operation, shown in (("all_reduce", True), ("all_gather", False)):
            text = predict("--topology", "hgx-a100", "--nodes", 2, "--ops", operation).stdout
            self.assertEqual(said in text, shown, text)

    def test_it_is_as_wide_as_the_terminal(self):
        arguments = ("--topology", "hgx-h100", "--nodes", 2)
        for columns in (80, 120, 200):
            text = predict(*arguments, COLUMNS=str(columns)).stdout
            self.assertLessEqual(max(map(len, text.splitlines())), columns)
            self.assertRegex(text, r"(?m)^ +size +time \(µs\) +ring +tree +expected +band from +band to +NCCL$")
            self.assertRegex(text.replace("\n#   ", " "), r"(?m)^# expected by: tree/ll \(8 B to 128 KiB\); nvls_tree \(512 KiB\); "
                             r"nvls_tree/simple \(2 MiB to 8 GiB\)\n# limited by: latency \(8 B to 32 MiB\); NVLink SHARP at 77 % of 18 "
                             r"NVLinks per GPU, 20.6 GB/s each \(128 MiB to 8 GiB\)$")
        self.assertLessEqual(max(map(len, predict(*arguments).stdout.splitlines())), 120)

    def test_the_first_line_says_of_what_nothing_is_expected_and_why(self):
        first = lambda *words: predict("--topology", "hgx-h100", *words, COLUMNS="200").stdout.splitlines()[0]
        self.assertRegex(first("--ops", "all_reduce,all_gather", "--sizes", "4"),
                         r"^# Expected busbw in GB/s at 4 B \(band\): AllReduce [\de.-]+ \(.* to .*\), AllGather none \(less than 4 B per rank\)$")
        self.assertEqual(first("--ops", "all_gather", "--sizes", "4"), "# No busbw can be predicted at 4 B: AllGather (less than 4 B per rank)")
        self.assertEqual(first("--ops", "step", "--sizes", "1G"), "# No busbw can be predicted at 1 GiB: Step (no model)")

    def test_the_band_is_a_line_for_each_group_of_operations(self):
        text = predict("--topology", "hgx-h100", "--nodes", 2, COLUMNS="200").stdout.replace("\n#   ", " ")
        self.assertRegex(text, r"(?m)^# band of AllReduce, AllGather, ReduceScatter = [\d.]+ × ring to [\d.]+ × best algorithm "
                         r"\(1 GiB and more\), [\d.]+ to [\d.]+ \(64 MiB and more\)")
        self.assertRegex(text, r"(?m)^# band of AllToAll = [\d.]+ to [\d.]+ × expected \(1 GiB and more\).*judge: SOUND from 0.80 of expected, BELOW under 0.48")
        huge = predict("--topology", "hgx-h100", "--nodes", 1000000, "--ops", "all_reduce").stdout
        self.assertNotIn("TiB", huge)

    def test_a_machine_without_its_option_is_one_hint_away(self):
        self.refused("hgx-h100", says=r"unexpected argument hgx-h100 of collbench predict; did you mean --topology hgx-h100\?")
        self.refused("--topology", "hgx-h100", "--nodes", 2, "--nodes", 4, says="--nodes is given 2 times; give it once")

    def test_a_page_in_a_file_is_said_on_stderr(self):
        with tempfile.TemporaryDirectory() as folder:
            page = pathlib.Path(folder) / "page.md"
            result = predict("--topology", "hgx-h100", "-o", page)
            self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "", f"collbench: wrote {page}\n"))

    def test_every_operation_that_can_be_measured(self):
        table = rows("--topology", "hgx-h100", "--nodes", 2, "--ops", "all", "--sizes", "1GB")
        self.assertEqual(len(table), 11)
        for row in table:
            self.assertGreater(row["expected_bus_bandwidth_gb_per_s"], 0, row)
        by_name = {row["operation"]: row for row in table}
        self.assertEqual(by_name["Broadcast"]["expected_by"], "ring")
        self.assertEqual(by_name["PingPong"]["limited_by"], by_name["SendRecv"]["limited_by"])

    def test_models_switch_at_the_domain_boundary(self):
        arguments = ("--topology", "p4de", "--ops", "all_reduce", "--sizes", "1G")
        self.assertIn("NVLinks", rows(*arguments)[0]["limited_by"])
        self.assertEqual(rows(*arguments, "--nodes", 2)[0]["expected_by"], "tree")
        self.assertIn("NICs", rows(*arguments, "--nodes", 64)[0]["limited_by"])

    def test_every_format(self):
        arguments = ("--topology", "hgx-h100", "--nodes", 2, "--sizes", "1MB,1GB")
        table = list(csv.DictReader(io.StringIO(predict(*arguments, "--format", "csv").stdout)))
        self.assertEqual(len(table), 10)
        self.assertEqual({row["ranks"] for row in table}, {"16"})
        self.assertIn("| --- |", predict(*arguments, "--format", "md").stdout)

    def test_sixteen_thousand_gpus(self):
        for row in rows("--topology", "hgx-h100", "--nodes", 2048):
            low, high = row["band_gb_per_s"]
            if row["limited_by"] == "less than 4 B per rank":
                self.assertIsNone(low)
                continue
            self.assertLess(0, low)
            self.assertLess(low, high)

    def test_a_topology_without_its_gpus_model_is_no_guess(self):
        with tempfile.TemporaryDirectory() as folder:
            matrix = pathlib.Path(folder) / "topo.txt"
            matrix.write_text(
                "\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\nGPU0\t X \tNV12\t0-15\t0\nGPU1\tNV12\t X \t0-15\t0\n")
            # nvidia-smi topo -m does not tell the model, and without it no link rate is known.
            self.refused("--topology", matrix, says="GPU model is unknown")

    def test_lab01_before_anything_is_measured(self):
        page = predict("--topology", "hgx-h100", "--nodes", 2, "--preset", "lab01", "--price", 3).stdout
        self.assertIn("# Lab 01: AllReduce, expected\n", page)
        self.assertIn("18 links × 25 GB/s", page)
        self.assertIn("| **expected** |", page)
        self.assertIn("16 GPUs × 3.00 = 48.00 per hour.", page)
        self.assertNotIn("measured at", page)
        self.refused("--topology", "hgx-h100", "--preset", "lab01", "--ops", "broadcast", says="--ops")

    def test_a_file_goes_before_the_name_of_a_reference_machine(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "hgx-h100").write_text(NO_GPUS)
            result = subprocess.run([str(PROGRAM), "predict", "--topology", "hgx-h100"], capture_output=True, text=True,
                                    timeout=60, check=False, cwd=folder)
            self.assertEqual(result.returncode, 2, result.stdout)
            self.assertIn("this topology has no GPU", result.stderr)

    def test_bad_input(self):
        with tempfile.TemporaryDirectory() as folder:
            no_gpus = pathlib.Path(folder) / "no_gpus.json"
            no_gpus.write_text(NO_GPUS)
            self.refused("--topology", no_gpus, says="this topology has no GPU")
            no_topology = pathlib.Path(folder) / "shopping.txt"
            no_topology.write_text("milk\n")
            self.refused("--topology", no_topology, says="shopping.txt")
        self.refused("--topology", "a100-pcie", "--nodes", 2, says="this topology has no NIC")
        self.refused("--topology", "hgx-h100", "--ranks-per-node", 9, says="9 ranks do not fit on a node with 8 GPUs")
        self.refused("--topology", "hgx-h100", "--ranks-per-node", 1, says="at least two ranks")
        self.refused("--topology", "hgx-h100", "--nodes", 0, says="--nodes")
        self.refused("--topology", "no-such-machine",
                     says="no such file or folder, and no reference machine of that name")
        for name in ("H100", "h100"):
            self.refused("--topology", name, says="did you mean h100-nvl, hgx-h100, oci-h100, p5")
        self.refused("--topology", "hgx-h100", "--ops", "all_reduc", says=r"did you mean all_reduce, all\?")
        self.refused("--topology", "hgx-h100", "--transport", "pigeon", says="--transport")
        for words, says in (("mesh", "'mesh' is not known of a fabric.*fat-tree"), ("fat-tree,leaf=x", "no number"),
                            ("fat-tree,flows=4", "routing=ecmp"), ("leaf=4", "which kind of fabric"),
                            ("", "'' is not known"), ("fat-tree,leaf=4,leaf=8", "second leaf"), ("fat-tree,rail-only", "second kind")):
            self.refused("--topology", "hgx-h100", "--nodes", 2, "--fabric", words, says=f"--fabric: .*{says}")
        self.refused("--topology", "hgx-h100", "--fabric", "sharp", says="--fabric: .*all ranks are in one node")
        self.refused("--topology", "hgx-h100", "--nodes", 2, "--algo", "collnet_direct", says="need --fabric …,sharp")
        self.refused("--topology", "hgx-h100", "--nodes", 2, "--nccl-version", "new", says="--nccl-version.*2.28.9")
        self.refused("--topology", "hgx-h100", "--format", "pdf", says="--format")
        self.refused(says="--topology")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
