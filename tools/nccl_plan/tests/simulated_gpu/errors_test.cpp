#include <gmock/gmock.h>

#include <string>

extern "C" {
// NOLINTBEGIN(readability-identifier-naming): the names are CUDA's.
const char* cudaGetErrorName(int status);
const char* cudaGetErrorString(int status);
// NOLINTEND(readability-identifier-naming)
}

namespace collbench::simulated_gpu {
namespace {

/// Kernels for a real driver report the first of these where there is none.
TEST(Errors, HaveCudasWords) {
  EXPECT_EQ(cudaGetErrorString(35),
            std::string("CUDA driver version is insufficient for CUDA runtime version"));
  EXPECT_EQ(cudaGetErrorName(35), std::string("cudaErrorInsufficientDriver"));
  EXPECT_EQ(cudaGetErrorString(0), std::string("no error"));
  EXPECT_EQ(cudaGetErrorString(801), std::string("operation not supported (by the simulated GPU)"));
  EXPECT_EQ(cudaGetErrorString(12345), std::string("unrecognized error code"));
}

}  // namespace
}  // namespace collbench::simulated_gpu
