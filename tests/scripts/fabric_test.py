#!/usr/bin/env python3
"""scripts/fabric: what it makes, what it leaves behind when it is killed, and what it says of wrong use.

Usage: fabric_test.py SOURCE_FOLDER      (needs root; exit 77: skipped)
"""

import os
import pathlib
import signal
import subprocess
import sys
import time
import unittest

FABRIC = pathlib.Path(sys.argv[1]).resolve() / "scripts" / "fabric"
NAME = f"script-{os.getpid()}"
SLEEPERS = ["run", "-np", "4", "--", "sleep", "1000"]
PATIENCE_SECONDS = 30


def start(*words, name=NAME, **options):
    options = {"stdin": subprocess.DEVNULL, **options}
    return subprocess.Popen([str(FABRIC), "--name", name, *map(str, words)], text=True, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, **options)


def fabric(*words, name=NAME):
    process = start(*words, name=name)
    out, err = process.communicate(timeout=60)
    return subprocess.CompletedProcess(words, process.returncode, out, err)


def text_of(*words):
    return subprocess.run(words, capture_output=True, text=True, check=True, timeout=60).stdout


def namespaces(name=NAME):
    return sorted(line.split()[0] for line in text_of("ip", "netns", "list").splitlines() if line.startswith(f"{name}-"))


def processes():
    return [pid for namespace in namespaces() for pid in text_of("ip", "netns", "pids", namespace).split()]


def until(condition):
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.05)
    return condition()


class Refusals(unittest.TestCase):
    def refused(self, status, pattern, result):
        self.assertEqual(result.returncode, status, result.stderr)
        self.assertEqual(result.stdout, "")
        self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
        self.assertRegex(result.stderr, f"^fabric: .*{pattern}")


class WrongUse(Refusals):
    def test_without_a_fabric(self):
        for words, pattern in ((["frob"], "choose from 'up', 'run'"),
                               (["up"], "required: N"),
                               (["up", "1"], "'1': give one from 2 to 64"),
                               (["up", "2", "--rate", "fast"], "'fast' is no rate: give .* such as 1gbit"),
                               (["up", "2", "--rate", "9kbit"], "'9kbit' is no rate"),
                               (["up", "2", "--burst", "1"], "--burst"),
                               (["cut"], "required: HOST"),
                               (["run", "-np", "4", "--", "true"], "no fabric .* is up: .* up 2"),
                               (["down"], "no fabric .* is up")):
            with self.subTest(words):
                self.refused(2, pattern, fabric(*words))
        self.refused(2, "is no name", fabric("status", name="a/b"))

    def test_help(self):
        self.assertIn("usage: scripts/fabric", text_of(str(FABRIC), "--help"))

    def test_who_may_not(self):
        with FABRIC.open(encoding="utf-8") as script:  # nobody may not be able to read the folder
            result = subprocess.run(["setpriv", "--reuid", "65534", "--clear-groups", "/usr/bin/python3", "-", "status"],
                                    stdin=script, capture_output=True, text=True, check=False)
        self.refused(5, "needs root", result)

    def test_what_is_not_installed(self):
        result = subprocess.run([sys.executable, FABRIC, "status"], env={"PATH": "/none"}, capture_output=True, text=True,
                                check=False)
        self.refused(5, "apt-get install iproute2 nftables openmpi-bin util-linux", result)


