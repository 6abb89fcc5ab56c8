"""The kinds of fault that scripts/faults causes, and what collbench has to make of each.

A kind is a function from a bed and a source of random numbers to what was seen of one trial; @kind puts it into the list.
"""

import dataclasses
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

from fault_beds import LIMIT_SECONDS, Run
from failing_file_system import FailingFileSystem  # whose folder fault_beds adds

KINDS = []
SLACK_SECONDS = 15  # on a busy machine; the table has how long it took
FINISHED_SECONDS = 60  # for mpirun to end the ranks, after the verdict


@dataclasses.dataclass
class Seen:
    """Of one trial. `wrong` says what is not as it has to be; `seconds` is from the fault to the first sentence about it."""
    wrong: list
    status: int | None
    seconds: float | None = None
    sentence: str = ""


@dataclasses.dataclass(frozen=True)
class Kind:
    name: str
    bed: str
    trial: object
    most_trials: int


def kind(name, bed="one host", most_trials=1000):
    def add(trial):
        KINDS.append(Kind(name, bed, trial, most_trials))
        return trial
    return add


def check_record(run, complete, incident=None):
    """`incident`: what kind of it the record has to hold, and in the words that were said."""
    made = run.record()
    if made is None:
        return ["no valid record"]
    wrong = []
    if made["complete"] != complete:
        wrong.append(f"the record says complete: {made['complete']}")
    told = made["incident"]
    if (told and told["kind"]) != incident:
        wrong.append(f"the record's incident: {told}")
    elif told and not any(told["sentence"] in line for line in run.said()):
        wrong.append(f"the record says otherwise: {told['sentence']}")
    if not any(row["seconds"] for row in made["rows"]):
        wrong.append("nothing that was measured is kept")
    return wrong


def judge(run, start, pattern, statuses, incident, complete=False, said_once=True, limit=LIMIT_SECONDS + SLACK_SECONDS,
          patience=FINISHED_SECONDS):
    """A fault at `start` has to be said once, in a line that `pattern` matches, within `limit` seconds; on a machine that was
    slow to the first pass within as many times that."""
    status = run.finish(limit + patience)
    wrong = check_record(run, complete, incident)
    if status not in statuses:
        wrong.append(f"status {status}")
    said = [(when, line) for when, line in run.lines if line.startswith("collbench:")]
    if said_once and len(said) != 1:
        wrong.append(f"{len(said)} lines of collbench")
    match = next(((when, line) for when, line in said if re.search(pattern, line)), None)
    if match is None:
        wrong.append(f"not said: /{pattern}/ in {[line for _, line in said]}")
        seconds = said[0][0] - start if said else None
    else:
        seconds = match[0] - start
        if seconds > limit * run.slowness:
            wrong.append(f"said after {seconds:.1f} s")
    wrong += [f"left behind: {left}" for left in run.left_behind()]
    return Seen(wrong, status, seconds, match[1] if match else "")


def goes_on(run, pattern=None, seconds=150):
    """The run has to end in order, without a hang being said; its table holds `pattern`."""
    status = run.finish(seconds)
    wrong = check_record(run, True)
    if status != 0:
        wrong.append(f"status {status}")
    wrong += [f"said: {line}" for line in run.said()]
    shown = " ".join("".join(run.output).replace("\n#  ", " ").split())
    match = re.search(pattern, shown) if pattern else None
    if pattern and match is None:
        wrong.append(f"not in the report: /{pattern}/")
    wrong += [f"left behind: {left}" for left in run.left_behind()]
    return Seen(wrong, status, None, match[0] if match else "")


ONE_EACH = ["-np", 2, "--map-by", "node"]
ALONE = [(["-np", 3], 2), (ONE_EACH, 0), (ONE_EACH, 1)]  # mpirun's options between two hosts, and a rank that is alone on its host


def any_rank(bed, random):
    return random.randrange(bed.ranks)


# Nothing at all.

