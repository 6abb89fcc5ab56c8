#!/usr/bin/env python3
"""The NCCL backend over a real libnccl's host code and simulated GPUs (tools/nccl_plan/simulated_gpu/, docs/gpu.md): what nccl_test.py claims of
NCCL over a stand-in, asked of NCCL itself. Kernels do not run: data are moved by the CPU once NCCL's own call has succeeded.

Usage: nccl_simulated_test.py PROGRAM LIBRARY_OF_ABSENT_RANK [unittest arguments]

The library is that of tools/nccl_plan/tests/simulated_gpu/real_nccl.py; without any, the test is skipped, saying so.
"""

import contextlib
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

sys.path[:0] = [str(pathlib.Path(__file__).parent / "simulated_gpu"), str(pathlib.Path(__file__).parents[3] / "tests/src")]

from real_nccl import LIBRARY, installed, node, skip_without_library, version
from real_ranks import collbench_lines, descendants, wait_until

PROGRAM, ABSENT_RANK = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])

ENVIRONMENT = {
    **{key: value for key, value in os.environ.items() if not key.startswith(("NCCL_", "CUDA_", "SLURM_", "COLLBENCH_"))},
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_hwloc_base_binding_policy": "none",
    "OMPI_MCA_mpi_yield_when_idle": "1",
    "COLLBENCH_NCCL": str(LIBRARY),
    "COLLBENCH_CUDART": str(PROGRAM.parent / "libcollbench_simulated_job.so"),
    "COLLBENCH_KERNELS": str(PROGRAM.parent / "libcollbench_simulated_job.so"),
    "COLLBENCH_NVML": "/none.so",
}
FEW = ["-n", "1", "-w", "0", "--no-telemetry"]
QUICK = ["--passes", "1", *FEW]
SMALL = ["--ops", "all_reduce", "--sizes", "4K"]
# All but PingPong, whose onlookers the data's hub waits for.
OPERATIONS = "all_reduce,all_gather,reduce_scatter,all_to_all,send_recv,broadcast,reduce,gather,scatter,all_to_all_v"


def nccl_version():
    """22809."""
    major, minor, patch = version()
    return major * 10000 + minor * 100 + patch


def version_text(version):
    """22809 as 2.28.9."""
    return f"{version // 10000}.{version // 100 % 100}.{version % 100}"


