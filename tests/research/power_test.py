#!/usr/bin/env python3
"""What research/power.py makes of a log is a slower run to the program, and docs/notes/power.md is what it writes.

Usage: power_test.py PROGRAM SOURCE_FOLDER [unittest arguments]. The document is skipped without COLLBENCH_CORPUS.
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM = pathlib.Path(sys.argv[1])
SOURCE = pathlib.Path(sys.argv[2])
sys.path.insert(0, str(SOURCE / "research"))
import power  # noqa: E402

INPUTS = SOURCE / "tests/snapshot/inputs"
# Two logs with all that nccl-tests prints: the factor of busbw, and the machine that they are healthy runs of.
LOGS = {"all_reduce_1x8_a100.log": (1.75, "hgx-a100"), "all_reduce_2x8.log": (1.875, "hgx-h100")}


def bus_rates(record):
    return [row["rates"]["bus_bandwidth_gb_per_s"] for row in record["rows"]]


class Power(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.program = power.Program(PROGRAM, folder.name)

    def run_of(self, log):
        _, machine = LOGS[log]
        return power.Run(log, log, power.text_of(INPUTS / log), power.NAME, (), machine, None)

    def judged(self, log, factor):
        return self.program.judged(self.run_of(log), factor, LOGS[log][0])

    def test_the_program_reads_every_rate_times_the_factor(self):
        for log in LOGS:
            healthy = bus_rates(self.judged(log, 1))
            for factor in power.FACTORS[1:]:
                for before, after in zip(healthy, bus_rates(self.judged(log, factor)), strict=True):
                    self.assertAlmostEqual(after / before, factor, delta=1e-3)

    def test_less_and_less_is_a_fault(self):
        for log in LOGS:
            words = [{row["verdict"] for row in self.judged(log, factor)["rows"]} for factor in (1, 0.3)]
            self.assertEqual(words, [{"SOUND"}, {"FAULT"}], log)

    def test_a_log_that_stayed_as_it_was_is_refused(self):
        log = "all_reduce_2x8.log"
        healthy = self.judged(log, 1)
        power.check_factor(self.run_of(log), 0.5, healthy, self.judged(log, 0.5))
        with self.assertRaises(SystemExit):
            power.check_factor(self.run_of(log), 0.5, healthy, healthy)

    def test_its_rule_gives_the_programs_words(self):
        seen = set()
        for factor in power.FACTORS:
            record = self.judged("all_reduce_1x8_a100.log", factor)
            for key, rows in power.series_of(record).items():
                quicker = power.series_of(record, min)[key]
                self.assertEqual(power.word_of(rows, quicker, power.program_range, power.choice_is_known(record)), rows[-1]["verdict"])
                seen.add(rows[-1]["verdict"])
        self.assertLessEqual({"SOUND", "BELOW", "FAULT"}, seen)

    def test_intervals_are_those_of_clopper_and_pearson(self):
        for (count, total), (low, high) in {(0, 10): (0, 0.3085), (5, 10): (0.1871, 0.8129), (9, 10): (0.5550, 0.9975),
                                            (10, 10): (0.6915, 1)}.items():
            found = power.interval(count, total)
            self.assertAlmostEqual(found[0], low, places=4)
            self.assertAlmostEqual(found[1], high, places=4)

    @unittest.skipUnless("COLLBENCH_CORPUS" in os.environ, "COLLBENCH_CORPUS is unset: docs/notes/power.md is NOT checked")
    def test_the_document_is_what_the_script_writes(self):
        document = self.program.scratch / "power.md"
        result = subprocess.run([SOURCE / "research/power.py", pathlib.Path(os.environ["COLLBENCH_CORPUS"]) / "nccl-tests",
                                 "--program", PROGRAM, "-o", document], capture_output=True, text=True, timeout=550,
                                check=False)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(document.read_text(encoding="utf-8"),
                         (SOURCE / "docs/notes/power.md").read_text(encoding="utf-8"),
                         "research/power.py writes another docs/notes/power.md: run it, and say why in the change")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
