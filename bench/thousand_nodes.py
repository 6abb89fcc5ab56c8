#!/usr/bin/env python3
"""Time and memory of `collbench topo diff` on 1,024 nodes of eight GPUs, on one core.

usage: thousand_nodes.py PROGRAM [NODES]

Each node is a file of its own as `topo save` writes it on such a node: every path between GPUs and NICs stated, its own
names, UUIDs and GUIDs. Eight of them have a fault each.
"""
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def faults():
    """What makes a node odd: each changes one attribute of the host."""
    return [
        lambda host: host["gpus"][3].update(nvlinks_active=[17, 0]),
        lambda host: host["gpus"][5].update(mig=[True, 0]),
        lambda host: host["nics"][2]["ports"][0].update(state=["DOWN", 0]),
        lambda host: host["nics"][6]["ports"][0].update(gigabits_per_second=[200, 0]),
        lambda host: host["pci_devices"][2].update(link_width_max=[8, 0]),
        lambda host: host.update(fabric_manager=["failed", 0]),
        lambda host: host.update(peer_memory=["none", 0]),
        lambda host: host["nics"][1].update(firmware=["28.36.1010", 0]),
    ]


def node(template, number):
    """The template with the names of one node."""
    host = json.loads(template)
    host["name"] = [f"node{number:04}", 0]
    host.update(fabric_manager=["active", 0], peer_memory=["nvidia_peermem", 0], driver_version=["550.54.15", 0])
    numbers = random.Random(number)
    for gpu in host["gpus"]:
        gpu.update(uuid=[f"GPU-{numbers.getrandbits(128):032x}", 0], mig=[False, 0], memory_bytes=[85520809984, 0],
                   fabric_state=["Completed", 0], fabric_status=["Success", 0])
    for index, nic in enumerate(host["nics"]):
        nic.update(name=[f"mlx5_{index}", 0], guid=[f"0x{numbers.getrandbits(64):016x}", 0],
                   firmware=["28.39.1002", 0], driver=["mlx5_core", 0])
    devices = [["gpu", i] for i in range(8)] + [["nic", i] for i in range(8)]
    host["stated_paths"] = [{"from": a, "to": b, **stated(a, b)} for a in devices for b in devices if a != b]
    return host


def stated(a, b):
    """The cell of topo -m."""
    if a[0] == b[0] == "gpu":
        return {"type": ["NVL", 0], "nvlinks": [18, 0]}
    near = "PIX" if a[1] == b[1] else "NODE" if a[1] // 4 == b[1] // 4 else "SYS"
    return {"type": [near, 0]}


def main():
    program = sys.argv[1]
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 1024
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder) / "base.json"
        subprocess.run([program, "topo", "save", "hgx-h100", "-o", base], check=True, capture_output=True)
        saved = json.loads(base.read_text())
        template = json.dumps(saved["hosts"][0])
        files = []
        for number in range(count):
            host = node(template, number)
            if number % (count // len(faults())) == 7:
                faults()[number // (count // len(faults()))](host)
            files.append(Path(folder) / f"node{number:04}.json")
            files[-1].write_text(json.dumps({**saved, "hosts": [host]}))
        size = sum(path.stat().st_size for path in files)
        os.sched_setaffinity(0, {0})
        for _ in range(5):
            start = time.monotonic()
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            result = subprocess.run([program, "topo", "diff", *files], capture_output=True, text=True, check=False)
            wall = time.monotonic() - start
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            print(f"{count} nodes, {size / 1e6:.1f} MB of files: {wall:.3f} s, {processor:.3f} s of them on the processor, "
                  f"{after.ru_maxrss / 1024:.0f} MiB; "
                  f"exit status {result.returncode}; {result.stdout.splitlines()[0]}")


main()