OPERATIONS = ("all_reduce", "all_gather", "reduce_scatter", "all_to_all", "send_recv", "ping_pong", "broadcast", "reduce", "gather", "scatter")
SHAPES = ((), ("-n", "20"), ("--percentiles",), ("--exact-counts",), ("-d", "double"), ("-r", "1"), ("--stream", "stream.jsonl"))


def healthy(bed, random):
    """Nobody is accused: no line on stderr, no incident, no pause, no straggler."""
    ranks, ops = random.randint(2, 5), random.sample(OPERATIONS, random.randint(1, 3))
    sizes = ",".join(random.sample(("8", "1K", "64K", "256K", "1M"), random.randint(1, 3)))
    shape = [str(bed.folder / f"{time.monotonic_ns()}-{word}") if word == "stream.jsonl" else word for word in random.choice(SHAPES)]

    def launch(command):
        return ["mpirun", "--oversubscribe", "-np", ranks, *command]
    # The bed's calibration is of another number of ranks.
    run = bed.start(*shape, seconds=6 * len(ops), ops=",".join(ops), sizes=sizes, launch=launch, calibrated=False)
    seen = goes_on(run)
    seen.wrong = [f"{fault}, of {ranks} ranks {ops} {sizes} {shape}" for fault in seen.wrong]
    record = run.record() or {}
    if record.get("pauses"):
        seen.wrong.append(f"stood still: {record['pauses']}")
    if found := (record.get("rank_probe") or {}).get("findings"):
        seen.wrong.append(f"late: {found}")
    return seen


@kind("a healthy run")
def healthy_alone(bed, random):
    return healthy(bed, random)


@kind("a healthy run beside busy neighbors")
def healthy_beside(bed, random):
    neighbors = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in os.sched_getaffinity(0)]
    try:
        return healthy(bed, random)
    finally:
        for each in neighbors:
            each.kill()
            each.wait()


@kind("a healthy run of ranks alone on their hosts", "two hosts")
def healthy_alone_on_hosts(bed, random):
    options, _ = random.choice(ALONE)
    return goes_on(bed.start(seconds=3, launch=lambda command: bed.launch(command, options), calibrated=False))


# Ranks that die.

def dies(bed, rank, number, host=None, **started):
    run = bed.start(**started)
    run.until_measured()
    start = time.monotonic()
    run.kill(rank, number)
    return judge(run, start, rf"rank {rank} \({host or bed.host_of(rank)}[^)]*\) is gone", (128 + number, 4), "rank lost")


@kind("SIGKILL of a rank")
def sigkill(bed, random):
    return dies(bed, 1 + random.randrange(bed.ranks - 1), signal.SIGKILL)


@kind("SIGKILL of rank 0")
def sigkill_0(bed, random):
    return dies(bed, 0, signal.SIGKILL)


@kind("SIGSEGV in a rank")
def segv(bed, random):
    return dies(bed, any_rank(bed, random), signal.SIGSEGV)


@kind("SIGKILL of a rank, between hosts", "two hosts")
def sigkill_fabric(bed, random):
    return dies(bed, any_rank(bed, random), signal.SIGKILL)


@kind("SIGKILL of a rank alone on its host", "two hosts")
def sigkill_alone(bed, random):
    """In the bed's calibration there are more ranks."""
    options, rank = random.choice(ALONE)
    return dies(bed, rank, signal.SIGKILL, f"host{min(rank, 1)}", launch=lambda command: bed.launch(command, options), calibrated=False)


@kind("SIGKILL of a rank under srun", "Slurm")
def sigkill_slurm(bed, random):
    return dies(bed, any_rank(bed, random), signal.SIGKILL)


# Ranks that hang.

def stops(bed, rank):
    run = bed.start()
    run.until_measured()
    start = time.monotonic()
    run.kill(rank, signal.SIGSTOP)
    return judge(run, start, rf"timed out after {LIMIT_SECONDS}.* rank {rank} \({bed.host_of(rank)}[^)]*\) is stopped", (4,), "hang")


@kind("SIGSTOP of a rank")
def sigstop(bed, random):
    return stops(bed, 1 + random.randrange(bed.ranks - 1))


@kind("SIGSTOP of rank 0")
def sigstop_0(bed, random):
    return stops(bed, 0)


