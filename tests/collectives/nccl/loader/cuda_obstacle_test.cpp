#include "collectives/nccl/loader/cuda_obstacle.hpp"

#include <gmock/gmock.h>

namespace collbench::collectives::cuda_obstacle_test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string said(CudaResult result, CudaUser user) {
  const auto error = cuda_obstacle(result, user, "cudaSetDevice");
  if (!error) return "";
  EXPECT_EQ(error->status(), ExitStatus::not_here);
  return describe(*error);
}

TEST(CudaObstacle, IsWhatNoOtherGpuOrRetryWouldMend) {
  for (const CudaResult other :
       {CudaResult::success, CudaResult::invalid_value, CudaResult::memory_allocation,
        CudaResult::ecc_uncorrectable, CudaResult::devices_unavailable})
    EXPECT_EQ(said(other, CudaUser::runtime), "") << static_cast<int>(other);
}

TEST(CudaObstacle, SaysWhoseCodeItIsAndHowThatIsReplaced) {
  EXPECT_THAT(
      said(CudaResult::insufficient_driver, CudaUser::runtime),
      StartsWith("collbench: cudaSetDevice: the driver is too old for this CUDA runtime, or is not here"));
  EXPECT_THAT(said(CudaResult::insufficient_driver, CudaUser::runtime), HasSubstr("in COLLBENCH_CUDART"));
  EXPECT_THAT(said(CudaResult::no_kernel_image, CudaUser::nccl), HasSubstr("in COLLBENCH_NCCL"));
  EXPECT_THAT(said(CudaResult::unsupported_ptx, CudaUser::kernels), HasSubstr("-DCMAKE_CUDA_ARCHITECTURES"));
  for (const CudaUser user : {CudaUser::runtime, CudaUser::nccl, CudaUser::kernels})
    EXPECT_THAT(said(CudaResult::initialization_error, user), HasSubstr("docker run --gpus all"));
}

TEST(CudaObstacle, IsKnownByItsWordsInNcclsOwn) {
  const auto of = [](const char* text) {
    return cuda_obstacle_in(text, CudaUser::nccl, "ncclCommInitRankConfig");
  };
  EXPECT_EQ(of("Cuda failure 'out of memory'"), std::nullopt);
  EXPECT_EQ(of(""), std::nullopt);
  // As libnccl 2.28.9 said it where there is no driver.
  const auto error =
      of("; NCCL WARN Cuda failure 'CUDA driver version is insufficient for CUDA runtime version'");
  ASSERT_TRUE(error);
  EXPECT_EQ(error->where(), "ncclCommInitRankConfig");
  EXPECT_THAT(error->what(), StartsWith("the driver is too old for this libnccl"));
}

}  // namespace
}  // namespace collbench::collectives::cuda_obstacle_test
