#!/usr/bin/env python3
"""nccl-plan: what a real libnccl decides over simulated GPUs. Small machines, for NCCL's ranks spin while they meet.

Usage: by_nccl_test.py COLLBENCH DYNAMIC_NCCL [unittest arguments]

The libnccl is that of tools/nccl_plan/tests/simulated_gpu/real_nccl.py. Without any, all but WithoutNccl is skipped, saying so. DYNAMIC_NCCL is
built from tools/nccl_plan/tests/simulated_gpu/dynamic_nccl.cpp: an old one in its own words.
"""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from xml.etree import ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).parent / "simulated_gpu"))

from real_nccl import LIBRARY, skip_without_library, version

COLLBENCH, DYNAMIC_NCCL = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])


def node(nic_speed=400000):
    """Two H100 GPUs behind NVSwitches that are not visible, a NIC beside each; the second NIC has `nic_speed` Mb/s."""
    lines = ['<system version="1">',
             '<cpu numaid="0" affinity="ffff" arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="143">']
    for gpu, speed in enumerate((400000, nic_speed)):
        lines.append(f'<pci busid="0000:{gpu:x}0:00.0" class="0x060400" link_speed="32.0 GT/s PCIe" link_width="16">')
        lines.append(f'<pci busid="0000:{gpu:x}1:00.0" class="0x030200" link_speed="32.0 GT/s PCIe" link_width="16">'
                     f'<gpu dev="{gpu}" sm="90" gdr="1"><nvlink target="fffffff:ffff:ff" count="18" tclass="0x068000"/></gpu></pci>')
        lines.append(f'<pci busid="0000:{gpu:x}2:00.0" class="0x020000" link_speed="32.0 GT/s PCIe" link_width="16"><nic>'
                     f'<net name="mlx5_{gpu}" dev="{gpu}" speed="{speed}" port="1" guid="0x{gpu + 1:x}" gdr="1"/></nic></pci>')
        lines.append("</pci>")
    return "\n".join(lines + ["</cpu>", "</system>"])


class ByNccl(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.shared_memory = self.nccl_files()

    @staticmethod
    def nccl_files():
        return {file.name for file in pathlib.Path("/dev/shm").glob("nccl-*")}

    def file(self, text, name="machine.xml"):
        path = self.folder / name
        path.write_text(text)
        return str(path)

    def environment(self, **more):
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("NCCL_", "CUDA_", "COLLBENCH_"))}
        return {**kept, **more}

    def nccl_plan(self, *arguments, **more):
        return subprocess.run([str(COLLBENCH), "nccl-plan", *map(str, arguments)], env=self.environment(**more),
                              capture_output=True, text=True, timeout=280, check=False)

    def refused(self, status, words, *arguments, **more):
        result = self.nccl_plan(*arguments, **more)
        self.assertEqual(result.returncode, status, result.stdout[-2000:] + result.stderr)
        lines = result.stderr.splitlines()
        self.assertEqual(len(lines), 1, result.stderr)
        self.assertTrue(lines[0].startswith("collbench: "), lines)
        self.assertIn(words, lines[0])
        self.assertEqual(result.stdout, "")
        self.assertEqual(self.nccl_files(), self.shared_memory)

    def report(self, *arguments, **more):
        result = self.nccl_plan("--library", LIBRARY, "--format", "json", *arguments, **more)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(self.nccl_files(), self.shared_memory)
        return json.loads(result.stdout)


