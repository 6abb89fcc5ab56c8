#!/usr/bin/env python3
"""What `--evidence` of a run and of `collbench report` archives, and what --anonymous leaves of the hosts' names.

usage: evidence_test.py PROGRAM SOURCE_FOLDER [unittest arguments]
"""
import hashlib
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
import unittest

PROGRAM, SOURCE = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
RECORD = SOURCE / "tests/records/host2.json"


def report(*words, **environment):
    done = subprocess.run([PROGRAM, "report", *words], capture_output=True, text=True, check=False, timeout=200,
                          env={**os.environ, "LC_ALL": "C.UTF-8", **environment})
    return done.returncode, done.stdout, done.stderr


class Archive(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.archive = self.folder / "evidence.tar.gz"

    def record(self, *hosts, **changes):
        """The record of a run, with these hosts' names in place of its own."""
        run = json.loads(RECORD.read_text())
        for rank, host in zip(run["ranks"], hosts):
            rank["host"] = host
        file = self.folder / "run.json"
        file.write_text(json.dumps({**run, **changes}))
        return file

    def archived(self):
        with tarfile.open(self.archive) as archive:
            return {member.name: archive.extractfile(member).read() for member in archive.getmembers() if member.isfile()}


class Evidence(Archive):
    def test_holds_each_document_and_their_sums(self):
        status, page, said = report(RECORD, "--evidence", self.archive)
        self.assertEqual(status, 0, said)
        self.assertIn("AllReduce", page)
        self.assertRegex(said, f"wrote {self.archive}: it ")
        self.assertIn("may name hosts, users, folders, addresses and serial numbers; look", said)
        files = self.archived()
        names = {"contents.txt", "nccl-tests.txt", "report.html", "report.txt", "run.json", "ticket.txt"}
        self.assertLessEqual({f"evidence/{name}" for name in names | {"SHA256SUMS"}}, set(files))
        self.assertIn(b"NOT THERE: logs, the kernel's messages", files["evidence/contents.txt"])
        sums = dict(reversed(line.split("  ", 1)) for line in files.pop("evidence/SHA256SUMS").decode().splitlines())
        self.assertEqual(sums, {name.removeprefix("evidence/"): hashlib.sha256(text).hexdigest() for name, text in files.items()})
        rows = [json.loads(text)["rows"] for text in (files["evidence/run.json"], RECORD.read_text())]
        self.assertEqual(*([row["seconds"] for row in each] for each in rows))

    def test_counters_of_errors_stand_in_a_file(self):
        counts = [{"host": "gpu-a17", "counter": "mlx5_0/1 symbol_error", "before": 3, "after": 41}]
        report(self.record("gpu-a17", "gpu-a17", error_counts=counts), "--evidence", self.archive, "--anonymous")
        files = self.archived()
        self.assertEqual(files["evidence/error-counters.txt"], b"host0: mlx5_0/1 symbol_error: 3 before the run, 41 after it\n")
        self.assertIn(b"error-counters.txt", files["evidence/contents.txt"])

    def test_holds_the_other_files_and_folders(self):
        saved = self.folder / "node1"
        (saved / "deep").mkdir(parents=True)
        (saved / "deep/dmesg.txt").write_text("quiet\n")
        log = self.folder / "run.log"
        log.write_bytes(b"\x00binary\xff")
        self.assertEqual(report(RECORD, "--evidence", self.archive, "--with", log, f"{saved}/")[0], 0)
        files = self.archived()
        self.assertIn(b"Other files are what --with named", files["evidence/contents.txt"])
        self.assertEqual(files["evidence/node1/deep/dmesg.txt"], b"quiet\n")
        self.assertEqual(files["evidence/run.log"], b"\x00binary\xff")
        self.assertIn(b"  node1/deep/dmesg.txt\n", files["evidence/SHA256SUMS"])

    def test_no_name_of_a_host_is_left(self):
        record = self.record("gpu-a17.dc1.example.com", "gpu-a18", load_notes=["gpu-a17 was busy; gpu-a170 was not"],
                             environment={"SLURM_JOB_NODELIST": "gpu-a[17-18]", "NCCL_DEBUG": "WARN"},
                             command_line=["collbench", "--hosts", "gpu-a17:8,gpu-a18:8"])
        log = self.folder / "gpu-a18.log"
        log.write_text("Nov 29 gpu-a18.dc1.example.com kernel: NVRM\ngpu-a17:123:456 [0] NCCL INFO\n(gpu-a[17-18]) gpu-b7 gpu-a\n"
                       "GPU-A17 gpu-a17-ib0 run-gpu-a18.log \x1b[32mgpu-a17 gpu-a170\ngpu-a[17 broken\ngpu[0] util]\nlast")
        record_out = self.folder / "public.json"
        status, page, said = report(record, "--evidence", self.archive, "--with", log, "--anonymous", "-J", record_out, "-o", "-")
        self.assertEqual(status, 0, said)
        self.assertNotIn("hosts, users", said)
        files = self.archived()
        self.assertEqual(files["evidence/host1.log"].decode(),
                         "Nov 29 host1 kernel: NVRM\nhost0:123:456 [0] NCCL INFO\n(hosts) gpu-b7 gpu-a\n"
                         "host0 host0-ib0 run-host1.log \x1b[32mhost0 gpu-a170\ngpu-a[17 broken\ngpu[0] util]\nlast")
        for name, text in {**files, "stdout": page.encode(), "-J": record_out.read_bytes()}.items():
            self.assertIsNone(re.search(rb"gpu-a1[78](?!\d)|dc1[.]example", text, re.IGNORECASE), name)
            self.assertIsNone(re.search("gpu-a1[78]", name))
        run = json.loads(record_out.read_text())
        self.assertEqual([rank["host"] for rank in run["ranks"]][:2], ["host0", "host1"])
        self.assertEqual(run["load_notes"], ["host0 was busy; gpu-a170 was not"])
        self.assertEqual(run["environment"], {"SLURM_JOB_NODELIST": "hosts", "NCCL_DEBUG": "WARN"})
        self.assertEqual(run["command_line"], ["collbench", "--hosts", "host0:8,host1:8"])

    def test_a_host_may_be_called_as_a_key_of_the_record(self):
        record_out = self.folder / "public.json"
        status, _, said = report(self.record("rows", "host1"), "--anonymous", "-J", record_out)
        self.assertEqual(status, 0, said)
        self.assertEqual([rank["host"] for rank in json.loads(record_out.read_text())["ranks"]][:2], ["host0", "host1"])

    def test_a_host_that_is_called_as_numbers_or_words_of_records_is_refused(self):
        for host in ("17", "10.0.0.1", "MPI", "float"):
            status, page, said = report(self.record(host, host), "--anonymous")
            self.assertEqual((status, page), (2, ""), said)
            self.assertIn("--anonymous: ", said)
            self.assertEqual(said.count("\n"), 1, said)

    def test_names_that_nobody_knows_are_not_passed_off_as_replaced(self):
        status, page, said = report(self.record("", "", cluster=None), "--anonymous", "--evidence", self.archive, "--with", RECORD)
        self.assertEqual((status, page), (2, ""), said)
        self.assertIn("names no host", said)

    def test_secrets_are_left_out(self):
        report(self.record(command_line=["env", "API_TOKEN=hunter2", "collbench"]), "--evidence", self.archive)
        for name, text in self.archived().items():
            self.assertFalse(b"hunter2" in text, name)

    def test_what_cannot_be_done_is_said_before_anything_is_written(self):
        same = self.folder / "other"
        same.mkdir()
        (same / "ticket.txt").mkdir()
        (same / "ticket.txt/node1").write_text("")
        (same / "SHA256SUMS").write_text("")
        (same / "log.gz").write_bytes(b"\x1f\x8b\x08\x00")
        (same / "run.json").write_text("{}")
        os.mkfifo(same / "pipe")
        self.archive.write_text("precious")
        for words, reason in ((("--evidence", self.archive), "exists"),
                              (("--with", RECORD), "add --evidence FILE.tar.gz"),
                              (("--evidence", self.folder / "missing/a.tar.gz"), "missing"),
                              (("--evidence", self.archive, "--overwrite", "--with", self.folder / "none.log"), "none.log"),
                              (("--evidence", self.archive, "--overwrite", "--with", same / "run.json"), "the archive has a run.json already"),
                              (("--evidence", "-"), "name a file"),
                              (("--evidence", self.archive, "--overwrite", "--with", same / "pipe"), "pipe is neither a file nor a folder"),
                              (("--evidence", self.archive, "--overwrite", "-J", self.archive), "the same file as -J"),
                              (("--evidence", self.archive, "--overwrite", "--with", same / "ticket.txt"), "ticket.txt/node1 already"),
                              (("--evidence", self.archive, "--overwrite", "--with", same / "SHA256SUMS"), "SHA256SUMS already"),
                              (("--evidence", self.archive, "--overwrite", "--anonymous", "--with", same / "log.gz"), "log.gz is no text"),
                              (("--evidence", self.archive, "--overwrite", "-J", self.folder / "new.json", "--with", RECORD, RECORD),
                               "two files would be called host2.json")):
            with self.subTest(words=words):
                status, page, said = report(RECORD, *words)
                self.assertEqual((status, page), (2, ""), said)
                self.assertIn(reason, said)
                self.assertEqual(said.count("\n"), 1, said)
        self.assertEqual(self.archive.read_text(), "precious")
        self.assertFalse((self.folder / "new.json").exists())

    def test_without_tar_it_says_what_to_do(self):
        tools = self.folder / "tools"
        tools.mkdir()
        for tool in ("env", "sha256sum"):
            (tools / tool).symlink_to(f"/usr/bin/{tool}")
        status, _, said = report(RECORD, "--evidence", self.archive, PATH=str(tools))
        self.assertEqual(status, 5)
        self.assertIn("tar: No such file or directory", said)
        self.assertFalse(self.archive.exists())


class OfARun(Archive):
    """The same file, made by the run itself."""
    WORDS = ("--backend", "mpi", "--ops", "all_reduce", "--sizes", "4K", "--color", "never", "--progress", "never")

    def run_of(self, *words, ranks=1, **environment):
        launcher = ["mpirun", "--oversubscribe", "--allow-run-as-root", "-np", str(ranks)] if ranks > 1 else []
        return subprocess.Popen([*launcher, str(PROGRAM), *self.WORDS, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                text=True, env={**os.environ, "LC_ALL": "C.UTF-8", **environment})

    def test_is_what_report_makes_of_its_record(self):
        record, log = self.folder / "run.json", self.folder / "run.log"
        log.write_text(f"on {os.uname().nodename}\n")
        run = self.run_of("--time", 1, "-J", record, "--evidence", self.archive, "--with", log, "--anonymous")
        out, said = run.communicate(timeout=100)
        self.assertEqual(run.returncode, 0, said)
        self.assertIn("AllReduce", out)
        self.assertEqual(said, f"collbench: wrote {self.archive}: it may name users, folders, addresses and serial numbers, "
                               "and secrets in the files of --with stay; look through it first\n")
        made = self.archived()
        self.assertEqual(made["evidence/run.log"], b"on host0\n")
        self.assertIn(b"A run that was measured to its end.", made["evidence/contents.txt"])
        self.assertEqual(report(record, "--evidence", self.archive, "--overwrite", "--with", log, "--anonymous")[0], 0)
        self.assertEqual(made, self.archived())

    def test_a_folder_around_it_is_packed_without_the_archive_itself(self):
        (self.folder / "node1").write_text("quiet\n")
        for _ in range(2):
            run = self.run_of("--time", 1, "--evidence", self.archive, "--overwrite", "--with", self.folder, "--anonymous")
            self.assertEqual(run.wait(timeout=100), 0, run.communicate()[1])
            others = {name for name in self.archived() if name.count("/") > 1}
            self.assertEqual(others, {f"evidence/{self.folder.name}/node1"})

    def test_a_file_that_is_gone_at_the_end_costs_nothing_that_was_measured(self):
        log = self.folder / "run.log"
        log.write_text("quiet\n")
        run = self.run_of("--time", 3, "--evidence", self.archive, "--with", log)
        begun = time.monotonic()
        while time.monotonic() < begun + 60 and not self.archive.exists():
            time.sleep(0.1)
        log.unlink()
        _, said = run.communicate(timeout=100)
        self.assertIn("run.log", said)
        self.assertNotEqual(run.returncode, 0)
        self.assertIn(b"A run that was measured to its end.", self.archived()["evidence/contents.txt"])

    def test_what_cannot_be_made_is_said_before_anything_is_measured(self):
        (self.folder / "run.json").write_text("{}")
        os.mkfifo(self.folder / "pipe")
        (self.folder / "bin").mkdir()
        for words, status, reason in ((("--evidence", self.folder / "missing/a.tar.gz"), 2, "missing"),
                                      (("--evidence", RECORD), 2, "exists"),
                                      (("--evidence", self.archive, "--with", self.folder / "none.log"), 2, "none.log"),
                                      (("--evidence", self.archive, "--with", self.folder / "pipe"), 2, "neither a file nor a folder"),
                                      (("--evidence", self.archive, "--with", self.folder / "run.json"), 2, "the archive has a run.json already"),
                                      (("--anonymous",), 2, "add --evidence FILE.tar.gz"),
                                      (("--with", RECORD), 2, "add --evidence FILE.tar.gz"),
                                      (("--evidence", self.archive), 5, "env: No such file or directory")):
            with self.subTest(words=words):
                run = self.run_of("--time", 300, *words, **({"PATH": str(self.folder / "bin")} if status == 5 else {}))
                out, said = run.communicate(timeout=20)
                self.assertEqual((run.returncode, out), (status, ""), said)
                self.assertIn(reason, said)
                self.assertFalse(self.archive.exists())

    def test_a_soak_that_is_cut_short_is_not_complete(self):
        record = self.folder / "run.json"
        run = self.run_of("--soak", 5, "-J", record)
        begun = time.monotonic()
        while time.monotonic() < begun + 60 and not record.exists():
            time.sleep(0.1)
        run.terminate()
        _, said = run.communicate(timeout=60)
        self.assertEqual(run.returncode, 4, said)
        self.assertFalse(json.loads(record.read_text())["complete"])

    def test_large_files_are_packed_once(self):
        log = self.folder / "run.log"
        log.write_text("on node1: 0123456789\n" * 1_000_000)
        run = self.run_of("-N", 10000, "--time", 300, "--evidence", self.archive, "--with", log)
        begun = time.monotonic()
        while time.monotonic() < begun + 60 and not (self.archive.exists() and self.rows()):
            time.sleep(0.1)
        self.assertNotIn("evidence/run.log", self.archived())
        run.terminate()
        _, said = run.communicate(timeout=60)
        self.assertEqual(len(self.archived().get("evidence/run.log", b"")), 21_000_000, said)

    def test_a_run_that_is_cut_short_leaves_what_it_measured(self):
        for ending, ranks, record in ((signal.SIGTERM, 1, ()), (signal.SIGKILL, 2, ()), (signal.SIGKILL, 2, ("-J", self.folder / "run.json"))):
            with self.subTest(ending=ending, record=record):
                run = self.run_of("-N", 10000, "--time", 300, "--evidence", self.archive, "--overwrite", *record, ranks=ranks)
                begun = time.monotonic()
                while time.monotonic() < begun + 60 and not (self.archive.exists() and self.rows()):
                    time.sleep(0.1)
                ranks_of = subprocess.run(["pgrep", "-P", str(run.pid), "-x", "collbench"], capture_output=True, text=True, check=False).stdout.split()
                os.kill(int(ranks_of[-1]) if ranks_of else run.pid, ending)
                _, said = run.communicate(timeout=60)
                self.assertTrue(self.rows(), said)
                self.assertIn(b"A run that is not complete.", self.archived()["evidence/contents.txt"])
                if record:
                    self.assertIsNotNone(json.loads(self.archived()["evidence/run.json"])["incident"], said)
                self.archive.unlink()

    def rows(self):
        """How often its row was measured."""
        return len(json.loads(self.archived()["evidence/run.json"])["rows"][0]["pass_seconds"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
