#include "collectives/nccl/loader/cuda_obstacle.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace collbench::collectives {
namespace {

struct Obstacle {
  CudaResult result;
  std::string_view words;      ///< of cudaGetErrorString, CUDA 11 to 13, or their beginning
  std::string_view reason;     ///< {}: whose code it is
  std::string_view next_step;  ///< {}: how that is replaced
};

constexpr std::string_view kContainer =
    "check that nvidia-smi -L lists GPUs here; a container has to be started with them (docker run --gpus "
    "all)";

/// CUDA Runtime API, cudaError_t.
constexpr std::array<Obstacle, 7> kObstacles{{
    {CudaResult::insufficient_driver, "CUDA driver version is insufficient for CUDA runtime version",
     "the driver is too old for {}, or is not here", "update the driver, or {}"},
    {CudaResult::no_kernel_image, "no kernel image is available for execution on the device",
     "{} has no code for this GPU", "{}"},
    {CudaResult::unsupported_ptx, "the provided PTX was compiled with an unsupported toolchain",
     "{} has only PTX for this GPU, of a newer CUDA than the driver's", "update the driver, or {}"},
    {CudaResult::initialization_error, "initialization error", "the driver cannot be initialized",
     kContainer},
    {CudaResult::no_device, "no CUDA-capable device is detected", "the driver shows no GPU", kContainer},
    {CudaResult::system_not_ready, "system not yet initialized",
     "the GPUs wait for NVSwitch's fabric to be set up",
     "start it: systemctl status nvidia-fabricmanager; collbench doctor"},
    {CudaResult::system_driver_mismatch, "system has unsupported display driver / cuda driver combination",
     "libcuda and the kernel's driver are of different versions",
     "reboot, or reload the driver's modules; in a container, take the host's libcuda (no other in "
     "LD_LIBRARY_PATH)"},
}};

struct CudaUserWords {
  std::string_view name;
  std::string_view replacement;
};

/// By CudaUser.
constexpr std::array<CudaUserWords, 3> kUsers{{
    {"this CUDA runtime", "name an older CUDA runtime in COLLBENCH_CUDART"},
    {"this libnccl",
     "name a libnccl for this driver and GPU in COLLBENCH_NCCL (Python's nvidia-nccl-cu12 or -cu13)"},
    {"this kernel library",
     "build collbench for it: after scripts/setup bundle, which has drivers of CUDA 12 in view, or with "
     "-DCMAKE_CUDA_ARCHITECTURES=native by an nvcc no newer than the driver's CUDA (nvidia-smi shows it)"},
}};
static_assert(kUsers.size() == static_cast<std::size_t>(CudaUser::kernels) + 1);

Error described(const Obstacle& obstacle, CudaUser user, const std::string& call) {
  const CudaUserWords& of = kUsers.at(static_cast<std::size_t>(user));
  return {ExitStatus::not_here, call,
          fmt::format("{} ({})", fmt::format(fmt::runtime(obstacle.reason), of.name), obstacle.words),
          fmt::format(fmt::runtime(obstacle.next_step), of.replacement)};
}

}  // namespace

std::optional<Error> cuda_obstacle(CudaResult result, CudaUser user, const std::string& call) {
  const auto* const found = std::ranges::find(kObstacles, result, &Obstacle::result);
  if (found == kObstacles.end()) return std::nullopt;
  return described(*found, user, call);
}

std::optional<Error> cuda_obstacle_in(std::string_view text, CudaUser user, const std::string& call) {
  const auto* const found = std::ranges::find_if(kObstacles, [text](const Obstacle& obstacle) {
    return text.find(obstacle.words) != std::string_view::npos;
  });
  if (found == kObstacles.end()) return std::nullopt;
  return described(*found, user, call);
}

}  // namespace collbench::collectives
