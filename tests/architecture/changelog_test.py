#!/usr/bin/env python3
"""CHANGELOG.md has the form of keepachangelog.com 1.1.0: versions from the newest down, [Unreleased] first, each kind of change
at most once in a version, and below it bullets, by topic where there are many.

usage: changelog_test.py [SOURCE_FOLDER]
"""
import re
import sys
import unittest
from pathlib import Path

SOURCE = Path(sys.argv.pop(1)) if len(sys.argv) > 1 else Path(__file__).resolve().parents[2]
KINDS = ["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"]
VERSION = re.compile(r"## \[(\d+)\.(\d+)\.(\d+)\] - \d{4}-\d\d-\d\d")


def breaks(text):
    """Each break of the form, with its line."""
    kinds, topics, versions = [], [], []
    level = ""
    for number, line in enumerate(text.splitlines(), start=1):
        if line.startswith("## "):
            if line == "## [Unreleased]":
                if level:
                    yield f"{number}: [Unreleased] stands first"
            elif not VERSION.fullmatch(line):
                yield f"{number}: no '## [1.2.3] - 2026-12-31': {line}"
            else:
                versions.append(tuple(map(int, VERSION.fullmatch(line).groups())))
                if versions != sorted(versions, reverse=True):
                    yield f"{number}: a newer version below an older one"
            kinds, topics, level = [], [], "version"
        elif line.startswith("### "):
            kind = line.removeprefix("### ")
            if kind not in KINDS:
                yield f"{number}: no kind of change, which are {', '.join(KINDS)}: {line}"
            elif kind in kinds:
                yield f"{number}: {kind} is there twice in this version"
            elif kinds and kind in KINDS and kinds[-1] in KINDS and KINDS.index(kind) < KINDS.index(kinds[-1]):
                yield f"{number}: {kind} stands after {kinds[-1]}"
            kinds.append(kind)
            topics, level = [], "kind"
        elif line.startswith("#### "):
            if line in topics or level == "version":
                yield f"{number}: a topic twice, or outside of a kind: {line}"
            topics.append(line)
        elif line.startswith("- ") and level in ("", "version"):
            yield f"{number}: a change without its kind: {line}"


class Changelog(unittest.TestCase):
    def test_it_has_the_form(self):
        text = (SOURCE / "CHANGELOG.md").read_text(encoding="utf-8")
        self.assertIn("\n## [Unreleased]\n", text)
        self.assertEqual(list(breaks(text)), [])

    def test_breaks_are_seen(self):
        for text, said in (("## [Unreleased]\n- a\n", "without its kind"),
                           ("## [Unreleased]\n### Added: things\n", "no kind of change"),
                           ("## [Unreleased]\n### Added\n- a\n### Added\n- b\n", "there twice"),
                           ("## [Unreleased]\n### Fixed\n- a\n### Added\n- b\n", "stands after"),
                           ("## [Unreleased]\n### Added\n#### A\n- a\n#### A\n", "a topic twice"),
                           ("## [0.1.0] - 2026-12-01\n## [Unreleased]\n", "stands first"),
                           ("## [0.1.0] - 2026-12-01\n## [0.2.0] - 2026-12-02\n", "a newer version"),
                           ("## 0.1.0\n", "no '## ")):
            self.assertEqual(len(list(breaks(text))), 1, list(breaks(text)))
            self.assertIn(said, list(breaks(text))[0])


if __name__ == "__main__":
    unittest.main()