@kind("SIGSTOP of a rank, between hosts", "two hosts")
def sigstop_fabric(bed, random):
    return stops(bed, 1 + random.randrange(bed.ranks - 1))


@kind("SIGSTOP of rank 0, between hosts", "two hosts")
def sigstop_0_fabric(bed, random):
    return stops(bed, 0)


@kind("SIGSTOP, SIGCONT after 3 s")
def stop_and_go(bed, random):
    rank = any_rank(bed, random)
    for _ in range(5):  # on a busy machine it may be the end of the run that is stopped, after its pauses were gathered
        passes, run, seen = stopped_for_3_seconds(bed, rank)
        if (run.record() or {}).get("passes", 0) > passes:
            break
    return seen


def stopped_for_3_seconds(bed, rank):
    """How many passes there were before it, the run, and what was seen."""
    run = bed.start(seconds=6)
    run.until_measured()
    passes = run.record()["passes"]
    before = time.monotonic()
    run.kill(rank, signal.SIGSTOP)
    stopped = time.monotonic()
    time.sleep(3)
    start = time.monotonic()
    run.kill(rank, signal.SIGCONT)
    end = time.monotonic()
    seen = goes_on(run, rf"rank {rank} \({bed.host_of(rank)}[^)]*\) stood still for [\d.]+ s")
    said = float(re.search(r"[\d.]+(?= s$)", seen.sentence)[0]) if seen.sentence else None
    # Looked for four times a second, by a rank that may have to wait for its core.
    if said is not None and not start - stopped - 0.6 <= said <= end - before + 1:
        seen.wrong.append(f"it stood still for {start - stopped:.2f} s")
    return passes, run, seen


def inside_mpi(bed, rank, what, pattern, statuses, incident):
    """The preloaded library does `what` in one call of this rank, as soon as a file is there."""
    file = bed.folder / f"now-{time.monotonic_ns()}"
    run = bed.start(faulty={"FAULTY_MPI_RANK": str(rank), "FAULTY_MPI_ONCE": what, "FAULTY_MPI_FILE": str(file)})
    run.until_measured()
    start = time.monotonic()
    file.touch()
    return judge(run, start, pattern, statuses, incident)


# Some ranks left a call, and the others cannot.
STILL_INSIDE = (r"(is|are) through with a call, (rank \d+|ranks [-\d, ]+) \(.*\) (is|are) still inside AllReduce .*: "
                r"a message to (it|them) was lost or never sent, (it|one of them) hangs there, or a rank skipped a call")


@kind("a call skipped by a rank")
def skips(bed, random):
    rank = any_rank(bed, random)
    return inside_mpi(bed, rank, "skip", rf"timed out after {LIMIT_SECONDS}.*: rank {rank} \({bed.host_of(rank)}[^)]*\) {STILL_INSIDE}", (4,), "hang")


@kind("a count that differs on a rank")
def miscounts(bed, random):
    rank = any_rank(bed, random)
    return inside_mpi(bed, rank, "count", rf"AllReduce (8 B|64 KiB).*MPI_ERR_TRUNCATE.*rank {rank}\b|rank {rank}\b.*AllReduce (8 B|64 KiB).*MPI_ERR_TRUNCATE", (4,), "error")


@kind("an element spoiled on a rank")
def spoils(bed, random):
    run = bed.start(faulty={"FAULTY_MPI_CALL": "MPI_Allreduce"}, seconds=4)
    status = run.finish(100)
    wrong = [] if status == 3 else [f"status {status}"]
    match = re.search(r"WRONG DATA: AllReduce .*\n# rank 1 on .* wrong, the first at index", "".join(run.output))
    wrong += [] if match else ["not said: WRONG DATA, rank 1"]
    return Seen(wrong + [f"left behind: {left}" for left in run.left_behind()], status, None, match[0] if match else "")


