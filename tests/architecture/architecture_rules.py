#!/usr/bin/env python3
"""The rules of ARCHITECTURE.md, checked over the source tree.

usage: architecture_rules.py [ROOT]

Prints one line per break and exits 1 when there is any.
"""
import re
import sys
from pathlib import Path

# Who may include whom. Tests may include what their subsystem may.
MAY_INCLUDE = {
    "base": {"base"},
    "topology": {"topology", "base"},
    "launch": {"launch", "base"},
    "collectives": {"collectives", "launch", "base"},
    "analysis": {"analysis", "topology", "base"},
    "src": {"src", "analysis", "collectives", "topology", "launch", "base"},
    "tools": {"tools", "src", "analysis", "collectives", "topology", "launch", "base"},
}

# The namespace of each subsystem's files: collbench and this; base is the ground that all stand on, and has none of its own.
NAMESPACES = {
    "base": "collbench",
    "topology": "collbench::topology",
    "launch": "collbench::launch",
    "collectives": "collbench::collectives",
    "analysis": "collbench::analysis",
    "src": "collbench::program",
}

# Words that were this project's own, and the field's words for them (ARCHITECTURE.md, "Words"). They are refused as parts
# of identifiers; `place` stays for in place and out of place.
RETIRED = {
    "twin": "device pair, counterpart",
    "twins": "device pairs",
    "seat": "device slot",
    "seats": "device slots",
    "place": "location, context, environment, slot",
    "places": "locations, candidates, environments",
    "told": "selection, reported, stated",
    "untold": "observer status",
    "sighting": "observer state",
    "sightings": "observer state",
    "together": "collective wait",
    "tells": "covers",
    "catalogue": "catalog",
    "colour": "color",
    "colours": "colors",
    "behaviour": "behavior",
    "neighbour": "neighbor",
    "neighbours": "neighbors",
    "modelled": "modeled",
    "summarise": "summarize",
}
RETIRED_CONSTANTS = re.compile(r"k(Most|Fewest|Least|Longest)(?=[A-Z0-9]|$)")
ALLOWED_PHRASES = re.compile(r"(in|out_of)_place|(In|OutOf)Place|inplace", re.IGNORECASE)

# Headers of libraries that only some files may see: (header, files, where that is).
HOMES = [
    (
        r"mpi(-ext|io)?\.h",
        r"(launch|collectives)/mpi/.+|tests/(mpi_main|src/faulty_mpi)\.cpp",
        "launch/mpi and collectives/mpi",
    ),
    (r"(cuda|cublas|nccl).*\.h", r"collectives/nccl/.+|tools/nccl_plan/tests/.+", "collectives/nccl"),
    (r"nvml\.h", r"topology/telemetry/.+", "topology/telemetry"),
    (r"(smpi|simgrid)/.+", r".+_smpi\.cpp|tests/simgrid/.+|tools/burnin/tests/fleet/.+", "*_smpi.cpp and tests of simulations"),
    (r"hwloc(\.h|/.+)", r"(topology|launch)/.+", "topology and launch"),
    (r"boost/asio.*", r"launch/.+", "launch"),
    (r"CLI/.+", r"(src|tools)/.+|tests/simgrid/.+", "src and tools"),
    (r"toml\+\+/.+", r"(src|tools)/.+", "src and tools"),
    (r"(gtest|gmock)/.+", r"tests/.+|tools/[^/]+/tests/.+", "tests"),
]

SUFFIXES = (".cpp", ".hpp", ".h", ".cu")

# A type at namespace scope (clang-format leaves it unindented), where it is defined and not only announced.
TYPE = re.compile(r"^(?:struct|class|union|enum(?: class)?) (\w+)(?: final)?(?: :[^;{]*)? \{", re.MULTILINE)
# A constant or a constexpr function of a source. clang warns of an unused one only where the source is compiled alone,
# and g++ never.
CONSTANT = re.compile(r"\bconst(?:expr)?\b[^;=(){}]*\s(k[A-Z]\w*)\s*[=({\[]|^const(?:expr|eval)\b[^;=(){}]*\s(\w+)\(", re.MULTILINE)
# A text that decides by what it says: == "ring", .starts_with("PCIe").
COMPARISON = re.compile(r'[=!]= "|"\s*[=!]= |\.(?:starts_with|ends_with|find|contains)\("')
# A decision by the number of a compute capability.
CAPABILITY = re.compile(r"\bsm\b(?:\.value|\.value_or\(0\))? *(?:[<>]=?|[!=]=) *(?:\d|k[A-Z])")
INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]', re.MULTILINE)


