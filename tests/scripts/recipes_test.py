#!/usr/bin/env python3
"""The recipes in packaging/ can be read, name every dependency of scripts/setup, and no option that CMake does not have.

Usage: recipes_test.py SOURCE_FOLDER [unittest arguments]. Neither Spack nor conda-build is asked: they are not here.
"""

import ast
import pathlib
import re
import subprocess
import sys
import unittest

try:
    import yaml
except ImportError:
    yaml = None

SOURCE = pathlib.Path(sys.argv[1]).resolve()
SPACK = SOURCE / "packaging/spack/packages/collbench/package.py"
CONDA = SOURCE / "packaging/conda"

# The Debian packages that the program is built with, and what Spack and conda-forge call them; None: it has no part in the recipe.
NAMES = {
    "g++": ("cxx", 'compiler("cxx")'), "cmake": ("cmake", "cmake"), "ninja-build": ("ninja", "ninja"), "pkg-config": ("pkgconfig", "pkg-config"),
    "git": None, "openmpi-bin": ("mpi", "openmpi"), "libopenmpi-dev": ("mpi", "openmpi"), "libhwloc-dev": ("hwloc", "libhwloc"),
    "libspdlog-dev": ("spdlog", "spdlog"), "libfmt-dev": ("fmt", "fmt"), "libcli11-dev": ("cli11", "cli11"),
    "nlohmann-json3-dev": ("nlohmann-json", "nlohmann_json"), "libtomlplusplus-dev": ("tomlplusplus", "tomlplusplus"),
    "libpugixml-dev": ("pugixml", "pugixml"), "libboost-dev": ("boost", "libboost-headers"), "libboost-math-dev": ("boost", "libboost-headers"),
    "libeigen3-dev": ("eigen", "eigen"), "graphviz": None, "libgtest-dev": None, "libgmock-dev": None, "libjs-chart.js": None,
}


def debian_packages():
    setup = (SOURCE / "scripts/setup").read_text(encoding="utf-8")
    return re.search(r'\[build\]="([^"]*)"', setup)[1].split()


def cmake_options():
    text = "".join(path.read_text(encoding="utf-8") for path in [SOURCE / "CMakeLists.txt", *SOURCE.glob("cmake/*.cmake")])
    return set(re.findall(r"(?:option|set)\((COLLBENCH_\w+)", text))


class Recipes(unittest.TestCase):
    def assert_options(self, text):
        named = set(re.findall(r'(?:-D|")(COLLBENCH_\w+)', text))
        self.assertLessEqual(named, cmake_options())
        self.assertIn("COLLBENCH_TESTS", named)
        self.assertIn("COLLBENCH_VERSION", named)

    def test_each_build_dependency_has_its_names(self):
        self.assertEqual(set(debian_packages()), set(NAMES))

    def test_spack(self):
        text = SPACK.read_text(encoding="utf-8")
        self.assertIn("Not yet built", text)
        recipe = next(node for node in ast.parse(text).body if isinstance(node, ast.ClassDef))
        self.assertEqual(recipe.name, "Collbench")
        specs = [node.args[0].value for node in ast.walk(recipe)
                 if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "depends_on"]
        for spec in specs:
            self.assertRegex(spec, r"^[a-z0-9-]+(@[0-9.]+:)?( \+\w+)*$")
        named = {re.split("[@ ]", spec)[0] for spec in specs}
        self.assertLessEqual({NAMES[package][0] for package in debian_packages() if NAMES[package]}, named)
        self.assert_options(text)

    @unittest.skipUnless(yaml, "PyYAML is not here")
    def test_conda(self):
        text = (CONDA / "meta.yaml").read_text(encoding="utf-8")
        self.assertIn("Not yet built", text)
        # conda-build's own templates first: what stands in {{ }} becomes text, and lines of {% %} go.
        plain = re.sub(r"\{\{\s*(.*?)\s*\}\}", lambda found: repr(found[1]), re.sub(r"(?m)^\{%.*%\}$", "", text))
        recipe = yaml.safe_load(plain)
        self.assertLessEqual({"package", "source", "build", "requirements", "test", "about"}, set(recipe))
        self.assertEqual(recipe["about"]["license"], "Apache-2.0")
        self.assertTrue((SOURCE / recipe["about"]["license_file"]).is_file())
        needs = {spec.split(" ")[0] for part in ("build", "host") for spec in recipe["requirements"][part]}
        self.assertLessEqual({NAMES[package][1] for package in debian_packages() if NAMES[package]}, needs)

    def test_the_script_of_conda(self):
        subprocess.run(["bash", "-n", CONDA / "build.sh"], check=True)
        self.assert_options((CONDA / "build.sh").read_text(encoding="utf-8"))

    def test_versions_are_those_of_cmake(self):
        """Where CMake asks for a version, both recipes ask for the same one."""
        asked = dict(re.findall(r"find_package\((\w+) ([0-9.]+) ", (SOURCE / "cmake/Dependencies.cmake").read_text(encoding="utf-8")))
        self.assertIn("Eigen3", asked)
        spack, conda = SPACK.read_text(encoding="utf-8"), (CONDA / "meta.yaml").read_text(encoding="utf-8")
        for package, (in_spack, in_conda) in {"nlohmann_json": ("nlohmann-json", "nlohmann_json"), "CLI11": ("cli11", "cli11"),
                                              "Eigen3": ("eigen", "eigen"), "Boost": ("boost", "libboost-headers")}.items():
            self.assertIn(f'"{in_spack}@{asked[package]}:', spack)
            self.assertIn(f"- {in_conda} >={asked[package]}\n", conda)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
