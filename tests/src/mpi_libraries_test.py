#!/usr/bin/env python3
"""The one program under MPICH's launcher, and where no MPI can be loaded.

Usage: mpi_libraries_test.py PROGRAM [unittest arguments]      (exit 77: skipped)
"""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

PROGRAM = str(pathlib.Path(sys.argv[1]).resolve())
HYDRA = shutil.which("mpiexec.hydra")
HAS_MPICH = HYDRA and (pathlib.Path(PROGRAM).parent / "libcollbench_mpich.so").exists()
ENVIRONMENT = {
    **{key: value for key, value in os.environ.items() if not key.startswith(("PMI", "OMPI_", "SLURM_", "COLLBENCH_"))},
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
}
QUICK = ["--sizes", "8,4K", "--passes", "1", "-n", "2", "-w", "0", "--time", "20"]


def run(*words, environment=None, **options):
    return subprocess.run(words, env={**ENVIRONMENT, **(environment or {})}, capture_output=True, text=True, timeout=200,
                          stdin=subprocess.DEVNULL, check=False, **options)


class OpenMpiUnderAPrefix(unittest.TestCase):
    """As HPC-X and clusters' modules have it: mpirun in PREFIX/bin, libmpi in PREFIX/lib, and neither in PATH or LD_LIBRARY_PATH."""

    def test_ranks_load_the_libmpi_of_their_mpirun(self):
        with tempfile.TemporaryDirectory() as prefix:
            linked = subprocess.run(["ldd", pathlib.Path(PROGRAM).parent / "libcollbench_open_mpi.so"], capture_output=True, text=True, check=True).stdout
            libmpi = next(line.split()[2] for line in linked.splitlines() if "libmpi.so.40 =>" in line)
            for folder, file in (("bin", shutil.which("mpirun")), ("lib", libmpi)):
                os.mkdir(f"{prefix}/{folder}")
                shutil.copy(file, f"{prefix}/{folder}/{'mpirun' if folder == 'bin' else 'libmpi.so.40'}")
            for wrapper in ([], ["bash", "-c", "\"$@\"; exit $?", "wrapper"]):
                result = run(f"{prefix}/bin/mpirun", "-np", "2", "--oversubscribe", *wrapper, PROGRAM, *QUICK,
                             environment={"LD_DEBUG": "files", "LD_DEBUG_OUTPUT": f"{prefix}/loaded"})
                self.assertEqual(result.returncode, 0, result.stderr)
                loaded = re.findall(r"calling init: (.*/libmpi\.so\.40)", "".join(file.read_text() for file in pathlib.Path(prefix).glob("loaded.*")))
                self.assertEqual(loaded, [f"{prefix}/lib/libmpi.so.40"] * 2)
                for file in pathlib.Path(prefix).glob("loaded.*"):
                    file.unlink()


