#!/usr/bin/env python3
"""What the ranks of a run tell each other around a block, counted message by message in SimGrid.

usage: control_traffic_test.py COLLBENCH_SMPI [SMPIRUN]
       control_traffic_test.py COLLBENCH_SMPI SMPIRUN RANKS...   prints the counts for so many ranks

SimGrid's trace has every message that a rank sends, those of which the library's collectives are made, too. What is
measured here is one MPI_Sendrecv a call, so that all else between two of those is control traffic. Barriers take no
messages in simulated time (launch/real_machine_smpi.cpp).
"""
import collections
import dataclasses
import math
import pathlib
import statistics
import subprocess
import sys
import tempfile
import unittest

PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="flat" prefix="host-" suffix="" radical="0-{last}" speed="1Gf" bw="50GBps" lat="1us"
           sharing_policy="SPLITDUPLEX"/>
</platform>
"""
SETTINGS = ("network/model:CM02", "smpi/simulate-computation:no", "smpi/host-speed:1Gf", "tracing/smpi/internals:yes",
            "tracing/smpi/display-sizes:yes")
CALLS_OF_A_BLOCK = 2  # the checked one, and the timed one
# Of Paje's events, as the header of a trace numbers them.
DEFINE_VALUE, PUSH_STATE, START_LINK, END_LINK = "5", "12", "15", "16"


@dataclasses.dataclass
class Traffic:
    """What one rank sends and receives."""
    messages: int = 0
    bytes: int = 0

    def add(self, bytes_of_message):
        self.messages += 1
        self.bytes += bytes_of_message

    def __add__(self, other):
        return Traffic(self.messages + other.messages, self.bytes + other.bytes)


def control_traffic_of_last_block(trace):
    """By rank, of a trace's lines: what went between the last timed call of the run and the one of the row before it."""
    measured_call = None
    now = collections.defaultdict(Traffic)  # by rank, since its last measured call
    before = collections.defaultdict(lambda: collections.deque(maxlen=CALLS_OF_A_BLOCK))
    is_measuring = collections.defaultdict(bool)
    bytes_of = {}  # of messages on their way
    for line in trace:
        words = line.split()
        event = words[0] if words else ""
        if event == DEFINE_VALUE and words[3] == "PMPI_Sendrecv":
            measured_call = words[1]
        elif event == PUSH_STATE:
            rank = words[3]
            is_measuring[rank] = words[4] == measured_call
            if is_measuring[rank]:
                before[rank].append(now.pop(rank, Traffic()))
        elif event == START_LINK and words[4] == "PTP":
            rank, message, size = words[5], words[6], int(words[7])
            if not is_measuring[rank]:
                now[rank].add(size)
                bytes_of[message] = size
        elif event == END_LINK and words[4] == "PTP" and words[6] in bytes_of:
            now[words[5]].add(bytes_of.pop(words[6]))
    return [sum(windows, Traffic()) for windows in before.values()]


def count(ranks):
    """By rank, of one block whose data are checked."""
    with tempfile.TemporaryDirectory() as folder:
        platform = pathlib.Path(folder) / "platform.xml"
        platform.write_text(PLATFORM.format(last=ranks - 1))
        trace = pathlib.Path(folder) / "trace"
        command = [SMPIRUN, "-no-privatize", "-np", str(ranks), "-platform", str(platform), "--log=root.thres:error",
                   "-trace", "-trace-file", str(trace)]
        command += [f"--cfg={setting}" for setting in SETTINGS]
        command += [COLLBENCH_SMPI, "--ops", "send_recv", "--sizes", "1K,2K", "--passes", "1", "--iters", "1",
                    "--warmup_iters", "0"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        if done.returncode != 0:
            raise AssertionError(f"{' '.join(command)}\nstatus {done.returncode}\n{done.stdout}{done.stderr}")
        with trace.open() as lines:
            return control_traffic_of_last_block(lines)


def busiest(traffic, what):
    return max(getattr(each, what) for each in traffic)


def typical_bytes(traffic):
    return statistics.median(each.bytes for each in traffic)


class OfOneBlock(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.few, cls.many = count(16), count(64)
        cls.growth = math.log2(64) / math.log2(16)

    def test_every_rank_is_counted(self):
        self.assertEqual((len(self.few), len(self.many)), (16, 64))
        self.assertGreater(min(each.messages for each in self.few), 0)

    def test_messages_of_the_busiest_rank_grow_no_faster_than_log_p(self):
        self.assertLessEqual(busiest(self.many, "messages"), busiest(self.few, "messages") * self.growth)

    def test_bytes_grow_with_p_only_where_they_are_gathered(self):
        self.assertLessEqual(busiest(self.many, "bytes"), 4 * busiest(self.few, "bytes"))
        self.assertLessEqual(typical_bytes(self.many), typical_bytes(self.few) * self.growth)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    COLLBENCH_SMPI = str(pathlib.Path(sys.argv[1]).resolve())
    SMPIRUN = sys.argv[2] if len(sys.argv) > 2 else "smpirun"
    if len(sys.argv) < 4:
        unittest.main(argv=sys.argv[:1], verbosity=2)
    for ranks in map(int, sys.argv[3:]):
        traffic = count(ranks)
        print(f"{ranks} ranks: busiest {busiest(traffic, 'messages')} messages, {busiest(traffic, 'bytes')} B; median "
              f"{statistics.median(each.messages for each in traffic):g} messages, {typical_bytes(traffic):g} B")
