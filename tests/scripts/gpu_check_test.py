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
SMI = SOURCE / "tests/collectives/nccl/stand_in/nvidia-smi"
# In nccl-tests' place: its table, for the sizes that it is asked for; every operation takes 5 µs.
PEER = """#!/usr/bin/env python3
import sys
options = dict(zip(sys.argv[1::2], sys.argv[2::2]))
size, last, factor = int(options["-b"]), int(options["-e"]), int(options["-f"])
print("# nThread 1 nGpus " + options["-g"] + " minBytes 8 maxBytes 64 step: 8(factor) warmup iters: 1 iters: 100 agg iters: 1 "
      "validation: 0 graph: 0")
print("#")
print("#                                                              out-of-place                       in-place")
print("#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong")
print("#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)")
while size <= last:
    half = f"     5.00    {size / 5e3:.2f}    0.00    N/A"
    print(f"{size:12} {size // 4:12}     float     sum      -1{half}{half}")
    size *= factor
print("# Out of bounds values : 0 OK")
print("# Avg bus bandwidth    : 0.00")
"""


class GpuCheck(unittest.TestCase):
    def check(self, status, most_ranks=1, peers=(), **environment):
        """`peers`: nccl-tests' programs that are here."""
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            for name in peers:
                (folder / name).write_text(PEER)
                (folder / name).chmod(0o755)
            (folder / "nvidia-smi").symlink_to(SMI)
            done = subprocess.run(
                [str(SOURCE / "scripts/gpu-check"), "--program", str(PROGRAM), "-o", str(folder / "out"), "--most-ranks",
                 str(most_ranks), "--largest", "64", "--seconds", "0.5"],
                env={**os.environ, "PATH": f"{folder}:{os.environ['PATH']}",
                     "COLLBENCH_NCCL": str(STAND_INS / "libstand_in_nccl_22809.so"),
                     "COLLBENCH_CUDART": str(STAND_INS / "libstand_in_cudart.so"),
                     "COLLBENCH_KERNELS": str(STAND_INS / "libstand_in_kernels.so"),
                     "COLLBENCH_CUBLASLT": str(STAND_INS / "libstand_in_cublas_lt.so"),
                     "COLLBENCH_STAND_IN_MEMORY": "50000000",
                     "COLLBENCH_NVML": "/none.so", **environment},
                capture_output=True, text=True, timeout=200, stdin=subprocess.DEVNULL, check=False)
            self.assertEqual(done.returncode, status, done.stderr)
            return json.loads((folder / "out.json").read_text()), (folder / "out.md").read_text()

    def test_every_step_on_one_shared_gpu_whose_replays_count_up(self):
        result, page = self.check(0, most_ranks=2, peers=("all_reduce_perf", "reduce_scatter_perf"), COLLBENCH_STAND_IN_GPUS="1",
                                  COLLBENCH_STAND_IN_SMI="replays")
        steps = result["steps"]
        self.assertEqual([(step["ranks"], step["status"]) for step in steps], [(1, 0), (1, 0), (2, 0), (2, 0), (1, 0), (1, 0), (1, 0)])
        for step in steps[2:4]:
            self.assertGreater(step["rows"], 700)
            self.assertEqual(step["rows"], step["rows_checked"])
        self.assertIn("-G", steps[3]["arguments"])
        for step, registration in zip(steps[4:6], ("local", "symmetric")):
            self.assertEqual(step["arguments"][-2:], ["-R", registration])
            self.assertEqual((step["rows"], step["rows_checked"], step["lacking"]), (steps[4]["rows"], steps[4]["rows"], False))
        self.assertIn("AllReduce tree/ll/1", steps[2]["nccl_used"])
        self.assertGreater(result["observer_ratio"], 0)
        self.assertIn("NCCL used, on 2 ranks: AllGather ring/ll", page)
        self.assertIn("AllReduce of 8 B with the observer takes", page)
        self.assertIn("correctness only: ranks share a GPU", page)
        self.assertIn("Left out: needs two ranks.", page)
        self.assertIn("Host time of a call: ", page)
        self.assertIn("SM clock (MHz) 1755 to 1755, temperature (°C) 40 to 40, power (W) 300 to 300", page)
        self.assertRegex(page, r"\*\*PCIe replays in \d+ rows\*\*")
        self.assertEqual(result["probe"]["status"], 0)
        self.assertIn("| GEMM BF16, n = 1024 |", page)
        compared = [(row["operation"], row["size_bytes"]) for row in result["nccl_tests"]]
        self.assertEqual(compared, [("AllReduce", 8), ("AllReduce", 64), ("ReduceScatter", 64)])
        for row in result["nccl_tests"]:
            self.assertAlmostEqual(row["nccl_tests_seconds"], 5e-6)
            self.assertAlmostEqual(row["ratio"], row["seconds"] / 5e-6)

    def test_wrong_data_fails_it_and_a_gpu_without_errors_is_said(self):
        """And with an NCCL before 2.27, which has no symmetric windows: that alone is no failure."""
        result, page = self.check(1, COLLBENCH_STAND_IN_GPUS="1", COLLBENCH_STAND_IN="wrong_data:9",
                                  COLLBENCH_NCCL=str(STAND_INS / "libstand_in_nccl_22602.so"))
        symmetric = next(step for step in result["steps"] if "symmetric" in step["arguments"])
        self.assertEqual((symmetric["status"], symmetric["lacking"]), (5, True))
        self.assertRegex(page, r"-R symmetric\) \| 1 \| not available: .*2\.27")
        self.assertGreater(result["steps"][0]["wrong_elements"], 0)
        self.assertIn("| wrong data |", page)
        self.assertIn("no row ran while a GPU was throttled or had errors", page)

    def test_no_gpu_is_said(self):
        _, page = self.check(1, COLLBENCH_STAND_IN_GPUS="0")
        self.assertIn("no GPU", page)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
