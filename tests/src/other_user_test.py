#!/usr/bin/env python3
"""What another user of the host can do to a run: nothing (SECURITY.md). As root, who makes the other user; else skipped.

usage: other_user_test.py PROGRAM [unittest arguments]
"""
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

from real_ranks import ENVIRONMENT, mpirun, run

PROGRAM = pathlib.Path(sys.argv[1]).resolve()
OTHER = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "--"]
PYTHON = next(path for path in ("/usr/bin/python3", sys.executable) if pathlib.Path(path).exists())  # of everybody
SMALL = ("--ops", "all_reduce", "--sizes", "8", "-n", "20", "--passes", "2", "--calibration", "none")


def as_other(script, *words):
    """Python of the other user; what it printed. An error that it meets is printed as its errno's name."""
    guarded = ("import errno, os, sys\ntry:\n" + "".join(f"    {line}\n" for line in script.splitlines()) +
               "except OSError as error:\n    print(errno.errorcode[error.errno])\n")
    return subprocess.run([*OTHER, PYTHON, "-c", guarded, *map(str, words)], capture_output=True, text=True, check=True,
                          timeout=60).stdout.split()


@unittest.skipIf(os.geteuid() != 0, "only root can be another user, too")
class ARunThatGoesOn(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.folder.chmod(0o755)
        cls.record = cls.folder / "run.json"
        cls.job = subprocess.Popen(mpirun(2, PROGRAM, "--ops", "all_reduce", "--sizes", "8", "-N", "0", "--time", "100", "--calibration", "none",
                                          "-J", cls.record), env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        cls.addClassCleanup(cls.end)
        while not cls.record.exists() and cls.job.poll() is None:
            time.sleep(0.05)
        cls.ranks = [int(each) for task in pathlib.Path(f"/proc/{cls.job.pid}/task").iterdir() for each in (task / "children").read_text().split()]
        cls.pages = [page for page in pathlib.Path("/dev/shm").glob("collbench-flight-0-*/rank-*")
                     if int.from_bytes(page.read_bytes()[20:24], sys.byteorder) in cls.ranks]

    @classmethod
    def end(cls):
        if cls.job.poll() is None:
            cls.job.send_signal(signal.SIGINT)
        cls.job.communicate(timeout=60)

    def test_is_not_signaled(self):
        for rank in self.ranks:
            self.assertEqual(as_other("os.kill(int(sys.argv[1]), 9)", rank), ["EPERM"])

    def test_its_pages_are_neither_read_nor_written(self):
        self.assertEqual(len(self.pages), 2)
        for page in self.pages:
            self.assertEqual(as_other("open(sys.argv[1], 'rb')", page), ["EACCES"])
            self.assertEqual(as_other("os.listdir(os.path.dirname(sys.argv[1]))", page), ["EACCES"])
            self.assertEqual(as_other("os.unlink(sys.argv[1])", page), ["EACCES"])
            self.assertIn(as_other("os.rename(os.path.dirname(sys.argv[1]), '/dev/shm/taken')", page), (["EPERM"], ["EACCES"]))

    def test_its_lock_cannot_be_taken(self):
        lock = self.folder / ".run.json.lock"
        self.assertTrue(lock.exists())
        self.assertEqual(as_other("os.open(sys.argv[1], os.O_RDONLY)", lock), ["EACCES"])

    def test_its_environment_with_the_secret_is_not_read(self):
        for rank in self.ranks:
            self.assertEqual(as_other("open(f'/proc/{sys.argv[1]}/environ', 'rb')", rank), ["EACCES"])


@unittest.skipIf(os.geteuid() != 0, "only root can be another user, too")
class NamesThatAreTaken(unittest.TestCase):
    """In a folder of everybody, as /tmp is."""

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.folder.chmod(0o1777)
        self.mine = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory())) / "mine"
        self.mine.write_text("mine\n")

    def test_a_link_in_the_way_of_a_file_leads_nowhere(self):
        for option, names in (("-J", (".run.json.lock", "run.json")), ("--csv", ("run.json",)), ("--stream", (".run.json.lock", "run.json"))):
            for name in names:
                with self.subTest(option=option, name=name):
                    link = self.folder / name
                    as_other("os.symlink(sys.argv[1], sys.argv[2])", self.mine, link)
                    self.assertTrue(link.is_symlink())
                    done = run(*mpirun(1, PROGRAM, *SMALL, option, self.folder / "run.json", "--overwrite"))
                    self.assertEqual(self.mine.read_text(), "mine\n", done.stderr)
                    self.assertIn(done.returncode, (0, 2), done.stderr)
                    for left in self.folder.iterdir():
                        left.unlink()

    def test_a_folder_in_the_way_of_the_flight_recorder_is_not_used(self):
        """Of ranks without MPI its name can be known before: the other user is first."""
        for is_taken in (False, True):
            with socket.socket() as free:
                free.bind(("127.0.0.1", 0))
                port = free.getsockname()[1]
            folder = pathlib.Path(f"/dev/shm/collbench-flight-0-meeting-127.0.0.1-{port}")
            if is_taken:
                as_other("os.mkdir(sys.argv[1], 0o777)", folder)
            rank = subprocess.Popen([PROGRAM, "--rendezvous", f"127.0.0.1:{port}", "--rank", "0", "--ranks", "2", *SMALL],
                                    env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            try:
                self.assertIn("rank 0 is waiting", rank.stderr.readline())  # it has its recorder, or none
                self.assertTrue(folder.exists())
                self.assertEqual([page.name for page in folder.iterdir()], [] if is_taken else ["rank-0"])
            finally:
                rank.kill()
                rank.communicate()
                shutil.rmtree(folder, ignore_errors=True)


@unittest.skipIf(os.geteuid() != 0, "only root can be another user, too")
class RanksThatMeetWithoutMpi(unittest.TestCase):
    def test_the_secret_is_read_by_nobody_else(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        rank = subprocess.Popen([PROGRAM, "--rendezvous", f"127.0.0.1:{port}", "--rank", "0", "--ranks", "2", *SMALL],
                                env={**ENVIRONMENT, "COLLBENCH_SECRET": "hunter2hunter2"}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            time.sleep(0.5)
            self.assertEqual(as_other("open(f'/proc/{sys.argv[1]}/environ', 'rb')", rank.pid), ["EACCES"])
        finally:
            rank.kill()
            rank.wait()


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
