#!/usr/bin/env python3
"""How long `collbench judge` takes by the lines of a log: of each kind of line N, and twice as many.

Usage: import_lines.py PROGRAM [LINES (150000)]

The ratio says whether it is linear: a reader that looks at all earlier lines again takes four times as long.
"""

import pathlib
import subprocess
import sys
import tempfile
import time

START = "./all_reduce_perf\n# nThread 1 nGpus 1 minBytes 8 maxBytes 8 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1\n"
HEADING = "# size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n"
END = "# Out of bounds values : 0 OK\n"


def device(rank):
    return f"#  Rank {rank} Group  0 Pid {rank + 1000} on node{rank // 8} device {rank % 8} [0000:00:00] NVIDIA H100\n"


def row(number):
    size = number << 20
    half = f"100.0 {size / 1e5:.2f} {size * 1.75 / 1e5:.2f} 0"
    return f"{size} {size // 4} float sum -1 {half} {half}\n"


def nccl(rank, words):
    return f"node{rank // 8}:{rank + 1000}:{rank + 1000} [{rank % 8}] NCCL INFO {words}\n"


def log(lines, line=None, devices=8, rows=1):
    between = "".join(line(each) for each in range(lines)) if line else ""
    return START + between + "".join(map(device, range(devices))) + HEADING + "".join(map(row, range(1, rows + 1))) + END


KINDS = {
    "devices": lambda lines: log(0, devices=lines),
    "rows": lambda lines: log(0, rows=lines),
    "rows that cannot be read": lambda lines: log(0) + "".join(f"-8 2 f8e{each} sum -1 1 1 1 0 1 1 1 0\n" for each in range(lines)),
    "connections": lambda lines: log(
        lines, lambda rank: nccl(rank, f"Channel 00/0 : {rank}[0] -> {rank + 1}[0] [send] via NET/IB/0/GDRDMA")),
    "communicators": lambda lines: log(
        lines, lambda rank: nccl(rank, f"comm 0x{rank:x} rank {rank} nRanks {lines} nNodes {lines // 8} localRanks 8 localRank 0 MNNVL 0")),
    "words of others": lambda lines: log(lines, lambda rank: f"step {rank}: loss 1.0 of rank {rank}, half of it in float\n"),
}


def main():
    program, lines = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 150_000
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "log"
        for kind, text in KINDS.items():
            seconds = []
            for count in (lines, 2 * lines):
                path.write_text(text(count))
                before = time.perf_counter()
                subprocess.run([program, "judge", "--nodes", "1", "--ranks-per-node", "8", path, "-o", path.with_suffix(".txt"), "--overwrite"],
                               check=False, capture_output=True)
                seconds.append(time.perf_counter() - before)
            print(f"{kind:26} {lines} lines {seconds[0]:6.2f} s, {2 * lines} lines {seconds[1]:6.2f} s: {seconds[1] / seconds[0]:.1f} times")


if __name__ == "__main__":
    main()
