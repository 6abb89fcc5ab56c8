#!/usr/bin/env python3
"""Commands in README.md, CONTRIBUTING.md and docs/: each is run, or its options are looked up and it is known what it needs.

Usage: document_commands_test.py PROGRAM SOURCE_FOLDER [--write] [unittest arguments]. --write writes docs/notes/commands.md, the list
of what is run and of what nothing here can run. document_commands.tsv says how a command is tried that is not simply run.

Commands are what stands in blocks ```sh (every line) and ```console (after a prompt, above its output). Those of a page run one
after the other in a folder of their own, where the files of a reader lie that they name. Published logs are read where
COLLBENCH_CORPUS says where they are.
"""

import collections
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

PROGRAM, SOURCE = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
PAGES = ["README.md", "CONTRIBUTING.md",
         *(str(path.relative_to(SOURCE)) for folder in ("docs", "docs/notes") for path in sorted((SOURCE / folder).glob("*.md")))]
TABLE = SOURCE / "tests/scripts/document_commands.tsv"
LIST = SOURCE / "docs/notes/commands.md"
CORPUS = os.environ.get("COLLBENCH_CORPUS")
# Files of the corpus under the names that documents give them.
LOGS = {
    "oci_2nodes.txt": "nccl-tests/oci_2node_h100_1.txt",
    "azure_aks_2.txt": "nccl-tests/azure_aks_2.txt",
    "p5_2nodes.log": "nccl-tests/aws_adt_2node_2.txt",
    "nccl-fault.log": "nccl-tests/mew0_2xa100_NVLINKFAULT_debug.log",
    "nccl_topo_dump_normal.xml": "nccl-xml/mew0_2xa100pcie_dump_normal.xml",
}

SHORT = "--time 2"
QUICK = " --ops broadcast --sizes 1K --time 0.2"
BLOCK = re.compile(r"(?ms)^```(\w*)\n(.*?)^```$")  # its language, and its lines

Command = collections.namedtuple("Command", "page line text output")  # output: the lines below a prompt, None without one
Way = collections.namedtuple("Way", "words why")


def without_comment(line):
    """A line of the shell without its comment."""
    return re.sub(r"\s+# .*$|^#.*$", "", line).rstrip()


def commands_of(page):
    """The commands of a page in their order."""
    text = (SOURCE / page).read_text()
    found = []
    for block in BLOCK.finditer(text):
        if block[1] not in ("sh", "console"):
            continue
        line = text[:block.start()].count("\n") + 2
        begun = ""
        for number, words in enumerate(block[2].splitlines(), start=line):
            prompt = block[1] == "sh" or bool(begun) or words.startswith("$ ")
            if not prompt:
                found[-1].output.append(words)
                continue
            words = without_comment(words.removeprefix("$ "))
            begun += words.removesuffix("\\").strip() + " "
            if words.endswith("\\") or not words:
                continue
            found.append(Command(page, number, begun.strip(), None if block[1] == "sh" else []))
            begun = ""
    return found


def ways():
    """The lines of the table as (page, beginning of the command): Way."""
    lines = [line.split("\t") for line in TABLE.read_text().splitlines() if line and not line.startswith("#")]
    return {(page, start): Way([word.strip() for word in how.split(",")], why) for page, start, how, why in lines}


def way_of(command, table):
    """How a command is tried, and which line of the table says so."""
    for key, way in table.items():
        if key[0] == command.page and command.text.startswith(key[1]):
            return way, key
    return Way([], ""), None


def need_of(way, command):
    """What a command needs that is not here, or None."""
    needs = next((word.removeprefix("needs ") for word in way.words if word.startswith("needs ")), None)
    if not needs and not CORPUS and any(log in command.text for log in LOGS):
        return "a published log"
    return needs


def to_run(command, way):
    """The command as it is run here: at most two seconds of measuring, in this folder, all ranks on this host."""
    text = re.sub(r"--time \d+", SHORT, command.text).replace("/data/baseline", "baseline")
    added = {"plan": " --dry-run", "short": QUICK}
    return text + "".join(option for word, option in added.items() if word in way.words and option not in text)


def patterns(lines, way):
    """What has to be in an output, line by line: "…" is anything, and a line of nothing else is left out."""
    for line in lines:
        if "numbers" in way.words and re.search(r"\d", line):
            row = re.match(r"\s*(\d+) ", line)
            if row:
                yield rf"\s*{row[1]} .*"
        elif "numbers" in way.words and line.startswith("# next:"):
            continue  # which depends on how quiet the machine was
        elif line.strip() not in ("", "…"):
            yield ".*".join(re.escape(part) for part in line.rstrip().split("…"))


