#!/usr/bin/env python3
"""A real libnccl's host code over the simulated GPU host: what it finds, searches and chooses on a machine without a GPU.
Nothing here is said of a real GPU.

Usage: real_nccl_test.py NCCL_RANKS SIMULATED_GPU_LIBRARY [unittest arguments]

Each library is tried that is here: COLLBENCH_REAL_NCCL (files, with a colon between them), else those that `scripts/setup
real-nccl` installed and the CUDA folder's. Without any, the test is skipped, saying so.
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

RANKS, SIMULATED_GPU = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])


def libraries():
    """Real libnccl files, the newest last."""
    named = os.environ.get("COLLBENCH_REAL_NCCL")
    if named is not None:
        return [pathlib.Path(file) for file in named.split(":") if file]
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache")) / "collbench/nccl"
    found = sorted(cache.glob("*/libnccl.so.2"), key=lambda file: [int(n) for n in file.parent.name.split(".")])
    cuda = pathlib.Path("/usr/local/cuda/lib/libnccl.so.2")
    return found + [cuda] * cuda.exists()


def node(gpus=8, links=18, sm=90, nics=True, nic_speed=400000, vendor="GenuineIntel"):
    """A node as those with H100 GPUs are: NVSwitches that are not visible, a NIC beside each GPU."""
    lines = ['<system version="1">']
    for gpu in range(gpus):
        if gpu % (gpus // 2 or 1) == 0:
            lines += ["</cpu>"] * (gpu > 0)
            lines.append(f'<cpu numaid="{gpu * 2 // gpus}" affinity="ffff" arch="x86_64" vendor="{vendor}" familyid="6" modelid="143">')
        lines.append(f'<pci busid="0000:{gpu:x}0:00.0" class="0x060400" link_speed="32.0 GT/s PCIe" link_width="16">')
        lines.append(f'<pci busid="0000:{gpu:x}1:00.0" class="0x030200" link_speed="32.0 GT/s PCIe" link_width="16">'
                     f'<gpu dev="{gpu}" sm="{sm}" gdr="1"><nvlink target="fffffff:ffff:ff" count="{links}" tclass="0x068000"/></gpu></pci>')
        if nics:
            lines.append(f'<pci busid="0000:{gpu:x}2:00.0" class="0x020000" link_speed="32.0 GT/s PCIe" link_width="16"><nic>'
                         f'<net name="mlx5_{gpu}" dev="{gpu}" speed="{nic_speed}" port="1" guid="0x{gpu + 1:x}" gdr="1"/></nic></pci>')
        lines.append("</pci>")
    return "\n".join(lines + ["</cpu>", "</system>"])


class Machine(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def file(self, text, name="machine.xml"):
        path = self.folder / name
        path.write_text(text)
        return str(path)

    def ranks(self, library, machines, hosts, per_host, *sizes, environment=None, subsystems="INIT,GRAPH,TUNING,ENV"):
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("NCCL_", "CUDA_", "COLLBENCH_"))}
        debug = {"NCCL_DEBUG": "INFO", "NCCL_DEBUG_SUBSYS": subsystems}
        return subprocess.run([str(RANKS), str(SIMULATED_GPU), str(library), machines, str(hosts), str(per_host), *map(str, sizes)],
                              env={**kept, **debug, **(environment or {})}, capture_output=True, text=True, timeout=280, check=False)


class Search(Machine):
    """NCCL's own search and tuning, of each version."""

    def test_one_node(self):
        for library in libraries():
            with self.subTest(library=str(library)):
                result = self.ranks(library, self.file(node(4)), 1, 4, 1 << 20)
                self.assertEqual(result.returncode, 0, result.stdout[-3000:] + result.stderr)
                self.assertNotIn("is not simulated", result.stderr)
                self.assertIn("NVL/PIX", result.stdout)

    def test_two_hosts_reach_each_other_by_their_nics(self):
        for library in libraries():
            with self.subTest(library=str(library)):
                result = self.ranks(library, self.file(node(2)), 2, 2, 1 << 20)
                self.assertEqual(result.returncode, 0, result.stdout[-3000:] + result.stderr)
                self.assertIn("NET/SIM/", result.stdout)

    def test_a_slower_host_is_known_to_all(self):
        """What rank 0 expects of a ring depends on the NICs of the other host."""
        library = libraries()[-1]
        expected = []
        for speed in (400000, 100000):
            machines = self.file(node(2), "a.xml") + "," + self.file(node(2, nic_speed=speed), "b.xml")
            result = self.ranks(library, machines, 2, 2)
            self.assertEqual(result.returncode, 0, result.stdout[-3000:] + result.stderr)
            expected.append([line.split("INFO")[1] for line in result.stdout.splitlines() if "AllReduce |" in line])
        self.assertTrue(expected[0])
        self.assertNotEqual(expected[0], expected[1])


class Refusals(Machine):
    def refused(self, words, library, machine=None, status=5):
        result = self.ranks(library, machine or self.file(node(2)), 1, 2)
        self.assertEqual(result.returncode, status, result.stdout + result.stderr)
        lines = [line for line in result.stderr.splitlines() if line.startswith("collbench:")]
        self.assertIn(words, lines[0] if lines else "")

    def test_a_file_that_is_not_there(self):
        self.refused("/none.so", "/none.so")

    def test_another_library(self):
        self.refused("is no libnccl", "libm.so.6")

    def test_a_stripped_library(self):
        library = libraries()[-1]
        stripped = self.folder / "libnccl.so.2"
        subprocess.run(["strip", "--strip-all", "-o", str(stripped), str(library)], check=True)
        self.refused("was stripped", stripped)

    def test_a_machine_without_gpus(self):
        result = self.ranks(libraries()[-1], self.file('<system version="1"><cpu numaid="0"/></system>'), 1, 2)
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn("there is no GPU to simulate", result.stderr)


if __name__ == "__main__":
    if not libraries():
        print("off: no libnccl is here (scripts/setup real-nccl installs some)")
        sys.exit(77)
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