class Life(Refusals):
    """One fabric for each test, which takes half a second."""

    def setUp(self):
        self.addCleanup(fabric, "down")
        self.assertEqual(fabric("up", 2, "--rate", "500mbit").returncode, 0)

    def status(self):
        return fabric("status").stdout

    def test_links(self):
        self.assertRegex(self.status(), f"{NAME}: 500mbit each way, 2 ranks a host\n  host0: core ., sends at 500mbit, 0 proc")
        fabric("rate", "host1", "250mbit")
        self.assertRegex(self.status(), "host0: .* 500mbit, .*\n.*host1: .* 250mbit, ")
        fabric("cut", "host0")
        self.assertRegex(self.status(), "host0: .*, cut, .*\n.*host1: .* 250mbit, 0")
        self.assertIn("NO-CARRIER", fabric("exec", "host0", "ip", "link", "show", "data0").stdout)
        fabric("heal", "host0")
        self.assertRegex(self.status(), "host0: .* 500mbit, 0.*\n.*host1: .* 250mbit, 0")
        fabric("heal")
        self.assertRegex(self.status(), "host1: .* 500mbit, 0")

    def test_a_healed_cable_carries_at_once(self):
        """A search for host0's address that began without the cable would fail a second after it is back."""
        fabric("cut", "host1")
        fabric("exec", "host1", "bash", "-c", "echo > /dev/udp/10.93.1.1/9")
        time.sleep(2.2)  # the third and last question is out: timed out after 3 s is "No route to host"
        fabric("heal")
        said = fabric("exec", "host1", "bash", "-c", "exec 3<> /dev/tcp/10.93.1.1/9").stderr
        self.assertIn("Connection refused", said)

    def test_packets_are_lost_by_direction_and_by_length(self):
        def arrives(sender, length):
            """Whether one datagram does, from a host to the other; a packet of it has 28 bytes more."""
            to = f"10.93.1.{2 if sender == 'host0' else 1}"
            receiver = start("exec", "host1" if sender == "host0" else "host0", "python3", "-c",
                             f"import socket; s = socket.socket(type=socket.SOCK_DGRAM); s.bind(('{to}', 9)); print(flush=True)\n"
                             "input(); s.settimeout(0.5); print(len(s.recv(2000)))", stdin=subprocess.PIPE)
            receiver.stdout.readline()
            text_of("ip", "netns", "exec", f"{NAME}-{sender}", "python3", "-c",
                    f"import socket; socket.socket(type=socket.SOCK_DGRAM).sendto(bytes({length}), ('{to}', 9))")
            return receiver.communicate("sent\n", timeout=PATIENCE_SECONDS)[0] == f"{length}\n"

        for words, way_in, way_out in ((("drop", "host1", "100"), False, True), (("drop", "host1", "100", "--sent"), True, False)):
            self.assertEqual(fabric(*words).returncode, 0)
            self.assertEqual((arrives("host0", 9), arrives("host1", 9)), (way_in, way_out), words)
            fabric("heal", "host1")
        self.assertEqual(fabric("mtu", "host1", 1450).returncode, 0)
        for sender in ("host0", "host1"):
            self.assertEqual((arrives(sender, 1422), arrives(sender, 1423)), (True, False), sender)
        fabric("heal")
        self.assertTrue(arrives("host0", 1472))

    def test_hosts_are_told_apart(self):
        result = fabric("run", "-np", 4, "--", "sh", "-c", "echo $(hostname) $(ls /dev/shm | wc -l)")
        self.assertEqual(sorted(line.split()[0] for line in result.stdout.splitlines()), ["host0"] * 2 + ["host1"] * 2)
        self.assertEqual(fabric("exec", "host1", "sh", "-c", 'test "$(hostname)" = host1 && exit 7').returncode, 7)
        self.assertEqual(fabric("run", "-np", 1, "--", "sh", "-c", "exit 9").returncode, 9)

    def test_wrong_use_of_a_fabric(self):
        for words, pattern in ((["up", "2"], "is up already"),
                               (["run", "-np", "4", "true"], "put -- between"),
                               (["run", "-np", "4", "--"], "no command"),
                               (["exec", "host0"], "give a host and a command"),
                               (["cut", "host2"], "no host 'host2' .*: there are host0, host1"),
                               (["rate", "host0", "0mbit"], "'0mbit' is no rate"),
                               (["drop", "host0", "101"], "'101': give one from 0.001 to 100"),
                               (["mtu", "host0", "1500"], "'1500': give one from 68 to 1499")):
            with self.subTest(words):
                self.refused(2, pattern, fabric(*words))

    def test_another_fabric_and_a_namespace_of_somebody_else(self):
        other = f"{NAME}-b"
        self.addCleanup(subprocess.run, ["ip", "netns", "del", f"{other}-host1"], check=True)
        text_of("ip", "netns", "add", f"{other}-host1")
        self.refused(2, f"namespace '{other}-host1' exists and is not ours", fabric("up", 2, name=other))
        self.assertEqual(namespaces(other), [f"{other}-host1"])
        third = f"{NAME}-c"
        self.assertEqual(fabric("up", 2, name=third).returncode, 0)
        self.assertEqual(fabric("run", "-np", 2, "--", "true", name=third).returncode, 0)
        self.assertEqual(fabric("down", name=third).returncode, 0)
        self.assertEqual(namespaces(third), [])
        self.assertRegex(self.status(), f"{NAME}: 500mbit")

    def test_one_that_lost_a_namespace_hides_no_other(self):
        lost = f"lost-{os.getpid()}"  # before the other by its name
        self.addCleanup(fabric, "down", name=lost)
        self.assertEqual(fabric("up", 2, name=lost).returncode, 0)
        text_of("ip", "netns", "del", f"{lost}-switch")
        self.assertRegex(self.status(), f"(?m)^{lost}: not known: .*{lost}-switch.*; scripts/fabric --name {lost} down$")
        self.assertRegex(self.status(), f"{NAME}: 500mbit each way, 2 ranks a host\n  host0: core .*\n  host1: core ")
        self.assertEqual(fabric("down", name=lost).returncode, 0)
        self.assertNotIn(lost, self.status())

    def interrupted_by(self, number):
        run = start(*SLEEPERS)
        # mpirun, another host's daemon, and four sleepers.
        self.assertTrue(until(lambda: len(processes()) >= 6), processes())
        run.send_signal(number)
        run.communicate(timeout=PATIENCE_SECONDS)
        self.assertTrue(until(lambda: not processes()), processes())
        return run.returncode

    def test_a_killed_run_leaves_no_process(self):
        self.assertEqual(self.interrupted_by(signal.SIGKILL), -signal.SIGKILL)

    def test_an_interrupted_run_ends_as_mpirun_does(self):
        self.assertEqual(self.interrupted_by(signal.SIGINT), 1)
        self.assertEqual(self.interrupted_by(signal.SIGTERM), 1)
        self.assertEqual(fabric("run", "-np", 4, "--", "true").returncode, 0)

    def test_down_ends_what_runs(self):
        run = start(*SLEEPERS)
        self.assertTrue(until(lambda: len(processes()) >= 6), processes())
        self.assertEqual(fabric("down").returncode, 0)
        self.assertNotEqual(run.wait(timeout=PATIENCE_SECONDS), 0)
        run.communicate()
        self.assertEqual(namespaces(), [])


class KilledOnTheWayUp(Refusals):
    def test_down_undoes_what_there_is(self):
        for made in range(1, 4):
            with self.subTest(made):
                self.addCleanup(fabric, "down")
                process = start("up", 16)
                self.assertTrue(until(lambda: len(namespaces()) >= made))
                process.kill()
                process.communicate()
                self.assertIn("interrupted while coming up", fabric("status").stdout)
                self.refused(2, "was interrupted while coming up: .* down", fabric("run", "-np", "2", "--", "true"))
                self.assertEqual(fabric("down").returncode, 0)
                self.assertEqual(namespaces(), [])

    def test_terminated_it_undoes_it_itself(self):
        process = start("up", 16)
        self.assertTrue(until(namespaces))
        process.terminate()
        process.communicate(timeout=PATIENCE_SECONDS)
        self.assertEqual(namespaces(), [])
        self.assertNotIn(NAME, fabric("status").stdout)


if __name__ == "__main__":
    probe = fabric("up", 2)
    if probe.returncode == 5:
        print(f"SKIPPED: {probe.stderr.strip()}")
        sys.exit(77)
    fabric("down")
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
