#!/usr/bin/env python3
"""`collbench doctor FOLDER --fleet FILE` as its users meet it.

Usage: doctor_fleet_test.py PROGRAM
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM = pathlib.Path(sys.argv[1]).resolve()
FLEET = 'hosts = "node[1-4]"\ngpus = 2\necc = true\ndriver = "560.28.03"\n["node4"]\ngpus = 1\n'


def query(attached, eccs):
    gpus = "".join(f"GPU 00000000:0{i}:00.0\n    Product Name : NVIDIA L40S\n    ECC Mode\n        Current : {ecc}\n    Processes : None\n"
                   for i, ecc in enumerate(eccs))
    return f"==============NVSMI LOG==============\nDriver Version : 560.28.03\nAttached GPUs : {attached}\n{gpus}"


class Fleet(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.write("fleet.toml", FLEET)
        self.write("nodes/node1/q.txt", query(2, ["Enabled", "Enabled"]))

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def doctor(self, *arguments):
        return subprocess.run([PROGRAM, "doctor", "nodes", *arguments], cwd=self.folder, capture_output=True, text=True, timeout=60, check=False)

    def test_a_line_a_host(self):
        self.write("nodes/node2/q.txt", query(2, ["Enabled", "Disabled"]))
        self.write("nodes/NODE3.lab/q.txt", query(8, ["Enabled"]))
        self.write("nodes/node9/q.txt", query(2, ["Enabled", "Enabled"]))
        (self.folder / "nodes/node4").mkdir()
        done = self.doctor("--fleet", "fleet.toml")
        self.assertEqual(done.returncode, 1, done.stderr)
        lines = done.stdout.splitlines()
        self.assertEqual(lines[0], "1 of 4 hosts is as fleet.toml expects: 1 differs, 1 not known, 1 not read, 1 not in the file")
        self.assertEqual(lines[1], "node2: differs: ecc off and on (on expected)")
        self.assertEqual(lines[2], "node3: not known: gpus (sources say 1 and 8), ecc (on, not of every device)")
        self.assertTrue(lines[3].startswith("node4: not read; "), lines[3])
        said = json.loads(self.doctor("--fleet", "fleet.toml", "--format", "json").stdout)
        self.assertEqual([each["match"] for each in said["fleet"]["hosts"]], ["differs", "not_known", "not_read", "not_in_the_file", "as_expected"])
        self.assertEqual(len(said["machines"]), 4)
        self.assertTrue(self.doctor("--fleet", "fleet.toml", "--format", "md").stdout.startswith("# Doctor\n\n**1 of 4 hosts is as fleet"))

    def test_a_machine_that_cannot_be_read_hides_no_other(self):
        self.write("nodes/node2/a.txt", "no output of any command\n")
        done = self.doctor()
        self.assertEqual(done.returncode, 2, done.stderr)
        lines = done.stdout.splitlines()
        self.assertTrue(lines[0].startswith("1 machine not read; 1 machine: "), lines)
        self.assertTrue(lines[1].startswith("not read: nodes/node2"), lines)
        self.assertTrue(any(line.startswith("nodes/node1: ") for line in lines[2:]), lines)
        self.assertEqual(json.loads(self.doctor("--format", "json").stdout)["not_read"], ["nodes/node2"])
        (self.folder / "nodes/node1/q.txt").write_text("nor here\n")
        done = self.doctor()
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("no file in it is evidence", done.stderr)

    def test_all_as_expected(self):
        self.write("fleet.toml", FLEET.replace("node[1-4]", "node1").split("[", 1)[0])
        done = self.doctor("--fleet", "fleet.toml")
        self.assertEqual((done.returncode, done.stdout.splitlines()[0]), (0, "1 of 1 host is as fleet.toml expects"), done.stdout + done.stderr)

    def test_links_of_two_machines_in_one_file_are_nobodys(self):
        def links(machine):
            return "".join(f"GPU {i}: NVIDIA L40S (UUID: GPU-{machine}{i}aaaaaa)\n\t Link 0: 26.5 GB/s\n" for i in range(2))
        self.write("fleet.toml", 'hosts = "node1"\nnvlinks = 1\n')
        for machines, line in (("0", "1 of 1 host is as fleet.toml expects"), ("00", "1 of 1 host is as fleet.toml expects"),
                               ("01", "0 of 1 host is as fleet.toml expects: 1 not known")):
            self.write("nodes/node1/links.txt", "".join(map(links, machines)))
            self.assertEqual(self.doctor("--fleet", "fleet.toml").stdout.splitlines()[0], line)

    def test_what_is_no_host_beside_the_hosts_hides_none(self):
        self.write("nodes/fleet.toml", FLEET.replace("node[1-4]", "node1").split("[", 1)[0])
        self.write("nodes/.DS_Store", "")
        self.write("nodes/.git/config", "")
        done = self.doctor("--fleet", "nodes/fleet.toml")
        self.assertEqual((done.returncode, done.stdout.splitlines()[0]), (0, "1 of 1 host is as nodes/fleet.toml expects"), done.stdout)

    def test_nothing_to_compare_with_is_refused(self):
        self.write("fleet.toml", 'hosts = "node1"\n')
        done = self.doctor("--fleet", "fleet.toml")
        self.assertEqual(done.returncode, 2)
        self.assertIn("it expects nothing of node1", done.stderr)
        self.write("fleet.toml", FLEET)
        done = self.doctor("nowhere", "--fleet", "fleet.toml")
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        self.assertIn("nowhere", done.stderr)

    def test_without_it_what_cannot_be_read_is_an_error(self):
        (self.folder / "nodes/node4").mkdir()
        self.assertEqual(self.doctor().returncode, 2)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
