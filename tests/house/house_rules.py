#!/usr/bin/env python3
"""The rules of the house (docs/house.md), checked over the source tree.

usage: house_rules.py [ROOT]

Prints one line per break and exits 1 when there is any. What is excused stands in the tables below, with
its reason.
"""
import re
import sys
from pathlib import Path

# Who may include whom. Tests may include what their room may.
MAY_INCLUDE = {
    "base": {"base"},
    "topology": {"topology", "base"},
    "launch": {"launch", "base"},
    "collectives": {"collectives", "launch", "base"},
    "simulated_gpu": {"simulated_gpu", "base"},
    "analysis": {"analysis", "topology", "base"},
    "src": {"src", "analysis", "collectives", "topology", "launch", "base"},
}

# The namespace of each room's files: collbench and this; base is the ground that all stand on, and has none of its own.
NAMESPACES = {
    "base": "collbench",
    "topology": "collbench::topology",
    "launch": "collbench::launch",
    "collectives": "collbench::collectives",
    "simulated_gpu": "collbench::simulated_gpu",
    "analysis": "collbench::analysis",
    "src": "collbench::program",
}

# What a folder may hold.
MAX_FILES_IN_FOLDER = 40

# Words that were this project's own, and the field's words for them (docs/house.md, "Words"). They are refused as parts
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
}
RETIRED_CONSTANTS = re.compile(r"k(Most|Fewest|Least|Longest)(?=[A-Z0-9]|$)")
ALLOWED_PHRASES = re.compile(r"(in|out_of)_place|(In|OutOf)Place|inplace", re.IGNORECASE)

# Headers of libraries that only some files may see: (header, files, where that is).
HOMES = [
    (
        r"mpi(-ext|io)?\.h",
        r"launch/[^/]+\.cpp|collectives/mpi/.+|tests/(mpi_main|src/faulty_mpi)\.cpp",
        "launch/*.cpp and collectives/mpi",
    ),
    (r"(cuda|cublas|nccl).*\.h", r"collectives/nccl/.+|tests/simulated_gpu/.+", "collectives/nccl"),
    (r"nvml\.h", r"topology/telemetry/.+", "topology/telemetry"),
    (r"(smpi|simgrid)/.+", r".+_smpi\.cpp|tests/simgrid/.+", "*_smpi.cpp and tests/simgrid"),
    (r"hwloc(\.h|/.+)", r"(topology|launch)/.+", "topology and launch"),
    (r"boost/asio.*", r"launch/.+", "launch"),
    (r"CLI/.+", r"src/.+|tests/simgrid/.+", "src"),
    (r"toml\+\+/.+", r"src/.+", "src"),
    (r"(gtest|gmock)/.+", r"tests/.+", "tests"),
]

# A seam has one header and one source per side: real_machine.hpp, real_machine.cpp, real_machine_smpi.cpp.
SEAM_SUFFIXES = ("_smpi", "_open_mpi")

# From here on: what is excused, as patterns of whole paths. One that fits no file is a break as well.

