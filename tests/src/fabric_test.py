#!/usr/bin/env python3
"""The program on several hosts: network namespaces of this machine, joined by links of a known rate (scripts/fabric).

Usage: fabric_test.py PROGRAM [unittest arguments]      (needs root; exit 77: skipped)
"""

import asyncio
import ctypes
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

from real_ranks import calibration_fits

PROGRAM = pathlib.Path(sys.argv[1]).resolve()
FABRIC = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "fabric"
NAME = f"test-{os.getpid()}"
QUICK = ["--passes", "1", "-n", "3", "-w", "0", "-T", "120"]
PATIENCE_SECONDS = 400  # for what ends by itself, on a machine however busy
GIGABIT = 0.125e9  # bytes per second


def fabric(*words, check=True):
    """What does not end shows what it said until then, and which of its processes were there."""
    command = [str(FABRIC), "--name", NAME, *map(str, words)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True) as run:
        try:
            output, errors = run.communicate(timeout=PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            there = subprocess.run(["ps", "-eo", "pid,ppid,stat,wchan:20,time,args"], capture_output=True, text=True, check=False)
            run.kill()
            try:
                output, errors = run.communicate(timeout=10)
            except subprocess.TimeoutExpired:
                output, errors = "", "(something still holds its output)\n"
            raise AssertionError(f"{command} does not end\n{output}{errors}{there.stdout}") from None
    if check and run.returncode != 0:
        raise AssertionError(f"{command}: {run.returncode}\n{output}{errors}")
    return subprocess.CompletedProcess(command, run.returncode, output, errors)


def on_host(host, work, *arguments):
    """A thread whose sockets are the host's."""
    def enter():
        with open(f"/run/netns/{NAME}-{host}", "rb") as namespace:
            assert ctypes.CDLL(None).setns(namespace.fileno(), 0) == 0
        work(*arguments)
    thread = threading.Thread(target=enter)
    thread.start()
    return thread


class OnFabric(unittest.TestCase):
    hosts = 2
    ranks_per_host = 2

    @classmethod
    def setUpClass(cls):
        cls.addClassCleanup(fabric, "down", check=False)
        fabric("up", cls.hosts, "--rate", "1gbit", "--ranks-per-host", cls.ranks_per_host)

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name) / "run.json"

    def command(self, *arguments):
        return ["run", "-np", self.hosts * self.ranks_per_host, "--", PROGRAM, *arguments, "-J", self.path]

    def record(self, *arguments, seconds=4):
        result = fabric(*self.command(*QUICK, "--time", seconds, *arguments), check=False)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        made = json.loads(self.path.read_text())
        for row in made["rows"]:
            self.assertEqual(row["wrong_elements"], 0, row)
        return made

    def start(self, *arguments):
        """A run that has its first pass on disk."""
        process = subprocess.Popen([str(FABRIC), "--name", NAME, *map(str, self.command(
            "--ops", "all_reduce", "--sizes", "8,64K", "--precision", "0.01", *arguments))],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        while process.poll() is None and not (self.path.exists() and json.loads(self.path.read_text())["passes"]):
            time.sleep(0.05)
        return process

    def rank(self, number):
        """Its process."""
        for entry in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if (entry / "comm").read_text() == "collbench\n" and str(self.path) in (entry / "cmdline").read_text() and \
                        f"OMPI_COMM_WORLD_RANK={number}\0" in (entry / "environ").read_text():
                    return int(entry.name)
            except OSError:  # it ended
                continue
        raise AssertionError(f"rank {number} is not there")

    def took_at_least(self, made, kind, seconds):
        """The calibration's time of 1 MiB, where a busy machine came that far in a quarter of --time."""
        points = [point["seconds"] for point in made["calibration"]["points"]
                  if point["kind"] == kind and point["size_bytes"] == 1 << 20]
        if not points:
            self.assertRegex(" ".join(made["place_notes"]), "calibrated at|the calibration cannot be used")
        for point in points:
            self.assertGreater(point, seconds)


class TwoHosts(OnFabric):
    def test_two_tiers_are_found(self):
        made = self.record("--ops", "all_reduce,all_gather", "--sizes", "1K,1M")
        self.assertEqual([(rank["host"], rank["node"], rank["local_rank"]) for rank in made["ranks"]],
                         [("host0", 0, 0), ("host0", 0, 1), ("host1", 1, 0), ("host1", 1, 1)])
        self.assertEqual(len(made["cores_per_node"]), 2)
        # No noise lets a link carry more than its rate, but for the bucket of 1 ms; two ranks of a host share it.
        mebibyte = 1 << 20
        self.took_at_least(made, "send_recv_inter", 0.8 * mebibyte / GIGABIT)
        self.took_at_least(made, "send_recv_inter_all", 0.9 * 2 * mebibyte / GIGABIT)
        self.assertIn("send_recv_intra", {point["kind"] for point in made["calibration"]["points"]})
        if not calibration_fits(self, made):
            return
        for tier in ("intra", "inter"):
            self.assertGreaterEqual(made["calibration"][tier]["alpha_seconds"], 0)
        for row in made["rows"]:
            self.assertGreater(row["ring_seconds"], 0)
            self.assertGreater(row["expected_seconds"], 0)


    def test_strangers_that_hold_connections_keep_no_report_out(self):
        run = self.start("--time", "60", "-T", "6")
        listening = subprocess.run(["ip", "netns", "exec", f"{NAME}-host0", "ss", "-ltnpH"], capture_output=True, text=True, check=True)
        ports = [int(port) for port in re.findall(r"10\.93\.0\.1:(\d+) .*\"collbench\"", listening.stdout)]
        self.assertEqual(len(ports), 2, listening.stdout)
        over, held = threading.Event(), []

        def hold():
            while not over.wait(0.005):
                held.extend(socket.create_connection(("10.93.0.1", port), 5) for port in ports)
        strangers = on_host("host1", hold)
        self.addCleanup(lambda: [each.close() for each in held])
        self.addCleanup(strangers.join)
        self.addCleanup(over.set)
        while len(held) < 100:
            time.sleep(0.05)
        os.kill(self.rank(3), signal.SIGSTOP)
        _, said = run.communicate(timeout=PATIENCE_SECONDS)
        self.assertIn("rank 3 (host1) is stopped", said)


class SlowLink(OnFabric):
    def test_a_slow_direction_slows_the_calibrated_link(self):
        fabric("rate", "host1", "100mbit")
        self.addCleanup(fabric, "heal")
        made = self.record("--ops", "send_recv", "--sizes", "1K")
        self.took_at_least(made, "send_recv_inter", 0.9 * 10 * (1 << 20) / GIGABIT)

    def test_lost_packets_are_named_and_no_rank(self):
        """Five of a hundred that reach the second host; who sends them is on the first."""
        self.addCleanup(fabric, "heal")
        fabric("drop", "host1", 5)
        for seconds in (4, 16, 64):  # of which the row is measured, unless the machine is busy
            self.path.unlink(missing_ok=True)
            made = self.record("--ops", "all_reduce", "--sizes", "1M", "--calibration", "none", seconds=seconds)
            if made["rows"][0]["pass_seconds"]:
                break
        notes = [found for note in made["network_notes"]
                 if (found := re.match(r"rank \d \((\w+)\) retransmitted (\d+(?:\.\d+)?) % of its TCP bytes", note))]
        self.assertTrue(notes, made["network_notes"])
        # Acknowledgments of what host1 sends are lost as well, each of which the next one makes up for.
        self.assertEqual(max((float(note[2]), note[1]) for note in notes)[1], "host0", made["network_notes"])
        self.assertEqual((made["rank_probe"] or {"findings": []})["findings"], [])

    def test_a_flapping_nic_is_named(self):
        self.addCleanup(fabric, "heal")
        for seconds in (12, 60, 240):  # of which both cuts are seen, unless the machine is busy
            self.path.unlink(missing_ok=True)
            run = self.start("--time", seconds, "-T", "120")
            for _ in range(2):
                fabric("cut", "host1")
                fabric("heal")
            if run.poll() is None:
                break
            _, said = run.communicate(timeout=seconds + PATIENCE_SECONDS)
            self.assertEqual(run.returncode, 0, said)
        _, said = run.communicate(timeout=seconds + PATIENCE_SECONDS)
        self.assertEqual(run.returncode, 0, said)
        made = json.loads(self.path.read_text())
        self.assertRegex(" ".join(made["network_notes"]), r"host1 data0 carrier_changes: \d+ to \d+ within .* s, degraded")
        self.assertNotIn("host0 data0", " ".join(made["network_notes"]))

    def test_what_is_not_acknowledged_is_no_ranks_fault(self):
        """Full packets are dropped on the way, and nobody tells their sender: only TCP's timeouts show it."""
        run = self.start("--time", "300", "-T", "5")
        self.addCleanup(fabric, "heal")
        fabric("mtu", "host1", 1450)
        _, said = run.communicate(timeout=PATIENCE_SECONDS)
        self.assertRegex(said, r"timed out after 5 s without progress: data is retransmitted and "
                         r"never acknowledged: rank \d \(host\d\) to 10\.93\.1\.\d, \d+ times in a row.*: packets are dropped on the way")
        self.assertEqual(json.loads(self.path.read_text())["incident"]["ranks"], [])


class ThreeHosts(OnFabric):
    hosts = 3
    ranks_per_host = 1

    def test_one_rank_on_each(self):
        made = self.record("--ops", "all_reduce", "--sizes", "64K")
        self.assertEqual([rank["host"] for rank in made["ranks"]], ["host0", "host1", "host2"])
        self.assertIsNone(made["calibration"]["intra"])
        if calibration_fits(self, made):
            self.assertGreater(made["calibration"]["inter"]["bytes_per_second"], 0)

    def test_a_relay_that_closes_connections_ends_nothing(self):
        """As a service mesh has one beside each process: all that host2 sends on the launcher's network goes through it."""
        rules = "table ip relay {\nchain out {\ntype nat hook output priority -100\nmeta mark 7 accept\n" \
            "oifname control0 meta l4proto tcp redirect to :9999\n}\n}\n"
        nft = ["ip", "netns", "exec", f"{NAME}-host2", "nft"]
        subprocess.run([*nft, "-f", "-"], input=rules, text=True, check=True)
        self.addCleanup(subprocess.run, [*nft, "flush", "ruleset"], check=True)
        closed, loop = [], asyncio.new_event_loop()

        async def pass_on(reader, writer):
            while data := await reader.read(1 << 16):
                writer.write(data)
            writer.close()

        async def relay(reader, writer):
            to = writer.get_extra_info("socket").getsockopt(socket.IPPROTO_IP, 80, 16)  # SO_ORIGINAL_DST
            onward = socket.socket()
            onward.setblocking(False)
            onward.setsockopt(socket.SOL_SOCKET, socket.SO_MARK, 7)
            await loop.sock_connect(onward, (socket.inet_ntoa(to[4:8]), int.from_bytes(to[2:4], "big")))
            from_there, there = await asyncio.open_connection(sock=onward)
            back = loop.create_task(pass_on(from_there, writer))
            begin = await reader.read(1 << 16)
            there.write(begin)
            try:
                await asyncio.wait_for(pass_on(reader, there), 1 if begin.startswith(b"beat ") else None)
            except asyncio.TimeoutError:
                closed.append(begin)
            there.close()
            await back

        def serve():
            asyncio.set_event_loop(loop)
            loop.set_exception_handler(lambda *_: None)  # what is closed on one side is reset on the other
            loop.run_until_complete(asyncio.start_server(relay, "0.0.0.0", 9999))
            loop.run_forever()
        thread = on_host("host2", serve)
        self.addCleanup(thread.join)
        self.addCleanup(lambda: loop.call_soon_threadsafe(loop.stop))
        run = self.start("--time", "8", "-T", "30")
        _, said = run.communicate(timeout=PATIENCE_SECONDS)
        self.assertEqual(run.returncode, 0, said)
        self.assertGreater(len(closed), 1)
        self.assertIsNone(json.loads(self.path.read_text())["incident"])


if __name__ == "__main__":
    probe = fabric("up", 2, check=False)
    if probe.returncode == 5:
        print(f"SKIPPED: {probe.stderr.strip()}")
        sys.exit(77)
    fabric("down")
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