def at_start(bed, pattern, **started):
    start = time.monotonic()
    run = bed.start(**started)
    status = run.finish(LIMIT_SECONDS + SLACK_SECONDS + FINISHED_SECONDS)
    said = [(when, line) for when, line in run.lines if line.startswith("collbench:")]
    match = next(((when, line) for when, line in said if re.search(pattern, line)), None)
    wrong = [] if status == 4 else [f"status {status}"]
    wrong += [] if len(said) == 1 else [f"{len(said)} lines of collbench"]
    wrong += [] if match else [f"not said: /{pattern}/ in {[line for _, line in said]}"]
    wrong += [f"left behind: {left}" for left in run.left_behind()]
    # mpirun takes a second to start the ranks, whose deadline begins then.
    seconds = said[0][0] - start if said else None
    wrong += [f"said after {seconds:.1f} s"] if seconds and seconds > LIMIT_SECONDS + SLACK_SECONDS else []
    return Seen(wrong, status, seconds, match[1] if match else "")


# Ranks and launchers that go at a moment, most of them before there is anything to keep.

# Whether a rank whose step is this one is there.
MOMENTS = {"in MPI_Init": lambda step: step == "start of MPI",
           "in the calibration": lambda step: step == "calibration",
           "before the first row": lambda step: step in ("gathering the ranks", "start of the backend", "planning the rows", "gathering the topology",
                                                         "start of the measurement"),
           "in the rows": lambda step: step.startswith("AllReduce") or step == "between passes"}
ROLES = ("rank 0", "another rank", "mpirun")


class Missed(Exception):
    """The moment was over before the signal came."""


def until_moment(run, rank, moment, random):
    """A random time after all ranks have come so far."""
    if moment == "in the rows":
        run.until_measured()
        run.step(rank)  # finds the recorder while there is a process
        return
    run.until(lambda: run.step(rank) and MOMENTS[moment](run.step(rank)) or any(MOMENTS["in the rows"](run.step(each)) for each in (0, rank)),
              moment)
    time.sleep(random.choice([0, 0.01, 0.03, 0.1]))
    if not MOMENTS[moment](run.step(rank)):
        raise Missed


def at_moment(role, moment, number):
    def trial(bed, random):
        rank = 1 + random.randrange(bed.ranks - 1) if role == "another rank" else 0
        for _ in range(20):
            ends = role == "mpirun" and number == signal.SIGSTOP
            run = bed.start(calibrated=moment != "in the calibration", seconds=20 if ends else 60)
            try:
                until_moment(run, rank, moment, random)
                start = time.monotonic()
                if role == "mpirun":
                    return mpirun_goes(run, number, moment)
                run.kill(rank, number)
                if number == signal.SIGKILL and not MOMENTS[moment](run.step(rank)):
                    raise Missed
                return rank_goes(bed, run, start, rank, number, moment)
            except Missed:
                run.end()
        raise AssertionError(f"never {moment}")
    return trial


def said_before_the_rows(run, start, pattern, statuses):
    """One line that `pattern` matches; no record, or one that knows no incident of another kind."""
    status = run.finish(LIMIT_SECONDS + SLACK_SECONDS + FINISHED_SECONDS)
    said = [(when, line) for when, line in run.lines if line.startswith("collbench:")]
    wrong = [] if status in statuses else [f"status {status}"]
    wrong += [] if len(said) == 1 else [f"{len(said)} lines of collbench"]
    match = next(((when, line) for when, line in said if re.search(pattern, line)), None)
    wrong += [] if match and said[0] == match else [f"not said first: /{pattern}/ in {[line for _, line in said]}"]
    wrong += [f"left behind: {left}" for left in run.left_behind()]
    return Seen(wrong, status, said[0][0] - start if said else None, match[1] if match else "")


def rank_goes(bed, run, start, rank, number, moment):
    name = rf"rank {rank} \({bed.host_of(rank)}[^)]*\)"
    kills = number == signal.SIGKILL
    pattern = rf"{name} is gone, last seen" if kills else rf"timed out after {LIMIT_SECONDS}.*: {name} is stopped"
    statuses = (128 + number, 4) if kills else (4,)
    if moment == "in the rows":
        return judge(run, start, pattern, statuses, "rank lost" if kills else "hang")
    return said_before_the_rows(run, start, pattern, statuses)


