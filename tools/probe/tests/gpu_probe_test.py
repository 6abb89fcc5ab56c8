#!/usr/bin/env python3
"""`collbench probe` and `burnin --phases gpus` over stand-ins for the libraries of a GPU host.

The stand-ins count a time of their own (tests/collectives/nccl/stand_in/gpu_time.hpp): a GPU that is to be 1.1 times
slower is exactly that. Their rates say nothing.

Usage: gpu_probe_test.py PROGRAM FOLDER_OF_STAND_INS NVML [unittest arguments]
"""

import csv
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM, STAND_INS, NVML = (pathlib.Path(word).resolve() for word in sys.argv[1:4])
LIBRARIES = {"COLLBENCH_CUDART": str(STAND_INS / "libstand_in_cudart.so"), "COLLBENCH_KERNELS": str(STAND_INS / "libstand_in_kernels.so"),
             "COLLBENCH_CUBLASLT": str(STAND_INS / "libstand_in_cublas_lt.so"), "COLLBENCH_NVML": str(NVML),
             "COLLBENCH_STAND_IN_GPUS": "4", "COLLBENCH_STAND_IN_MEMORY": "50000000", "COLUMNS": "100"}
# Each host is this machine with another name, and with what HOSTS says of it in the environment.
LAUNCHER = """#!/usr/bin/env python3
import json, os, subprocess, sys
host, command = sys.argv[1], sys.argv[3:]
of = json.loads(os.environ["HOSTS"]).get(host, {})
print("Welcome to", host)
done = subprocess.run(command, env={**os.environ, **of}, capture_output=True, text=True)
sys.stderr.write(done.stderr)
if done.stdout:
    print(json.dumps({**json.loads(done.stdout), "host": host}, indent=2))
sys.exit(done.returncode)
"""


def run(*arguments, **environment):
    return subprocess.run([str(PROGRAM), *map(str, arguments)], capture_output=True, text=True, timeout=100, check=False,
                          env={**os.environ, **LIBRARIES, **environment})


def flat(text):
    return " ".join(text.split())