class Plan(ByNccl):
    """What is said of a machine."""

    def test_two_nodes(self):
        result = self.nccl_plan("--library", LIBRARY, "--topology", self.file(node()), "--nodes", "2", "--ops",
                              "all_reduce,all_gather,all_to_all", "--sizes", "1K,64M", "--format", "svg", "-J",
                              self.folder / "plan.json")
        self.assertEqual(result.returncode, 0, result.stderr)
        plan = json.loads((self.folder / "plan.json").read_text())["plan"]
        self.drawn(result.stdout, plan)
        self.assertEqual((plan["nodes"], plan["ranks"]), (2, 4))
        self.assertTrue(plan["nccl_version"].startswith("{}.{}.{}+cuda".format(*version())), plan["nccl_version"])
        self.assertEqual(plan["nics"], ["mlx5_0", "mlx5_1"] if version() >= (2, 24) else [])  # older ones name none
        self.assertEqual(len(plan["rings"]), plan["collective_channels"])
        for ring in plan["rings"]:
            self.assertEqual(sorted(ring), [0, 1, 2, 3])
        for parents in plan["tree_parents"]:
            self.assertEqual(parents.count(-1), 1, parents)
        agreed = {graph["algorithm"]: graph for graph in plan["graphs_agreed"]}
        self.assertEqual(agreed["ring"]["pattern"], 4)
        self.assertGreater(agreed["ring"]["inter_bytes_per_second"], 20e9)
        # Each channel's ring goes from node to node and back, by a NIC of each side.
        crossings = {(each["channel"], each["from"], each["to"]): each for each in plan["connections"]}
        for channel, ring in enumerate(plan["rings"]):
            for at, to in zip(ring, ring[1:] + ring[:1]):
                if at // 2 != to // 2:
                    self.assertIn(crossings[channel, at, to]["send_nic"], (0, 1))
                    self.assertIn(crossings[channel, at, to]["receive_nic"], (0, 1))
        self.assertTrue(any(line["algorithm"] == "ring" and line["function"] == "AllReduce" for line in plan["tuning"]))
        rows = {(row["operation"], row["size_bytes"]): row for row in plan["rows"]}
        self.assertEqual(len(rows), 6)
        for operation in ("AllReduce", "AllGather"):
            small, large = rows[operation, 1024], rows[operation, 64 << 20]
            if version() < (2, 20):  # which says neither choice nor time
                self.assertEqual((small["nccl"]["algorithm"], small["expected_seconds"]), ("", None))
                continue
            self.assertIn(small["nccl"]["algorithm"], ("ring", "tree"))
            self.assertEqual(small["nccl"]["protocol"], "ll")
            if version() >= (2, 22):
                self.assertGreater(large["nccl"]["channels"], 1)
            self.assertGreater(large["expected_seconds"], small["expected_seconds"])
        self.assertEqual(rows["AllToAll", 1024]["nccl"]["algorithm"], "p2p")
        self.assertIsNone(rows["AllToAll", 1024]["expected_seconds"])

    def drawn(self, svg, plan):
        """Each channel's ring and tree is in one lane, which has each rank once and names the NICs between nodes."""
        space = "{http://www.w3.org/2000/svg}"
        lanes = [each for each in ElementTree.fromstring(svg).iter(space + "g") if each.get("class", "").startswith("lane ")]
        self.assertTrue(lanes)
        for lane in lanes:
            self.assertEqual(sorted(int(each.text) for each in lane.iter(space + "tspan")), list(range(plan["ranks"])))
            if lane.find(space + "title").text.startswith("ring"):
                self.assertEqual(sum(each.text.startswith("NIC ") for each in lane.iter(space + "text") if each.text), 4)
        words = " ".join(lane.find(space + "title").text.split(":")[0] for lane in lanes)
        self.assertIn("ring 0", words)
        self.assertIn("tree 0", words)

    def test_text_of_a_reference_machine(self):
        result = self.nccl_plan("--library", LIBRARY, "--topology", "hgx-h100", "--ranks-per-node", "2", "--ops",
                              "all_reduce", "--sizes", "1K,1G", COLUMNS="80")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertLessEqual(max(map(len, result.stdout.splitlines())), 80)
        self.assertRegex(result.stdout, r"^NCCL chooses at 1 GiB: AllReduce \S.*\nNCCL 2\.\S+ on hgx-h100: 1 node × 2 GPUs \(2 ranks\)")
        self.assertRegex(result.stdout, r"(?m)^  ring +4 +NVL +\d+")
        self.assertRegex(result.stdout, r"(?m)^     1 KiB  (ring +ll|–  ) ")

    def test_nvlink_joins_the_trays_of_a_rack(self):
        """One graph over all nodes, whose ring needs no NIC; without MNNVL each node has its own."""
        if version() < (2, 27):
            self.skipTest("nodes are separate domains to older ones here, and 2.23 refuses this machine either way")
        report = self.report("--topology", "gb200-nvl72", "--nodes", "2", "--ranks-per-node", "2", "--ops", "all_reduce",
                             "--sizes", "1G", "--versus", "NCCL_MNNVL_ENABLE=0")
        joined, apart = report["plan"], report["versus"]
        self.assertEqual((joined["nodes_per_nvlink_domain"], apart["nodes_per_nvlink_domain"]), (2, 1))
        self.assertTrue(apart["connections"])
        self.assertIn("NVLink joins the nodes", report["notes"][0])
        self.assertEqual(joined["connections"], [])
        self.assertEqual({tuple(sorted(ring)) for ring in joined["rings"]}, {(0, 1, 2, 3)})
        rates = [next(graph["channels"] * graph["intra_bytes_per_second"] for graph in plan["graphs_agreed"]
                      if graph["algorithm"] == "ring") for plan in (joined, apart)]
        self.assertGreater(rates[0], 3 * rates[1])

    def test_a_cpu_of_which_little_is_known_has_all_its_channels(self):
        """NCCL finds half the rings where a rank fills it in for its own processor and the others' files lack it."""
        known = ' affinity="ffff"', ' familyid="6" modelid="143"'
        rings = [self.report("--topology", self.file(node().replace(missing, "")), "--ops", "all_reduce", "--sizes",
                             "1K")["plan"]["graphs_agreed"] for missing in ("none", *known)]
        self.assertEqual(rings[0], rings[1])
        self.assertEqual([graph["channels"] for graph in rings[0]], [graph["channels"] for graph in rings[2]])

    def test_settings_of_the_user_hold_and_those_of_this_host_do_not(self):
        plan = self.report("--topology", self.file(node()), "--ops", "all_reduce", "--sizes", "64M", NCCL_PROTO="Simple",
                           NCCL_TOPO_FILE="/none", NCCL_DEBUG="WARN", CUDA_VISIBLE_DEVICES="7")["plan"]
        self.assertEqual(plan["settings"], {"NCCL_PROTO": "Simple"})
        self.assertEqual(plan["rows"][0]["nccl"]["protocol"], "simple" if version() >= (2, 20) else "")