def mpirun_goes(run, number, moment):
    """Killed, it takes what the ranks say with it: the record says it, where it was begun, and no lock stays. Stopped for longer
    than -T, nobody is accused."""
    run.ranks()
    os.kill(run.process.pid, number)
    if number == signal.SIGSTOP:
        time.sleep(LIMIT_SECONDS + 2)
        run.process.send_signal(signal.SIGCONT)
        return goes_on(run)
    status = run.finish(FINISHED_SECONDS)
    deadline = time.monotonic() + 10
    while run.ranks() and time.monotonic() < deadline:
        time.sleep(0.1)
    made, wrong = run.record(), []
    if moment == "in the rows" or made:
        told = made and made["incident"]
        if not told or told["kind"] != "interrupted" or not re.search(r"mpirun \(process \d+\) is gone", told["sentence"]):
            wrong.append(f"the record's incident: {told}")
    wrong += [f"said: {line}" for line in run.said()]
    wrong += [f"left behind: {path.name}" for path in run.folder.glob(".*.lock")]
    wrong += [f"left behind: process {pid} of rank {rank}" for rank, pid in run.ranks().items()]
    run.left_behind()  # what is mpirun's own to take away stays
    return Seen(wrong, status, None, made["incident"]["sentence"] if made and made["incident"] else "")


for _role in ROLES:
    for _moment in MOMENTS:
        for _number in (signal.SIGKILL, signal.SIGSTOP):
            kind(f"{_number.name} of {_role} {_moment}")(at_moment(_role, _moment, _number))


@kind("a rank that never starts")
def never_starts(bed, random):
    def launch(command):
        return ["mpirun", "--oversubscribe", "-np", bed.ranks - 1, *command, ":", "-np", 1, "sleep", "90"]
    return at_start(bed, rf"rank {bed.ranks - 1} \({bed.host_of(0)}[^)]*\) never started", launch=launch)


@kind("a rank that hangs in MPI_Init")
def hangs_in_init(bed, random):
    rank = any_rank(bed, random)
    return at_start(bed, rf"start of MPI: .*ranks 0-{bed.ranks - 1} .* all wait at the same point",
                    faulty={"FAULTY_MPI_RANK": str(rank), "FAULTY_MPI_ONCE": "init"})


# Links and hosts.

def breaks(bed, *act):
    """`act` breaks a link under a run, which hangs; TCP's timeouts show it, and no rank is accused."""
    run = bed.start()
    run.until_measured()
    start = time.monotonic()
    bed.act(*act)
    seen = judge(run, start, r"data is retransmitted and never acknowledged: rank \d \(host\d\) to 10\.93\.1\.\d, "
                 r"\d+ times in a row.*: packets are dropped on the way", (4,), "hang")
    bed.heal()
    accused = ((run.record() or {}).get("incident") or {}).get("ranks")
    seen.wrong += [f"accused: {accused}"] if accused else []
    return seen


@kind("cable cut", "two hosts")
def cut(bed, random):
    return breaks(bed, "cut", f"host{random.randrange(2)}")


@kind("an MTU on the way that does not fit", "two hosts")
def black_hole(bed, random):
    """Tunnels have it: 8 B pass, and of 64 KiB no full packet."""
    return breaks(bed, "mtu", f"host{random.randrange(2)}", "1450")


@kind("cable cut, back after 2 s", "two hosts")
def cut_and_healed(bed, random):
    run = bed.start(seconds=8)
    run.until_measured()
    host = f"host{random.randrange(2)}"
    bed.act("cut", host)
    time.sleep(2)
    bed.heal()
    return goes_on(run)


def degraded(bed, act, pattern="", **started):
    """`act` harms a link under a run, which goes on, names it as `pattern` says, and accuses no rank."""
    run = bed.start(**{"seconds": 8, **started})
    run.until_measured()
    act(run)
    seen = goes_on(run, pattern)
    bed.heal()
    findings = ((run.record() or {}).get("rank_probe") or {}).get("findings", [])
    seen.wrong += [f"accused: {each['text']}" for each in findings if each["kind"] == "late rank"]
    return seen


