#!/usr/bin/env python3
"""No library is loaded from the current folder: one that somebody left there would run as whoever runs collbench there.

Usage: hostile_folder_test.py PROGRAM HOSTILE_LIBRARY STAND_INS [unittest arguments]
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from real_ranks import ENVIRONMENT

PROGRAM = pathlib.Path(sys.argv[1]).resolve()
HOSTILE = pathlib.Path(sys.argv[2]).resolve()
STAND_INS = pathlib.Path(sys.argv[3]).resolve()

# What it is linked with, and what that is linked with.
LINKED = re.findall(r"^\s*(\S+) =>", subprocess.run(["ldd", PROGRAM], capture_output=True, text=True, check=True).stdout, re.MULTILINE)
# What it looks for while it runs: by name, beside itself, and in Python's packages.
LOADED = ["libnccl.so.2", "libcudart.so.13", "libcudart.so.12", "libcudart.so.11.0", "libcublasLt.so.13", "libcublasLt.so.12",
          "libnvidia-ml.so.1", "libopenblas.so.0", "libmkl_rt.so.2", "libblis.so.4", "libarmpl_lp64.so", "libnccl-tuner.so",
          "libnccl-profiler.so", "libnccl-net.so", "libnccl-env.so", "libcuda.so.1", "libibverbs.so.1", "libmlx5.so.1", "libcollbench_kernels.so", "libcollbench_kernels_cuda12.so", "libcollbench_observer.so",
          "libcollbench_simulated_gpu.so", "libcollbench_simulated_job.so"]
PACKAGED = ["lib/" + name for name in LOADED if "collbench" in name]
for packages in ("lib/python3.11/site-packages/nvidia", ".local/lib/python3.11/site-packages/nvidia"):
    PACKAGED += [f"{packages}/nccl/lib/libnccl.so.2", f"{packages}/cu13/lib/libcudart.so.13", f"{packages}/cu13/lib/libcublasLt.so.13",
                 f"{packages}/cuda_runtime/lib/libcudart.so.12", f"{packages}/cublas/lib/libcublasLt.so.12"]

STAND_IN = {"COLLBENCH_NCCL": str(STAND_INS / "libstand_in_nccl_22809.so"), "COLLBENCH_CUDART": str(STAND_INS / "libstand_in_cudart.so")}
ROWS = ["--ops", "all_reduce", "--sizes", "8", "-n", "1", "-w", "0", "--passes", "1", "--calibration", "none"]
# With what each may end: on a machine without GPUs or NCCL, or with.
COMMANDS = [(["--version"], {}, (0,)),
            (["report", "none.json"], {}, (2,)),
            (["topo", "show"], {}, (0,)),
            (["probe", "--time", "0.05"], {}, (0, 1)),
            (["probe", "--time", "0.05", "--only", "gpu-gemm-bf16"], STAND_IN, (0, 1, 5)),
            (["--backend", "nccl", *ROWS], {}, (0, 4, 5)),
            (["--backend", "nccl", *ROWS], STAND_IN, (0, 4, 5)),
            (["nccl-plan", "--topology", "hgx-h100"], {}, (0, 5)),
            (["-g", "2", *ROWS], {}, (0, 5))]


class HostileFolder(unittest.TestCase):
    def loaded_in_a_folder_with(self, names, **environment):
        """What each command loaded from a folder with the hostile library under these names."""
        loaded = {}
        with tempfile.TemporaryDirectory() as name:
            mark = pathlib.Path(name) / "mark"
            folder = pathlib.Path(name) / "folder"
            for each in names:
                (folder / each).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(HOSTILE, folder / each)
            for command, own, statuses in COMMANDS:
                mark.unlink(missing_ok=True)
                result = subprocess.run([PROGRAM, *command], cwd=folder, capture_output=True, text=True, check=False, timeout=100,
                                        stdin=subprocess.DEVNULL,
                                        env={**ENVIRONMENT, **own, "HOSTILE_MARK": str(mark), **environment})
                # In place of what the program is linked with it lacks what is asked of it, and is not begun with.
                lacks = re.findall(r"symbol lookup error.*", result.stderr)
                if mark.exists() or lacks:
                    loaded[" ".join(command)] = lacks or sorted(set(mark.read_text().split()))
                else:
                    self.assertIn(result.returncode, statuses, (command, result.stderr))
        return loaded

    def test_the_mark_is_made_where_the_library_is_loaded(self):
        loaded = self.loaded_in_a_folder_with(["libnccl.so.2"], COLLBENCH_NCCL="./libnccl.so.2")
        self.assertEqual(loaded["--version"], ["./libnccl.so.2"])

    def test_nothing_is_loaded_from_the_current_folder(self):
        self.assertEqual(self.loaded_in_a_folder_with([*LINKED, *LOADED, *PACKAGED], LD_LIBRARY_PATH=""), {})

    def test_nor_by_an_environment_with_empty_or_relative_folders(self):
        # With such a path the loader takes what the program is linked with from there before the program begins.
        for path in (":", "/nowhere:", "/nowhere::/nowhere", ".", "lib", "/nowhere;"):
            with self.subTest(path):
                self.assertEqual(self.loaded_in_a_folder_with([*LOADED, *PACKAGED], LD_LIBRARY_PATH=path), {})
        for prefix in ({"VIRTUAL_ENV": ".", "HOME": ""}, {"CONDA_PREFIX": ".", "HOME": "."}, {"VIRTUAL_ENV": ""}):
            with self.subTest(prefix):
                self.assertEqual(self.loaded_in_a_folder_with(PACKAGED, **prefix), {})

    @unittest.skipUnless(os.geteuid() == 0, "hiding /proc needs root")
    def test_no_tool_is_started_from_there_where_proc_does_not_say_where_the_program_lies(self):
        with tempfile.TemporaryDirectory() as name:
            tool = pathlib.Path(name) / "collbench-plan"
            tool.write_text("#!/bin/sh\necho hostile\n")
            tool.chmod(0o755)
            without_proc = 'mount -t tmpfs none /proc && cd "$0" && exec "$@"'
            result = subprocess.run(["unshare", "--mount", "sh", "-c", without_proc, name, PROGRAM, "plan", "--models"],
                                    env={**ENVIRONMENT, "LD_LIBRARY_PATH": str(PROGRAM.parent), "PATH": f"{name}:{ENVIRONMENT['PATH']}"},
                                    capture_output=True, text=True, check=False, timeout=60)
        if "mount" in result.stderr or "unshare" in result.stderr:
            self.skipTest(result.stderr)
        self.assertEqual((result.returncode, result.stdout), (5, ""), result.stderr)
        self.assertIn("/proc/self/exe does not say where this program lies", result.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
