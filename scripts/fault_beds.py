"""Where scripts/faults runs collbench: on this host, between hosts of scripts/fabric, or in the Slurm of tests/slurm-lab."""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests/src"))
from failing_file_system import can_be_mounted

LIMIT_SECONDS = 5  # -T
FIRST_PASS_SECONDS = 5  # from a start on, unless others keep the machine's cores busy
PATIENCE_SECONDS = 300  # for what has to come, and does on a machine however busy
ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "LANG": "C.UTF-8"}
ONE_HOST = {"OMPI_MCA_hwloc_base_binding_policy": "none", "OMPI_MCA_mpi_yield_when_idle": "1"}
RANK_VARIABLES = ("OMPI_COMM_WORLD_RANK", "SLURM_PROCID")


class Unavailable(Exception):
    """This bed cannot be had here: why, in one line."""


def segments(job):
    """Files in shared memory that a run has to take with it: those of Open MPI 4 have the job's number in their names, and under
    srun that is not known. Recorders of dead ranks stay, and are named."""
    return {path.name for path in pathlib.Path("/dev/shm").glob(f"vader_segment.*.{job:x}.*")} if job else set()


def environment_of(pid):
    try:
        return dict(entry.split("=", 1) for entry in
                    pathlib.Path(f"/proc/{pid}/environ").read_text(errors="replace").split("\0") if "=" in entry)
    except OSError:
        return {}


class Run:
    """One started collbench: what it says and when, its ranks, its files."""

    def __init__(self, command, environment, folder, record=None, stdout=subprocess.PIPE, preexec=None):
        self.folder = folder
        self.record_path = record or folder / "run.json"
        self.mark = f"COLLBENCH_FAULTS_RUN={os.getpid()}-{time.monotonic_ns()}"
        key, value = self.mark.split("=")
        self.started, self.slowness = time.monotonic(), 1.0  # how many times as long as usual it took to its first pass
        self.job = None  # Open MPI's number of it, from the first look at its ranks
        self.pages = {}  # the recorder of each rank, as a file that stays open
        self.process = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=stdout,
                                        stderr=subprocess.PIPE, text=True, start_new_session=True, preexec_fn=preexec,
                                        env={**ENVIRONMENT, **environment, key: value}, errors="replace")
        self.lines, self.output = [], []  # of stderr with the time of each; of stdout
        self.readers = [threading.Thread(target=self._read_errors, daemon=True)]
        if stdout == subprocess.PIPE:
            self.readers.append(threading.Thread(target=self._read_output, daemon=True))
        for reader in self.readers:
            reader.start()

    def _read_errors(self):
        for line in self.process.stderr:
            self.lines.append((time.monotonic(), line.rstrip("\n")))

    def _read_output(self):
        for line in self.process.stdout:
            self.output.append(line)

    def record(self):
        try:
            return json.loads(self.record_path.read_text())
        except (OSError, ValueError):
            return None

    def until(self, is_true, what, seconds=PATIENCE_SECONDS):
        deadline = time.monotonic() + seconds
        while not is_true():
            if time.monotonic() > deadline or self.process.poll() is not None:
                raise AssertionError(f"{what}: not reached (status {self.process.poll()}): {self.said()}")
            time.sleep(0.02)

    def until_measured(self):
        self.until(lambda: (self.record() or {}).get("passes", 0) >= 1, "a first pass")
        self.slowness = max(1.0, (time.monotonic() - self.started) / FIRST_PASS_SECONDS)

    def ranks(self):
        """The process of each rank that is there."""
        found = {}
        for entry in pathlib.Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            variables = environment_of(entry.name)
            if f"COLLBENCH_FAULTS_RUN={variables.get('COLLBENCH_FAULTS_RUN')}" != self.mark:
                continue
            if job := variables.get("OMPI_MCA_ess_base_jobid"):
                self.job = int(job)
            number = next((variables[name] for name in RANK_VARIABLES if name in variables), None)
            try:
                if number is not None and (entry / "comm").read_text().startswith("collbench"):
                    found[int(number)] = int(entry.name)
            except OSError:
                continue
        return found

    def page(self, rank):
        """The flight recorder of a rank (docs/formats.md), also when its process is gone; None where there is none yet."""
        if rank not in self.pages:
            pid = self.ranks().get(rank)
            for file in pathlib.Path("/dev/shm").glob(f"collbench-flight-{os.geteuid()}-*/rank-{rank}"):
                try:
                    opened = file.open("rb", buffering=0)
                except OSError:
                    continue
                if pid and int.from_bytes(opened.read(24)[20:], sys.byteorder) == pid:
                    self.pages[rank] = opened
        return self.pages.get(rank)

    def step(self, rank):
        """What the rank's recorder says that it is, or was, doing; empty before it has one."""
        page = self.page(rank)
        return "" if page is None else os.pread(page.fileno(), 64, 264).split(b"\0")[0].decode(errors="replace")

    def kill(self, rank, number):
        os.kill(self.ranks()[rank], number)

    def said(self):
        return [line for _, line in self.lines if line.startswith("collbench:")]

    def finish(self, seconds):
        """The exit status; None when it had to be ended after `seconds`, or as many times longer as it is slow."""
        if self.job is None and self.process.poll() is None:
            time.sleep(1)
            self.ranks()
        try:
            status = self.process.wait(timeout=seconds * self.slowness)
        except subprocess.TimeoutExpired:
            status = None
            self.end()
        for reader in self.readers:
            reader.join(timeout=5)
        return status

    def end(self):
        for pid in self.ranks().values():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        try:
            os.killpg(self.process.pid, signal.SIGTERM)
            self.process.wait(timeout=15)
        except (ProcessLookupError, subprocess.TimeoutExpired):
            pass
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()

    def left_behind(self):
        """What should not be there any more, a little later."""
        deadline = time.monotonic() + 5
        while time.monotonic() < deadline:
            left = [f"process {pid} of rank {rank}" for rank, pid in self.ranks().items()]
            left += [f"/dev/shm/{name}" for name in segments(self.job)]
            left += [path.name for path in self.folder.glob("*.tmp*")]
            if not left:
                break
            time.sleep(0.2)
        for said in self.said():  # recorders that a message named
            for folder in re.findall(r"collbench flight (\S+) shows", said):
                shutil.rmtree(folder, ignore_errors=True)
        return left