@kind("link at a quarter of its rate", "two hosts")
def quarter(bed, random):
    return degraded(bed, lambda run: bed.act("rate", f"host{random.randrange(2)}", "250mbit"))


def drops(percent, sent):
    def trial(bed, random):
        host = random.randrange(2)
        sender = f"host{host if sent else 1 - host}"
        return degraded(bed, lambda run: bed.act("drop", f"host{host}", percent, *["--sent"] * sent),
                        rf"rank \d \({sender}\) retransmitted [\d.]+ % of its TCP bytes",
                        seconds=16 if percent == "0.1" else 8, sizes="8,1M")
    return trial


for _percent in ("0.1", "1", "10"):
    kind(f"{_percent} % of the packets to a host lost", "two hosts")(drops(_percent, False))
kind("10 % of the packets from a host lost", "two hosts")(drops("10", True))


@kind("a NIC that flaps each 5 s", "two hosts")
def flaps(bed, random):
    host = f"host{random.randrange(2)}"

    def flap(run):
        while run.process.poll() is None:
            bed.plug(host, "down")
            time.sleep(1)
            bed.plug(host, "up")
            time.sleep(4)
    return degraded(bed, flap, rf"{host} data0 carrier_changes: \d+ to \d+", seconds=20)


@kind("a host that is gone", "two hosts")
def host_gone(bed, random):
    run = bed.start()
    run.until_measured()
    start = time.monotonic()
    bed.lose_host("host1")
    # mpirun itself waits for the daemon that it cannot reach, and has to be ended.
    seen = judge(run, start, r"nothing is heard of ranks 2, 3 \(host1\)", (4, None), "hang", limit=2 * LIMIT_SECONDS + SLACK_SECONDS, patience=5)
    bed.heal()
    return seen


@kind("all ranks on one core")
def busy_core(bed, random):
    run = bed.start(seconds=6)
    run.until_measured()
    core = str(sorted(os.sched_getaffinity(0))[0])
    for pid in run.ranks().values():
        subprocess.run(["taskset", "-acp", core, str(pid)], check=True, capture_output=True)
    return goes_on(run)


# Signals to the job.

def signalled(bed, numbers, pattern, statuses):
    run = bed.start()
    run.until_measured()
    start = time.monotonic()
    for number in numbers:
        run.process.send_signal(number)
        time.sleep(0.3)
    seen = judge(run, start, pattern, statuses, "interrupted", said_once=False)
    # Where the block takes long, that the signal has to wait is said first.
    said = [line for line in run.said() if "has to wait for this block" not in line]
    if len(said) > 1 or len(run.said()) > 2:
        seen.wrong.append(f"{len(run.said())} lines of collbench")
    return seen


@kind("SIGINT to mpirun")
def sigint(bed, random):
    return signalled(bed, [signal.SIGINT], r"interrupted by SIG(TERM|INT)", (1, 4, 130))


@kind("SIGTERM to mpirun")
def sigterm(bed, random):
    return signalled(bed, [signal.SIGTERM], r"interrupted by SIG(TERM|INT)", (1, 4, 143))


@kind("SIGHUP to mpirun")
def sighup(bed, random):
    return signalled(bed, [signal.SIGHUP], r"interrupted by SIG(TERM|HUP)", (1, 4, 129))


@kind("SIGINT twice")
def sigint_twice(bed, random):
    run = bed.start()
    run.until_measured()
    start = time.monotonic()
    run.process.send_signal(signal.SIGINT)
    time.sleep(0.3)
    run.process.send_signal(signal.SIGINT)
    status = run.finish(30)
    seconds = time.monotonic() - start
    # mpirun itself ends at once then, without what it otherwise does: Open MPI's segments stay in /dev/shm.
    left = [each for each in run.left_behind() if "vader_segment" not in each]
    told = (run.record() or {}).get("incident")  # there may have been no time to write it
    wrong = check_record(run, False, told and "interrupted")
    # Whichever a rank saw first, its signal or that mpirun is gone; who passes on what it says is gone, too.
    wrong = [each for each in wrong if not (each.startswith("the record says otherwise") and "mpirun" in told["sentence"])]
    wrong += [f"left behind: {each}" for each in left]
    wrong += [f"gone after {seconds:.1f} s"] if seconds > 2.5 else []
    return Seen(wrong, status, seconds)