def subsystem_of(path):
    """The subsystem of a file, and of a test the subsystem that it tests."""
    parts = path.split("/")
    return parts[1] if parts[0] == "tests" and len(parts) > 2 else parts[0]


def is_test(path):
    return path.startswith("tests/") or re.match(r"tools/[^/]+/tests/", path)


def untested(path):
    """The path in its subsystem that a path in tests/ mirrors."""
    return path.removeprefix("tests/")


def break_of_include(path, quote, header, files):
    subsystem = subsystem_of(path)
    target = header.split("/")[0]
    if quote == '"' and header not in files:
        return f'includes "{header}", which is no file from the root of the repository'
    if target in MAY_INCLUDE:
        if quote == "<":
            return f"includes <{header}> as if it were a library's"
        if target not in MAY_INCLUDE.get(subsystem, set(MAY_INCLUDE)):
            return f'includes "{header}": {subsystem} may include {", ".join(sorted(MAY_INCLUDE[subsystem]))}'
        if target == "tools" and header.split("/")[1] != path.split("/")[1]:
            return f'includes "{header}": a tool includes no other tool'
        if subsystem == "tools" and header.startswith("src/commands/") and header != "src/commands/registry.hpp":
            return f'includes "{header}": a tool stands on all of the core but its commands'
    for pattern, home, where in HOMES:
        at_home = re.fullmatch(home, path) or re.fullmatch(home, untested(path))
        if re.fullmatch(pattern, header) and not at_home:
            return f"includes <{header}>, which only {where} may see"
    return None


def code_of(text):
    """The text without comments, string literals and include lines."""
    return re.sub(
        r'//[^\n]*|/\*.*?\*/|R"\(.*?\)"|"(?:\\.|[^"\\\n])*"|^\s*#\s*include[^\n]*',
        " ",
        text,
        flags=re.DOTALL | re.MULTILINE,
    )


def words_of(identifier):
    """RowPlaces and row_places are row, places."""
    return re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", identifier).lower().strip("_").split("_")


def breaks_of_words(text):
    """Identifiers with a word that was retired."""
    for identifier in sorted(set(re.findall(r"[A-Za-z_]\w*", code_of(text)))):
        constant = RETIRED_CONSTANTS.match(identifier)
        if constant:
            yield f"{identifier}: constants are kMax… and kMin…"
        for word in words_of(ALLOWED_PHRASES.sub("", identifier)):
            if word in RETIRED:
                yield f"{identifier}: say {RETIRED[word]} instead of {word}"


def breaks_of_constants(text):
    """Constants and constexpr functions that nothing uses."""
    code = code_of(text)
    for name in map("".join, CONSTANT.findall(code)):
        if len(re.findall(rf"\b{name}\b", code)) == 1:
            yield f"defines {name}, which nothing uses"


def breaks_of_namespace(path, text):
    subsystem = path.split("/")[0]
    wanted = NAMESPACES.get(subsystem)
    for name in re.findall(r"^namespace (collbench[\w:]*) \{", text, re.MULTILINE):
        if wanted and name != wanted:
            yield f"is in namespace {name}: {subsystem} is in {wanted}"


def folder_cycles(includes):
    """Each include of a folder by another from which the way leads back; `includes` is path to included paths."""
    graph = {}
    for path, headers in includes.items():
        graph.setdefault(path.rsplit("/", 1)[0], set()).update(header.rsplit("/", 1)[0] for header in headers)

    def reachable(start):
        seen, todo = set(), [start]
        while todo:
            for folder in graph.get(todo.pop(), set()) - seen:
                seen.add(folder)
                todo.append(folder)
        return seen

    for a in sorted(graph):
        for b in sorted(graph[a]):
            if a in reachable(b):
                yield a, b


