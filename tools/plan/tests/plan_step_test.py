#!/usr/bin/env python3
"""The collectives of `collbench plan`, counted one by one over a small step, and replayed by SimGrid.

usage: plan_step_test.py COLLBENCH SMPIRUN

A step is written down as its frameworks run it: for each micro-batch, layer, pass and block the collectives of a rank,
and of each the messages of its ring. What a GPU sends has to be the plan's bytes, to the byte. Where nothing overlaps,
SimGrid replays the same list of collectives on a flat network: it has to take the plan's seconds, within 5 %. The network's
latency and bandwidth are those of `collbench predict` for two AllGathers that the plan does not run, one smaller and one
larger; that the collectives are as many and as long as they should be is SimGrid's own reckoning.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

LAYERS, HIDDEN, FFN, HEADS, VOCAB, SEQ, BATCH = 2, 4096, 16384, 32, 51200, 2048, 8
MODEL = ("--layers", LAYERS, "--hidden", HIDDEN, "--ffn", FFN, "--heads", HEADS, "--vocab", VOCAB, "--gated", "false", "--tied",
         "true", "--seq", SEQ, "--gbs", BATCH, "--mbs", 1, "--recompute", "none", "--precision", "fp16", "--exceed-memory", "true")
BYTES = 2  # of an activation, of a parameter, and of a gradient of Megatron-LM in 2021 in FP16
EXPERTS, TOP_K, EXPERT_FFN = 8, 2, 4096


def collbench(*arguments):
    done = subprocess.run([COLLBENCH, *map(str, arguments)], capture_output=True, text=True, timeout=120, check=False)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return json.loads(done.stdout)


def planned(gpus, *split):
    """The terms of the plan, by part. The stack overlaps nothing."""
    plan = collbench("plan", *MODEL, "--topology", "hgx-a100", "--n-gpus", gpus, "--stack", "megatron-2021", *split, "--format",
                     "json")
    return {term["part"]: term for term in plan["terms"]}


# What a rank runs, as (operation, bytes of the size column).
def tensor_parallel(micro_batches):
    """Sequence parallelism (Korthikanti et al. 2022, figure 5): gathered before each block and scattered behind it, the other
    way round going back."""
    for _ in range(micro_batches):
        for _ in range(LAYERS):
            for _ in ("forward", "backward"):
                for _ in ("attention", "MLP"):
                    yield "all_gather", BYTES * SEQ * HIDDEN
                    yield "reduce_scatter", BYTES * SEQ * HIDDEN


def matrices():
    """Parameters of each matrix of a GPU without tensor parallelism."""
    for _ in range(LAYERS):
        for _ in ("query", "key", "value", "output"):
            yield HIDDEN * HIDDEN
        yield HIDDEN * FFN
        yield FFN * HIDDEN
    yield VOCAB * HIDDEN


def data_parallel(zero):
    size = BYTES * sum(matrices())
    if zero == 0:
        yield "all_reduce", size
        return
    yield "reduce_scatter", size
    yield "all_gather", size


def pipeline(micro_batches, stages):
    """A stage in the middle: activations to the next, gradients to the one before."""
    assert stages > 2
    for _ in range(micro_batches):
        yield "send", BYTES * SEQ * HIDDEN
        yield "send", BYTES * SEQ * HIDDEN


def context_parallel(micro_batches, ranks):
    """Keys and values to the next of the ring; going back again, and their gradients with them."""
    for _ in range(micro_batches):
        for _ in range(LAYERS):
            for _ in range(ranks - 1):
                for _ in ("forward", "backward", "gradients"):
                    for _ in ("keys", "values"):
                        yield "send", BYTES * SEQ // ranks * HIDDEN


def expert_parallel(micro_batches):
    for _ in range(micro_batches):
        for _ in range(LAYERS):
            for _ in ("forward", "backward"):
                for _ in ("to the experts", "and back"):
                    yield "all_to_all", BYTES * SEQ * HIDDEN * TOP_K


def sent_bytes(collectives, ranks):
    """Message by message, of one rank."""
    sent = 0
    for operation, size in collectives:
        if operation == "send":
            sent += size
            continue
        for _ in range(ranks - 1):
            sent += size / ranks
            if operation == "all_reduce":
                sent += size / ranks
    return sent


class Step(unittest.TestCase):
    def test_bytes_are_those_of_a_count(self):
        moe = ("--experts", EXPERTS, "--top-k", TOP_K, "--expert-ffn", EXPERT_FFN)
        for part, term, collectives, ranks in (
                ("TP", planned(8, "--tp", 8, "--sp", "true")["TP_collectives"], tensor_parallel(BATCH), 8),
                ("ZeRO-0", planned(8, "--zero", 0)["DP_collectives"], data_parallel(0), 8),
                ("ZeRO-1", planned(8, "--zero", 1)["DP_collectives"], data_parallel(1), 8),
                ("PP", planned(4, "--pp", 4)["PP_sends"], pipeline(BATCH, 4), 4),
                ("CP", planned(4, "--cp", 4)["CP_collectives"], context_parallel(BATCH, 4), 4),
                ("EP", planned(8, "--ep", 8, *moe)["EP_collectives"], expert_parallel(1), 8)):
            with self.subTest(part):
                collectives = list(collectives)
                self.assertEqual(term["bytes_per_gpu"], sent_bytes(collectives, ranks))
                self.assertEqual(term["calls"], len(collectives) / (2 if part == "CP" else 1), "keys and values go in one message")

    def test_simgrid_takes_the_plans_seconds(self):
        for part, term, collectives in (
                ("TP", planned(8, "--tp", 8, "--sp", "true")["TP_collectives"], tensor_parallel(BATCH)),
                ("ZeRO-0", planned(8, "--zero", 0)["DP_collectives"], data_parallel(0)),
                ("ZeRO-1", planned(8, "--zero", 1)["DP_collectives"], data_parallel(1))):
            with self.subTest(part):
                self.assertEqual(term["hidden_seconds"], 0)
                self.assertAlmostEqual(replayed_seconds(list(collectives), 8) / term["exposed_seconds"], 1, delta=0.05)


ONE_BYTE = 6  # SMPI's number of the type


def network_of(size, ranks):
    """Seconds of latency of each of a ring's steps, and bytes/s, round about collectives of this size."""
    sizes = (size // 2, 4 * size)
    rows = collbench("predict", "--topology", "hgx-a100", "--ops", "all_gather", "--sizes", ",".join(map(str, sizes)), "--format",
                     "json")["rows"]
    seconds = [row["expected_seconds"] for row in rows]
    blocks = [each / ranks * (ranks - 1) for each in sizes]
    bandwidth = (blocks[1] - blocks[0]) / (seconds[1] - seconds[0])
    return max(0, (seconds[0] - blocks[0] / bandwidth) / (ranks - 1)), bandwidth


def replayed_seconds(collectives, ranks):
    latency, bandwidth = network_of(collectives[0][1], ranks)
    lines = {"all_gather": lambda size: f"allgather {size // ranks} {size // ranks} {ONE_BYTE} {ONE_BYTE}",
             "reduce_scatter": lambda size: f"reducescatter {' '.join([str(size // ranks)] * ranks)} 0 {ONE_BYTE}",
             "all_reduce": lambda size: f"allreduce {size} 0 {ONE_BYTE}"}
    with tempfile.TemporaryDirectory() as folder:
        here = pathlib.Path(folder)
        for rank in range(ranks):
            body = ["init", *(lines[operation](size) for operation, size in collectives), "finalize"]
            (here / f"{rank}.txt").write_text("".join(f"{rank} {line}\n" for line in body))
        (here / "traces.txt").write_text("".join(f"{here}/{rank}.txt\n" for rank in range(ranks)))
        (here / "platform.xml").write_text(
            "<?xml version='1.0'?><!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\"><platform version=\"4.1\">"
            f"<cluster id=\"n\" prefix=\"h\" suffix=\"\" radical=\"0-{ranks - 1}\" speed=\"1Gf\" bw=\"{bandwidth:.0f}Bps\" "
            f"lat=\"{latency / 2:.9f}s\" "
            "sharing_policy=\"SPLITDUPLEX\"/></platform>")
        settings = ("network/model:CM02", "network/TCP-gamma:0", "network/crosstraffic:0", "smpi/allreduce:lr",
                    "smpi/reduce_scatter:ompi_ring", "smpi/allgather:ring", "smpi/display-timing:yes", "smpi/host-speed:1Gf")
        done = subprocess.run([SMPIRUN, "-np", str(ranks), "-platform", here / "platform.xml", "-replay", here / "traces.txt",
                               *(f"--cfg={each}" for each in settings)], cwd=folder, capture_output=True, text=True, timeout=120,
                              check=False)
        found = re.search(r"Simulated time: ([0-9.e-]+) seconds", done.stdout + done.stderr)
        if not found:
            raise AssertionError(done.stdout + done.stderr)
        return float(found[1])


if __name__ == "__main__":
    COLLBENCH, SMPIRUN = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