class Probe(unittest.TestCase):
    def probe(self, *arguments, status=0, **environment):
        """The record of a probe of GPUs, and what it printed."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "probe.json"
            only = () if "--only" in arguments else ("--only", "gpu")
            short = () if "--time" in arguments else ("--time", "0.4")
            result = run("probe", *only, *short, "-J", path, *arguments, **environment)
            self.assertEqual((result.returncode, result.stderr), (status, ""), result.stdout)
            again = run("probe", path)
            self.assertEqual((again.returncode, again.stdout), (status, result.stdout))
            return json.loads(path.read_text()), result.stdout

    def test_all_kinds_of_work_on_all_gpus(self):
        record, text = self.probe(COLLBENCH_STAND_IN_MODEL="Unheard Of")
        by_id = {each["id"]: each for each in record["measurements"]}
        self.assertEqual(set(by_id), {"gpu-gemm-bf16", "gpu-gemm-fp16", "gpu-gemm-fp8", "gpu-gemm-tf32", "gpu-gemm-fp64", "gpu-hbm-copy",
                                      "gpu-hbm-triad", "gpu-h2d", "gpu-d2h", "gpu-peer"})
        self.assertEqual([(gpu["name"], gpu["power_limit_watts"], gpu["driver"]) for gpu in record["gpus"]],
                         [(f"GPU {i}", 700, "550.54.15") for i in range(4)])
        for id, each in by_id.items():
            self.assertEqual(len(each["parts"]), 12 if id == "gpu-peer" else 4, id)
            for part in each["parts"]:
                self.assertEqual(len(part["windows"]), 5 if "gemm" in id or "hbm" in id else 3)
        # The rates that the stand-ins say: products at 0.1 TFLOP/s, memory at 0.8 GB/s, links at less.
        for id, rate in (("gpu-gemm-fp8", 1e11), ("gpu-hbm-copy", 8e8), ("gpu-hbm-triad", 8e8), ("gpu-h2d", 2e8), ("gpu-peer", 4e8)):
            self.assertAlmostEqual(by_id[id]["parts"][0]["windows"][-1] / rate, 1, places=3)
        self.assertTrue(all(part["peer"]["direct"] for part in by_id["gpu-peer"]["parts"]))
        self.assertEqual(by_id["gpu-gemm-fp8"]["work"], "n = 1024 a GPU, E4M3, BF16 out, fast accumulation")
        self.assertIn("GEMM BF16, n = 16384: not run: it takes 1.53 GiB, and 42.9 MiB are free", flat(text))
        self.assertIn("4 × Unheard Of, power limit 700 W, driver 550.54.15", text)
        self.assertIn("alike: GEMM BF16, n = 1024: 4 GPUs within 0.0 %", text)

    def test_a_slow_gpu_a_slow_link_and_one_that_slows_down(self):
        record, text = self.probe("--soak", "1", status=1, COLLBENCH_STAND_IN_SLOW="2:gemm:1.03,1:peer:1.3,3:d2h:1.2,0:hbm:later")
        said = flat(text)
        for says in ("suspect: GPU 2 of", "GEMM BF16, n = 1024 makes 0.971 of the median of 4 GPUs", "bad: GPU 1 to the others of",
                     "makes 0.769 of the median of 4 GPU senders", "bad: GPU 3 of", "copy from the GPU makes 0.833"):
            self.assertIn(says, said)
        soak = next(each for each in record["measurements"] if each["id"] == "gpu-soak")
        self.assertEqual(len(soak["parts"][0]["windows"]), 25)

    def test_a_gpu_whose_products_are_wrong_always_or_at_first(self):
        record, text = self.probe("--only", "gpu-gemm-bf16", "--soak", "1", status=1, COLLBENCH_STAND_IN_SLOW="2:gemm:wrong")
        for what in ("GEMM BF16, n = 1024", "soak, GEMM BF16, n = 1024"):
            self.assertIn(f"{what}: its result is not bitwise identical to that of 3 other GPUs", flat(text))
        self.assertEqual(text.count("suspect: "), 2)
        self.assertEqual([len(set(part["results"])) for part in record["measurements"][0]["parts"]], [1, 1, 1, 1])
        _, text = self.probe("--only", "gpu-gemm-bf16", status=1, COLLBENCH_STAND_IN_SLOW="1:gemm:wrong-at-first")
        self.assertRegex(flat(text), "suspect: GPU 1 of .*: GEMM BF16, n = 1024: its first and last products of the same inputs are not bitwise identical")
        record, _ = self.probe("--only", "gpu-gemm-bf16", "--gpu-timeout", "2", status=1, COLLBENCH_STAND_IN_SLOW="1:d2h:hang")
        self.assertEqual([(each["part"], each["what"]) for each in record["failures"]], [("GPU 1", "it made no progress for 2 s")])
        _, text = self.probe("--only", "gpu-gemm-bf16")
        self.assertIn("alike: 4 products on GPUs: first and last result bitwise identical", flat(text))

    def test_what_slows_down_while_it_is_measured_is_said(self):
        _, text = self.probe("--only", "gpu-gemm-bf16", "--time", "4", status=1, COLLBENCH_STAND_IN_SLOW="3:gemm:later")
        self.assertIn("bad: GPU 3", text)
        # From the first window on, which comes after a warm-up of a second, it is slow.
        _, text = self.probe("--only", "gpu-hbm-copy", "--time", "10", status=1, COLLBENCH_STAND_IN_SLOW="3:hbm:later")
        self.assertIn("1 rate is lower at the end than at the beginning, by up to 4", flat(text))

    def test_telemetry_stands_beside_each_window(self):
        record, text = self.probe("--only", "gpu-gemm-bf16", "--time", "2", status=1, COLLBENCH_STAND_IN_SLEEP="1",
                                  COLLBENCH_STAND_IN_SMI="hw_thermal_slowdown")
        windows = record["measurements"][0]["parts"][1]["telemetry"]
        self.assertEqual(len(windows), 5)
        read = [window for window in windows if window["sm_clock_hertz"]]
        self.assertTrue(read)
        self.assertEqual(read[0], {"sm_clock_hertz": 1755e6, "power_watts": 300.5, "temperature_celsius": 41,
                                   "throttled_by": ["HW thermal slowdown"]})
        self.assertRegex(flat(text), r"suspect: GPU 1 of \S+ HW thermal slowdown in \d of 5 windows of GEMM BF16, n = 1024, 41 °C")
        # Without a driver that can be asked the rates are there all the same.
        record, text = self.probe("--only", "gpu-gemm-bf16", COLLBENCH_NVML="/none.so", PATH="/nowhere")
        self.assertNotIn("telemetry", record["measurements"][0]["parts"][0])
        self.assertIn("clocks, power and temperature of GPUs: not known: NVML: /none.so", flat(text))

    def test_what_a_gpu_or_library_lacks_is_not_run(self):
        record, text = self.probe(COLLBENCH_STAND_IN_COMPUTE="80", COLLBENCH_STAND_IN_NO_GEMM="fp64", COLLBENCH_STAND_IN_PEERS="1")
        ids = {each["id"] for each in record["measurements"]}
        self.assertNotIn("gpu-gemm-fp8", ids)
        self.assertIn("gpu-gemm-tf32", ids)
        for type in ("FP8, n = 1024", "FP64, n = 512"):
            self.assertIn(f"GEMM {type}: not run: cuBLASLt 13.0.0 has no kernel for it on this GPU (CUBLAS_STATUS_NOT_SUPPORTED)", flat(text))
        peers = next(each for each in record["measurements"] if each["id"] == "gpu-peer")["parts"]
        self.assertEqual({(part["name"], part["peer"]["direct"]) for part in peers if part["peer"]["from"] == "GPU 0"},
                         {("GPU 0 to GPU 1", True), ("GPU 0 to GPU 2", False), ("GPU 0 to GPU 3", False)})
        # Without cuBLASLt the copies are measured.
        record, text = self.probe(COLLBENCH_CUBLASLT="/none.so")
        self.assertEqual(record["measurements"][0]["id"], "gpu-hbm-copy")
        self.assertIn("products on GPUs: not run: /none.so: cannot open", flat(text))

    def test_a_gpu_that_fails_is_bad_and_the_others_go_on(self):
        record, text = self.probe(status=1, COLLBENCH_STAND_IN_SLOW="1:gemm:ecc,3:gemm:1.1")
        self.assertEqual([(failure["part"], failure["measurement"]) for failure in record["failures"]], [("GPU 1", "GEMM BF16")])
        self.assertIn("bad: GPU 1 of", text)
        self.assertIn("GEMM BF16 stopped it: the GPU failed: uncorrectable ECC error encountered", flat(text))
        self.assertIn("bad: GPU 3 of", text)
        for each in record["measurements"][:-1]:
            self.assertEqual([part["name"] for part in each["parts"]], ["GPU 0", "GPU 2", "GPU 3"], each["id"])

    def test_a_copy_that_fails_is_the_pairs(self):
        record, text = self.probe("--only", "gpu-peer,gpu-h2d", "--soak", "0.1", status=1, COLLBENCH_STAND_IN_SLOW="3:receive:ecc")
        self.assertEqual([failure["part"] for failure in record["failures"]], [f"GPU {i} to GPU 3" for i in range(3)])
        self.assertTrue(record["failures"][1]["what"].startswith("after another failure: "))
        self.assertIn("suspect: GPU 3 of", text)
        self.assertNotRegex(text, "(bad|suspect): GPU [012] of")
        self.assertEqual(len(record["measurements"][-1]["parts"]), 4)  # all go on

    def test_a_gpu_that_gives_no_sign_is_bad_and_the_others_go_on(self):
        # While its memory is filled, before anything is timed; and in the middle.
        for what, measurement, left in (("fill", "GEMM BF16", 0), ("hbm", "HBM copy", 5)):
            with self.subTest(what):
                record, text = self.probe("--gpu-timeout", "2", status=1, COLLBENCH_STAND_IN_SLOW=f"2:{what}:hang")
                self.assertEqual([(failure["part"], failure["measurement"], failure["what"]) for failure in record["failures"]],
                                 [("GPU 2", measurement, "it made no progress for 2 s")])
                self.assertRegex(text, r"bad: GPU 2 of")
                self.assertEqual([len(each["parts"]) for each in record["measurements"]], [4] * left + [3] * (9 - left) + [6])

    def test_a_copy_that_never_ends_is_the_pairs(self):
        record, text = self.probe("--only", "gpu-peer", "--soak", "0.1", "--gpu-timeout", "1", status=1, COLLBENCH_STAND_IN_SLOW="3:receive:hang")
        self.assertEqual([failure["part"] for failure in record["failures"]], ["GPU 0 to GPU 3", "GPU 1 to GPU 3"])
        self.assertIn("suspect: GPU 3 of", text)
        self.assertNotRegex(text, "(bad|suspect): GPU [012] of")
        self.assertIn("those after the second pair that made no progress were not run", flat(text))
        # Their drivers' calls may never return.
        self.assertEqual([part["name"] for part in record["measurements"][-1]["parts"]], ["GPU 2"])
        self.assertIn("GPU 1 and GPU 3: left out of what follows: a copy between them did not end", flat(text))

    def test_a_probe_that_is_killed_leaves_what_it_has(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "probe.json"
            hang = {**os.environ, **LIBRARIES, "COLLBENCH_STAND_IN_SLOW": "1:d2h:hang"}
            with subprocess.Popen([str(PROGRAM), "probe", "--only", "gpu-hbm-copy,gpu-h2d,gpu-d2h", "--time", "0.4", "-J", path], env=hang,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as probe:
                deadline = time.monotonic() + 60
                while not (path.exists() and "gpu-h2d" in path.read_text()) and time.monotonic() < deadline:
                    time.sleep(0.05)
                probe.kill()
            record = json.loads(path.read_text())
            self.assertEqual([each["id"] for each in record["measurements"]], ["gpu-hbm-copy", "gpu-h2d"])
            again = run("probe", path)
            self.assertEqual(again.returncode, 0, again.stderr)
            self.assertIn("note: not finished: the probe goes on, or was killed", flat(again.stdout))

    def test_a_product_that_would_take_too_long_is_left_out(self):
        # 8192³ takes 11 s of the stand-in's time, 16384³ 88: more than two windows.
        record, text = self.probe("--only", "gpu-gemm-fp8", COLLBENCH_STAND_IN_GPUS="1", COLLBENCH_STAND_IN_MEMORY="3000000000")
        self.assertEqual([each["size"] for each in record["measurements"]], [8192])
        self.assertIn("GEMM FP8, n = 16384: left out: one product would take 1 min 28 s", flat(text))

    def test_a_gpu_that_cannot_be_asked_is_named(self):
        record, text = self.probe("--only", "gpu-h2d", status=1, COLLBENCH_STAND_IN_SLOW="2:look:ecc")
        self.assertIn("bad: GPU 2 of", text)
        self.assertIn("its first use stopped it: cudaMemGetInfo failed", flat(text))
        self.assertEqual([part["name"] for part in record["measurements"][0]["parts"]], ["GPU 0", "GPU 1", "GPU 3"])

    def test_what_others_hold_is_no_fault_of_the_gpu(self):
        record, text = self.probe("--only", "gpu-gemm-bf16,gpu-h2d", COLLBENCH_STAND_IN_SLOW="1:gemm:full,2:look:taken")
        self.assertEqual(record["failures"], [])
        self.assertEqual([[part["name"] for part in each["parts"]] for each in record["measurements"]],
                         [["GPU 0", "GPU 3"], ["GPU 0", "GPU 1", "GPU 3"]])
        said = flat(text)
        self.assertRegex(said, r"GEMM BF16, n = \d+: not run: cublasLtMatmul of cuBLASLt 13.0.0 says CUBLAS_STATUS_ALLOC_FAILED \(GPU 1\)")
        self.assertIn("GPU 2: not run: another process may have it: cudaMemGetInfo failed", said)

    def test_more_gpus_than_peers_at_a_time(self):
        record, _ = self.probe("--only", "gpu-peer", "--time", "0.05", COLLBENCH_STAND_IN_GPUS="10")
        self.assertEqual((len(record["measurements"][0]["parts"]), record["notes"]), (90, []))

    def test_what_is_not_here_is_refused_in_one_line(self):
        for arguments, environment, says in (
            (("--only", "gpu"), {"COLLBENCH_STAND_IN_DRIVER": "0"}, "no GPU: found CUDA runtime 13.0, but no NVIDIA driver"),
            (("--only", "gpu-hbm-copy"), {"COLLBENCH_KERNELS": "/none.so"}, "GPU kernels: /none.so"),
            (("--only", "gpu-gemm-bf16"), {"COLLBENCH_CUBLASLT": "/none.so"}, "cuBLASLt: /none.so.*COLLBENCH_CUBLASLT"),
            (("--only", "gpu-gemm-bf16"), {"COLLBENCH_CUBLASLT": str(STAND_INS / "libstand_in_kernels.so")}, "lacks cublasLtGetVersion"),
            (("--soak", "1", "--only", "gpu-h2d"), {"COLLBENCH_CUDART": "/none.so"}, "CUDA: /none.so"),
        ):
            with self.subTest(arguments=arguments, environment=environment):
                result = run("probe", *arguments, **environment)
                self.assertEqual((result.returncode, result.stdout), (5, ""), result.stderr)
                self.assertRegex(result.stderr, says)
                self.assertEqual(result.stderr.count("\n"), 1)
        result = run("probe", "--time", "0.05", COLLBENCH_STAND_IN_DRIVER="0")
        self.assertIn("note: GPUs: not measured: found CUDA runtime 13.0, but no NVIDIA driver", flat(result.stdout))

    def test_formats(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "probe.json"
            self.assertEqual(run("probe", "--only", "gpu", "--time", "0.4", "-J", path).returncode, 0)
            rows = list(csv.DictReader(io.StringIO(run("probe", path, "--format", "csv").stdout)))
            self.assertEqual(len(rows), 9 * 4 + 12)
            self.assertEqual((rows[0]["work"], rows[0]["n"], rows[0]["kind"], rows[0]["name"], rows[0]["unit"]),
                             ("gpu-gemm-bf16", "1024", "GPU", "GPU 0", "flop/s"))
            page = run("probe", path, "--format", "md").stdout
            self.assertIn("| work | median | slowest | published | MHz | W | °C |", page)
            for columns in ("80", "120"):
                lines = run("probe", path, COLUMNS=columns).stdout.splitlines()
                self.assertLessEqual(max(map(len, lines)), int(columns))


class Burnin(unittest.TestCase):
    def burnin(self, hosts, *arguments, status, of=None, **environment):
        with tempfile.TemporaryDirectory() as folder:
            launcher, record = pathlib.Path(folder) / "launch", pathlib.Path(folder) / "burnin.json"
            launcher.write_text(LAUNCHER)
            launcher.chmod(0o755)
            result = run("burnin", "--hosts", hosts, "--phases", "gpus", "--group-launcher", f"{launcher} {{hosts}} {{ranks}}", "--no-counters",
                         "--gpu-seconds", "0.4", "--parallel", "2", "-J", record, *arguments, HOSTS=json.dumps(of or {}), **environment)
            self.assertEqual(result.returncode, status, result.stdout + result.stderr)
            again = run("burnin", "--from", record)
            self.assertEqual((again.returncode, again.stdout), (status, result.stdout))
            return flat(result.stdout), json.loads(record.read_text())

    def test_the_host_of_a_slow_gpu_is_held_back(self):
        text, record = self.burnin("n[0-3]", status=1, of={"n2": {"COLLBENCH_STAND_IN_SLOW": "1:gemm:1.2"},
                                                            "n3": {"COLLBENCH_STAND_IN_SLOW": "0:h2d:1.03"}})
        self.assertIn("4 nodes: 2 good, 1 suspect, 1 bad", text)
        self.assertIn("phase gpus: each GPU of 4 hosts alone", text)
        self.assertRegex(text, r"n2 bad: GPU 1 of n2: GEMM \S+, n = \d+ makes 0.833 of the median of 16 GPUs")
        self.assertIn("n3 suspect: GPU 0 of n3: copy to the GPU makes 0.971 of the median of 4 GPUs", text)
        self.assertIn("GPU, GPU 1 is bad: GPU 1 of n2", text)
        self.assertIn("left out, so what they would show is not known: nodes (--phases)", text)
        self.assertEqual([probe["host"] for probe in record["probes"]], ["n0", "n1", "n2", "n3"])

    def test_hosts_that_differ_in_gpus_are_compared_with_alike_ones(self):
        text, _ = self.burnin("n[0-4]", status=0, of={"n4": {"COLLBENCH_STAND_IN_MODEL": "Unheard Of", "COLLBENCH_STAND_IN_SLOW": ",".join(
            f"{gpu}:{what}:0.5" for gpu in range(4) for what in ("gemm", "h2d", "d2h", "peer", "triad"))}}, COLLBENCH_STAND_IN_NO_GEMM="bf16,fp8")
        # Its own four GPUs are siblings.
        self.assertIn("n4: no other host is like it", text)
        self.assertIn("hosts differ in GPUs (n4: 4 × Unheard Of; n0, n1, n2, n3: 4 × stand-in for a GPU)", text)

    def test_without_gpus_the_phase_is_left_out(self):
        text, record = self.burnin("n[0-3]", status=1, COLLBENCH_STAND_IN_DRIVER="0")
        self.assertIn("gpus (no host has GPUs that can be probed: exit status 5: collbench: no GPU: found CUDA runtime", text)
        self.assertEqual(record["probes"], [])
        text, _ = self.burnin("n[0-3]", status=1, of={"n1": {"COLLBENCH_STAND_IN_DRIVER": "0"}})
        self.assertRegex(text, "n1 (suspect|not tested): no result in phase gpus: exit status 5: collbench: no GPU")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