def breaks_of_folders(texts):
    includes = {}
    for path, text in texts.items():
        if "tests/" in path:
            continue
        folder = path.rsplit("/", 1)[0]
        includes[path] = [
            header for quote, header in INCLUDE.findall(text) if quote == '"' and header.rsplit("/", 1)[0] != folder
        ]
    for a, b in folder_cycles(includes):
        yield f"{a}: includes {b}, which includes it again on some way: folders form no cycle"


def breaks_of_file(path, text, files):
    """All breaks in one file; `files` are all paths of the tree."""
    for quote, header in INCLUDE.findall(text):
        broken = break_of_include(path, quote, header, files)
        if broken:
            yield broken
    if path.endswith(".hpp") and "#pragma once" not in text:
        yield "lacks #pragma once"
    yield from breaks_of_words(text)
    if path.endswith(".cpp"):
        yield from breaks_of_constants(text)
    yield from breaks_of_namespace(path, text)
    if not path.startswith("topology/catalog/") and not is_test(path) and CAPABILITY.search(code_of(text)):
        yield "compares a compute capability with a number: ask for the generation (topology/catalog/gpus.hpp)"


def breaks_of_types(headers):
    """Two types of one name in a namespace are one to the linker, which then takes the functions of either for both."""
    home_of = {}
    for path, text in headers.items():
        for name in TYPE.findall(text):
            home = home_of.setdefault((subsystem_of(path), name), path)
            if home != path:
                yield f"{path}: defines {name}, which {home} defines as well"


def breaks_of_budgets(root, texts):
    """The table of ARCHITECTURE.md: how many lines a folder may have."""
    page = (root / "ARCHITECTURE.md").read_text(encoding="utf-8") if (root / "ARCHITECTURE.md").exists() else ""
    for folder, budget in re.findall(r"^\| `([a-z_/]+)/` \| ([\d,]+) \|$", page, re.MULTILINE):
        lines = sum(text.count("\n") for path, text in texts.items() if path.startswith(f"{folder}/") and not is_test(path))
        if lines > int(budget.replace(",", "")):
            yield f"{folder}: has {lines} lines, and ARCHITECTURE.md grants {budget}"


def breaks_of_comparisons(root, texts):
    """The table of ARCHITECTURE.md: how many decisions of a folder compare a text with a literal."""
    page = (root / "ARCHITECTURE.md").read_text(encoding="utf-8") if (root / "ARCHITECTURE.md").exists() else ""
    for folder, most in re.findall(r"^\| `([a-z_/]+)/` \| at most (\d+) \|$", page, re.MULTILINE):
        of_folder = [text for path, text in texts.items() if path.startswith(f"{folder}/") and not is_test(path)]
        found = sum(len(COMPARISON.findall(re.sub(r"//[^\n]*", "", text))) for text in of_folder)
        if found > int(most):
            yield f"{folder}: compares texts with literals {found} times, and ARCHITECTURE.md grants {most}: make it a type"


def breaks_of_tree(root):
    sources = [
        path
        for folder in [*MAY_INCLUDE, "tests"]
        for path in sorted((root / folder).rglob("*"))
        if path.suffix in SUFFIXES
    ]
    files = {path.relative_to(root).as_posix() for path in [*sources, *(root / "tests").rglob("*_test.py")]}
    texts = {path.relative_to(root).as_posix(): path.read_text(encoding="utf-8") for path in sources}
    for name, text in texts.items():
        for broken in breaks_of_file(name, text, files):
            yield f"{name}: {broken}"
    yield from breaks_of_folders(texts)
    yield from breaks_of_types({name: text for name, text in texts.items() if name.endswith(".hpp")})
    yield from breaks_of_budgets(root, texts)
    yield from breaks_of_comparisons(root, texts)


def main(arguments):
    root = Path(arguments[0]) if arguments else Path(__file__).resolve().parents[2]
    breaks = list(breaks_of_tree(root))
    for line in breaks:
        print(line)
    print(f"{len(breaks)} break(s) of the rules of the architecture")
    return 1 if breaks else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
