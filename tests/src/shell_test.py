"""Man pages, completions and the scripts of `launch` as a user meets them: in groff, bash, zsh and fish, against --help.

usage: shell_test.py PROGRAM
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

try:
    import yaml
except ImportError:
    yaml = None

PROGRAM = os.path.abspath(sys.argv[1])
ENVIRONMENT = {**os.environ, "PATH": f"{os.path.dirname(PROGRAM)}:{os.environ['PATH']}", "LC_ALL": "C.UTF-8", "COLUMNS": "80"}


def output(*words, text=None):
    done = subprocess.run(words, input=text, capture_output=True, text=True, env=ENVIRONMENT, timeout=60, check=False)
    assert done.returncode == 0, (words, done.stdout, done.stderr)
    return done.stdout


def commands(help_text):
    """The names below `Subcommands:`, or `Commands` on the first page."""
    listed = re.search(r"\n(?:Subcommands:|Commands; .*)\n((?:  .*\n)+)", help_text)
    return re.findall(r"^  (\S+)", listed[1], re.MULTILINE) if listed else []


def every_command(*path):
    text = output(PROGRAM, *path, "--help")
    if "--help-all" in text:
        text = output(PROGRAM, *path, "--help-all")
    yield path, text if path else text + output(PROGRAM, "help", "run")
    for name in commands(text):
        yield from every_command(*path, name)


def options(help_text):
    """Each option's names with its value, and the first words of what is said of it."""
    for line in re.findall(r"^  (-\S.*)$", help_text, re.MULTILINE):
        names, _, said = re.sub(r" (Excludes|Needs): .*", "", line).partition("  ")
        yield names.strip(), said.strip()


def squeezed(text):
    return re.sub(r"\s+", "", re.sub("\u2010\n *|‐\n *", "", text))


class ManPages(unittest.TestCase):
    def test_help_fits_a_page_of_100_columns(self):
        for path, _ in every_command():
            text = subprocess.run([PROGRAM, *path, "--help"], capture_output=True, text=True, env={**ENVIRONMENT, "COLUMNS": "100"}, check=True).stdout
            self.assertLessEqual(text.count("\n"), 60, path)

    @unittest.skipUnless(shutil.which("groff"), "groff is not here")
    def test_each_says_what_help_says(self):
        with tempfile.TemporaryDirectory() as folder:
            said = output(PROGRAM, "man", "--folder", folder)
            everything = list(every_command())
            self.assertEqual(len(os.listdir(folder)), len(everything))
            self.assertIn(f"{len(everything)} man pages", said)
            for path, help_text in everything:
                name = "-".join(("collbench", *path))
                run_options = "" if path else output(PROGRAM, "help", "run")  # of which --help has the first ten, in short
                with open(f"{folder}/{name}.1", encoding="ascii") as page:
                    roff = page.read()
                self.assertEqual(roff, output(PROGRAM, "man", name))
                done = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-P-cbou", "-rLL=200n"], input=roff, capture_output=True,
                                      text=True, env=ENVIRONMENT, timeout=60, check=True)
                self.assertEqual(done.stderr, "", name)
                shown = squeezed(done.stdout)
                listed = list(options(run_options or help_text))
                self.assertTrue(listed, name)
                for names, said in listed:
                    value = names.replace(",", ", ")
                    self.assertIn(squeezed(value + said), shown, f"{name}: {names}")
                for below in commands(help_text):
                    self.assertIn(f"{name}-{below}(1)", shown)
                self.assertEqual(roff.count(".TP"), roff.count(".TP\n"))

    def test_what_is_no_command(self):
        for words, said in ((["man", "collbench-topo-dif"], "did you mean collbench-topo-diff"),
                            (["man", "collbench-topo", "--folder", "."], "--folder"),
                            (["man", "--folder", "/no/folder"], "/no/folder"),
                            (["completion", "tcsh"], "choose bash, zsh or fish"),
                            (["completion"], "collbench completion needs SHELL")):
            done = subprocess.run([PROGRAM, *words], capture_output=True, text=True, env=ENVIRONMENT, timeout=60, check=False)
            self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
            self.assertIn(said, done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1)