WITHOUT_HEADER = {
    r"src/main\.cpp": "it holds nothing but main",
    r"src/commands/(ab|baseline|burnin|compare|completion|counters|doctor|flight|import|judge|launch|man|plan|predict|probe|repeat|report|topo(_[a-z]+)?)\.cpp": "a subcommand each, which registry.hpp declares",
    r"src/commands/plan_model\.cpp": "the model of a plan, which plan_options.hpp declares",
    r"base/record/row_json\.cpp": "the second half of run.hpp",
    r"topology/machines/detect\.cpp": "the second half of reference_machines.hpp",
    r"topology/diff/(devices|graphs|host|machine_kind|nvlinks|paths|pcie)\.cpp": "the parts of one comparison, which parts.hpp declares",
    r"topology/diff/(host_groups|inject_fault)\.cpp": "what else a comparison offers, which topology_diff.hpp declares",
    r"topology/readers/(ibstat|lspci|read_any|registry|hwloc/(live|xml)|nccl/graph_xml|nvidia_smi/(csv|nvlink|query|topo)|sysfs/(nics|pci))\.cpp":
    "the readers, which readers.hpp declares",
    r"topology/render/[a-z_]+\.cpp": "the renderers, which render.hpp declares",
    r"topology/doctor/evidence_sources\.cpp": "the table of sources, which evidence.hpp declares",
    r"topology/doctor/(gpu|kernel|kernel_log|log|log_error|network|network_setup|pcie|setting|version)_checks\.cpp": "the checks by theme, which checks.hpp declares",
    r"topology/doctor/(gather_evidence|evidence_sources)\.cpp": "what else evidence.hpp offers: this machine's",
    r"analysis/models/host/(all_gather|all_reduce|all_to_all|broadcast_reduce|gather_scatter|point_to_point|reduce_scatter)\.cpp":
    "the algorithms of an operation or two each, which algorithms.hpp declares",
    r"analysis/models/nccl/latency\.cpp": "the second half of algorithms.hpp",
    r"analysis/attribution/burnin_json\.cpp": "the record of burnin_record.hpp as JSON",
    r"analysis/verdict/(explanation|undetectable_losses)\.cpp": "what verdict.hpp says of a verdict's reasons",
    r"analysis/import/(job_location|log_lines|nccl_line|nccl_tests_(json|row|text))\.cpp":
    "the parts of import_log, which log_readers.hpp declares",
    r"analysis/import/(osu|imb)_text\.cpp": "the readers of other benchmarks, which benchmark_logs.hpp declares",
    r"analysis/report/(text|markdown|csv|json|prometheus|junit)\.cpp": "the writers of one format each, which report.hpp declares",
    r"analysis/report/burnin/(burnin_page|burnin_checks|heat_map)\.cpp": "the writers of a burn-in, which burnin_report.hpp declares",
    r"analysis/report/html/(run|diff)_page\.cpp": "the pages of a run and of a diff, which report.hpp declares",
    r"analysis/import/(nvbandwidth_(text|json)|google_benchmark)\.cpp": "the readers of tests, which test_logs.hpp declares",
    r"analysis/compare/(comparison_page|no_comparison)\.cpp": "the page of a comparison, and what stands in its place, which comparison_report.hpp declares",
    r"analysis/history/history_page\.cpp": "the page of a baseline, which history_report.hpp declares",
    r"analysis/report/(header|brief_header|footer|algorithm_choice|fits|gpu_health|imported_log|page_faults|step|verdicts)\.cpp":
    "the sections of a report, which sections.hpp declares",
    r"analysis/report/nccl_plan/(lanes|svg)\.cpp": "a plan's rings and trees, and their picture, which words.hpp and ../report.hpp declare",
    r"analysis/report/plan/plan_(html|json|page|placement|tables|text)\.cpp": "what a plan's page holds, and its writers, which plan_report.hpp declares",
    r"analysis/report/lab01/(ceilings|checks|explanation|host_ceilings|lab01_page)\.cpp": "the parts of the lab page, which lab01.hpp declares",
    r"simulated_gpu/(runtime_(devices|kernels|memory|streams)|nvml|network_plugin)\.cpp": "what NCCL finds by name, declared by NVIDIA",
    r"simulated_gpu/libraries/simulated_host\.cpp": "a library of others' parts",
    r"tests/simulated_gpu/(dynamic_nccl|redirected_library)\.cpp": "libraries to load",
    r"tests/simulated_gpu/nccl_ranks\.cpp": "a program of its own",
    r"tests/src/faulty_mpi\.cpp": "a library to preload",
    r"tests/src/burdened_blas\.cpp": "a library to load",
    r"tests/src/hostile_library\.cpp": "a library that must not be loaded",
    r"collectives/nccl/observer/(profiler|tuner)\.cpp": "what NCCL finds by name, declared by NCCL",
    r"tests/collectives/nccl/real_nccl/(wrapped_nccl|simulated_memory)\.cpp": "libraries to load",
    r"tests/collectives/nccl/stand_in/(cublas_lt|cudart|graphs|kernels|probe_kernels|probe_runtime|nccl_versioned|network_plugin|tuner)\.cpp": "libraries to load",
    r"tests/topology/telemetry/stand_in_nvml\.cpp": "a library to load",
    r"tests/mpi_main\.cpp": "the main of the tests that run as several ranks",
    r"tests/simgrid/burnin_scale\.cpp": "a program of its own",
    r"tests/fuzz/[a-z0-9_]+_fuzz\.cpp": "programs for a fuzzer, one per reader",
    r"tests/base/record/write_random_runs\.cpp": "the program that run_schema_test.py takes its records from",
}

