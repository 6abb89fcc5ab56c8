"""collbench under the names of nccl-tests' programs: options, defaults, table, -J file, exit status.

usage: nccl_tests_line_test.py PROGRAM FOLDER_OF_STAND_INS
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

from real_ranks import ENVIRONMENT, mpirun

PROGRAM = pathlib.Path(sys.argv[1]).resolve()
FOLDER = pathlib.Path(sys.argv[2]).resolve()
STAND_INS = {"COLLBENCH_NCCL": str(FOLDER / "libstand_in_nccl_22809.so"), "COLLBENCH_CUDART": str(FOLDER / "libstand_in_cudart.so"),
             "COLLBENCH_KERNELS": str(FOLDER / "libstand_in_kernels.so"), "COLLBENCH_NVML": "/none.so"}


class NcclTestsLine(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_as(self, name, *words, ranks=2, status=0, environment=()):
        """What `name`, a link to the program, prints and says, under mpirun unless `ranks` is 0."""
        link = self.folder / name
        if not link.exists():
            link.symlink_to(PROGRAM)
        done = subprocess.run([*(mpirun(ranks) if ranks else []), str(link), *words], cwd=self.folder, text=True, timeout=120,
                              capture_output=True, check=False, env={**ENVIRONMENT, **dict(environment)})
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    @staticmethod
    def rows(text):
        """The rows as people's scripts take them: lines that begin with a number, between blanks."""
        return [line.split() for line in text.splitlines() if re.match(r"\s*\d", line)]

    def test_a_table_to_the_column(self):
        said = self.run_as("all_reduce_perf", "-b", "8", "-e", "1M", "-f", "4", "-g", "1", "-n", "3")
        rows = self.rows(said.stdout)
        # As nccl-tests does: the largest is no row where no factor leads to it.
        self.assertEqual([int(row[0]) for row in rows], [8 * 4**i for i in range(9)])
        for row in rows:
            self.assertEqual(len(row), 13)
            self.assertEqual(row[2:5], ["float", "sum", "-1"])
            self.assertEqual([row[8], row[12]], ["0", "0"])
            self.assertAlmostEqual(float(row[6]), int(row[0]) / float(row[5]) / 1e3, delta=0.006 + 0.02 * float(row[6]))
        self.assertRegex(said.stdout, r"\n# +size +count +type +redop +root +time +algbw +busbw +#wrong +time +algbw +busbw +#wrong *\n")
        self.assertRegex(said.stdout, r"\n# Out of bounds values : 0 OK\n# Avg bus bandwidth    : [\d.e-]+ \n")
        mean = sum(float(row[i]) for row in rows for i in (7, 11)) / len(rows) / 2
        self.assertAlmostEqual(float(re.search(r"Avg bus bandwidth *: (\S+)", said.stdout)[1]), mean, delta=0.02 + 0.02 * mean)
        self.assertIn("AllReduce float", said.stderr)  # the verdict
        if not os.path.exists("/dev/nvidiactl"):
            self.assertEqual(said.stderr.count("no GPU is seen here: host memory is measured"), 1)

    def test_its_defaults(self):
        said = self.run_as("broadcast_perf", "--record", "run.json")
        record = json.loads((self.folder / "run.json").read_text(encoding="utf-8"))
        self.assertEqual((record["passes"], record["time_reduction"]), (1, "avg"))
        self.assertEqual([row[0] for row in self.rows(said.stdout)], [str(32 << 20)])
        self.assertRegex(said.stdout, r"warmup iters: 1 iters: 20 validation: 1 graph: 0")
        self.assertEqual(self.rows(said.stdout)[0][3:5], ["none", "0"])

    def test_steps_of_bytes_and_all_types(self):
        said = self.run_as("reduce_scatter_perf", "-b", "1M", "-e", "3500K", "-d", "all", "-o", "max", "-n", "1", "-w", "0")
        sizes = [int(row[0]) for row in self.rows(said.stdout)]
        self.assertEqual(sorted(set(sizes)), [1 << 20, 2 << 20, 3 << 20])

    def test_what_has_no_form_in_place(self):
        said = self.run_as("alltoall_perf", "-b", "1K", "-e", "1K", "-n", "2")
        (row,) = self.rows(said.stdout)
        self.assertEqual([len(row), *row[9:]], [13, *4 * ["N/A"]])
        self.assertGreater(float(row[5 - len(row)]), 0)  # the time, as programs take it that count from the end
        (self.folder / "log.txt").write_text(said.stdout, encoding="utf-8")
        read = subprocess.run([PROGRAM, "judge", "log.txt", "--format", "json"], cwd=self.folder, text=True, timeout=60,
                              capture_output=True, check=False).stdout
        self.assertEqual(len(json.loads(read)["rows"]), 1)

    def test_our_own_reader_takes_both(self):
        said = self.run_as("all_gather_perf", "-b", "1M", "-e", "4M", "-f", "2", "-n", "2", "-J", "tests.json", "--record", "run.json")
        (self.folder / "log.txt").write_text(said.stdout, encoding="utf-8")
        written = json.loads((self.folder / "tests.json").read_text(encoding="utf-8"))
        self.assertEqual(written["args"][0], "all_gather_perf")
        self.assertEqual([row["size"] for row in written["results"]], [1 << 20, 2 << 20, 4 << 20])
        ours = json.loads((self.folder / "run.json").read_text(encoding="utf-8"))
        times = sorted(row["seconds"] for row in ours["rows"])
        for log in ("log.txt", "tests.json"):
            with self.subTest(log):
                read = json.loads(subprocess.run([PROGRAM, "judge", log, "--format", "json"], cwd=self.folder, text=True, timeout=60,
                                                 capture_output=True, check=False).stdout)
                again = sorted(row["seconds"] for row in read["rows"])
                self.assertEqual(len(again), 6)
                for mine, theirs in zip(times, again):
                    self.assertAlmostEqual(mine, theirs, delta=1e-8 + 0.001 * mine)

    def test_gpus_of_a_process_are_ranks_where_nobody_launched_more(self):
        said = self.run_as("sendrecv_perf", "-t", "2", "-g", "1", "-b", "1K", "-e", "1K", "-n", "1", ranks=0)
        self.assertIn("#  Rank  1 ", said.stdout)

    def test_each_launched_process_has_its_gpus(self):
        said = self.run_as("all_reduce_perf", "-t", "1", "-g", "2", "-b", "1K", "-e", "4K", "-f", "2", "-n", "2", "--backend", "nccl",
                           "--record", "run.json", environment=STAND_INS)
        record = json.loads((self.folder / "run.json").read_text(encoding="utf-8"))
        self.assertEqual([rank["local_rank"] for rank in record["ranks"]], [0, 1, 2, 3])
        self.assertEqual([row[0] for row in self.rows(said.stdout)], ["1024", "2048", "4096"])
        self.assertEqual(record["process"], {"gpus": 2, "threads": 1})
        self.assertIn("# nThread 1 nGpus 2 minBytes", said.stdout)
        self.assertNotIn("no GPU is seen", said.stderr)
        # What is wrong is said once, with its status.
        said = self.run_as("all_reduce_perf", "-g", "2", "--backend", "nccl", "--no-such-option", environment=STAND_INS, status=2)
        self.assertEqual(said.stderr.count("no-such-option"), 1, said.stderr)

    def test_a_process_has_threads_and_each_of_them_gpus(self):
        self.run_as("all_reduce_perf", "-t", "2", "-g", "2", "-b", "1K", "-e", "1K", "-n", "2", "--backend=nccl", "-J", "tests.json",
                    "--record", "run.json", ranks=0, environment=STAND_INS)
        record = json.loads((self.folder / "run.json").read_text(encoding="utf-8"))
        self.assertEqual((record["process"], len(record["ranks"])), ({"gpus": 4, "threads": 2}, 4))
        self.assertEqual({row["wrong_elements"] for row in record["rows"]}, {0})
        config = json.loads((self.folder / "tests.json").read_text(encoding="utf-8"))["config"]
        self.assertEqual((config["nthreads"], config["ngpus"], len(config["devices"])), (2, 2, 4))

    def test_sizes_that_do_not_fit_are_left_out(self):
        # No machine here has a terabyte.
        said = self.run_as("all_reduce_perf", "-b", "1M", "-e", "1024G", "-f", "100000", "-n", "1")
        self.assertEqual([row[0] for row in self.rows(said.stdout)], [str(1 << 20)])
        self.assertRegex(said.stderr, r"sizes above 1 MiB are left out: the (largest )?row")

    def test_the_exit_status_is_of_the_data_and_of_the_least_that_is_asked_for(self):
        line = ("all_reduce_perf", "-b", "1M", "-e", "1M", "-n", "2")
        self.run_as(*line, environment={"NCCL_TESTS_MIN_BW": "0.001"})
        said = self.run_as(*line, status=1, environment={"NCCL_TESTS_MIN_BW": "999999"})
        self.assertIn("AllReduce on average: ", said.stderr)
        self.assertIn("NCCL_TESTS_MIN_BW: the average has to reach 0.9 of it, ", said.stderr)
        # A verdict never changes it: this is no such machine.
        self.run_as(*line, "--fail-on", "none")

    def test_variables_that_ask_for_another_measurement_are_refused(self):
        line = ("-b", "1K", "-e", "1K", "-n", "1")
        for name in ("NCCL_TESTS_SPLIT", "NCCL_TESTS_SPLIT_MASK"):
            said = self.run_as("all_reduce_perf", *line, environment={name: "MOD 2"}, status=2)
            self.assertIn(f"collbench: {name}: it asks for groups of ranks side by side", said.stderr)
        matrix = {"NCCL_TESTS_ALLTOALLV_MATRIX_FILE": "matrix.txt"}
        self.assertIn("--counts FILE", self.run_as("alltoallv_perf", *line, environment=matrix, status=2).stderr)
        self.run_as("alltoall_perf", *line, environment=matrix)
        self.assertIn("CUDA_VISIBLE_DEVICES chooses", self.run_as("all_reduce_perf", *line, environment={"NCCL_TESTS_DEVICE": "1"}).stderr)

    def test_nothing_is_said_of_data_that_nobody_checked(self):
        said = self.run_as("all_reduce_perf", "-b", "1K", "-e", "1K", "-n", "1", "-c", "0", "-J", "tests.json")
        self.assertIn("\n# data: not checked, ", said.stdout)
        self.assertEqual(self.rows(said.stdout)[0][8], "N/A")
        written = json.loads((self.folder / "tests.json").read_text(encoding="utf-8"))
        self.assertEqual(written["out_of_bounds"]["okay"], "unchecked")
        self.assertNotIn("not checked", self.run_as("all_reduce_perf", "-b", "1K", "-e", "1K", "-n", "1").stdout)

    def test_memory_is_told_as_nccl_tests_tells_it_and_read_past(self):
        line = ("all_reduce_perf", "-b", "1M", "-e", "2M", "-f", "2", "-n", "1", "--backend", "nccl")
        said = self.run_as(*line, "-M", "1", environment=STAND_INS)
        self.assertRegex(said.stdout, r"\n# GPU memory usage     : Initialization 0\.00 B \| User-Allocated 4\.00 MB \| Collective 0\.00 B "
                                      r"\| Total  4\.00 MB\n#\n$")
        self.assertNotIn("-M is not done", said.stderr)
        self.assertNotIn("GPU memory usage", self.run_as(*line, environment=STAND_INS).stdout)
        (self.folder / "log.txt").write_text(said.stdout, encoding="utf-8")
        read = subprocess.run([PROGRAM, "judge", "log.txt", "--format", "json"], cwd=self.folder, text=True, timeout=60,
                              capture_output=True, check=False)
        self.assertEqual([row["size_bytes"] for row in json.loads(read.stdout)["rows"]], 2 * [1 << 20] + 2 * [2 << 20], read.stderr)

    def test_what_is_not_done_is_said_or_refused(self):
        said = self.run_as("all_reduce_perf", "-b", "1K", "-e", "1K", "-n", "1", "-S", "1", "-y", "1")
        self.assertEqual(len(re.findall(r"collbench: -[Sy] is not done: ", said.stderr)), 2)
        self.assertIn("-D", self.run_as("all_reduce_perf", "-D", "1", "-R", "2", status=2).stderr)
        self.assertIn("4M is above -e 1M", self.run_as("all_reduce_perf", "-b", "4M", "-e", "1M", status=2).stderr)

    def test_other_names_are_collbench(self):
        for name in ("perf", "_perf", "all_reduce_perf2"):
            (self.folder / name).symlink_to(PROGRAM)
            said = subprocess.run([self.folder / name, "--version"], text=True, timeout=60, capture_output=True, check=True,
                                  env=os.environ)
            self.assertTrue(said.stdout.startswith("collbench "), name)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
