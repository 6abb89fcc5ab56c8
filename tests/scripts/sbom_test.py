#!/usr/bin/env python3
"""The SBOM that scripts/sbom writes has every field that SPDX 2.3 requires, and every library that the program needs.

Usage: sbom_test.py LIBRARY BUILD_FOLDER SOURCE_FOLDER [unittest arguments]. Exits 77 (skipped) where there is no dpkg. Where
spdx-tools is installed (scripts/setup packages), its validator looks, too.
"""

import datetime
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

LIBRARY, BUILD, SOURCE = (pathlib.Path(path).resolve() for path in sys.argv[1:4])
TOOLS = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache")) / "collbench/spdx-tools"
NINJA = "CMAKE_GENERATOR:INTERNAL=Ninja" in (BUILD / "CMakeCache.txt").read_text()


def sbom():
    words = [SOURCE / "scripts/sbom", "--version", "1.2.3-dev", *(["--ninja", BUILD] if NINJA else []), LIBRARY]
    return subprocess.run(words, capture_output=True, text=True, check=True, env={**os.environ, "SOURCE_DATE_EPOCH": "1800000000"}).stdout


def breaks(document):
    """What SPDX 2.3 requires (chapters 6, 7, 11) and the document lacks."""
    for field in ("spdxVersion", "dataLicense", "SPDXID", "name", "documentNamespace", "creationInfo"):
        if not document.get(field):
            yield f"document without {field}"
    if document.get("spdxVersion") != "SPDX-2.3" or document.get("dataLicense") != "CC0-1.0" or document.get("SPDXID") != "SPDXRef-DOCUMENT":
        yield "spdxVersion, dataLicense or SPDXID"
    if not re.fullmatch(r"[a-z]+://[^#\s]+", document.get("documentNamespace", "")):
        yield "documentNamespace is no URI without a fragment"
    info = document.get("creationInfo", {})
    if not re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", info.get("created", "")):
        yield "creationInfo.created"
    if not info.get("creators") or not all(re.match("(Person|Organization|Tool): ", creator) for creator in info["creators"]):
        yield "creationInfo.creators"
    identifiers = ["SPDXRef-DOCUMENT"]
    for package in document.get("packages", []):
        for field in ("name", "SPDXID", "downloadLocation"):
            if not package.get(field):
                yield f"package {package.get('name')} without {field}"
        if not re.fullmatch("SPDXRef-[A-Za-z0-9.-]+", package.get("SPDXID", "")):
            yield f"package {package.get('name')}: SPDXID"
        if package.get("filesAnalyzed", True):
            yield f"package {package.get('name')}: files are analyzed, and no packageVerificationCode"
        identifiers.append(package.get("SPDXID"))
    if len(set(identifiers)) != len(identifiers):
        yield "an SPDXID twice"
    described = False
    for each in document.get("relationships", []):
        described |= each["relationshipType"] == "DESCRIBES"
        if each["relationshipType"] not in ("DESCRIBES", "DYNAMIC_LINK", "STATIC_LINK"):
            yield each["relationshipType"]
        if not {each["spdxElementId"], each["relatedSpdxElement"]} <= set(identifiers):
            yield f"a relationship with nothing: {each}"
    if not described:
        yield "nothing is described"


class Sbom(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.text = sbom()
        cls.document = json.loads(cls.text)

    def test_the_required_fields(self):
        self.assertEqual(list(breaks(self.document)), [])

    def test_what_lacks_is_seen(self):
        for change in (lambda made: made.pop("documentNamespace"), lambda made: made["creationInfo"].update(created="now"),
                       lambda made: made["packages"][1].pop("downloadLocation"), lambda made: made["packages"][1].update(SPDXID="SPDXRef-a_b"),
                       lambda made: made["packages"].append(made["packages"][0]), lambda made: made["packages"].pop(),
                       lambda made: made["relationships"].pop(0)):
            made = json.loads(self.text)
            change(made)
            self.assertTrue(list(breaks(made)))

    def test_every_library_is_there(self):
        needed = re.findall(r"NEEDED.*\[(.*)\]", subprocess.run(["readelf", "-d", LIBRARY], capture_output=True, text=True, check=True).stdout)
        links = {kind: {each["relatedSpdxElement"].removeprefix("SPDXRef-Debian-") for each in self.document["relationships"]
                        if each["relationshipType"] == kind} for kind in ("DYNAMIC_LINK", "STATIC_LINK")}
        self.assertIn("libc6", links["DYNAMIC_LINK"])
        for library, package in (("libmpi.so", "libopenmpi"), ("libhwloc.so", "libhwloc"), ("libfmt.so", "libfmt")):
            if any(name.startswith(library) for name in needed):
                self.assertTrue(any(name.startswith(package) for name in links["DYNAMIC_LINK"]), (library, links))
        if NINJA:
            self.assertLessEqual({"nlohmann-json3-dev", "libcli11-dev", "libeigen3-dev"}, links["STATIC_LINK"])
            self.assertNotIn("libgtest-dev", links["STATIC_LINK"])  # of the tests, not of the program

    def test_the_same_again(self):
        self.assertEqual(self.text, sbom())
        self.assertEqual(self.document["creationInfo"]["created"],
                         datetime.datetime.fromtimestamp(1800000000, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"))

    @unittest.skipUnless(TOOLS.is_dir(), "spdx-tools is not here (scripts/setup packages)")
    def test_by_the_validator_of_spdx(self):
        done = subprocess.run([sys.executable, "-c", f"""
import sys
sys.path.insert(0, {str(TOOLS)!r})
from spdx_tools.spdx.parser.jsonlikedict.json_like_dict_parser import JsonLikeDictParser
from spdx_tools.spdx.validation.document_validator import validate_full_spdx_document
import json
print([message.validation_message for message in validate_full_spdx_document(JsonLikeDictParser().parse(json.load(sys.stdin)), "SPDX-2.3")])
"""], input=self.text, capture_output=True, text=True, check=False)
        self.assertEqual((done.stdout.strip(), done.returncode), ("[]", 0), done.stderr)


if __name__ == "__main__":
    if not shutil.which("dpkg-query"):
        print("no dpkg here: the SBOM names Debian packages")
        sys.exit(77)
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
