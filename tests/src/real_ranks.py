"""What tests of the program with real ranks share."""

import json
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile
import time
import unittest

ENVIRONMENT = {
    **os.environ,
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_hwloc_base_binding_policy": "none",
    "OMPI_MCA_mpi_yield_when_idle": "1",
}


def run(*command, environment=None, timeout=200):
    return subprocess.run(
        [str(word) for word in command], env={**ENVIRONMENT, **(environment or {})}, capture_output=True, text=True,
        timeout=timeout, stdin=subprocess.DEVNULL, check=False)


def mpirun(ranks, *command):
    return ["mpirun", "--oversubscribe", "-np", str(ranks), *map(str, command)]


# What a rank of on_each_rank runs: every command, with what it says and how it ends in a file of this rank.
ANSWERING_RANK = """
import json, os, pathlib, subprocess, sys
folder = pathlib.Path(sys.argv[1])
answers = []
for command in json.loads((folder / "commands.json").read_text()):
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)
    answers.append([done.returncode, done.stdout, done.stderr])
(folder / ("rank" + os.environ["OMPI_COMM_WORLD_RANK"])).write_text(json.dumps(answers))
"""


def on_each_rank(ranks, commands):
    """Of each command what each rank made of it, all in one launch. Only for commands that end before MPI begins: a rank
    can begin it once."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        commands = [[str(word) for word in command] for command in commands]
        (folder / "commands.json").write_text(json.dumps(commands))
        result = run(*mpirun(ranks, sys.executable, "-c", ANSWERING_RANK, folder))
        if result.returncode != 0:
            raise AssertionError(result.stdout + result.stderr)
        answers = [json.loads((folder / f"rank{rank}").read_text()) for rank in range(ranks)]
        return [[subprocess.CompletedProcess(command, *answer) for answer in of_ranks]
                for command, *of_ranks in zip(commands, *answers, strict=True)]


def physical_cores():
    """Of those that this process may use, one thread each: what the program counts as cores."""
    cores = {}
    for cpu in os.sched_getaffinity(0):
        siblings = pathlib.Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list")
        cores.setdefault(siblings.read_text() if siblings.exists() else cpu, cpu)
    return sorted(cores.values())


def others_seconds():
    """CPU time of all processes but those that were started here and have ended."""
    user, nice, system, _, _, irq, softirq = map(int, pathlib.Path("/proc/stat").read_text().split()[1:8])
    ours = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (user + nice + system + irq + softirq) / os.sysconf("SC_CLK_TCK") - ours.ru_utime - ours.ru_stime


def on_quiet_machine(test, cores_left, look):
    """What `look` returns when other work took no more than a tenth of a core beside those that are left."""
    for _ in range(10):
        others, start = others_seconds(), time.monotonic()
        seen = look()
        if others_seconds() - others < (cores_left + 0.1) * (time.monotonic() - start):
            return seen
    return test.skipTest("other processes keep this machine busy")


def one_of(looks, look, wanted):
    """The first of so many that is as wanted, or the last. A hypervisor slows one core or another for seconds, which shows in
    no count of this machine, and the ranks on it are slow then."""
    for _ in range(looks):
        seen = look()
        if wanted(seen):
            break
    return seen


def collbench_lines(result):
    """What collbench itself wrote to stderr, without mpirun's banner."""
    return [line for line in result.stderr.splitlines() if line.startswith("collbench:")]


def calibration_of(path):
    """Options that take the calibration of an earlier run: with them a run does not spend up to 5 s on its own. None
    where that run was too disturbed to have one."""
    calibration = json.loads(path.read_text())["calibration"] if path.exists() else None
    usable = calibration and (calibration["intra"] or calibration["inter"]) and calibration["gammas"]
    return ["--calibration", path] if usable else []


def calibration_fits(test, record):
    """Whether lines fit what was calibrated. On a busy machine none may: then the record says so, and has the points."""
    calibration = record["calibration"]
    if calibration["intra"] or calibration["inter"]:
        return True
    test.assertIn("the calibration cannot be used", " ".join(record["place_notes"]))
    return False


def unwrapped(text):
    """Its lines of facts as they were before they were broken to fit the terminal."""
    return re.sub(r"\n#   ", " ", text)


def wait_until(is_true, seconds=60):
    deadline = time.monotonic() + seconds
    while not is_true():
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {seconds} s")
        time.sleep(0.02)


def descendants(process):
    """The process ids of all processes that it started, and that those started."""
    found = subprocess.run(["pgrep", "-P", str(process)], capture_output=True, text=True, check=False).stdout.split()
    return [int(child) for child in found] + [below for child in found for below in descendants(int(child))]


class Scratch(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def start(self, *command):
        """It runs in a process group of its own, which does not outlive the test."""
        process = subprocess.Popen(
            [str(word) for word in command], env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, stdin=subprocess.DEVNULL, start_new_session=True)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process