class Bed:
    ranks = 3
    hosts = 1

    def __init__(self, program, faulty):
        self.program, self.faulty = program, faulty
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="collbench-faults-"))
        self.calibration = []
        self.run = None  # the one that was started last

    def close(self):
        shutil.rmtree(self.folder, ignore_errors=True)

    def calibrate(self):
        """Every trial takes the calibration of one run, which is not what it is about."""
        path = self.folder / "calibrated.json"
        if not path.exists():
            run = Run(self.launch([self.program, "--ops", "all_reduce", "--sizes", "8,64K", "--passes", "2", "-n", "20",
                                   "--time", "8", "-J", path]), self.environment(), self.folder)
            if run.finish(PATIENCE_SECONDS) != 0:
                raise AssertionError(f"no calibration: {run.said()}")
        made = json.loads(path.read_text())["calibration"]
        usable = made and (made["intra"] or made["inter"]) and made["gammas"]
        self.calibration = ["--calibration", path] if usable else []

    def start(self, *options, seconds=60, ops="all_reduce", sizes="8,64K", record=None, faulty=None, launch=None, program=None, calibrated=True, **more):
        folder = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        command = [program or self.program, "--ops", ops, "--sizes", sizes, "--precision", "0.01", "--time", seconds,
                   *(self.calibration if calibrated else []), "-T", LIMIT_SECONDS, "-J", record or folder / "run.json", *options]
        extra = {"LD_PRELOAD": str(self.faulty), **faulty} if faulty else {}
        self.run = Run((launch or self.launch)(command), {**self.environment(), **extra}, folder, record, **more)
        return self.run


class Host(Bed):
    """Ranks of this host."""

    def environment(self):
        return ONE_HOST

    def launch(self, command):
        return ["mpirun", "--oversubscribe", "-np", self.ranks, *command]

    def host_of(self, rank):
        return re.escape(os.uname().nodename.split(".")[0])


class FailingFiles(Host):
    """The same, whose files may be in a file system that fails on request."""

    def __init__(self, program, faulty):
        if not can_be_mounted():
            raise Unavailable("no /dev/fuse, no right to mount, or no fusepy (scripts/setup test)")
        super().__init__(program, faulty)


class Fabric(Bed):
    """Two hosts of two ranks, as scripts/fabric makes them."""
    ranks = 4
    hosts = 2

    def __init__(self, program, faulty):
        super().__init__(program, faulty)
        self.name = f"faults-{os.getpid()}"
        done = subprocess.run([ROOT / "scripts/fabric", "--name", self.name, "up", "2", "--rate", "1gbit"],
                              capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise Unavailable(done.stderr.strip())

    def act(self, *words):
        subprocess.run([ROOT / "scripts/fabric", "--name", self.name, *words], check=True, capture_output=True, timeout=PATIENCE_SECONDS)

    def close(self):
        subprocess.run([ROOT / "scripts/fabric", "--name", self.name, "down"], capture_output=True, check=False)
        super().close()

    def environment(self):
        return {}

    def launch(self, command, options=()):
        return [ROOT / "scripts/fabric", "--name", self.name, "run", *(options or ["-np", self.ranks]), "--", *command]

    def host_of(self, rank):
        return f"host{rank // 2}"

    def plug(self, host, state, link="data0"):
        """As `cut` and `heal` do, without the time that a command takes to start."""
        subprocess.run(["ip", "-n", f"{self.name}-switch", "link", "set", f"{link}-{host}", state], check=True)

    def lose_host(self, host):
        """As a power cut does: nothing of it answers any more, and nothing says why. (Were its processes killed, mpirun's
        agent on host0 would notice, which stands for an ssh that would not.)"""
        for link in ("data0", "control0"):
            self.plug(host, "down", link)
        for pid in subprocess.run(["ip", "netns", "pids", f"{self.name}-{host}"], capture_output=True, text=True,
                                  check=True).stdout.split():
            try:
                os.kill(int(pid), signal.SIGSTOP)
            except ProcessLookupError:
                pass

    def heal(self):
        for host in ("host0", "host1"):
            self.plug(host, "up", "control0")
        self.act("heal")


class Slurm(Bed):
    """Two nodes of two ranks in a Slurm that tests/slurm-lab brings up for each run."""
    ranks = 4
    hosts = 2

    def __init__(self, program, faulty):
        super().__init__(program, faulty)
        done = subprocess.run([ROOT / "tests/slurm-lab", "2", "0", "true"], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise Unavailable(done.stderr.strip() or "tests/slurm-lab does not start")

    def environment(self):
        return ONE_HOST

    def launch(self, command):
        return [ROOT / "tests/slurm-lab", "2", "0", "srun", "--mpi=pmix", "-N2", "--ntasks-per-node=2", *command]

    def host_of(self, rank):
        return f"n{rank // 2 + 1}"


BEDS = {"one host": Host, "failing files": FailingFiles, "two hosts": Fabric, "Slurm": Slurm}
