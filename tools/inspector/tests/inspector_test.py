#!/usr/bin/env python3
"""`collbench inspector` on folders as NCCL Inspector leaves them: its files, exit statuses and pages.

Usage: inspector_test.py PROGRAM [unittest arguments]
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM = pathlib.Path(sys.argv[1]).resolve()


def call(rank, number, microseconds):
    return json.dumps({
        "header": {"id": "0xabc", "comm_name": "tp0", "rank": rank, "n_ranks": 8, "nnodes": 1},
        "metadata": {"inspector_output_format_version": "v4.0", "dump_timestamp_us": 1764000000000000 + number,
                     "hostname": "n0", "pid": 100 + rank},
        "coll_perf": {"coll": "AllReduce", "coll_sn": number, "coll_msg_size_bytes": 1 << 30,
                      "coll_exec_time_us": microseconds, "coll_timing_source": "kernel_gpu",
                      "coll_algobw_gbs": 1.0, "coll_busbw_gbs": 1.0}}, separators=(",", ":")) + "\n"


def metrics(gpu, busbw):
    labels = (f'version="v5.1",slurm_job_id="7",node="n0",gpu="GPU{gpu}",comm_name="tp0",n_nodes="1",nranks="8",'
              'collective="AllReduce",message_size="1-2GB",algo_proto="NVLS_SIMPLE"')
    return (f"nccl_bus_bandwidth_gbs{{{labels}}} {busbw}\n"
            f"nccl_collective_exec_time_microseconds{{{labels}}} 8000\n")


class Inspector(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.addCleanup(self.scratch.cleanup)
        self.folder = pathlib.Path(self.scratch.name) / "dumps"
        self.folder.mkdir()

    def inspect(self, *arguments, status=0):
        run = subprocess.run([PROGRAM, "inspector", *arguments], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(run.returncode, status, run.stdout + run.stderr)
        return run

    def test_json_lines_below_end_with_1_and_a_page(self):
        for rank in range(8):
            lines = "".join(call(rank, number, 8000) for number in range(20))
            (self.folder / f"n0-pid{100 + rank}.log").write_text(lines)
        page = pathlib.Path(self.scratch.name) / "page.html"
        run = self.inspect(self.folder, "--topology", "hgx-h100", "-o", page, status=1)
        self.assertIn("BELOW a sound hgx-h100: AllReduce 1 GiB of tp0", run.stderr)
        self.assertIn('<td class="alarm">BELOW</td>', page.read_text())

    def test_a_prometheus_dump_is_found_among_other_text_files_and_is_never_below(self):
        for gpu in range(8):
            (self.folder / f"nccl_inspector_metrics_GPU-{gpu}.prom").write_text(metrics(gpu, 100))
        (self.folder / "smartmon.prom").write_text("smartmon_device_active 1\n")
        run = self.inspect(self.folder, "--topology", "hgx-h100")
        self.assertTrue(run.stdout.startswith("UNCLEAR: AllReduce 1–2 GiB of tp0 on n0, 0.2"), run.stdout)
        self.assertIn("8 means of 1 group, 8 files", " ".join(run.stdout.split()))
        self.assertNotIn("left out", run.stdout)

    def test_a_folder_without_its_files_says_when_they_go(self):
        run = self.inspect(self.folder, status=2)
        self.assertIn("Inspector deletes .prom files when the job ends", run.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