# Outputs.

class SmallDisk:
    """A file system with room for the run's own files, until something else fills it."""

    def __init__(self, folder, kilobytes):
        self.folder = folder
        self.is_full, self.is_over = threading.Event(), threading.Event()
        self.filler = threading.Thread(target=self._fill, daemon=True)
        folder.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", folder], check=True)

    def fill(self, run):
        """From now on, and what gets free again as well: a file that is rewritten frees the room of the one before. Whether it
        was full before the run was over."""
        self.filler.start()
        self.is_full.wait(30)
        return run.process.poll() is None and not (run.record() or {}).get("complete")

    def _fill(self):
        with (self.folder / "filler").open("ab", buffering=0) as file:
            while not self.is_over.wait(0.002):
                try:
                    while file.write(b"x" * 4096) == 4096:
                        pass
                except OSError:
                    self.is_full.set()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.is_over.set()
        if self.filler.is_alive():
            self.filler.join()
        subprocess.run(["umount", "-l", self.folder], check=False)


class MemoryLimit:
    """A control group of its own, of either version."""

    def __init__(self, size):
        first = pathlib.Path("/sys/fs/cgroup/memory")
        file = "memory.limit_in_bytes" if first.exists() else "memory.max"
        self.folder = (first if first.exists() else first.parent) / f"collbench-faults-{os.getpid()}"
        self.folder.mkdir()
        (self.folder / file).write_text(str(size))

    def join(self):
        (self.folder / "cgroup.procs").write_text(str(os.getpid()))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.folder.rmdir()


SMALL_SIZES = "8,16,32,64,128,256,512,1K"


def refused_output(run, file, pattern, shown=True):
    """The table is shown, unless it was to be in the file; the file is named, the status is 2."""
    status = run.finish(100)
    said = "\n".join(run.said())
    wrong = [] if status == 2 else [f"status {status}"]
    wrong += [] if str(file) in said and re.search(pattern, said) else [f"not said of {file.name}: {said}"]
    wrong += [] if not shown or "AllReduce" in "".join(run.output) else ["no table"]
    return Seen(wrong, status, None, said.split("\n")[0])


def disk_full(option):
    def trial(bed, random):
        def start(folder, seconds):
            # The record of -J itself lies elsewhere. Rows enough that two passes do not fit into the page that the file has.
            return bed.start(option, folder / "file", seconds=seconds, sizes=SMALL_SIZES), folder / "file"
        return on_full_disk(bed, 16, start, shown=option != "--output")
    return trial


def on_full_disk(bed, kilobytes, start, shown=True):
    """On a busy machine a run may be over before the disk is full: that is no trial, and the next has twice the time."""
    for seconds in (4, 8, 16, 32, 64):
        with SmallDisk(bed.folder / f"disk-{time.monotonic_ns()}", kilobytes) as disk:
            run, file = start(disk.folder, seconds)
            try:
                run.until_measured()
            except AssertionError:
                if run.process.poll() is None:
                    raise
                continue  # it had no time for a row
            if disk.fill(run):
                return refused_output(run, file, "No space left", shown)
            run.finish(100)
    raise AssertionError("the disk was never full in time")


for _option in ("--stream", "--samples", "--csv", "--output"):
    kind(f"disk full under {_option}")(disk_full(_option))


@kind("disk full under -J")
def disk_full_record(bed, random):
    def start(folder, seconds):
        return bed.start(record=folder / "run.json", seconds=seconds), folder / "run.json"
    return on_full_disk(bed, 64, start)


def files_fail(words, **calls):
    def trial(bed, random):
        with FailingFileSystem(pathlib.Path(tempfile.mkdtemp(dir=bed.folder))) as system:
            record, stream = (system.mount_point / name for name in ("run.json", "run.stream"))
            run = bed.start("--stream", stream, record=record, seconds=4)
            run.until_measured()
            system.fail(**calls)
            seen = refused_output(run, record, words)
            said = "\n".join(run.said())
            seen.wrong += [] if re.search(f"{stream}: .*{words}", said) else [f"not said of {stream.name}: {said}"]
            return seen
    return trial


