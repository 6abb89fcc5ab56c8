#!/usr/bin/env python3
"""scripts/gpu-check over stand-ins for the libraries of a GPU host, and over a stand-in for nccl-tests.

Usage: gpu_check_test.py PROGRAM SOURCE_FOLDER FOLDER_OF_STAND_INS
"""

import importlib.machinery
import importlib.util
import json
import os
import pathlib
import re
import signal
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
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "nvidia-smi").symlink_to(SMI)

    def command(self, *options):
        return [str(SOURCE / "scripts/gpu-check"), "--program", str(PROGRAM), "-o", str(self.folder / "out"), "--largest", "64", "--seconds", "0.5",
                "--most-ranks", "2", *options]

    def environment(self, **more):
        return {**os.environ, "PATH": f"{self.folder}:{os.environ['PATH']}",
                "COLLBENCH_NCCL": str(STAND_INS / "libstand_in_nccl_22809.so"),
                "COLLBENCH_CUDART": str(STAND_INS / "libstand_in_cudart.so"),
                "COLLBENCH_KERNELS": str(STAND_INS / "libstand_in_kernels.so"),
                "COLLBENCH_CUBLASLT": str(STAND_INS / "libstand_in_cublas_lt.so"),
                "COLLBENCH_STAND_IN_MEMORY": "50000000", "COLLBENCH_STAND_IN_GPUS": "1",
                "COLLBENCH_NVML": "/none.so", **more}

    def result(self):
        made = json.loads((self.folder / "out.json").read_text())
        return {check["name"]: check for check in made["checks"]}, (self.folder / "out.md").read_text()

    def check(self, status, *options, **environment):
        done = subprocess.run(self.command(*options), env=self.environment(**environment), capture_output=True, text=True,
                              timeout=300, stdin=subprocess.DEVNULL, check=False)
        self.assertIn(done.returncode, status if isinstance(status, tuple) else (status,), done.stderr)
        checks, page = self.result()
        self.assertEqual(done.returncode, int(any(check["verdict"] == "bad" for check in checks.values())), page)
        self.assertEqual(done.stdout, page.splitlines()[0] + "\n")
        return checks, page

    def test_one_rank_and_two_on_one_gpu_whose_replays_count_up(self):
        checks, page = self.check((0, 1), "--only", "found,one-rank,every-kind,graphs,all-gpus,sizes,two-ranks,two-graphs,register,"
                                  "symmetric,observer", COLLBENCH_STAND_IN_SMI="replays")
        self.assertEqual({name: check["verdict"] for name, check in checks.items() if name != "all-gpus"},
                         dict.fromkeys(("found", "one-rank", "every-kind", "graphs", "two-ranks", "two-graphs", "register",
                                        "symmetric", "observer"), "good") | {"sizes": checks["sizes"]["verdict"]}, page)
        # Its verdict is of this machine's times, which may be those of a busy one.
        self.assertEqual(checks["sizes"]["verdict"], "bad" if re.search("busy|from the L2", checks["sizes"]["seen"]) else "good", page)
        self.assertTrue(checks["sizes"]["steps"][1]["rows"], page)
        self.assertEqual(checks["all-gpus"]["verdict"], "not run")
        self.assertRegex(page, r"^gpu-check on 1 × .*: (10|9) of 11 checks good; (BAD: sizes; )?not run, so nothing is claimed of: all-gpus; \d+ rows "
                         "were checked, 0 elements of them wrong\\.\n")
        every = checks["every-kind"]["steps"][0]
        self.assertGreater(every["rows"], 700)
        self.assertEqual(every["rows"], every["rows_checked"])
        self.assertIn("-G", checks["graphs"]["steps"][0]["arguments"])
        for name, registration in (("register", "local"), ("symmetric", "symmetric")):
            self.assertEqual(checks[name]["steps"][0]["arguments"][-2:], ["-R", registration])
        self.assertIn("AllReduce tree/ll/1", checks["two-ranks"]["steps"][0]["nccl_used"])
        self.assertIn("NCCL used, on 2 ranks: AllGather ring/ll", page)
        self.assertRegex(page, r"observer costs at 8 B \| good \| 8 B takes \d+\.\d+ of what it takes without; ranks share a GPU")
        self.assertIn("correctness only: ranks share a GPU", page)
        self.assertIn("left out: needs two ranks", page)
        self.assertIn("SM clock (MHz) 1755 to 1755, temperature (°C) 40 to 40, power (W) 300 to 300", page)
        self.assertRegex(page, r"\*\*PCIe replays in \d+ rows\*\*")

    def test_one_rank_needs_no_mpirun(self):
        mpirun = self.folder / "mpirun"
        mpirun.write_text("#!/bin/sh\necho no mpirun here >&2\nexit 127\n")
        mpirun.chmod(0o755)
        checks, page = self.check(1, "--only", "one-rank,two-ranks")
        self.assertEqual(checks["one-rank"]["verdict"], "good", page)
        self.assertIn("no mpirun here", checks["two-ranks"]["seen"])

    def test_beside_nccl_tests_and_each_gpu_alone(self):
        for name in ("all_reduce_perf", "reduce_scatter_perf"):
            (self.folder / name).write_text(PEER)
            (self.folder / name).chmod(0o755)
        checks, page = self.check(0, "--only", "nccl-tests,probe")
        self.assertIn("| GEMM BF16, n = 1024 |", page)
        rows = re.findall(r"^\| (AllReduce|ReduceScatter) \| (\d+) \| ([\d.]+) \| 5\.00 \| ([\d.]+) \|$", page, re.MULTILINE)
        self.assertEqual([row[:2] for row in rows], [("AllReduce", "8"), ("AllReduce", "64"), ("ReduceScatter", "64")])
        for _, _, ours, ratio in rows:
            self.assertAlmostEqual(float(ratio), float(ours) / 5, delta=0.002)

    def test_wrong_data_is_bad_and_what_this_nccl_lacks_is_not(self):
        checks, page = self.check(1, "--only", "one-rank,symmetric", COLLBENCH_STAND_IN="wrong_data:9",
                                  COLLBENCH_NCCL=str(STAND_INS / "libstand_in_nccl_22602.so"))
        self.assertEqual(checks["one-rank"]["verdict"], "bad")
        self.assertGreater(checks["one-rank"]["steps"][0]["wrong_elements"], 0)
        self.assertEqual(checks["symmetric"]["verdict"], "not run")
        self.assertIn("2.27", checks["symmetric"]["seen"])
        self.assertRegex(page, r"^gpu-check on .*; BAD: one-rank; ")
        self.assertIn("no row ran while a GPU was throttled or had errors", page)

    def test_a_killed_rank(self):
        checks, page = self.check(0, "--only", "killed")
        self.assertRegex(checks["killed"]["seen"], r"status (4|137) after .* rank \d.* is gone", page)

    def test_no_gpu_is_said_and_nothing_tried(self):
        checks, page = self.check(1, "--only", "found,one-rank", COLLBENCH_STAND_IN_GPUS="0")
        self.assertRegex(page, "^gpu-check on no GPU: ")
        self.assertIn("nvidia-smi shows no GPU", checks["found"]["seen"])
        self.assertEqual((checks["one-rank"]["verdict"], checks["one-rank"]["seen"]), ("not run", "there is no GPU"))

    def test_what_the_time_does_not_suffice_for_is_not_run(self):
        checks, _ = self.check(0, "--only", "found,one-rank", "--minutes", "0.01")
        self.assertEqual(checks["found"]["verdict"], "good")
        self.assertEqual(checks["one-rank"]["verdict"], "not run")
        self.assertIn("of --minutes 0.01", checks["one-rank"]["seen"])

    def test_what_was_checked_is_kept_when_it_is_ended(self):
        process = subprocess.Popen(self.command("--only", "one-rank,killed"), env=self.environment(COLLBENCH_STAND_IN="hang:3"),
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertIn("one-rank", process.stderr.readline())
        checks, _ = self.result()
        self.assertEqual(checks["killed"]["verdict"], "not run")
        process.send_signal(signal.SIGTERM)
        out, _ = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 128 + signal.SIGTERM)
        checks, page = self.result()
        self.assertEqual(out, page.splitlines()[0] + "\n")
        self.assertEqual(checks["one-rank"]["seen"], "began and did not end")

    def test_what_was_checked_outlives_a_kill_at_any_time(self):
        """As many checks as fit into 30, 120 and 300 s of a rented machine."""
        names = ["found", "one-rank", "sizes", "two-ranks", "two-graphs", "register", "killed"]
        for ended in (1, 3, 6):
            process = subprocess.Popen(self.command("--only", ",".join(names)), env=self.environment(), stdout=subprocess.DEVNULL,
                                       stderr=subprocess.PIPE, text=True, start_new_session=True)
            in_order = []
            for line in process.stderr:
                if verdict := re.match("gpu-check: (.*): (good|bad|not run): ", line):
                    in_order.append(verdict.groups())
                if line.endswith(" …\n") and len(in_order) == ended:
                    break
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            process.stderr.close()
            checks, page = self.result()
            for name, verdict in in_order:
                self.assertEqual(checks[name]["verdict"], verdict)
                self.assertIn(f"| {name}: ", page)
            self.assertEqual(sum(check["verdict"] == "not run" for check in checks.values()), len(names) - ended, page)

    def test_times_of_no_sound_machine_are_bad(self):
        script = importlib.machinery.SourceFileLoader("gpu_check", str(SOURCE / "scripts/gpu-check"))
        check = importlib.util.module_from_spec(importlib.util.spec_from_loader("gpu_check", script))
        script.exec_module(check)
        h100 = check.model_of("GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-1f2e3d4c)")
        rows = {size: {"seconds": seconds, "enqueue_seconds": 4e-6} for size, seconds in ((8, 4e-6), (8 << 20, 8.6e-6), (1 << 30, 714e-6))}
        hot = {8 << 20: {"seconds": 5e-6}}
        self.assertEqual(check.unexpected(h100, rows, hot), [])
        for size, changed, words in ((1 << 30, {"seconds": 1000e-6}, "1 GiB takes 1000 µs, and took 715 on the one NVIDIA H100 80GB HBM3"), (1 << 30, {"seconds": 500e-6}, "1 GiB"),
                                     (8, {"seconds": 90e-6}, "8 B takes 90.0"), (8, {"seconds": 0}, "no time at all"), (8, {"enqueue_seconds": 50e-6}, "the host up to 50.0"),
                                     (8 << 20, {"seconds": 4e-6}, "8 MiB from the L2 takes longer")):
            self.assertIn(words, "; ".join(check.unexpected(h100, {**rows, size: {**rows[size], **changed}}, hot)))
        self.assertEqual(check.unexpected("NVIDIA B200", {**rows, 1 << 30: {**rows[8]}}, hot), [])  # nobody measured one

    def test_gpus_that_cuda_does_not_show_are_not_used(self):
        checks, _ = self.check(0, "--only", "all-gpus", COLLBENCH_STAND_IN_GPUS="3", CUDA_VISIBLE_DEVICES="1,2")
        self.assertEqual(checks["all-gpus"]["steps"][0]["ranks"], 2)

    def test_the_bundles_own_mpirun_is_used(self):
        bundle = self.folder / "bundle"
        (bundle / "bin").mkdir(parents=True)
        (bundle / "bin/collbench").touch()
        (bundle / "collbench").symlink_to(PROGRAM)
        (bundle / "gpu-check").write_text((SOURCE / "scripts/gpu-check").read_text())
        (bundle / "mpirun").write_text("#!/bin/sh\necho mpirun of the bundle >&2\nexit 1\n")
        (bundle / "mpirun").chmod(0o755)
        subprocess.run([sys.executable, str(bundle / "gpu-check"), "-o", str(self.folder / "out"), "--only", "two-ranks,killed"],
                       env=self.environment(), capture_output=True, timeout=100, check=False)
        checks, _ = self.result()
        self.assertIn("mpirun of the bundle", checks["two-ranks"]["seen"])
        self.assertIn("did not start: mpirun of the bundle", checks["killed"]["seen"])

    def test_a_check_that_does_not_exist_is_a_usage_error(self):
        done = subprocess.run(self.command("--only", "every_kind"), capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("there is no check 'every_kind'; there are found, ", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