class Versus(ByNccl):
    """What another setting or machine would do differently."""

    def test_a_setting_that_the_library_does_not_contain(self):
        self.refused(2, r"does not contain the setting NCCL_ALGOO; did you mean NCCL_ALGO", "--library", LIBRARY,
                     "--topology", "hgx-h100", "--versus", "NCCL_ALGOO=Ring")

    def test_a_list_of_nics_that_names_none(self):
        note = "NCCL_IB_HCA=^sim99 names none of the NICs: mlx5_0, mlx5_1"
        report = self.report("--topology", self.file(node()), "--ops", "all_reduce", "--sizes", "64M", "--versus",
                             "NCCL_IB_HCA=^sim99")
        self.assertEqual(report["notes"], [note])

    def test_a_setting(self):
        report = self.report("--topology", self.file(node()), "--ops", "all_reduce", "--sizes", "1K,64M", "--versus",
                             "NCCL_PROTO=Simple")
        self.assertEqual(report["versus"]["settings"], {"NCCL_PROTO": "Simple"})
        if version() < (2, 20):
            self.assertEqual(report["diff"]["choices"], [])
            return
        self.assertEqual(report["diff"]["choices"][0]["from_bytes"], 1024)
        self.assertIn("/ll ", report["diff"]["choices"][0]["before"] + " ")
        self.assertIn("/simple ", report["diff"]["choices"][0]["after"] + " ")
        self.assertGreater(report["diff"]["choices"][0]["least_time_ratio"], 1)

    def test_one_slow_nic_of_the_last_node_slows_the_rings(self):
        healthy = self.file(node(), "healthy.xml")
        slow = self.file(node(nic_speed=200000), "slow.xml")
        ring = {}
        for odd in (healthy, slow):
            plan = self.report("--topology", healthy, "--nodes", "2", "--odd-node", odd, "--ops", "all_reduce", "--sizes",
                               "1G")["plan"]
            graph = next(each for each in plan["graphs_agreed"] if each["algorithm"] == "ring")
            ring[odd] = graph["channels"] * graph["inter_bytes_per_second"]
        self.assertLess(ring[slow], ring[healthy])

    def test_the_advice_is_the_trial_that_takes_least(self):
        report = self.report("--topology", self.file(node(), "healthy.xml"), "--nodes", "2", "--odd-node",
                             self.file(node(nic_speed=100000), "slow.xml"), "--ops", "all_gather", "--sizes", "1G", "--advice")
        advice = report["advice"]
        self.assertEqual([trial["setting"] for trial in advice["trials"]],
                         ["NCCL_IB_HCA=^=mlx5_1 on the last node", "NCCL_CROSS_NIC=0", "NCCL_CROSS_NIC=1"])
        self.assertEqual(advice["by"], "time" if version() >= (2, 20) else "rings")
        saved = {trial["setting"]: trial["saved_percent"] for trial in advice["trials"]}
        most = max(saved, key=saved.get)
        self.assertEqual(advice["best"], most if saved[most] >= 1 else None)

    def test_advice_for_one_node_is_refused(self):
        self.refused(2, "--advice: it is about what crosses nodes", "--library", LIBRARY, "--topology",
                     self.file(node()), "--advice")


