# Not yet built: no Spack was at hand. Its syntax is parsed by a test, and its dependencies are those of scripts/setup.
#   spack repo add packaging/spack && spack install collbench
from spack.package import *


class Collbench(CMakePackage, CudaPackage):
    """Measures collective operations of MPI and NCCL, and compares them with what the machine should give."""

    # Fill in with the first release: homepage, git (the clone's address) and a version(...) with the archive's sha256.
    license("Apache-2.0")

    version("main", branch="main")

    variant("simgrid", default=False, description="Build collbench-smpi, the same program in simulated time")
    variant("svg", default=True, description="Drawings of machines, by a program that it runs")

    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")

    # Others can be built with; which algorithm ran is known for Open MPI 4.1 only (docs/install.md).
    depends_on("mpi")
    depends_on("hwloc@2.8:")
    depends_on("fmt@9:")
    depends_on("spdlog@1.10: +fmt_external")
    depends_on("cli11@2.1:", type="build")
    depends_on("tomlplusplus@3.3:", type="build")
    depends_on("nlohmann-json@3.11:", type="build")
    depends_on("pugixml@1.13:")
    depends_on("boost@1.74: +locale +math", type="build")
    depends_on("eigen@3.4:", type="build")
    depends_on("simgrid@3.32:", when="+simgrid")
    depends_on("graphviz", type="run", when="+svg")
    depends_on("cuda@12:", when="+cuda")
    # libnccl is found when it runs (COLLBENCH_NCCL names it): a run on host memory needs none.

    def cmake_args(self):
        # Sources without git's tag: what they call themselves in --version, records and reports.
        version = [] if self.spec.version.isdevelop() else [self.define("COLLBENCH_VERSION", str(self.spec.version))]
        return version + [
            self.define("COLLBENCH_TESTS", False),
            self.define("COLLBENCH_BENCHMARKS", False),
            self.define_from_variant("COLLBENCH_SMPI", "simgrid"),
            self.define_from_variant("COLLBENCH_KERNELS", "cuda"),
        ]

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def its_version_is_printed(self):
        Executable(join_path(self.prefix.bin, "collbench"))("--version")
