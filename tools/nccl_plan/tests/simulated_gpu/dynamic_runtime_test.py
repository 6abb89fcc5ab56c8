#!/usr/bin/env python3
"""A library that takes its CUDA runtime from another one gets the simulated one, also where no CUDA is installed.

Usage: dynamic_runtime_test.py SIMULATED_GPU_LIBRARY DYNAMIC_NCCL [unittest arguments]
"""

import ctypes
import os
import pathlib
import sys
import tempfile
import unittest

from real_nccl import node

SIMULATED_GPU, NCCL = sys.argv[1:3]


class DynamicRuntime(unittest.TestCase):
    def test_the_simulated_runtime_is_found(self):
        self.assertIn(b"libcudart.so.12", pathlib.Path(NCCL).read_bytes())
        with tempfile.NamedTemporaryFile("w", suffix=".xml") as machine:
            machine.write(node(3))
            machine.flush()
            os.environ["COLLBENCH_SIMULATED_GPU"] = machine.name
            load = ctypes.CDLL(SIMULATED_GPU).collbench_simulated_gpu_load_nccl
            load.restype = ctypes.c_void_p
            reason = ctypes.create_string_buffer(1000)
            self.assertIsNotNone(load(NCCL.encode(), reason, len(reason)), reason.value.decode())
            self.assertEqual(ctypes.CDLL(NCCL).collbench_test_gpus(), 3)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
