#include "collectives/mpi/mpi_library.hpp"

#include <gmock/gmock.h>

#include "base/error.hpp"

namespace collbench::collectives::mpi_library_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using enum MpiAbi;

using launch::MpiLauncher;

TEST(MpiLibrary, SuitsTheLauncher) {
  EXPECT_THAT(mpi_abis("", std::nullopt), ElementsAre(open_mpi, mpich));
  EXPECT_THAT(mpi_abis("", MpiLauncher::open_mpi), ElementsAre(open_mpi, mpich));
  EXPECT_THAT(mpi_abis("", MpiLauncher::pmix), ElementsAre(open_mpi, mpich));
  EXPECT_THAT(mpi_abis("", MpiLauncher::pmi), ElementsAre(mpich, open_mpi));
}

TEST(MpiLibrary, TheUserDecidesAlone) {
  EXPECT_THAT(mpi_abis("openmpi", MpiLauncher::pmi), ElementsAre(open_mpi));
  EXPECT_THAT(mpi_abis("mpich", MpiLauncher::open_mpi), ElementsAre(mpich));
  try {
    (void)mpi_abis("intel", std::nullopt);
    FAIL() << "a name that nobody knows";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::usage);
    EXPECT_THAT(error.next_step(), HasSubstr("openmpi"));
    EXPECT_THAT(error.next_step(), HasSubstr("mpich"));
  }
}

}  // namespace
}  // namespace collbench::collectives::mpi_library_test
