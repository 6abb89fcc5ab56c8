#!/usr/bin/env python3
"""`collbench topo …` as its users meet it: without ranks, on files, folders and names, and on bad input.

Usage: topology_command_test.py PROGRAM SOURCE_FOLDER [unittest arguments]
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

PROGRAM = pathlib.Path(sys.argv[1]).resolve()
FIXTURES = pathlib.Path(sys.argv[2]) / "tests/topology/fixtures"
TOPO_M = FIXTURES / "topo_m.txt"


def topo(*arguments, stdin="", environment=None, folder=None):
    return subprocess.run([str(PROGRAM), "topo", *map(str, arguments)], input=stdin, capture_output=True, text=True,
                          errors="replace", timeout=60, env={**os.environ, **(environment or {})}, check=False,
                          cwd=folder)


class Scratch(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def file(self, name, content):
        path = self.folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def good(self, *arguments, **options):
        result = topo(*arguments, **options)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stderr, "")
        return result.stdout

    def bad(self, arguments, *patterns, status=2, **options):
        result = topo(*arguments, **options)
        self.assertEqual(result.returncode, status, result.stdout + result.stderr)
        self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
        for pattern in ("^collbench: ", *patterns):
            self.assertRegex(result.stderr, pattern)


class Diff(Scratch):
    def pair(self):
        """The machine of the fixtures, and one of its NVLinks lost."""
        good = self.good_json()
        bad = json.loads(json.dumps(good))
        bad["hosts"][0]["gpus"][1]["nvlinks_active"][0] -= 6
        return self.file("good.json", json.dumps(good)), self.file("bad.json", json.dumps(bad))

    def good_json(self):
        saved = self.folder / "saved.json"
        self.good("save", "hgx-h100", "-o", saved, "--overwrite")
        return json.loads(saved.read_text())

    def test_a_fault_is_status_1(self):
        good, bad = self.pair()
        result = topo("diff", good, bad)
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertRegex(result.stdout, r"degraded  nvlink-fewer .*bad\.json")
        self.assertRegex(result.stdout, r"GPU1 .*: 12 NVLinks active instead of 18")
        self.assertRegex(result.stdout, r"cost: AllReduce on 2 nodes: nvls_tree \d")

    def test_no_difference_is_status_0(self):
        good, _ = self.pair()
        self.assertIn("no difference", self.good("diff", good, good))

    def test_files_that_disagree_are_never_no_difference(self):
        folder = self.folder / "node1"
        folder.mkdir()
        self.good("save", "hgx-h100", "-o", folder / "saved.json")
        xml = self.good("save", "hgx-h100", "--format", "nccl-xml", "-o", "-").replace('speed="400000"', 'speed="200000"', 1)
        (folder / "nccl.xml").write_text(xml)
        (folder / "note.log").write_text("no machine")
        result = topo("diff", "hgx-h100", folder)
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
        self.assertNotIn("no difference", result.stdout)
        self.assertRegex(result.stdout, r"differs +sources-disagree")
        self.assertRegex(result.stdout, r"Disagree: [^:]*gigabits_per_second")
        self.assertRegex(result.stdout, r"left out: \S*note\.log")

    def test_what_the_file_does_not_state_is_named(self):
        graph = FIXTURES / "nccl_graph.xml"
        for wanted in ("no difference in what both state", "not compared: .*NIC rates"):
            self.assertRegex(" ".join(topo("diff", graph, graph).stdout.split()), wanted)

    def test_every_format_says_the_same(self):
        good, bad = self.pair()
        found = json.loads(topo("diff", good, bad, "--format", "json").stdout)["pairs"][0]["findings"]
        self.assertEqual([each["code"] for each in found], ["nvlink-fewer"])
        self.assertIn("| **degraded** | nvlink-fewer |", topo("diff", good, bad, "--format", "md").stdout)

    def test_the_cost_is_the_difference_of_predictions(self):
        good, bad = self.pair()

        def predicted(path):
            result = subprocess.run([PROGRAM, "predict", "--topology", path, "--ops", "all_reduce", "--sizes", "8G",
                                     "--format", "csv"], capture_output=True, text=True, timeout=60, check=True)
            header, row = result.stdout.splitlines()[:2]
            return float(row.split(",")[header.split(",").index("ring_bus_bandwidth_gb_per_s")])

        found = json.loads(topo("diff", good, bad, "--format", "json").stdout)["pairs"][0]["findings"][0]
        lost = found["costs"][0]["ring"]["lost_gb_per_s"]
        self.assertAlmostEqual(lost, predicted(good) - predicted(bad), delta=0.01 * lost)

    def test_many_files_are_grouped_and_the_odd_one_is_named(self):
        good, bad = self.pair()
        nodes = [self.file(f"n{i}.json", good.read_bytes()) for i in range(5)]
        result = topo("diff", bad, *nodes)
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn("6 machines: 5 identical, 1 different", result.stdout)
        self.assertEqual(topo("diff", *nodes).stdout, "5 machines, all identical\n")

    def test_files_of_twins_are_read_once_and_still_looked_at(self):
        good, bad = self.pair()
        document = json.loads(good.read_text())
        nodes = []
        for number in range(4):
            document["hosts"][0]["name"] = [f"node{number}", 0]
            nodes.append(self.file(f"n{number}.json", json.dumps(document, indent=number)))
        result = topo("diff", *nodes, bad)
        self.assertIn("5 machines: 4 identical, 1 different", result.stdout)
        self.assertIn("bad.json against ", result.stdout)
        cut = self.file("cut.json", nodes[0].read_text()[:-2])
        self.bad(["diff", *nodes, cut], "cut.json:")
        self.bad(["diff", *nodes, self.file("no_text.json", nodes[0].read_bytes().replace(b"node0", b"nod\xff"))],
                 "no_text.json:.*not UTF-8")

    def test_against_a_reference_machine(self):
        _, bad = self.pair()
        result = topo("diff", "hgx-h100", bad)
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn("against hgx-h100", result.stdout)

    def test_a_folder_with_the_name_of_a_reference_machine_is_compared_as_a_folder(self):
        good, bad = self.pair()
        named = self.folder / "hgx-h100"
        named.mkdir()
        (named / "node.json").write_text(good.read_text())
        result = topo("diff", "hgx-h100", bad, folder=self.folder)
        self.assertIn("bad.json against hgx-h100", result.stdout)
        self.assertEqual(result.stdout.replace("hgx-h100", str(good)), topo("diff", good, bad).stdout)

    def test_a_different_machine_does_not_pass(self):
        for other, what in (("dgx-1v", "GPUs: 8 × V100 SXM instead of 8 × H100 SXM"),
                            ("p5", "NICs: 32 NICs of 100 Gb/s instead of 8 of 400")):
            result = topo("diff", "hgx-h100", other)
            self.assertEqual(result.returncode, 1, result.stderr)
            self.assertIn("a different machine, ", result.stdout)
            self.assertIn(what, result.stdout)

    def fleet(self, count=60, named=True):
        """A folder with a file of each node; nodes 3, 17 and 39 are broken."""
        folder = self.folder / "fleet"
        folder.mkdir()
        text = json.dumps(self.good_json())
        for number in range(count):
            node = json.loads(text)
            host = node["hosts"][0]
            if named:
                host["name"] = [f"n{number:02}", 0]
            if number == 3:
                host["gpus"][1]["nvlinks_active"][0] = 12
            if number == 17:
                host["nics"][2]["ports"][0]["state"][0] = "DOWN"
            if number == 39:
                host["nics"][5]["ports"][0]["gigabits_per_second"][0] = 100
            (folder / f"n{number:02}.json").write_text(json.dumps(node))
        return folder

    def test_a_folder_of_many_hosts_is_a_fleet(self):
        folder = self.fleet()
        for machines, headline in (([folder], "60 machines: 57 identical, 3 different"),
                                   (["hgx-h100", folder], "60 machines: 57 without a fault, 3 with"),
                                   ([folder / "n00.json", folder], "60 machines: 57 without a fault, 3 with")):
            result = topo("diff", *machines)
            self.assertEqual(result.returncode, 1, result.stderr)
            self.assertIn(headline, result.stdout)
            self.assertIn("Odd nodes (3 of 60)", result.stdout)
            self.assertEqual(topo("diff", *machines, "--format", "hostfile").stdout, "n03\nn17\nn39\n")
            self.assertEqual(topo("diff", *machines, "--format", "slurm").stdout, "n[03,17,39]\n")
            odd = json.loads(topo("diff", *machines, "--format", "json").stdout)["odd_nodes"]
            self.assertEqual([each["host"] for each in odd], ["n03", "n17", "n39"])
            self.assertIn("broken nic-port-down", odd[1]["findings"][0])

    def damaged(self, readable, named=True):
        """A folder with so many good files, and one each that is cut, inconsistent, empty and an error's words."""
        folder = self.fleet(count=min(readable, 3), named=named)
        for number in range(3, readable):
            node = json.loads((folder / "n00.json").read_text())
            if named:
                node["hosts"][0]["name"] = [f"n{number:02}", 0]
            (folder / f"n{number:02}.json").write_text(json.dumps(node))
        whole = json.dumps(self.good_json())
        (folder / "x_cut.json").write_text(whole[:len(whole) // 2])
        (folder / "x_inconsistent.json").write_text(whole.replace('"gpus": [', '"gpus": [7, ', 1))
        (folder / "x_empty.json").write_text("")
        (folder / "x_words.json").write_text("bash: collbench: command not found")
        return folder

    def test_files_of_a_fleet_that_cannot_be_read_are_named_in_every_format_and_do_not_pass(self):
        for named in (True, False):
            folder = self.damaged(6, named)
            names = ("x_cut.json", "x_inconsistent.json", "x_empty.json", "x_words.json")
            for machines in ([folder], ["hgx-h100", folder], [folder / "n00.json", folder]):
                text = topo("diff", *machines)
                self.assertEqual(text.returncode, 1, text.stderr)
                self.assertTrue(text.stdout.startswith("10 files, 4 of which cannot be used: "), text.stdout)
                for form in ("text", "md", "json", "html"):
                    shown = topo("diff", *machines, "--format", form)
                    self.assertEqual(shown.returncode, 1)
                    for name in names:
                        self.assertIn(name, shown.stdout.replace("\\_", "_"), form)
                for form in ("hostfile", "slurm"):
                    listed = topo("diff", *machines, "--format", form)
                    self.assertEqual((listed.returncode, listed.stdout), (1, ""))
                    self.assertRegex(listed.stderr, "^collbench: 10 files, 4 of which cannot be used: ")
                    for name in names:
                        self.assertIn(name, listed.stderr)
                unread = json.loads(topo("diff", *machines, "--format", "json").stdout)["unreadable"]
                self.assertEqual(sorted(pathlib.Path(each["file"]).name for each in unread), sorted(names))
                self.assertTrue(all(each["why"] for each in unread))
            shutil.rmtree(folder)

    def test_hosts_without_a_file_are_named_in_every_format_and_do_not_pass(self):
        folder = self.fleet(count=3)
        for hosts, status in (("n[00-04]", 1), ("n[00-02]", 0)):
            for machines in ([folder], ["hgx-h100", folder]):
                for form in ("text", "md", "json", "html", "hostfile", "slurm"):
                    result = topo("diff", *machines, "--hosts", hosts, "--format", form)
                    self.assertEqual(result.returncode, status, form)
                    named = result.stderr if form in ("hostfile", "slurm") else result.stdout
                    for host in ("n03", "n04"):
                        self.assertEqual(host in named, status == 1, form)
        text = topo("diff", folder, "--hosts", "n[00-04]").stdout
        self.assertTrue(text.startswith("2 hosts without a file: n03, n04\nthe other 3 machines are identical"), text)
        self.assertEqual(json.loads(topo("diff", folder, "--hosts", "n[00-04]", "--format", "json").stdout)["hosts_without_file"], ["n03", "n04"])

    def test_one_readable_file_is_never_compared_with_this_machine(self):
        folder = self.damaged(1)
        result = topo("diff", folder)
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertTrue(result.stdout.startswith("5 files, 4 of which cannot be used: "), result.stdout)
        self.assertIn("1 machine, and nothing to compare it with", result.stdout)
        self.assertNotIn("live", result.stdout)
        for other in ("hgx-h100", self.file("other.json", (folder / "n00.json").read_bytes())):
            against = topo("diff", other, folder)
            self.assertEqual(against.returncode, 1, against.stdout)
            self.assertTrue(against.stdout.startswith("5 files, 4 of which cannot be used: "), against.stdout)
        for each in folder.glob("x_*"):
            each.unlink()
        self.bad(["diff", folder], "one file in it describes a machine", "nothing to compare it with", "live")
        topo_m = self.folder / "node"
        topo_m.mkdir()
        shutil.copy(TOPO_M, topo_m)
        (topo_m / "dmesg.txt").write_text("Linux version 6.8")
        self.bad(["diff", topo_m], "one file in it describes a machine", r"left out: \S*dmesg\.txt: ")
        self.assertNotIn("cannot be used", self.good("diff", topo_m, topo_m))

    def test_a_damaged_file_of_one_of_equal_machines_is_named_in_every_format(self):
        folders = [self.folder / name for name in "ABC"]
        for each in folders:
            each.mkdir()
            shutil.copy(TOPO_M, each)
        (folders[2] / "nvlink.txt").write_text("GPU 0: NVIDIA H100 (UUID: GPU-0)\n\t Link 0: fast\n")
        for machines in (folders, ["hgx-h100", *folders], folders[1:]):
            for form in ("text", "md", "json", "html"):
                shown = " ".join(topo("diff", *machines, "--format", form).stdout.split())
                self.assertRegex(shown, r"left out: \S*C/\s?nvlink\.txt", form)
        for form in ("hostfile", "slurm"):
            self.assertRegex(topo("diff", *folders, "--format", form).stderr, r"left out: \S*nvlink\.txt")
        self.assertEqual(topo("diff", *folders).returncode, 0)
        self.assertIn("left out", json.loads(topo("diff", *folders, "--format", "json").stdout)["left_out"][0])

    def test_what_is_left_of_a_fleet_whose_files_name_their_hosts_is_not_this_machine(self):
        folder = self.fleet(count=1)
        shutil.copy(TOPO_M, folder / "n00.topo.txt")
        (folder / "n01.json").write_text("")
        result = topo("diff", folder)
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertTrue(result.stdout.startswith("3 files, 1 of which cannot be used: "), result.stdout)
        self.assertIn("1 machine, and nothing to compare it with", result.stdout)

    def test_a_folder_without_a_readable_file_is_status_2_and_says_why_of_each_kind(self):
        folder = self.damaged(1)
        (folder / "n00.json").unlink()
        self.bad(["diff", folder], "no file in it can be read", "x_cut.json.*cut", "x_empty.json.*empty", "x_inconsistent",
                 "x_words")

    def test_of_two_machines_the_one_with_the_fault_is_listed(self):
        good, bad = self.pair()
        one = self.folder / "bad"
        one.mkdir()
        (one / "bad.json").write_text(bad.read_text())
        for machines in (("hgx-h100", bad), (good, bad), (bad, good), ("hgx-h100", one), (good, one)):
            for form in ("slurm", "hostfile"):
                result = topo("diff", *machines, "--format", form)
                self.assertEqual((result.returncode, result.stdout, result.stderr), (1, "bad\n", ""), machines)

    def test_a_fault_of_the_majority_is_said_and_drains_nobody(self):
        _, bad = self.pair()
        nodes = [self.file(f"n{i}.json", bad.read_bytes()) for i in range(3)]
        result = topo("diff", *nodes, self.folder / "good.json", "--format", "slurm")
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assertRegex(result.stderr, r"^collbench: not listed: 3 of 4 machines: degraded nvlink-fewer GPU1 .*"
                         r"which good does not have: compare with a reference .*\n$")
        tie = topo("diff", nodes[0], nodes[1], self.folder / "good.json", self.folder / "saved.json",
                   "--format", "slurm")
        self.assertEqual((tie.returncode, tie.stdout, tie.stderr), (1, "n[0-1]\n", ""))

    def test_files_without_a_hosts_name_are_called_after_their_files(self):
        folder = self.fleet(count=20, named=False)
        result = topo("diff", folder, "--format", "hostfile")
        self.assertEqual((result.returncode, result.stdout), (1, "n03\nn17\n"), result.stderr)

    def test_a_file_is_named_by_its_host(self):
        node = self.file("any.json", json.dumps({**self.good_json()}))
        document = json.loads(node.read_text())
        document["hosts"][0]["name"] = ["gpu-007", 0]
        node.write_text(json.dumps(document))
        self.good("save", node, "-o", self.folder / "%h.json")
        self.assertTrue((self.folder / "gpu-007.json").exists())
        self.bad(["save", node, "-o", self.folder / "%h.json"], "gpu-007.json.*already exists")
        self.bad(["save", "hgx-h100", "-o", self.folder / "%h.json"], "no source names the host")

    def test_against_this_machine(self):
        here = self.folder / "here.json"
        self.good("save", "-o", here)
        self.assertIn("no difference", self.good("diff", here))
        self.assertIn("no difference", self.good("diff", here, "live"))

    def test_bad_input(self):
        good, _ = self.pair()
        self.bad(["diff", good, self.folder / "none.json"], "none.json")
        self.bad(["diff", good, good, "--format", "yaml"], "--format", "choose among text, md, json, html, hostfile, slurm")
        self.bad(["diff"], "collbench topo diff needs MACHINE", "--help")


# For each text of the drawing the box around its middle, and how far it stands out of that.
OUTSIDE = """<script>
const boxes = [...document.querySelectorAll("polygon")].map(p => p.getBoundingClientRect());
const texts = [...document.querySelectorAll("text")].filter(t => t.textContent.trim()).map(t => {
  const r = t.getBoundingClientRect(), x = (r.left + r.right) / 2, y = (r.top + r.bottom) / 2;
  const around = boxes.filter(b => b.left <= x && x <= b.right && b.top <= y && y <= b.bottom);
  const box = around.reduce((a, b) => a.width * a.height <= b.width * b.height ? a : b);
  const behind = t.textContent.length - t.textContent.trimEnd().length;
  const shown = t.getSubStringLength(0, t.getNumberOfChars() - behind) / t.getComputedTextLength();
  return {text: t.textContent, outside: Math.max(box.left - r.left, r.left + shown * r.width - box.right)};
});
const fill = selector => getComputedStyle(document.querySelector(selector)).fill;
document.body.textContent = "RESULT" + JSON.stringify({texts, page: fill("polygon"), ink: fill("text")}) + "END";
</script>"""


class Draw(Scratch):
    @unittest.skipIf(shutil.which("chromium") is None or shutil.which("dot") is None,
                     "chromium or Graphviz' dot was not found: no drawing is looked at in a browser")
    def test_in_a_browser_every_text_is_in_its_box_and_the_dark_is_dark(self):
        node = self.folder / "node.json"
        self.good("save", "oci-h100", "-o", node)
        machine = json.loads(node.read_text())
        machine["hosts"][0]["gpus"][3]["nvlinks_active"] = [14, 0]
        machine["hosts"][0]["nics"][2]["ports"][0]["state"] = ["DOWN", 0]
        node.write_text(json.dumps(machine))
        self.good("draw", node, "--against", "oci-h100", "-o", self.folder / "a.svg")
        page = self.file("a.html", "<meta charset=utf-8><body>" + (self.folder / "a.svg").read_text() + OUTSIDE)
        for scheme, paper in ((1, "rgb(255, 255, 255)"), (0, "rgb(13, 17, 23)")):
            shown = subprocess.run(["chromium", "--headless", "--no-sandbox", "--disable-gpu",
                                    f"--blink-settings=preferredColorScheme={scheme}", "--dump-dom", page.as_uri()],
                                   capture_output=True, text=True, timeout=300, check=True).stdout
            seen = json.loads(re.search("RESULT(.*)END", shown, re.DOTALL)[1].replace("&amp;", "&"))
            self.assertEqual(seen["page"], paper)
            self.assertNotEqual(seen["ink"], seen["page"])
            self.assertGreater(len(seen["texts"]), 60)
            self.assertEqual([each for each in seen["texts"] if each["outside"] > 1], [])

    def test_a_picture_with_its_findings(self):
        saved = self.folder / "node.json"
        self.good("save", "hgx-h100", "-o", saved)
        node = json.loads(saved.read_text())
        node["hosts"][0]["gpus"][3]["nvlinks_active"] = [14, 0]
        saved.write_text(json.dumps(node))
        self.assertIn("1 finding marked", self.good("draw", saved, "--against", "hgx-h100", "-o", self.folder / "a.dot"))
        self.assertIn("degraded nvlink-fewer", (self.folder / "a.dot").read_text())

    @unittest.skipIf(shutil.which("dot") is None, "Graphviz' dot is not here")
    def test_svg(self):
        self.good("draw", "dgx-1v", "-o", self.folder / "a.svg")
        self.assertIn("prefers-color-scheme: dark", (self.folder / "a.svg").read_text())

    def test_bad_input(self):
        taken = self.file("taken.svg", "mine")
        self.bad(["draw", "dgx-1v", "-o", taken], "--overwrite")
        self.bad(["draw", "dgx-1v"], "--output|-o")
        self.bad(["draw", "dgx-1v", "-o", self.folder / "a.png"], "a drawing cannot be written as 'png'", "dot -Tpng")
        self.bad(["draw", "dgx-1v", "-o", self.folder / "a.svg"], "graphviz", status=5,
                 environment={"PATH": "/nonexistent"})


class Show(Scratch):
    def test_this_machine(self):
        text = self.good("show", "--sources")
        self.assertIn("NUMA", text)
        self.assertIn("Source: libhwloc, live", text)

    def test_every_format(self):
        for path in sorted(FIXTURES.iterdir()):
            text = self.good("show", path)
            self.assertIn("GPU1" if path.name != "hwloc1.xml" else "NUMA", text, path)

    def test_the_matrix(self):
        text = self.good("show", TOPO_M, "--matrix")
        self.assertRegex(text, r"GPU0 +X? .*NV18")
        self.assertIn("SYS   between NUMA nodes", text)

    def test_a_reference_machine(self):
        self.assertIn("8 × NVIDIA H100", self.good("show", "hgx-h100"))

    def test_stdin(self):
        self.assertIn("GPU1", self.good("show", "-", stdin=TOPO_M.read_text()))

    def test_several_places_are_one_machine(self):
        text = self.good("show", TOPO_M, FIXTURES / "query.xml")
        self.assertIn("NVIDIA H100 80GB HBM3", text)
        self.assertIn("nearest NIC", text)

    def test_a_folder(self):
        self.assertIn("2 × NVIDIA H100 80GB HBM3", self.good("show", FIXTURES))

    def test_disagreements_are_said(self):
        other = self.file("other.xml", (FIXTURES / "query.xml").read_text().replace("HBM3", "HBM9"))
        text = self.good("show", FIXTURES / "query.xml", other)
        self.assertRegex(text, r"Disagree: GPU 0, GPU 1 model: NVIDIA H100 80GB HBM3 .*, NVIDIA H100 80GB HBM9")

    def test_nvidia_smi_that_hangs_or_fails(self):
        smi = self.file("nvidia-smi", "#!/bin/sh\necho 'NVIDIA-SMI has failed because of the test'\nexit 9\n")
        smi.chmod(0o755)
        text = self.good("show", environment={"PATH": f"{self.folder}:{os.environ['PATH']}"})
        self.assertIn("exit status 9, \"NVIDIA-SMI has failed because of the test\"", text)

    def test_no_color_and_no_control_characters(self):
        for place in (TOPO_M, "hgx-h100"):
            self.assertNotRegex(self.good("show", place, "--matrix"), "[\x00-\x09\x0b-\x1f]")


class SaveAndDetect(Scratch):
    def test_what_is_saved_shows_alike(self):
        saved = self.folder / "node.json"
        text = self.good("save", FIXTURES, "-o", saved)
        self.assertIn("node.json: 2 × NVIDIA H100", text)
        self.assertEqual(json.loads(saved.read_text())["collbench_topology"], 1)
        self.assertEqual(self.good("show", saved, "--matrix"), self.good("show", FIXTURES, "--matrix"))

    def test_nccl_xml_is_read_again(self):
        saved = self.folder / "topo.xml"
        self.good("save", "hgx-h100", "-o", saved, "--format", "nccl-xml")
        self.assertIn("<system", saved.read_text())
        self.assertIn("hgx-h100", self.good("detect", saved))

    def test_a_file_that_exists_stays(self):
        precious = self.file("precious", "precious")
        self.bad(["save", "hgx-h100", "-o", precious], "already exists", "--overwrite")
        self.assertEqual(precious.read_text(), "precious")
        self.good("save", "hgx-h100", "-o", precious, "--overwrite")
        self.bad(["save", "hgx-h100", "-o", "/no/such/folder/file"], "-o: the folder /no/such/folder does not exist")
        self.bad(["save", "hgx-h100"], "--output is required")
        self.bad(["save", "hgx-h100", "-o", self.folder / "x", "--format", "yaml"], "choose json or nccl-xml")

    def test_detect(self):
        self.assertRegex(self.good("detect", "p5"), r"identical in everything compared \(number of GPUs, .*\):\np5 ")
        names = [f"GPU{i}" for i in range(8)]
        p2p = "".join(f" {row}\t" + "\t".join("X" if row == column else "OK" for column in names) + "\t\n"
                      for row in names)
        text = self.good("detect", self.file("p2p.txt", " \t" + "\t".join(names) + "\t\n" + p2p))
        self.assertIn("only the number of GPUs is known; reference machines with as many:\n", text)
        self.assertNotIn("identical", text)
        text = self.good("detect", TOPO_M)
        self.assertRegex(text, "2 GPUs instead of 4")
        numa_only = self.file("numa.xml", '<topology version="2.0"><object type="Machine">'
                              '<object type="NUMANode" os_index="0" cpuset="0x1"/></object></topology>')
        self.bad(["detect", numa_only], "no GPU was found", "topo show", status=5)

    def test_list(self):
        names = [line.split()[0] for line in self.good("list").splitlines()]
        for name in ("dgx-1v", "hgx-h100", "gb200-nvl72"):
            self.assertIn(name, names)


class BadInput(Scratch):
    """Each gets one line that names the file, the line and what was expected."""

    def refused(self, content, *patterns):
        path = self.file("input", content)
        self.bad(["show", path], re.escape(str(path)), *patterns)
        self.bad(["show", "-"], "stdin", *patterns, stdin=path.read_bytes().decode(errors="surrogateescape"))

    def test_tables(self):
        text = TOPO_M.read_text()
        self.refused(text.replace("GPU1\tNV18\t X ", "GPU1\tNV18 X "), ":3: ")
        self.refused(text.replace("\tNIC3\tCPU", "\tNIC3CPU"), ":1: ")
        self.refused("\n".join(text.splitlines()[:3]), ":")
        self.refused("ERROR: Option -m is missing its value\n", "Option -m is missing its value")

    def test_xml(self):
        self.refused('<?xml version="1.0"?><!DOCTYPE system [<!ENTITY a "aaaa">]><system version="1">&a;</system>',
                     "entit")
        self.refused("<system>" + "<pci>" * 100000, ":")
        self.refused((FIXTURES / "nccl_topology.xml").read_text()[:300], ":")

    def test_no_text(self):
        self.bad(["show", self.file("empty", "")], "empty: the file is empty")
        self.bad(["show", self.file("binary", bytes(range(256)))], "binary:")
        self.bad(["show", self.file("utf16", "GPU0".encode("utf-16"))], "utf16: the file is UTF-16", "iconv")
        self.bad(["show", PROGRAM], "collbench")
        self.bad(["show", self.file("json", '{"collbench_topology": 9, "hosts": []}')], "json")

    def test_places(self):
        self.bad(["show", "hgx-h10"], "hgx-h10: no such file or folder", "did you mean hgx-h100")
        self.bad(["show", "/no/such/file"], "collbench topo list")
        self.bad(["show", self.folder], "the folder is empty")
        self.bad(["show", "/dev/null"], "/dev/null")

    def test_several_hosts_are_not_merged(self):
        saved = self.folder / "one.json"
        self.good("save", "hgx-h100", "-o", saved)
        document = json.loads(saved.read_text())
        document["hosts"] *= 2
        two = self.file("two.json", json.dumps(document))
        self.assertEqual(self.good("show", two).count("8 × NVIDIA H100"), 2)
        self.bad(["show", two, "p5"], "two.json: it describes 2 hosts")
        self.bad(["save", two, "-o", self.folder / "x", "--format", "nccl-xml"], "one host, not 2")

    def test_usage(self):
        self.bad([], "topo|subcommand", "--help")
        self.bad(["draw"], "draw|subcommand")
        self.bad(["show", "--frobnicate"], "--frobnicate")


class Width(Scratch):
    def test_a_diff_follows_the_terminal(self):
        node = json.loads(self.good("save", "hgx-h100", "-o", "-"))
        node["hosts"][0]["nics"][7]["ports"][0]["gigabits_per_second"][0] = 200
        bad = self.file("bad.json", json.dumps(node))
        for columns in (80, 100, 200):
            text = topo("diff", "hgx-h100", bad, environment={"COLUMNS": str(columns)}).stdout
            self.assertLessEqual(max(map(len, text.splitlines())), min(columns, 110))
            self.assertIn("nic-port-slower", text)


class Help(Scratch):
    def test_it_fits(self):
        for command in ("show", "save", "list", "detect", "diff", "draw"):
            text = self.good(command, "--help")
            self.assertLessEqual(max(map(len, text.splitlines())), 100)
            self.assertEqual("merged into one" in text, command in ("show", "save", "detect", "draw"), command)

    def test_each_has_an_example(self):
        text = self.good("--help")
        for word in ("show", "save", "list", "detect"):
            self.assertRegex(text, f"{word} .*collbench topo {word}")
            self.assertIn("MACHINE" if word != "list" else "list", self.good(word, "--help"))
        self.assertLessEqual(max(map(len, text.splitlines())), 120)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2)