def first_missing(wanted, output):
    """The first pattern that no line of the output fits, after those that fit the patterns before it; None: all are there."""
    lines = iter(output.splitlines())
    return next((pattern for pattern in wanted if not any(re.fullmatch(pattern, line.rstrip()) for line in lines)), None)


def known_options(*path):
    """Every command of collbench and its options, as completion offers them, by the same description as --help."""
    def offers(word):
        return subprocess.run([PROGRAM, "__offers", *path, word], capture_output=True, text=True, check=True).stdout
    known = {" ".join(("collbench", *path)): {line.split("\t")[0] for line in offers("-").splitlines()}}
    for name in re.findall(r"(?m)^([^\t\n]+)\t", offers("")):
        known |= known_options(*path, name)
    return known


def our_options(text, known):
    """(command of collbench, option) for each option that a command line gives to collbench."""
    for part in re.split(r"(?:^|[\s(;`'])(?=collbench )", text)[1:]:
        words = re.split(r"\s--\s|\s--versus mpirun|\||&&|;|<|>|`", part)[0].split()
        name = "collbench"
        for word in words[1:]:
            if f"{name} {word}" in known:
                name = f"{name} {word}"
            elif re.match(r"--?[A-Za-z]", word):
                yield name, word.split("=")[0].rstrip("'\",.)")


def block_after(page, first_line):
    """The block of a page that begins with this line."""
    return next(lines for _, lines in BLOCK.findall((SOURCE / page).read_text()) if lines.startswith(first_line))


def node_with_three_faults(folder):
    """The reference machine of topology.md, changed by hand as the page says."""
    subprocess.run([PROGRAM, "topo", "save", "hgx-h100", "-o", folder / "node7.json"], check=True, capture_output=True)
    machine = json.loads((folder / "node7.json").read_text())
    host = machine["hosts"][0]
    host["nics"][2]["ports"][0]["state"][0] = "DOWN"
    host["nics"][7]["ports"][0]["gigabits_per_second"][0] = 200
    host["gpus"][3]["nvlinks_active"][0] = 14
    (folder / "node7.json").write_text(json.dumps(machine))


def readers_files(page, folder, environment):
    """What a reader of the page has in the folder."""
    if page == "docs/topology.md":
        node_with_three_faults(folder)
    if page == "docs/burnin.md":
        (folder / "hosts.txt").write_text("\n".join(f"node{number}" for number in range(8)))
    if page == "docs/compare.md":
        for record in ("night", "run"):
            subprocess.run(f"mpirun -np 2 collbench {QUICK} -J {record}.json", shell=True, cwd=folder, env=environment, check=True,
                           capture_output=True)
        subprocess.run([PROGRAM, "compare", "--add", "baseline", "night.json"], cwd=folder, check=True, capture_output=True)
    if page == "docs/notes/lab00.md":
        shutil.copy(SOURCE / "docs/notes/lab00.json", folder)
    if page == "docs/measure.md":
        (folder / "lab.toml").write_text(block_after("docs/formats.md", "# lab.toml"))
        (folder / "counts.txt").write_text("0 3 1 1\n1 0 1 1\n1 1 0 1\n1 1 1 0\n")
    for name, recording in LOGS.items() if CORPUS else ():
        shutil.copy(pathlib.Path(CORPUS) / recording, folder / name)


def list_of_commands(table):
    """docs/notes/commands.md: of each page how many commands are run, and what the others need."""
    lines = [
        "# Which commands of these pages are run by a test", "",
        "Task: know what of the documents has been tried. `tests/scripts/document_commands_test.py` takes every command of every",
        "page, runs those that a machine with two cores and no GPU can run in a second or two, compares the output that a page shows,",
        "and looks up the options of all others; it writes this page (`--write`).", "",
        "| page | commands | run | planned (`--dry-run`) | not run there |", "| --- | ---: | ---: | ---: | ---: |"]
    others = []
    for page in PAGES:
        count = collections.Counter()
        for command in commands_of(page):
            way, _ = way_of(command, table)
            needs = next((word for word in way.words if word.startswith("needs ")), None)
            count["needs" if needs else "plan" if "plan" in way.words else "run"] += 1
            if needs:
                others.append((needs.removeprefix("needs "), page, command.text, way.why))
        if count:
            name = page.removeprefix("docs/")
            lines.append(f"| {name} | {count.total()} | {count['run']} | {count['plan']} | {count['needs']} |")
    lines += ["", "## Not run there", "By what they need. Their options exist: that is looked up.", "",
              "| needs | page | command | what else tries it |", "| --- | --- | --- | --- |"]
    for needs, page, text, why in sorted(others, key=lambda other: (other[0], PAGES.index(other[1]))):
        command = text.replace("|", "\\|")
        lines.append(f"| {needs} | {page.removeprefix('docs/')} | `{command}` | {why or 'nothing'} |")
    return "\n".join(lines) + "\n"