class Refusals(ByNccl):
    """With a real libnccl at hand."""

    def test_a_stripped_library(self):
        stripped = self.folder / "libnccl.so.2"
        subprocess.run(["strip", "--strip-all", "-o", str(stripped), str(LIBRARY)], check=True)
        self.refused(5, "was stripped", "--library", stripped, "--topology", self.file(node()))

    def test_a_topology_that_nccl_refuses(self):
        """In its own words; read by us, it is one like the others."""
        machine = self.file(node().replace('<system version="1">', '<system version="2">'))
        self.refused(2, "XML Topology has wrong version 2, 1 needed", "--library", LIBRARY, "--topology", machine)

    def test_a_library_that_was_cut_short(self):
        cut = self.folder / "libnccl.so.2"
        with LIBRARY.open("rb") as whole:
            cut.write_bytes(whole.read(1 << 20))
        self.refused(5, f"{cut} is damaged: its tables lie outside of the file", "--library", cut, "--topology",
                     self.file(node()))

    def test_a_setting_that_nccl_refuses(self):
        if version() < (2, 24):
            self.skipTest("older ones ignore an algorithm that they do not know")
        self.refused(2, "NCCL", "--library", LIBRARY, "--topology", self.file(node()), "--ops", "all_reduce",
                     "--sizes", "1K", NCCL_ALGO="allreduce:nothing_of_that_name")

    def test_interrupted_it_leaves_nothing(self):
        process = subprocess.Popen([str(COLLBENCH), "nccl-plan", "--library", str(LIBRARY), "--topology",
                                    self.file(node()), "--nodes", "2"], env=self.environment(), stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        time.sleep(1)
        started = self.processes_below(process.pid)
        process.send_signal(signal.SIGKILL)
        process.wait()
        for _ in range(100):
            if not any(pathlib.Path(f"/proc/{each}").exists() for each in started):
                break
            time.sleep(0.1)
        self.assertFalse([each for each in started if pathlib.Path(f"/proc/{each}").exists()])

    @staticmethod
    def processes_below(root):
        """The ids of all processes that `root` started, and those started."""
        parents = {}
        for status in pathlib.Path("/proc").glob("[0-9]*/status"):
            try:
                parents[int(status.parent.name)] = int(re.search(r"PPid:\s+(\d+)", status.read_text()).group(1))
            except (OSError, AttributeError):
                continue
        found = {root}
        while True:
            more = {each for each, parent in parents.items() if parent in found} - found
            if not more:
                return found - {root}
            found |= more


class WithoutNccl(ByNccl):
    """What needs no libnccl."""

    def test_a_library_that_is_not_there(self):
        self.refused(5, "/none.so", "--library", "/none.so", "--topology", "hgx-h100")

    def test_a_library_that_is_no_libnccl(self):
        self.refused(5, "libm.so.6 is no libnccl", "--library", "libm.so.6", "--topology", "hgx-h100")

    def test_a_file_that_is_no_library(self):
        for content in (b"", b"libnccl", b"libnccl" * 1000):
            file = self.folder / "libnccl.so.2"
            file.write_bytes(content)
            self.refused(5, f"{file} is no shared library", "--library", file, "--topology", "hgx-h100")
        self.refused(5, f"{self.folder} is no shared library", "--library", self.folder, "--topology", "hgx-h100")

    def test_a_library_for_another_architecture(self):
        """e_machine of its ELF header: the loader would say that there is no such file."""
        arm = bytearray(DYNAMIC_NCCL.read_bytes())
        arm[18:20] = (183).to_bytes(2, "little")
        file = self.folder / "libnccl.so.2"
        file.write_bytes(arm)
        self.refused(5, f"{file} is for another architecture than x86-64", "--library", file, "--topology", "hgx-h100")

    def test_a_version_that_is_too_old(self):
        """And one that takes its CUDA runtime from another library, where none is installed: it is loaded all the same."""
        self.refused(5, f"{DYNAMIC_NCCL} is version 2.16.0; 2.18 or newer is needed", "--library", DYNAMIC_NCCL,
                     "--topology", "hgx-h100")

    def test_what_it_was_called_before(self):
        """predict --by-nccl is nccl-plan with the same options, and says so."""
        result = subprocess.run([str(COLLBENCH), "predict", "--topology", "hgx-h100", "--by-nccl", "--odd-node", "hgx-h100"],
                                env=self.environment(), capture_output=True, text=True, timeout=280, check=False)
        self.assertEqual(result.returncode, 2, result.stderr)
        moved, refusal = result.stderr.splitlines()
        self.assertEqual(moved, "collbench: predict --by-nccl is collbench nccl-plan now; the old name is removed in the next release")
        self.assertIn("there is one node", refusal)
        helped = subprocess.run([str(COLLBENCH), "-h", "predict", "--by-nccl"], capture_output=True, text=True, timeout=60, check=False)
        self.assertTrue(helped.stdout.startswith("what a libnccl decides"), helped)

    def test_an_odd_node_of_one(self):
        self.refused(2, "there is one node", "--topology", "hgx-h100", "--odd-node", "hgx-h100")

    def test_a_machine_without_gpus(self):
        xml = self.file(re.sub(r"<gpu.*?</gpu>", "", node()).replace("0x030200", "0x060400"))
        self.refused(2, "it has no GPU", "--topology", xml)

    def test_more_ranks_than_fit_into_memory(self):
        self.refused(2, "ranks need about", "--topology", "hgx-h100", "--nodes", "100000")

    def test_formats_that_it_has(self):
        self.refused(2, "text, json or svg", "--topology", "hgx-h100", "--format", "csv")
        for option in ("--versus=NCCL_PROTO=LL", "--advice"):
            self.refused(2, "a picture shows one plan", "--topology", "hgx-h100", "--nodes", "2", option, "-o",
                         self.folder / "plan.svg")
        self.assertFalse((self.folder / "plan.svg").exists())


if __name__ == "__main__":
    if "WithoutNccl" not in sys.argv[3:]:
        skip_without_library()
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