for _name, _words, _calls in (("stale handle", "Stale file handle", {"write": "ESTALE", "create": "ESTALE", "rename": "ESTALE"}),
                              ("quota", "Disk quota exceeded", {"write": "EDQUOT", "create": "EDQUOT"}),
                              ("disk read-only", "Read-only file system", {"write": "EROFS", "create": "EROFS", "rename": "EROFS"})):
    kind(f"{_name} under -J and --stream", "failing files")(files_fail(_words, **_calls))


@kind("output folder deleted")
def folder_deleted(bed, random):
    run = bed.start(seconds=4)
    run.until_measured()
    shutil.rmtree(run.folder)
    return refused_output(run, run.record_path, "No such file|folder")


@kind("two runs into one record")
def two_writers(bed, random):
    first = bed.start(seconds=6)
    first.until_measured()
    second = Run(bed.launch([bed.program, "--ops", "all_reduce", "--sizes", "8", "-n", "5", "-J", first.record_path, "--overwrite"]),
                 bed.environment(), first.folder)
    status = second.finish(60)
    said = second.said()
    wrong = [] if status == 2 and len(said) == 1 and str(first.record_path) in said[0] else [f"the second: {status}, {said}"]
    seen = goes_on(first)
    return Seen(wrong + seen.wrong, status, None, said[0] if said else "")


@kind("stdout closed by its reader")
def broken_pipe(bed, random):
    read, write = os.pipe()
    os.close(read)
    run = bed.start("--format", "json", seconds=3, stdout=write)
    os.close(write)
    status = run.finish(100)
    wrong = check_record(run, True) + [f"left behind: {left}" for left in run.left_behind()]
    return Seen(wrong, status)


@kind("memory limit")
def memory_limit(bed, random):
    with MemoryLimit(1 << 30) as limit:
        run = bed.start(sizes="1G", seconds=5, preexec=limit.join)
        status = run.finish(100)
    said = run.said()
    wrong = [] if status in (2, 5) and len(said) == 1 and "AllReduce 1 GiB" in said[0] else [f"status {status}, {said}"]
    return Seen(wrong + [f"left behind: {left}" for left in run.left_behind()], status, None, said[0] if said else "")


@kind("different binaries")
def different_binaries(bed, random):
    other = bed.folder / "collbench"
    if not other.exists():
        shutil.copy(bed.program, other)
        _change_build_id(pathlib.Path(shutil.copy(bed.program.parent / "libcollbench.so", bed.folder)))

    def launch(command):
        return ["mpirun", "--oversubscribe", "-np", bed.ranks - 1, *command, ":", "-np", 1, other, *command[1:]]
    run = bed.start(launch=launch)
    status = run.finish(60)
    said = run.said()
    wrong = [] if status in (2, 5) and len(said) == 1 and f"rank {bed.ranks - 1}" in said[0] else [f"status {status}, {said}"]
    return Seen(wrong + [f"left behind: {left}" for left in run.left_behind()], status, None, said[0] if said else "")


def _change_build_id(file):
    """The 20 bytes behind the note's name, 'GNU', are the id."""
    content = bytearray(file.read_bytes())
    at = content.index(b"\x04\x00\x00\x00\x14\x00\x00\x00\x03\x00\x00\x00GNU\x00") + 16
    content[at] ^= 0xFF
    file.write_bytes(content)


@kind("Slurm's time limit", "Slurm", most_trials=5)
def slurm_limit(bed, random):
    """The run is asked for more than its job has, and ends in order before Slurm would end it."""
    def launch(command):
        return [*bed.launch([])[:3], "srun", "--mpi=pmix", "--time=1", "-N2", "--ntasks-per-node=2", *command]
    return goes_on(bed.start(seconds=600, launch=launch), r"the job ends in [^:]*: --time is .* instead of 10 min", 100)