# Of a line as far as it is typed, what the shell offers for its last word: some of what must be there, and what must not.
OFFERED = (
    ("collbench ", {"topo", "judge", "plan"}, {"diff", "--ops"}),
    ("collbench to", {"topo"}, {"plan"}),
    ("collbench topo ", {"diff", "draw", "show"}, {"plan"}),
    ("collbench topo diff ", {"hgx-h100", "live", "node7.json"}, {"draw"}),
    ("collbench --", {"--ops", "--sizes", "--color"}, {"--nodes"}),
    ("collbench predict --", {"--topology", "--nodes"}, {"--stream"}),
    ("collbench --backend ", {"auto", "mpi", "nccl"}, {"topo"}),
    ("collbench predict --topology hgx-h", {"hgx-h100"}, {"dgx-a100"}),
    ("collbench report --format ", {"md", "html", "junit"}, {"node7.json"}),
    ("collbench -J ", {"node7.json"}, {"topo", "hgx-h100"}),
    ("collbench completion ", {"bash", "zsh", "fish"}, {"topo"}),
)
LISTS = ("collbench --ops all_reduce,all_g", "all_gather")


class Completion(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name
        with open(f"{cls.folder}/node7.json", "w", encoding="ascii"):
            pass
        for shell in ("bash", "zsh", "fish"):
            with open(f"{cls.folder}/{shell}.completion", "w", encoding="utf-8") as script:
                script.write(output(PROGRAM, "completion", shell))

    def offers(self, complete):
        for line, wanted, others in OFFERED:
            offered = complete(line)
            self.assertLessEqual(wanted, offered, line)
            self.assertFalse(others & offered, f"{line}: {others & offered}")
        line, wanted = LISTS
        self.assertTrue(any(word.split(",")[-1] == wanted for word in complete(line)), complete(line))

    def run_shell(self, *words):
        done = subprocess.run(words, capture_output=True, text=True, env=ENVIRONMENT, timeout=60, check=False, cwd=self.folder)
        self.assertEqual(done.stderr, "", words)
        return done.stdout

    def test_bash(self):
        # `compopt -o default` lets readline add files, which asks for a terminal: compgen -f stands for it.
        program = """source bash.completion
compopt() { [[ $* == "-o default" ]] && COMPREPLY+=($(compgen -f -- "$current")); return 0; }
read -ra COMP_WORDS <<<"$1"
[[ $1 == *" " ]] && COMP_WORDS+=("")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_collbench
printf '%s\\n' "${COMPREPLY[@]}"
"""
        self.offers(lambda line: set(self.run_shell("bash", "-c", program, "bash", line).split()))
        self.assertEqual(self.run_shell("bash", "-c", program, "bash", "collbench repeat -- mpirun --prec").split(), [])

    @unittest.skipUnless(shutil.which("fish"), "fish is not here")
    def test_fish(self):
        self.offers(lambda line: {offer.split("\t")[0] for offer in self.run_shell(
            "fish", "--no-config", "-c", "source fish.completion; complete -C $argv[1]", line).splitlines()})

    @unittest.skipUnless(shutil.which("zsh"), "zsh is not here")
    def test_zsh(self):
        # A shell in a terminal of zsh's own module lists what it offers when ^D is typed.
        program = r"""
zmodload zsh/zpty
zpty shell zsh -f -i
answer() { local part; REPLY=; while zpty -r shell part; do REPLY+=$part; [[ $REPLY == *$1* ]] && break; done }
zpty -w shell "PS1='>'; autoload -U compinit; compinit -u -D; source ./zsh.completion; LISTMAX=9999
bindkey '^X' list-choices; bindkey '^B' kill-whole-line; stty columns 200 rows 500; echo re''ady"
answer ready
zpty -n -w shell "$1"$'\x18'
sleep 1
zpty -n -w shell $'\x02echo do\'\'ne\n'
answer 'done'$'\r'
print -r -- $REPLY
"""
        def complete(line):
            shown = self.run_shell("zsh", "-f", "-c", program, "zsh", line)
            return set(re.findall(r"[\w./-]+", re.sub(r"\x1b\[[\d;?]*\w", " ", shown.partition(line)[2])))
        for line, wanted, _ in OFFERED:
            self.assertLessEqual(wanted, complete(line), line)


@unittest.skipUnless(shutil.which("tmux"), "tmux is not here")
class InATerminal(unittest.TestCase):
    """Each shell as a user has it before them: keys are typed into a terminal, and its lines are read."""

    SHELLS = (("bash", "bash --norc --noprofile -i", "source ./completion"),
              ("zsh", "zsh -f -i", "autoload -U compinit; compinit -u -D; source ./completion"),
              ("fish", "fish --no-config -i", "source ./completion"))

    def tmux(self, *words):
        done = subprocess.run(["tmux", "-L", self.server, "-f", "/dev/null", *words], capture_output=True, text=True, env=ENVIRONMENT,
                              timeout=120, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def wait_for(self, pattern):
        """The terminal's lines, once they have this."""
        end = time.monotonic() + 30
        while not re.search(pattern, lines := self.tmux("capture-pane", "-p"), re.MULTILINE):
            self.assertLess(time.monotonic(), end, f"{pattern} is not in:\n{lines}")
            time.sleep(0.05)
        return lines

    def test_tab_completes(self):
        for shell, command, setting in self.SHELLS:
            if not shutil.which(shell):
                continue
            with self.subTest(shell), tempfile.TemporaryDirectory() as folder:
                with open(f"{folder}/completion", "w", encoding="utf-8") as script:
                    script.write(output(PROGRAM, "completion", shell))
                self.server = f"collbench-{os.getpid()}-{shell}"
                self.tmux("new-session", "-d", "-x", "100", "-y", "30", "-c", folder, command)
                try:
                    # In parts, so that what is typed is not taken for what is printed.
                    self.tmux("send-keys", setting + "; echo rea''dy", "Enter")
                    self.wait_for("^ready")
                    self.tmux("send-keys", "clear; echo rea''dy", "Enter")
                    self.wait_for(r"\A\s*ready")
                    self.tmux("send-keys", "collbench topo dr", "Tab")
                    self.wait_for("collbench topo draw")
                    self.tmux("send-keys", "hgx-h1", "Tab")
                    self.wait_for("collbench topo draw hgx-h100")
                finally:
                    self.tmux("kill-server")


class Launch(unittest.TestCase):
    """The scripts that `launch --write` makes, with a launcher that only says what it was given."""

    ODD = ["--label", "it's $HOME\nand `more`", "", "-J", "a b.json"]

    def run_script(self, name, launcher, *arguments):
        with tempfile.TemporaryDirectory() as folder:
            for program in (launcher, "collbench"):
                with open(f"{folder}/{program}", "w", encoding="ascii") as script:
                    script.write("#!/bin/sh\nprintf '%s\\0' \"$@\"\n")
                os.chmod(f"{folder}/{program}", 0o755)
            subprocess.run([PROGRAM, "launch", *arguments, "--write", f"{folder}/job", "--", *self.ODD], check=True, capture_output=True, env=ENVIRONMENT)
            done = subprocess.run(["bash", f"{folder}/job/{name}"], capture_output=True, text=True, timeout=60, check=True,
                                  env={**ENVIRONMENT, "PATH": f"{folder}:{ENVIRONMENT['PATH']}"})
            self.assertEqual(done.stderr, "")
            return done.stdout.split("\0")[:-1]

    def test_what_the_user_gives_arrives_as_it_is(self):
        for name, launcher, *arguments in (("collbench.sbatch", "srun", "--slurm", "--container", "it's; touch x"),
                                           ("collbench.sh", "mpirun", "--ssh", "--hosts", "a,b", "--container", "$(touch x)")):
            given = self.run_script(name, launcher, *arguments)
            self.assertEqual(given[-len(self.ODD):], self.ODD)
            self.assertTrue(any(arguments[-1] in word for word in given), given)

    def test_what_a_launcher_has_no_use_for(self):
        for words, said in ((["--slurm", "--container", "a\ntouch x"], "--container: it is no name of an image"),
                            (["--k8s", "--hosts", "a"], "--hosts: Kubernetes chooses the nodes"),
                            (["--hosts", "a,a"], "--hosts: a host is there twice"),
                            (["--ssh", "--minutes", "5"], "--minutes: over ssh nothing ends a job"),
                            (["--hosts", "a,b", "--nodes", "3"], "2 are named, and --nodes says 3"),
                            (["--hosts", "-x"], "'-x' is no name of a host"),
                            (["--gpus-per-node", "8", "--ranks-per-node", "2"], "one rank for each")):
            done = subprocess.run([PROGRAM, "launch", *words], capture_output=True, text=True, env=ENVIRONMENT, timeout=60, check=False)
            self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
            self.assertIn(said, done.stderr)

    # What a job may have, of the fields of Kubeflow's v2beta1 and of a pod.
    KNOWN = {
        "": {"apiVersion", "kind", "metadata", "spec"},
        "spec of the job": {"slotsPerWorker", "mpiImplementation", "runPolicy", "mpiReplicaSpecs", "sshAuthMountPath", "launcherCreationPolicy"},
        "spec": {"affinity", "containers", "restartPolicy", "volumes"},
        "runPolicy": {"cleanPodPolicy", "activeDeadlineSeconds", "backoffLimit", "suspend", "ttlSecondsAfterFinished"},
        "mpiReplicaSpecs": {"Launcher", "Worker"},
        "Launcher": {"replicas", "restartPolicy", "template"},
        "Worker": {"replicas", "restartPolicy", "template"},
        "containers": {"name", "image", "command", "args", "env", "resources", "securityContext", "volumeMounts"},
        "volumes": {"name", "emptyDir"},
    }

    def assert_known(self, value, name=""):
        if isinstance(value, list):
            for each in value:
                self.assert_known(each, name)
        elif isinstance(value, dict):
            self.assertLessEqual(set(value), self.KNOWN.get(name, set(value)), name)
            for key, each in value.items():
                self.assert_known(each, key)

    @unittest.skipUnless(yaml, "PyYAML is not here")
    def test_the_mpi_job(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([PROGRAM, "launch", "--k8s", "--nodes", "3", "--gpus-per-node", "4", "--minutes", "7", "--write", folder, "--", *self.ODD],
                           check=True, capture_output=True, env=ENVIRONMENT)
            with open(f"{folder}/collbench-mpijob.yaml", encoding="utf-8") as text:
                job = yaml.safe_load(text)
        self.assertEqual((job["apiVersion"], job["kind"]), ("kubeflow.org/v2beta1", "MPIJob"))
        self.assert_known({**job, "spec": {}})
        self.assert_known(job["spec"], "spec of the job")
        self.assertEqual(job["spec"]["slotsPerWorker"], 4)
        self.assertEqual(job["spec"]["runPolicy"], {"cleanPodPolicy": "Running", "activeDeadlineSeconds": 420})
        replicas = job["spec"]["mpiReplicaSpecs"]
        self.assertEqual([replicas[kind]["replicas"] for kind in ("Launcher", "Worker")], [1, 3])
        launcher, worker = (replicas[kind]["template"]["spec"]["containers"][0] for kind in ("Launcher", "Worker"))
        self.assertEqual(launcher["command"][0], "mpirun")
        self.assertEqual(launcher["command"][-len(self.ODD):], self.ODD)
        self.assertEqual(worker["resources"]["limits"], {"nvidia.com/gpu": 4})
        volumes = {volume["name"] for volume in replicas["Worker"]["template"]["spec"]["volumes"]}
        self.assertLessEqual({mount["name"] for mount in worker["volumeMounts"]}, volumes)

    def test_inside_an_allocation(self):
        environment = {**ENVIRONMENT, "SLURM_JOB_ID": "7", "SLURM_JOB_NUM_NODES": "5"}
        done = subprocess.run([PROGRAM, "launch"], capture_output=True, text=True, env=environment, timeout=60, check=True)
        command = done.stdout.partition("\n\n")[0]
        self.assertIn("srun --mpi=pmix --nodes=5 ", command)
        self.assertNotIn("--exclusive", command)
        self.assertNotIn("--time", command)

    def test_what_is_set_here_goes_along(self):
        environment = {**ENVIRONMENT, "NCCL_DEBUG": "INFO", "NCCL_SOCKET_IFNAME": "ib0", "UCX_TLS": "rc"}
        done = subprocess.run([PROGRAM, "launch", "--ssh", "--gpus-per-node", "8"], capture_output=True, text=True, env=environment,
                              timeout=60, check=True)
        for word in ("-x NCCL_DEBUG ", "-x UCX_TLS ", "-x NCCL_SOCKET_IFNAME=ib0 "):
            self.assertIn(word, done.stdout.replace("\n", " "))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=2)