# Sources that are parts of one thing, which one test looks at as a whole: the test.
WHOLE_PROGRAM = "tests/src/main_job_test.py"  # with real ranks, every operation, wrong data and bad input
OVER_STAND_INS = "tests/src/nccl_test.py"  # the same, over stand-ins for the libraries of a GPU host
OVER_GPU_PROBE = "tests/src/gpu_probe_test.py"  # the probe of GPUs, over stand-ins
BY_NCCL = "tests/src/by_nccl_test.py"  # predict --by-nccl, with a real libnccl
OVER_REAL_NCCL = "tests/simulated_gpu/real_nccl_test.py"  # NCCL's own host code over the simulated GPUs
TESTED_BY = {
    r"collectives/nccl/simulated_run/simulated_(rank|run)\.cpp": BY_NCCL,
    r"src/probe/gpus\.cpp": OVER_GPU_PROBE,
    r"src/burnin/gpu_phase\.cpp": OVER_GPU_PROBE,
    r"collectives/nccl/(cuda_gpus|loader/cublas_lt_library|probe/[a-z_]+)\.cpp": OVER_GPU_PROBE,
    r"simulated_gpu/(devices|driver|network_plugin|nvml|process|runtime_[a-z]+|simulated_nccl|libraries/[a-z_]+)\.cpp": OVER_REAL_NCCL,
    r"src/([a-z]+/)?[a-z0-9_]+\.cpp": WHOLE_PROGRAM,
    r"launch/mpi_session\.cpp": WHOLE_PROGRAM,
    r"collectives/mpi/(calibration|mpi_backend|mpi_row|mpi_types|step_row)\.cpp": WHOLE_PROGRAM,
    r"collectives/nccl/(loader/cuda_library|gpu_session|nccl_(backend|communicator|observer|row))\.cpp": OVER_STAND_INS,
    r"collectives/nccl/(observer/[a-z_]+|loader/own_libraries)\.cpp": "tests/collectives/nccl/observer_test.cpp",
    r"collectives/mpi/open_mpi/mpi_t_variable\.cpp": "tests/collectives/mpi/open_mpi/algorithm_control_mpi_test.cpp",
    r"topology/diff/(devices|host|nvlinks|paths|pcie)\.cpp": "tests/topology/diff/topology_diff_test.cpp",
    r"topology/doctor/([a-z_]+_checks|look)\.cpp": "tests/topology/doctor/checks_test.cpp",
    r"topology/doctor/(gather_evidence|evidence_sources)\.cpp": "tests/topology/doctor/evidence_test.cpp",
    r"topology/readers/sysfs/nics\.cpp": "tests/topology/readers/sysfs/sysfs_test.cpp",
    r"analysis/report/json\.cpp": "tests/analysis/report/report_test.cpp",
    r"analysis/attribution/burnin_json\.cpp": "tests/analysis/attribution/burnin_record_test.cpp",
    r"analysis/plan/job/model_catalog\.cpp": "tests/analysis/plan/job/model_shape_test.cpp",
    r"analysis/plan/complete_job\.cpp": "tests/analysis/plan/job/job_test.cpp",
    r"analysis/plan/(group_time|layer_time|step_collectives|training_gpu)\.cpp": "tests/analysis/plan/step_test.cpp",
    r"analysis/plan/(assumptions|memory|planned_machine)\.cpp": "tests/analysis/plan/plan_test.cpp",
    r"analysis/report/plan/plan_(html|json|page|placement|tables|text)\.cpp": "tests/analysis/report/plan/plan_report_test.cpp",
    r"analysis/report/plan/plan_timeline\.cpp": "tests/analysis/plan/timeline_test.cpp",
    r"analysis/models/nccl/(channel_steps|machine_graph|machine_paths)\.cpp":
        "tests/analysis/models/nccl/channel_search_test.cpp",
}