class DocumentCommands(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.table = ways()
        cls.known = known_options()

    def test_commands_run_and_print_what_stands_below_them(self):
        environment = {
            **os.environ, "PATH": f"{PROGRAM.parent}:{os.environ['PATH']}", "COLUMNS": "120",
            "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_hwloc_base_binding_policy": "none",
            "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_mpi_yield_when_idle": "1"}
        outputs = {}  # by command: several pages measure the same
        for page in PAGES:
            tried = [(command, way_of(command, self.table)[0]) for command in commands_of(page)]
            tried = [(command, way) for command, way in tried if not need_of(way, command)]
            if not tried:
                continue
            with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(4) as pool:
                readers_files(page, pathlib.Path(folder), environment)

                def run(text, folder=folder):
                    done = subprocess.run(["bash", "-c", text], cwd=folder, env=environment, capture_output=True, text=True,
                                          timeout=120, stdin=subprocess.DEVNULL, check=False)
                    if SHORT in text and "of the run's time was left" in done.stdout:  # a busy machine has no time for all rows
                        return run(text.replace(SHORT, "--time 40"))
                    return done

                plans = []  # they measure nothing, and mostly wait for mpirun: several at a time, of the files of the others
                for command, way in tried:
                    text = to_run(command, way)
                    if "plan" in way.words:
                        plans.append((command, way, pool.submit(run, text)))
                        continue
                    with self.subTest(f"{page}:{command.line}: {text}"):
                        if text not in outputs or "numbers" not in way.words:
                            outputs[text] = run(text)
                        self.check(command, way, outputs[text])
                for command, way, done in plans:
                    with self.subTest(f"{page}:{command.line}: {command.text}"):
                        self.check(command, way, done.result())

    def check(self, command, way, done):
        status = next((int(word.split()[1]) for word in way.words if word.startswith("status ")), 0)
        if "any status" in way.words:
            self.assertIn(done.returncode, (0, 1), done.stderr)
        else:
            self.assertEqual(done.returncode, status, done.stdout[-2000:] + done.stderr)
        if command.output and "no output" not in way.words:
            missing = first_missing(patterns(command.output, way), done.stdout + done.stderr)
            if missing:
                line = re.sub(r"\\(.)", r"\1", missing)
                self.fail(f"the page shows what is not printed, or not there: {line}\n\n{done.stdout}{done.stderr}")

    def test_every_option_is_one_of_its_command(self):
        for page in PAGES:
            text = (SOURCE / page).read_text()
            inline = [found[1] for found in re.finditer(r"`([^`\n]+)`", BLOCK.sub("", text))]
            for line in [*inline, *(command.text for command in commands_of(page))]:
                for name, option in our_options(line, self.known):
                    self.assertIn(option, self.known[name], f"{page}: {line}: {name} has no option {option}")

    def test_every_line_of_the_table_says_something(self):
        used = {way_of(command, self.table)[1] for page in PAGES for command in commands_of(page)}
        self.assertEqual([key for key in self.table if key not in used], [])

    def test_every_block_of_commands_says_that_it_is_one(self):
        for page in PAGES:
            for language, lines in BLOCK.findall((SOURCE / page).read_text()):
                if language not in ("sh", "console"):
                    self.assertNotRegex(lines, r"(?m)^(\$ |(collbench|mpirun|srun|scripts/\S+) )", page)

    def test_the_list_of_what_is_run_is_up_to_date(self):
        self.assertEqual(LIST.read_text(), list_of_commands(self.table), "write it again: --write")

    def test_links_lead_to_pages_and_headings(self):
        def anchors(path):
            text = BLOCK.sub("", path.read_text())
            return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in re.findall(r"(?m)^#+ (.*)$", text)}

        for page in ["ARCHITECTURE.md", *PAGES]:
            for link in re.findall(r"\]\(([^)\s]+)\)", (SOURCE / page).read_text()):
                if not re.match(r"https?:", link):
                    file, _, heading = link.partition("#")
                    target = (SOURCE / page).parent / file if file else SOURCE / page
                    self.assertTrue(target.exists(), f"{page}: {link}")
                    if heading:
                        self.assertIn(heading, anchors(target), f"{page}: {link}")


if __name__ == "__main__":
    if "--write" in sys.argv:
        LIST.write_text(list_of_commands(ways()))
        sys.exit()
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
