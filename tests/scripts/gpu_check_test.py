#!/usr/bin/env python3
"""scripts/gpu-check over stand-ins for the libraries of a GPU host, and over a stand-in for nccl-tests.

Usage: gpu_check_test.py PROGRAM SOURCE_FOLDER FOLDER_OF_STAND_INS
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM, SOURCE, STAND_INS = map(pathlib.Path, sys.argv[1:4])
LOG = """# nThread 1 nGpus 1 minBytes 8 maxBytes 64 step: 8(factor) warmup iters: 1 iters: 100 agg iters: 1 validation: 0 graph: 0
#
#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
           8             2     float     sum      -1     5.00    0.00    0.00    N/A     5.00    0.00    0.00    N/A
          64            16     float     sum      -1     5.00    0.01    0.00    N/A     5.00    0.01    0.00    N/A
# Out of bounds values : 0 OK
# Avg bus bandwidth    : 0.00
"""


class GpuCheck(unittest.TestCase):
    def check(self, status, **environment):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            peer = folder / "all_reduce_perf"
            peer.write_text(f"#!/bin/sh\ncat <<'END'\n{LOG}END\n")
            peer.chmod(0o755)
            done = subprocess.run(
                [str(SOURCE / "scripts/gpu-check"), "--program", str(PROGRAM), "-o", str(folder / "out"), "--most-ranks",
                 "2", "--largest", "64", "--seconds", "0.5"],
                env={**os.environ, "PATH": f"{folder}:{os.environ['PATH']}",
                     "COLLBENCH_NCCL": str(STAND_INS / "libstand_in_nccl_22809.so"),
                     "COLLBENCH_CUDART": str(STAND_INS / "libstand_in_cudart.so"),
                     "COLLBENCH_KERNELS": str(STAND_INS / "libstand_in_kernels.so"), **environment},
                capture_output=True, text=True, timeout=200, stdin=subprocess.DEVNULL, check=False)
            self.assertEqual(done.returncode, status, done.stderr)
            return json.loads((folder / "out.json").read_text()), (folder / "out.md").read_text()

    def test_all_is_well_on_one_shared_gpu(self):
        result, page = self.check(0, COLLBENCH_STAND_IN_GPUS="1")
        self.assertEqual([(step["ranks"], step["status"]) for step in result["steps"]], [(1, 0), (2, 0), (1, 0)])
        self.assertGreater(result["steps"][1]["rows"], 600)
        self.assertEqual(result["steps"][1]["rows"], result["steps"][1]["rows_checked"])
        self.assertIn("AllReduce tree/ll/1", result["steps"][1]["nccl_used"])
        self.assertGreater(result["observer_ratio"], 0)
        self.assertIn("NCCL used, on 2 ranks: AllGather ring/ll", page)
        self.assertIn("AllReduce of 8 B with the observer takes", page)
        self.assertIn("correctness only: ranks share a GPU", page)
        self.assertEqual([row["size_bytes"] for row in result["nccl_tests"]], [8, 64])
        self.assertAlmostEqual(result["nccl_tests"][0]["nccl_tests_seconds"], 5e-6)

    def test_wrong_data_fails_it(self):
        result, page = self.check(1, COLLBENCH_STAND_IN="wrong_data:9")
        self.assertGreater(result["steps"][0]["wrong_elements"], 0)
        self.assertIn("| wrong data |", page)

    def test_no_gpu_is_said(self):
        _, page = self.check(1, COLLBENCH_STAND_IN_GPUS="0")
        self.assertIn("no GPU", page)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
