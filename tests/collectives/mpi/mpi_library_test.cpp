#include "collectives/mpi/mpi_library.hpp"

#include <gmock/gmock.h>

#include <set>

#include "base/error.hpp"

namespace collbench::collectives::mpi_library_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using enum MpiAbi;

std::vector<MpiAbi> abis(const std::set<std::string>& environment, std::string_view named = "") {
  return mpi_abis(named, [&](const char* name) { return environment.contains(name); });
}

TEST(MpiLibrary, SuitsTheLauncher) {
  EXPECT_THAT(abis({}), ElementsAre(open_mpi, mpich));
  EXPECT_THAT(abis({"OMPI_COMM_WORLD_RANK", "PMIX_RANK"}), ElementsAre(open_mpi, mpich));  // its mpirun
  EXPECT_THAT(abis({"PMIX_RANK", "SLURM_PROCID"}), ElementsAre(open_mpi, mpich));          // srun --mpi=pmix
  EXPECT_THAT(abis({"PMI_RANK", "PMI_SIZE"}), ElementsAre(mpich, open_mpi));               // hydra
  // Open MPI's mpirun inside of a step that srun started.
  EXPECT_THAT(abis({"PMI_RANK", "OMPI_COMM_WORLD_RANK"}), ElementsAre(open_mpi, mpich));
}

TEST(MpiLibrary, TheUserDecidesAlone) {
  EXPECT_THAT(abis({"PMI_RANK"}, "openmpi"), ElementsAre(open_mpi));
  EXPECT_THAT(abis({"OMPI_COMM_WORLD_RANK"}, "mpich"), ElementsAre(mpich));
  try {
    (void)abis({}, "intel");
    FAIL() << "a name that nobody knows";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::usage);
    EXPECT_THAT(error.next_step(), HasSubstr("openmpi"));
    EXPECT_THAT(error.next_step(), HasSubstr("mpich"));
  }
}

}  // namespace
}  // namespace collbench::collectives::mpi_library_test