@unittest.skipUnless(HAS_MPICH, "MPICH's launcher and header are not here (scripts/setup test)")
class Mpich(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.record = pathlib.Path(folder.name) / "run.json"

    def test_runs_every_operation(self):
        result = run(HYDRA, "-n", "2", PROGRAM, "--ops", "all", *QUICK, "-J", str(self.record))
        self.assertEqual(result.returncode, 0, result.stderr)
        record = json.loads(self.record.read_text())
        self.assertTrue(record["versions"]["mpi"].startswith("MPICH 4"), record["versions"])
        self.assertEqual(len(record["ranks"]), 2)
        self.assertGreaterEqual(len({row["operation"] for row in record["rows"]}), 10)
        self.assertEqual({row["wrong_elements"] for row in record["rows"]}, {0})

    def assert_two_ranks_of_mpich(self, *words, environment):
        result = run(*words, *QUICK, "-J", str(self.record), "--overwrite", environment=environment)
        self.assertEqual(result.returncode, 0, result.stderr)
        record = json.loads(self.record.read_text())
        self.assertTrue(record["versions"]["mpi"].startswith("MPICH 4"), record["versions"])
        self.assertEqual(len(record["ranks"]), 2)

    def test_in_a_shell_of_another_launcher(self):
        self.assert_two_ranks_of_mpich(HYDRA, "-n", "2", PROGRAM, environment={"PMIX_RANK": "0"})

    def test_its_mpirun_is_the_first_on_path(self):
        folder = self.record.parent
        (folder / "mpirun").write_text(f'#!/bin/sh\nexec {HYDRA} "$@"\n')  # which looks beside itself for its proxy
        (folder / "mpirun").chmod(0o755)
        self.assert_two_ranks_of_mpich(PROGRAM, "-g", "2", environment={"PATH": f"{folder}:{os.environ['PATH']}"})

    def test_of_another_mpi_is_refused_once(self):
        result = run(HYDRA, "-n", "2", PROGRAM, *QUICK, environment={"COLLBENCH_MPI": "openmpi"})
        self.assertEqual(result.stderr.count("it is not the launcher of Open MPI"), 1, result.stderr)
        self.assertIn("COLLBENCH_MPI", result.stderr)
        self.assertNotEqual(result.returncode, 0)

    def test_no_mpi_is_mixed_with_another(self):
        folder = self.record.parent
        for name in ("collbench", "libcollbench.so", "libcollbench_open_mpi.so", "libcollbench_mpich.so"):
            shutil.copy(pathlib.Path(PROGRAM).parent / name, folder)
        program, module = str(folder / "collbench"), folder / "libcollbench_mpich.so"

        def refused(says, environment):
            result = run(program, *QUICK, environment=environment)
            self.assertEqual(result.returncode, 5, result.stderr)
            self.assertRegex(result.stderr, "^collbench: (rank 0 .*: )?MPI: " + says)
            self.assertEqual(result.stderr.count("\n"), 1, result.stderr)

        refused("libcollbench_open_mpi.so is meant for openmpi, and the MPI of this process is MPICH", {"LD_PRELOAD": "libmpich.so.12"})
        source = folder / "other.c"
        source.write_text("static long none[16]; void *collbench_mpi_functions(void) { return none; }")
        subprocess.run(["cc", "-shared", "-fPIC", "-o", module, source], check=True)
        refused(".*libcollbench_mpich.so belongs to another version of collbench", {"COLLBENCH_MPI": "mpich"})
        # MPICH itself is loaded by then: Open MPI's functions would be mixed with it.
        module.write_bytes(b"")
        refused(".*libcollbench_mpich.so: file too short", {"PMI_RANK": "0", "PMI_SIZE": "1"})
        module.unlink()
        result = run(program, *QUICK, environment={"PMI_RANK": "0", "PMI_SIZE": "1"})
        self.assertEqual(result.returncode, 0, result.stderr)  # nothing of it was loaded

    def test_names_a_stopped_rank(self):
        ranks = subprocess.Popen([HYDRA, "-n", "2", PROGRAM, "--sizes", "8", "--time", "50", "-T", "3"], env=ENVIRONMENT,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL)
        self.addCleanup(ranks.kill)
        for line in ranks.stdout:  # the header: MPI has started
            if "meas/exp" in line:
                break
        of_them = subprocess.run(["pgrep", "--full", f"^{PROGRAM} --sizes 8 --time 50 -T 3"], capture_output=True, text=True, check=True)
        os.kill(int(of_them.stdout.split()[-1]), signal.SIGSTOP)
        _, stderr = ranks.communicate(timeout=200)
        self.assertRegex(stderr, r"timed out after 3 s without progress: rank [01] \(.*\) is stopped")
        # mpiexec.hydra ends the stopped rank by SIGKILL once the other has ended with 4, and ends with the OR of all ranks' wait
        # statuses, where a signal counts first (hydra, mpiexec.c, get_exit_status), unless that rank's is preset to 0 before
        self.assertIn(ranks.returncode, (4, signal.SIGKILL))


@unittest.skipUnless(run("unshare", "--mount", "true").returncode == 0, "only root may hide libraries from a process")
class WithoutMpi(unittest.TestCase):
    """Each libmpi of this machine is an empty file."""

    def run_without(self, *words, environment=None):
        hide = "ldconfig -p | sed -n 's/^\\tlib\\(mpi\\|mpich\\)\\.so\\..* => //p' | xargs -n 1 readlink -f | sort -u | " \
               "while read -r file; do mount --bind /dev/null \"$file\"; done; exec \"$@\""
        return run("unshare", "--mount", "bash", "-c", hide, "bash", *words, environment=environment)

    def test_what_measures_nothing_works(self):
        result = self.run_without(PROGRAM, "predict", "--topology", "hgx-h100", "--nodes", "2")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stderr, "")
        result = self.run_without(PROGRAM, "--version")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stdout, r"MPI: +not found \(no MPI library: openmpi: .*; mpich: ")

    def test_host_memory_is_refused_with_what_was_tried(self):
        for launcher, order in (({}, "openmpi: .*; mpich: "), ({"PMI_RANK": "0", "PMI_SIZE": "2"}, "mpich: .*; openmpi: ")):
            result = self.run_without(PROGRAM, *QUICK, environment=launcher)
            self.assertEqual(result.returncode, 5, result.stderr)
            self.assertRegex(result.stderr, f"^collbench: (rank 0 .*: )?MPI: no MPI library: {order}")
            self.assertIn("--rendezvous", result.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