class Simulated(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.path = self.folder / "run.json"

    def machine(self, *nodes):
        """The value of COLLBENCH_SIMULATED_GPU for these hosts."""
        files = [self.folder / f"host{i}.xml" for i in range(len(nodes))]
        for file, text in zip(files, nodes, strict=True):
            file.write_text(text)
        return ",".join(map(str, files))

    def command(self, ranks, *arguments):
        return ["mpirun", "--oversubscribe", "-np", str(ranks), str(PROGRAM), "--backend", "nccl", *map(str, arguments)]

    def run_ranks(self, ranks, *arguments, machine=None, environment=None):
        machine = machine or self.machine(node(max(ranks, 2)))
        return subprocess.run(self.command(ranks, *arguments), capture_output=True, text=True, timeout=250, stdin=subprocess.DEVNULL,
                              env={**ENVIRONMENT, "COLLBENCH_SIMULATED_GPU": machine, **(environment or {})}, check=False)

    def record(self, ranks, *arguments, quick=QUICK, machine=None, status=0, environment=None):
        result = self.run_ranks(ranks, *quick, *arguments, "-J", self.path, "--overwrite", machine=machine, environment=environment)
        self.assertEqual(result.returncode, status, result.stdout + result.stderr)
        self.assertNotIn("is not simulated", result.stderr)
        return json.loads(self.path.read_text())

    def registering(self, how):
        """Arguments and environment of a run with -R `how`, whose NCCL logs what it registers. Where this NCCL lacks that: none,
        once the refusal has been seen."""
        needs = [("ncclMemAlloc", "2.19", 21900), ("ncclCommWindowRegister", "2.27", 22700)][:1 if how == "local" else 2]
        for function, since, version in needs:
            if nccl_version() < version:
                result = self.run_ranks(2, *QUICK, *SMALL, "-R", how)
                self.check_line(result, rf"-R {how}: NCCL \S+ has no {function}; {since} and newer do", 5)
                return [], {}
        return ["-R", how], {"NCCL_DEBUG": "INFO", "NCCL_DEBUG_SUBSYS": "INIT,REG,TUNING", "NCCL_DEBUG_FILE": f"{self.folder}/log.%p"}

    def check_registered(self, made, arguments):
        """By the record, and by NCCL's own log, which says so from 2.23 on: on every rank, both buffers of the rows' communicator;
        windows as large on all, and used by a kernel for them."""
        how = arguments[1] if arguments else "none"
        self.assertEqual((made["buffers"]["allocator"], made["buffers"]["registration"]), ("ncclMemAlloc" if arguments else "cudaMalloc", how))
        if nccl_version() < 22300:
            return
        logs = [file.read_text() for file in self.folder.glob("log.*")]
        sizes = [tuple(int(size) for size in re.findall(r"register comm \S+ buffer \S+ size (\d+)", log)) for log in logs]
        for of_rank in sizes:
            self.assertGreaterEqual(len([size for size in of_rank if size > 4]), 2, sizes)
        if how == "symmetric":
            self.assertEqual(len(set(sizes)), 1, sizes)
            self.assertTrue(any("AllReduce [Symmetric]" in log for log in logs), "no kernel for symmetric windows ran")

    def check_line(self, result, pattern, status):
        self.assertEqual(result.returncode, status, result.stdout + result.stderr)
        lines = collbench_lines(result)
        self.assertEqual(len(lines), 1, result.stderr)
        self.assertRegex(lines[0], pattern)


class Operations(Simulated):
    def test_every_operation_type_reduction_and_place(self):
        made = self.record(3, "--ops", OPERATIONS, "--sizes", "1K", "-d", "all", "-o", "all", "--place", "both", "-r", 2)
        rows = [row for row in made["rows"] if not row["unavailable"]]
        self.assertEqual({row["wrong_elements"] for row in rows}, {0})
        types = 10 + (2 if nccl_version() >= 22400 else 0)
        reducing = 2 * types * 5 * 2  # AllReduce, ReduceScatter: types, reductions, places
        moving = types * 2 + 2 * types  # AllGather in both places, AllToAll and AllToAllv out of place
        rooted = types * 2 * (3 + 5)  # Broadcast, Gather, Scatter, and Reduce with five reductions
        kinds = {(row["operation"], row["type"], row["reduction"], row["root"], row["in_place"]) for row in rows}
        self.assertEqual(len(kinds), reducing + moving + rooted + types)
        self.assertEqual(made["versions"]["nccl"], version_text(nccl_version()))

    def test_sizes_up_to_one_that_takes_all_channels(self):
        """Of registered buffers, in and out of place."""
        arguments, environment = self.registering("local")
        made = self.record(4, "--ops", "all_reduce,all_gather,all_to_all", "--sizes", "8,64K,4M", "--place", "both", *arguments,
                           environment=environment)
        for row in made["rows"]:
            self.assertEqual(row["wrong_elements"], 0, row)
        self.check_registered(made, arguments)

    def test_ping_pong(self):
        made = self.record(2, "--ops", "ping_pong", "--sizes", "4K")
        (row,) = made["rows"]
        # By NCCL's own log, of ranks that all were there.
        steps = {step["name"]: step for step in made["init_steps"]}
        self.assertLessEqual({"bootstrap", "topo", "rest"} if nccl_version() >= 22304 else set(), set(steps))
        self.assertLessEqual({step["rank"] for step in steps.values()}, {0, 1})
        self.assertLessEqual(sum(step["median_seconds"] for step in steps.values()), made["communicator_seconds"][0] + 0.1)
        self.assertEqual(row["wrong_elements"], 0)

    def test_groups_of_operations(self):
        for row in self.record(2, "--ops", "all_reduce,all_to_all", "--sizes", "4K", "-m", "3")["rows"]:
            self.assertEqual((row["wrong_elements"], row["note"].split(";")[0]), (0, "3 in one group"), row)

    def test_graphs(self):
        """Of operations on symmetric windows, which a root's sizes make as large on all ranks."""
        arguments, environment = self.registering("symmetric")
        made = self.record(3, "-G", "2", "--ops", "all_reduce,all_to_all,broadcast,gather,scatter", "--sizes", "4K", *arguments,
                           environment=environment)
        self.assertEqual(made["graph_launches"], 2)
        self.assertEqual({row["wrong_elements"] for row in made["rows"]}, {0})
        self.check_registered(made, arguments)

    def test_several_passes_and_communicators(self):
        """Buffers are registered anew in each pass, with communicators that stay and with new ones."""
        arguments, environment = self.registering("local")
        made = self.record(2, *SMALL, "--passes", "3", *arguments, quick=FEW, environment=environment)
        self.check_registered(made, arguments)
        self.assertGreaterEqual(len(made["communicator_seconds"]), 2)
        self.assertEqual(len(made["rows"][0]["pass_seconds"]), 3)


# From which version on NCCL takes the observer by which of its plugin interfaces.
INTERFACES = {"tuner": ((22200, 3), (22400, 4), (22800, 5), (23000, 6)),
              "profiler": ((22300, 1), (22400, 2), (22600, 3), (22700, 4), (22800, 5), (22900, 6))}


class Selection(Simulated):
    """The observer, loaded as tuner and profiler by NCCL itself."""

    def test_the_plugin_interfaces_by_which_nccl_takes_it(self):
        """NCCL looks for its newest first, so the newest that its text and the observer both have is the one."""
        text = LIBRARY.read_bytes()
        for kind, symbol in (("tuner", b"ncclTunerPlugin_v"), ("profiler", b"ncclProfiler_v")):
            expected = [interface for first, interface in INTERFACES[kind] if first <= nccl_version()]
            looked_for = {int(number) for number in re.findall(symbol + rb"(\d+)\0", text)}
            known = {interface for _, interface in INTERFACES[kind]}
            self.assertEqual(sorted(looked_for & known)[-1:], expected[-1:], kind)

    def test_what_nccl_used_and_expected(self):
        version = nccl_version()
        made = self.record(4, "--ops", "all_reduce,send_recv", "--sizes", "4K")
        rows = {row["operation"]: row for row in made["rows"]}
        untold = made["nccl_untold"]
        self.assertEqual(untold["use"] == "", version >= 22300, untold)
        self.assertEqual(untold["expectation"] == "", version >= 22200, untold)
        if version < 22300:
            return
        reduced = rows["AllReduce"]["nccl"]
        self.assertIn(reduced["algorithm"], ("ring", "tree"))
        self.assertEqual(reduced["protocol"], "ll")
        self.assertGreater(reduced["channels"], 0)
        self.assertIn(reduced["algorithm"], reduced["expected"]["algorithm"])
        self.assertEqual(rows["SendRecv"]["nccl"]["algorithm"], "p2p")

    def test_forced_algorithms(self):
        if nccl_version() < 22400:
            result = self.run_ranks(2, *QUICK, *SMALL, "--algo", "ring")
            self.check_line(result, "may silently use another algorithm; 2.24 and newer refuse", 5)
            return
        made = self.record(2, *SMALL, "--algo", "ring,tree", "--proto", "ll,simple")
        rows = {row["algorithm"]: row for row in made["rows"]}
        self.assertEqual(set(rows), {"ring/ll", "ring/simple", "tree/ll", "tree/simple"})
        for name, row in rows.items():
            self.assertEqual((row["wrong_elements"], row["algorithm_ran"]), (0, name))
            self.assertEqual("{algorithm}/{protocol}".format(**row["nccl"]), name)

    def test_algorithms_and_ctas_of_each_call(self):
        """Of one communicator where NCCL takes them with each call; before 2.31 of one for each choice. 4 MiB are worth as many CTAs."""
        if nccl_version() < 22400:
            self.skipTest("NCCL before 2.24 may silently use another algorithm")
        by_call = nccl_version() >= 23100
        made = self.record(2, "--ops", "all_reduce,all_gather", "--sizes", "4M", "--algo", "auto,ring,pat", "--ctas", "2,4")
        rows = {(row["operation"], row["algorithm"]): row for row in made["rows"]}
        for operation, algorithm, ctas in (("AllReduce", "auto", 2), ("AllReduce", "ring", 4), ("AllGather", "auto", 4), ("AllGather", "ring", 2)):
            row = rows[operation, f"{algorithm}/{ctas}"]
            self.assertEqual((row["wrong_elements"], row["nccl"]["channels"], row["algorithm_ran"]), (0, ctas, row["algorithm"]))
        self.assertEqual(rows["AllReduce", "pat/2"]["unavailable"], "NCCL has no pat/2 for AllReduce")
        refused = "declined: .*no algorithm in the selected set is available for AllGather" if by_call else "declined: .*NCCL_ALGO was set to PAT"
        self.assertRegex(rows["AllGather", "pat/4"]["unavailable"], refused)
        # NCCL's start, a trial's, another after each refusal but the last, the rows'; and one of each choice for its trial and its rows.
        self.assertEqual(len(made["communicator_seconds"]), 4 if by_call else 1 + 6 + 4)

    def test_what_a_call_does_not_say_where_the_environment_does(self):
        """NCCL_ALGO wins over the call, so a communicator is made for each choice."""
        if nccl_version() < 23100:
            self.skipTest("its calls take no configuration")
        made = self.record(2, *SMALL, "--algo", "auto,ring", environment={"NCCL_ALGO": "Tree"})
        self.assertEqual([row["nccl"]["algorithm"] for row in made["rows"]], ["tree", "ring"])

    def test_symmetric_kernels_are_an_algorithm(self):
        if nccl_version() < 23100:
            self.skipTest("its calls take no configuration")
        arguments, environment = self.registering("symmetric")
        made = self.record(2, *SMALL, "--algo", "symmetric,ring/simple", *arguments, environment=environment)
        rows = {row["algorithm"]: row for row in made["rows"]}
        self.assertEqual([row["wrong_elements"] for row in made["rows"]], [0, 0])
        self.assertEqual((rows["symmetric"]["nccl"]["algorithm"], rows["symmetric"]["nccl"]["protocol"]), ("agxll_r", ""))
        self.assertEqual(rows["ring/simple"]["algorithm_ran"], "ring/simple")
        without = self.record(2, *SMALL, "--algo", "auto,symmetric")
        self.assertRegex(without["rows"][1]["unavailable"], "declined: .*symmetric kernel.*unavailable for AllReduce")

    def test_a_tuner_of_the_users_own_stays(self):
        """By NCCL's interface 5 (2.28 and 2.29), which this one has."""
        if not 22800 <= nccl_version() < 23000:
            self.skipTest("its interface is of NCCL 2.28 and 2.29")
        made = self.record(2, *SMALL, environment={"NCCL_TUNER_PLUGIN": str(ABSENT_RANK.parents[2] / "collectives/nccl/libstand_in_tuner.so")})
        self.assertIn("the tuner plugin slot is taken", made["nccl_untold"]["expectation"])
        self.assertEqual(made["nccl_untold"]["use"], "")


class Hosts(Simulated):
    def test_two_hosts_reach_each_other_by_their_nics(self):
        environment = {"COLLBENCH_SIMULATED_GPUS_PER_HOST": "2", "NCCL_DEBUG": "INFO", "NCCL_DEBUG_FILE": f"{self.folder}/log.%p",
                       "NCCL_NET_PLUGIN": "collbench-simulated"}
        made = self.record(4, "--ops", "all_reduce,all_to_all", "--sizes", "1M", machine=self.machine(node(2)), environment=environment)
        self.assertEqual({row["wrong_elements"] for row in made["rows"]}, {0})
        lines = "".join(file.read_text() for file in self.folder.glob("log.*")).splitlines()
        self.assertEqual({line.split("via ")[1].split("/")[1] for line in lines if "via NET/" in line}, {"SIM"})
        self.assertEqual({line.split()[-1] for line in lines if "Using network" in line}, {"SIM"})

    def test_each_host_is_measured_alone_before_both_are(self):
        environment = {"COLLBENCH_SIMULATED_GPUS_PER_HOST": "2", "NCCL_DEBUG": "INFO", "NCCL_DEBUG_FILE": f"{self.folder}/log.%p",
                       "NCCL_NET_PLUGIN": "collbench-simulated"}
        made = self.record(4, "--ops", "all_reduce", "--sizes", "64M", "--node-map", "0-1,2-3", machine=self.machine(node(2)),
                           environment=environment)
        self.assertEqual([(node["ranks"], node["row"]["wrong_elements"]) for node in made["nodes_alone"]], [(2, 0), (2, 0)])
        self.assertEqual({row["wrong_elements"] for row in made["rows"]}, {0})
        for file in self.folder.glob("log.*"):
            sizes = [int(size) for size in re.findall(r"nranks (\d+) .*Init COMPLETE", file.read_text())]
            self.assertEqual([size for size in sizes if size == 2], [2], "one communicator of this host's ranks")

    def test_the_network_that_nccl_forgets(self):
        """NCCL 2.27 to 2.29 forget the plugin's name with the last communicator (NVIDIA/nccl#1978), 2.27 only where it is told
        to count so: the rows stay on it unless the user has set that count, and then the report says what they were over."""
        if nccl_version() < 22304:
            self.skipTest("it would log on stdout, so the network is not known")
        environment = {"COLLBENCH_SIMULATED_GPUS_PER_HOST": "1", "NCCL_NET_PLUGIN": "collbench-simulated"}
        for count, forgets in ((None, False), ("0", 22700 <= nccl_version() < 23000)):
            if count is not None:
                environment["NCCL_NET_PLUGIN_REF_COUNT"] = count
            made = self.record(2, *SMALL, environment=environment)
            self.assertEqual(made["nccl_networks"], {"used": ["SIM", "Socket"] if forgets else ["SIM"], "unknown_reason": ""})

    def test_sharing_gpus(self):
        made = self.record(3, *SMALL, "--share-gpu", machine=self.machine(node(2)))
        for row in made["rows"]:
            self.assertEqual((row["wrong_elements"], row["note"]), (0, "correctness only: ranks share a GPU"))

    def test_more_ranks_than_gpus(self):
        result = self.run_ranks(3, *QUICK, *SMALL, machine=self.machine(node(2)))
        self.check_line(result, "ranks 0 and 2 would share GPU 0000:01:00.0", 5)

    def test_a_burn_in_forces_ring_and_tree_in_groups(self):
        # Each rank of a group is a host of its own, with the name that the burn-in asks for; two of one name are one host.
        launcher = self.folder / "launch"
        launcher.write_text(f"""#!{sys.executable}
import json, os, subprocess, sys
hosts, ranks, command = sys.argv[1].split(","), sys.argv[2], sys.argv[3:]
one = {{}} if len(hosts) == 1 else {{"COLLBENCH_SIMULATED_GPUS_PER_HOST": "1"}}
run = subprocess.run(["mpirun", "--oversubscribe", "-np", ranks, *command, "--backend", "nccl", "--no-telemetry"], env=os.environ | one,
                     capture_output=True, text=True)
sys.stderr.write(run.stderr)
if run.returncode: sys.exit(run.returncode)
record = json.loads(run.stdout)
for rank in record["ranks"]: rank["host"] = hosts[rank["rank"] % len(hosts)]
print(json.dumps(record))
""")
        launcher.chmod(0o755)
        command = [str(PROGRAM), "burnin", "--hosts", "n[0-4]", "--phases", "nodes,groups", "--group-launcher", f"{launcher} {{hosts}} {{ranks}}",
                   "--no-counters", "--bytes", "64K", "--pair-seconds", "0.2", "--parallel", "1", "-J", str(self.path)]
        result = subprocess.run(command, capture_output=True, text=True, timeout=240, stdin=subprocess.DEVNULL, check=False,
                                env={**ENVIRONMENT, "COLLBENCH_SIMULATED_GPU": self.machine(node(2))})
        self.assertIn(result.returncode, (0, 1), result.stderr)  # how fast simulated GPUs are says nothing
        made = json.loads(self.path.read_text())
        self.assertEqual(made["group_failures"], [], result.stdout)
        operations = {phase: {each["operation"] for each in made["groups"] if each["phase"] == phase} for phase in ("nodes", "groups")}
        self.assertEqual(operations["nodes"], {"all_reduce", "all_to_all"})
        self.assertEqual(operations["groups"], {"all_reduce", "all_reduce ring", "all_reduce tree", "all_to_all"})
        self.assertEqual({each["memory"] for each in made["groups"]}, {"GPU"})

    def test_two_hosts_with_other_versions_of_nccl(self):
        own = version_text(nccl_version())
        others = [file for version, file in installed().items() if version != own]
        if not others:
            self.skipTest("no second libnccl is here (scripts/setup real-nccl)")
        parts = []
        for library in (LIBRARY, others[0]):
            parts += ["-np", "1", "-x", f"COLLBENCH_NCCL={library}", str(PROGRAM), "--backend", "nccl", *SMALL, ":"]
        environment = {key: value for key, value in ENVIRONMENT.items() if key != "COLLBENCH_NCCL"}
        environment["COLLBENCH_SIMULATED_GPUS_PER_HOST"] = "1"
        result = subprocess.run(["mpirun", "--oversubscribe", *parts[:-1]], capture_output=True, text=True, timeout=100,
                                env={**environment, "COLLBENCH_SIMULATED_GPU": self.machine(node(2))}, check=False)
        self.check_line(result, r"rank 0 on .* has 2\.\d+\.\d+ .*, rank 1 on .* has 2\.", 5)


class Failures(Simulated):
    def start(self, *arguments):
        """A run that goes on until it is disturbed, and its ranks."""
        shared = {file.name for file in pathlib.Path("/dev/shm").glob("nccl-*")}
        run = subprocess.Popen(self.command(3, "--ops", "all_reduce", "--sizes", "4K", "--passes", "500", "-n", "500",
                                            "--no-telemetry", "-J", self.path, *arguments),
                               env={**ENVIRONMENT, "COLLBENCH_SIMULATED_GPU": self.machine(node(3))}, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL, start_new_session=True)
        self.addCleanup(run.communicate)
        self.addCleanup(run.kill)

        def ranks():
            found = []
            for process in descendants(run.pid):
                with contextlib.suppress(FileNotFoundError):  # gone since
                    if b"--backend" in pathlib.Path(f"/proc/{process}/cmdline").read_bytes():
                        found.append(process)
            return found

        def measuring():
            maps = [pathlib.Path(f"/proc/{rank}/maps").read_text() for rank in ranks()]
            return len(maps) == 3 and all("NCCL shared memory" in text for text in maps)

        wait_until(measuring, 100)
        time.sleep(1)
        return run, ranks(), shared

    def ends(self, run, shared, status, words):
        out, err = run.communicate(timeout=100)
        self.assertEqual(run.returncode, status, out + err)
        self.assertRegex(err, words)
        self.assertEqual({file.name for file in pathlib.Path("/dev/shm").glob("nccl-*")} - shared, set())

    def test_a_rank_that_is_killed(self):
        run, ranks, shared = self.start("-T", "20")
        os.kill(ranks[1], signal.SIGKILL)
        self.ends(run, shared, 137, "signal 9")

    def test_a_rank_that_is_stopped(self):
        """In graphs: NCCL's abort waits for every graph that holds a call on the communicator."""
        run, ranks, shared = self.start("-T", "8", "-G", "1")
        os.kill(ranks[1], signal.SIGSTOP)
        self.ends(run, shared, 4, "timed out")


    def test_a_rank_that_never_comes(self):
        """To the first communicator, which can be given up, and to a later one, where only the watchdog helps."""
        shared = {file.name for file in pathlib.Path("/dev/shm").glob("nccl-*")}
        for number, step in ((1, "creation of a communicator"), (2, "AllReduce 4 KiB")):
            result = self.run_ranks(3, *QUICK, *SMALL, "-T", "5", environment={
                "COLLBENCH_STAND_IN": f"init_hang:{number}@2", "COLLBENCH_CUDART": str(ABSENT_RANK)})
            self.check_line(result, f"{step}: timed out after 5 s without progress: ", 4)
        self.assertEqual({file.name for file in pathlib.Path("/dev/shm").glob("nccl-*")} - shared, set())


if __name__ == "__main__":
    skip_without_library()
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
