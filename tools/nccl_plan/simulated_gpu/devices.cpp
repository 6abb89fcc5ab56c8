#include "tools/nccl_plan/simulated_gpu/devices.hpp"

#include "tools/nccl_plan/simulated_gpu/cuda_types.hpp"

namespace collbench::simulated_gpu {
namespace {

/// A data-center GPU of each compute capability: multiprocessors from NVIDIA's data sheets, shared memory per
/// multiprocessor and per block (opt-in) from the CUDA C++ Programming Guide, "Technical Specifications per
/// Compute Capability".
struct GpuModel {
  int compute_capability;
  const char* name;
  int multiprocessors;
  int shared_bytes_per_multiprocessor;
  int shared_bytes_per_block_optin;
};
constexpr std::array kModels{
    GpuModel{60, "NVIDIA P100 (simulated)", 56, 65536, 49152},
    GpuModel{70, "NVIDIA V100 (simulated)", 80, 98304, 98304},
    GpuModel{75, "NVIDIA T4 (simulated)", 40, 65536, 65536},
    GpuModel{80, "NVIDIA A100 (simulated)", 108, 167936, 166912},
    GpuModel{86, "NVIDIA A10 (simulated)", 72, 102400, 101376},
    GpuModel{89, "NVIDIA L40S (simulated)", 142, 102400, 101376},
    GpuModel{90, "NVIDIA H100 (simulated)", 132, 233472, 232448},
    GpuModel{100, "NVIDIA B200 (simulated)", 148, 233472, 232448},
    GpuModel{103, "NVIDIA B300 (simulated)", 148, 233472, 232448},
};

/// The newest model that is not newer than the GPU.
const GpuModel& model_of(const SimulatedGpu& gpu) {
  const GpuModel* model = &kModels.front();
  for (const GpuModel& each : kModels) {
    if (each.compute_capability <= gpu.compute_capability) model = &each;
  }
  return *model;
}

}  // namespace

int& current_device() {
  static thread_local int device = 0;
  return device;
}

int attribute_value(const SimulatedGpu& gpu, int attribute) {
  const GpuModel& model = model_of(gpu);
  switch (attribute) {
    case kComputeCapabilityMajor:
      return gpu.compute_capability / 10;
    case kComputeCapabilityMinor:
      return gpu.compute_capability % 10;
    case kMultiprocessorCount:
      return model.multiprocessors;
    case kMaxSharedMemoryPerMultiprocessor:
      return model.shared_bytes_per_multiprocessor;
    case kMaxSharedMemoryPerBlockOptin:
      return model.shared_bytes_per_block_optin;
    case kMaxSharedMemoryPerBlock:
      return 49152;
    case kMaxThreadsPerBlock:
      return 1024;
    case kWarpSize:
      return 32;
    case kUnifiedAddressing:
    case kVirtualMemoryManagement:
    case kPosixFileDescriptorHandles:
    case kGpudirectRdma:
    case kGpudirectRdmaWithVirtualMemory:
    case kDmaBuf:
      return 1;
    case kMulticast:  // by NVSwitches of the third generation and newer
      return gpu.nvswitch && gpu.compute_capability >= 90 ? 1 : 0;
    default:
      return 0;
  }
}

std::array<unsigned char, 16> uuid_of(const SimulatedGpu& gpu, int host) {
  std::array<unsigned char, 16> uuid{0x51};
  uuid[12] = static_cast<unsigned char>(host >> 8);
  uuid[13] = static_cast<unsigned char>(host);
  uuid[14] = static_cast<unsigned char>(gpu.index >> 8);
  uuid[15] = static_cast<unsigned char>(gpu.index);
  return uuid;
}

const char* name_of(const SimulatedGpu& gpu) { return model_of(gpu).name; }

}  // namespace collbench::simulated_gpu
