#include "collectives/nccl/kernel_library.hpp"

#include <gmock/gmock.h>

namespace collbench {
namespace {

using ::testing::ElementsAre;

TEST(KernelLibraryPlaces, BesideTheProgramThenInLib) {
  EXPECT_THAT(
      kernel_library_places("/usr/local/bin/collbench", nullptr),
      ElementsAre("/usr/local/bin/libcollbench_kernels.so", "/usr/local/lib/libcollbench_kernels.so"));
}

TEST(KernelLibraryPlaces, ANamedFileIsTheOnlyPlace) {
  EXPECT_THAT(kernel_library_places("/usr/bin/collbench", "/tmp/k.so"), ElementsAre("/tmp/k.so"));
  EXPECT_THAT(kernel_library_places("/b/c", ""),
              ElementsAre("/b/libcollbench_kernels.so", "/lib/libcollbench_kernels.so"));
}

}  // namespace
}  // namespace collbench
