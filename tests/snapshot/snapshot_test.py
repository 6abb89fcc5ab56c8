#!/usr/bin/env python3
"""What collbench says to a fixed set of commands (commands.txt) is what stands in expected/: status, stdout, stderr.

usage: snapshot_test.py PROGRAM SOURCE_FOLDER [--write] [NAME...]

--write writes expected/ anew; what changed there is for the eyes of whoever reviews the change. JSON is held as JSON, all else as text.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

PROGRAM, SOURCE = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
HERE = SOURCE / "tests/snapshot"
VERSION = re.compile(r"\b\d+\.\d+\.\d+-dev\.g[0-9a-f]+(\.dirty)?")  # of this build, and of the records
ENVIRONMENT = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "LC_ALL": "C.UTF-8", "TZ": "UTC", "COLUMNS": "100"}


def commands():
    lines = (HERE / "commands.txt").read_text().splitlines()
    return dict(line.split(": ", 1) for line in lines if line and not line.startswith("#"))


def said(command, folder):
    done = subprocess.run([PROGRAM, *command.split()], cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, timeout=120,
                          check=False, stdin=subprocess.DEVNULL)
    text = f"$ collbench {command}\n{done.stdout}--- stderr\n{done.stderr}--- status {done.returncode}\n"
    # Where a line is broken depends on how long the version is.
    return VERSION.sub("VERSION", text.replace("\n#   ", " "))


def plain(text):
    """The same for JSON however it is laid out."""
    heading, _, rest = text.partition("\n")
    document, mark, end = rest.partition("--- stderr\n")
    try:
        return heading, json.loads(document), mark + end
    except ValueError:
        return text


def main():
    write = "--write" in sys.argv[3:]
    names = [name for name in sys.argv[3:] if name != "--write"] or list(commands())
    failed = []
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch) / "inputs"
        shutil.copytree(HERE / "inputs", folder)
        for name, source in (("fixtures", "tests/topology/fixtures"), ("records", "tests/records"), ("seeds", "tests/fuzz/seeds")):
            shutil.copytree(SOURCE / source, folder / name)
        for name in names:
            now, file = said(commands()[name], folder), HERE / "expected" / name
            if write:
                file.parent.mkdir(exist_ok=True)
                file.write_text(now)
            elif plain(now) != plain(file.read_text()):
                failed.append(name)
                (pathlib.Path(scratch) / name).write_text(now)
                subprocess.run(["diff", "--unified=1", file, pathlib.Path(scratch) / name], check=False)
    left = {file.name for file in (HERE / "expected").iterdir()} - set(commands())
    if left:
        sys.exit(f"expected/ has what no command says: {', '.join(sorted(left))}")
    print(f"{len(names) - len(failed)} passed, {len(failed)} failed")
    if failed:
        sys.exit("changed: " + ", ".join(failed) + "\nwhere that is meant: snapshot_test.py PROGRAM SOURCE_FOLDER --write NAME...")


if __name__ == "__main__":
    main()