# Tests that belong to no single source.
TESTS_OF_MORE = {
    r"tests/topology/doctor/corpus_test\.cpp": "all checks, over published files",
    r"tests/topology/doctor/field_cases_test\.cpp": "all checks, by what people quoted where they found a cause",
    r"tests/simulated_gpu/cuda_headers_test\.cpp": "our declarations against CUDA's own",
    r"tests/collectives/nccl/(plugin_)?headers_test\.cpp": "our declarations against NCCL's and CUDA's own",
    r"tests/collectives/nccl/observer_test\.cpp": "the observer library as NCCL and the backend use it",
    r"tests/topology/readers/corpus_test\.cpp": "every reader on recordings of real machines",
    r"tests/topology/diff/corpus_test\.cpp": "topo diff on pairs of recordings of real machines",
    r"tests/topology/readers/fixtures_test\.cpp": "every reader on our own files",
    r"tests/topology/telemetry/nvml_header_test\.cpp": "our declarations against NVML's own",
    r"tests/analysis/attribution/published_groups_test\.cpp": "attribution over published pairs and groups",
    r"tests/analysis/import/corpus_test\.cpp": "every log of real machines",
    r"tests/analysis/verdict/nccl_price_test\.cpp": "prices of findings against what NCCL's own search finds",
    r"tests/collectives/mpi/open_mpi/algorithm_settings_mpi_test\.cpp": "algorithm_control under the user's settings",
    r"tests/collectives/mpi/open_mpi/eager_limits_mpi_test\.cpp": "algorithm_control's limits against real messages",
}

SUFFIXES = (".cpp", ".hpp", ".h", ".cu")
USUAL_LINES = 400
LONGER_FILES = {}

# A type at namespace scope (clang-format leaves it unindented), where it is defined and not only announced.
TYPE = re.compile(r"^(?:struct|class|union|enum(?: class)?) (\w+)(?: final)?(?: :[^;{]*)? \{", re.MULTILINE)
# A constant or a constexpr function of a source. clang warns of an unused one only where the source is compiled alone,
# and g++ never.
CONSTANT = re.compile(r"\bconst(?:expr)?\b[^;=(){}]*\s(k[A-Z]\w*)\s*[=({\[]|^const(?:expr|eval)\b[^;=(){}]*\s(\w+)\(", re.MULTILINE)
INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]', re.MULTILINE)


def excuse(table, path):
    """What `table` says of `path`, or None."""
    return next((reason for pattern, reason in table.items() if re.fullmatch(pattern, path)), None)


def room_of(path):
    """The room of a file, and of a test the room that it tests."""
    parts = path.split("/")
    return parts[1] if parts[0] == "tests" and len(parts) > 2 else parts[0]


def untested(path):
    """The path in its room that a path in tests/ mirrors."""
    return path.removeprefix("tests/")


def break_of_include(path, quote, header, files):
    room = room_of(path)
    target = header.split("/")[0]
    if quote == '"' and header not in files:
        return f'includes "{header}", which is no file from the root of the repository'
    if target in MAY_INCLUDE:
        if quote == "<":
            return f"includes <{header}> as if it were a library's"
        if target not in MAY_INCLUDE.get(room, set(MAY_INCLUDE)):
            return f'includes "{header}": {room} may include {", ".join(sorted(MAY_INCLUDE[room]))}'
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
    room = path.split("/")[0]
    wanted = NAMESPACES.get(room)
    for name in re.findall(r"^namespace (collbench[\w:]*) \{", text, re.MULTILINE):
        if wanted and name != wanted:
            yield f"is in namespace {name}: {room} is in {wanted}"


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
    includes, count = {}, {}
    for path, text in texts.items():
        if path.startswith("tests/"):
            continue
        folder = path.rsplit("/", 1)[0]
        count[folder] = count.get(folder, 0) + 1
        includes[path] = [
            header for quote, header in INCLUDE.findall(text) if quote == '"' and header.rsplit("/", 1)[0] != folder
        ]
    for folder, files in sorted(count.items()):
        if files > MAX_FILES_IN_FOLDER:
            yield f"{folder}: has {files} files: {MAX_FILES_IN_FOLDER} are enough for one question"
    for a, b in folder_cycles(includes):
        yield f"{a}: includes {b}, which includes it again on some way: folders form no cycle"


def breaks_of_names(path, files):
    """A source has a header of its name and, outside tests/, a test of its name."""
    if not path.endswith(".cpp"):
        return
    stem = path.removesuffix(".cpp")
    if stem.endswith("_test"):
        tested = re.sub(r"(_mpi)?_test$", "", untested(stem))
        if not {f"{tested}.hpp", f"{tested}.cpp"} & files and not excuse(TESTS_OF_MORE, path):
            yield f"tests {tested}.hpp, which is not there"
        return
    for suffix in SEAM_SUFFIXES:
        if stem.endswith(suffix) and f"{stem.removesuffix(suffix)}.hpp" in files:
            return
    if f"{stem}.hpp" not in files and not excuse(WITHOUT_HEADER, path):
        yield f"has no header {stem}.hpp"
    if path.startswith("tests/"):
        return
    tests = {f"tests/{stem}_test.cpp", f"tests/{stem}_mpi_test.cpp", excuse(TESTED_BY, path)}
    if not tests & files:
        yield f"has no test tests/{stem}_test.cpp"


def breaks_of_file(path, text, files):
    """All breaks in one file; `files` are all paths of the tree."""
    for quote, header in INCLUDE.findall(text):
        broken = break_of_include(path, quote, header, files)
        if broken:
            yield broken
    if path.endswith(".hpp") and "#pragma once" not in text:
        yield "lacks #pragma once"
    lines = text.count("\n")
    if lines > USUAL_LINES and not excuse(LONGER_FILES, path):
        yield f"has {lines} lines: {USUAL_LINES} are enough for one concept"
    yield from breaks_of_words(text)
    if path.endswith(".cpp"):
        yield from breaks_of_constants(text)
    yield from breaks_of_namespace(path, text)
    yield from breaks_of_names(path, files)


def breaks_of_types(headers):
    """Two types of one name in a namespace are one to the linker, which then takes the functions of either for both."""
    home_of = {}
    for path, text in headers.items():
        for name in TYPE.findall(text):
            home = home_of.setdefault((room_of(path), name), path)
            if home != path:
                yield f"{path}: defines {name}, which {home} defines as well"


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
    for table in (WITHOUT_HEADER, TESTED_BY, TESTS_OF_MORE, LONGER_FILES):
        for pattern in table:
            if not any(re.fullmatch(pattern, name) for name in files):
                yield f"{pattern}: is excused in house_rules.py and fits no file"


def main(arguments):
    root = Path(arguments[0]) if arguments else Path(__file__).resolve().parents[2]
    breaks = list(breaks_of_tree(root))
    for line in breaks:
        print(line)
    print(f"{len(breaks)} break(s) of the rules of the house")
    return 1 if breaks else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
