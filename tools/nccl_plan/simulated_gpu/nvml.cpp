// NVML as far as NCCL asks it (libnvidia-ml.so.1): names and signatures are NVML's (nvml.h). Links and PCI
// classes are not here: NCCL takes them from the topology file.
#include <array>
#include <cstdio>
#include <cstring>
#include <span>

#include <strings.h>

#include "tools/nccl_plan/simulated_gpu/process.hpp"

namespace collbench::simulated_gpu {
namespace {

/// nvmlReturn_t.
enum NvmlStatus : int {
  kNvmlSuccess = 0,
  kNvmlInvalidArgument = 2,
  kNvmlNotSupported = 3,
  kNvmlNotFound = 6
};

const std::vector<SimulatedGpu>& all_gpus() { return simulated_process().machine.gpus; }

/// A handle is the GPU's record.
const SimulatedGpu& gpu_of(const void* handle) { return *static_cast<const SimulatedGpu*>(handle); }

/// nvmlFieldValue_t.
struct FieldValue {
  unsigned field;
  unsigned scope;
  long long timestamp;
  long long latency_microseconds;
  int type;
  int status;
  union {
    double real;
    unsigned number;
    unsigned long long wide;
  } value;
};
constexpr unsigned kNvLinkState = 165;   // NVML_FI_DEV_NVLINK_GET_STATE
constexpr unsigned kC2cLinkCount = 170;  // NVML_FI_DEV_C2C_LINK_COUNT

/// nvmlGpuFabricInfo_v2_t.
struct FabricInfo {
  unsigned version;
  std::array<unsigned char, 16> cluster_uuid;
  int status;
  unsigned clique;
  unsigned char state;
  unsigned health;
};
constexpr unsigned char kFabricCompleted = 3;  // NVML_GPU_FABRIC_STATE_COMPLETED

/// nvmlPciInfo_t.
struct PciInfo {
  std::array<char, 16> legacy_address;
  unsigned domain;
  unsigned bus;
  unsigned device;
  unsigned id;  ///< device × 65536 + vendor
  unsigned subsystem;
  std::array<char, 32> address;
};

}  // namespace

// NOLINTBEGIN(readability-identifier-naming): the names are NVML's.
extern "C" {

int nvmlInit() {
  static_cast<void>(simulated_process());
  return kNvmlSuccess;
}
int nvmlInit_v2() { return nvmlInit(); }
int nvmlShutdown() { return kNvmlSuccess; }

const char* nvmlErrorString(int status) {
  return status == kNvmlSuccess ? "Success" : "not supported by the simulated GPU";
}

int nvmlDeviceGetCount(unsigned* count) {
  *count = static_cast<unsigned>(all_gpus().size());
  return kNvmlSuccess;
}
int nvmlDeviceGetCount_v2(unsigned* count) { return nvmlDeviceGetCount(count); }

int nvmlDeviceGetHandleByIndex(unsigned index, const void** handle) {
  if (index >= all_gpus().size()) return kNvmlInvalidArgument;
  *handle = &all_gpus()[index];
  return kNvmlSuccess;
}

int nvmlDeviceGetHandleByPciBusId(const char* address, const void** handle) {
  for (const SimulatedGpu& gpu : all_gpus()) {
    if (::strcasecmp(gpu.pci_address.c_str(), address) != 0) continue;
    *handle = &gpu;
    return kNvmlSuccess;
  }
  return kNvmlNotFound;
}

int nvmlDeviceGetIndex(const void* handle, unsigned* index) {
  *index = static_cast<unsigned>(&gpu_of(handle) - all_gpus().data());
  return kNvmlSuccess;
}

int nvmlDeviceGetCudaComputeCapability(const void* handle, int* major, int* minor) {
  *major = gpu_of(handle).compute_capability / 10;
  *minor = gpu_of(handle).compute_capability % 10;
  return kNvmlSuccess;
}

/// NCCL asks for what the topology file lacks (from 2.30 on, without asking whether NVML has the function).
int nvmlDeviceGetPciInfo_v3(const void* handle, PciInfo* info) {
  constexpr unsigned kNvidia = 0x10de;
  const SimulatedGpu& gpu = gpu_of(handle);
  *info = {};
  if (std::sscanf(gpu.pci_address.c_str(), "%x:%x:%x", &info->domain, &info->bus, &info->device) != 3) {
    return kNvmlNotSupported;
  }
  info->id = gpu.pci_device == 0 ? kNvidia : gpu.pci_device;
  info->subsystem = gpu.pci_subsystem;
  std::snprintf(info->legacy_address.data(), info->legacy_address.size(), "%s", gpu.pci_address.c_str());
  std::snprintf(info->address.data(), info->address.size(), "%s", gpu.pci_address.c_str());
  return kNvmlSuccess;
}
int nvmlDeviceGetPciInfoExt(const void* /*handle*/, void* /*info*/) { return kNvmlNotSupported; }
int nvmlDeviceGetPcieLinkMaxSpeed(const void* /*handle*/, int* /*speed*/) { return kNvmlNotSupported; }
int nvmlDeviceGetCurrPcieLinkGeneration(const void* /*handle*/, unsigned* /*generation*/) {
  return kNvmlNotSupported;
}
int nvmlDeviceGetCurrPcieLinkWidth(const void* /*handle*/, unsigned* /*width*/) { return kNvmlNotSupported; }

int nvmlDeviceGetP2PStatus(const void* /*handle*/, const void* /*peer*/, int /*capability*/, int* status) {
  *status = 0;  // NVML_P2P_STATUS_OK
  return kNvmlSuccess;
}

int nvmlDeviceGetNvLinkState(const void* /*handle*/, unsigned /*link*/, int* active) {
  *active = 0;
  return kNvmlNotSupported;
}
int nvmlDeviceGetNvLinkCapability(const void* /*handle*/, unsigned /*link*/, int /*capability*/,
                                  unsigned* value) {
  *value = 0;
  return kNvmlNotSupported;
}
int nvmlDeviceGetNvLinkRemotePciInfo(const void* /*handle*/, unsigned /*link*/, void* /*info*/) {
  return kNvmlNotSupported;
}

/// GPUs of one NVLink domain have one cluster UUID, which is not 0.
int nvmlDeviceGetGpuFabricInfoV(const void* /*handle*/, FabricInfo* info) {
  const auto domain = simulated_process().nvlink_domain();
  info->cluster_uuid = {};
  info->status = kNvmlSuccess;
  info->clique = 0;
  info->state = 0;  // NVML_GPU_FABRIC_STATE_NOT_SUPPORTED
  info->health = 0;
  if (!domain) return kNvmlSuccess;
  info->cluster_uuid[0] = 0x51;
  std::memcpy(&info->cluster_uuid[4], &*domain, sizeof *domain);
  info->state = kFabricCompleted;
  return kNvmlSuccess;
}

int nvmlDeviceGetFieldValues(const void* /*handle*/, int count, FieldValue* values) {
  for (FieldValue& value : std::span(values, static_cast<std::size_t>(count))) {
    const bool known = value.field == kNvLinkState || value.field == kC2cLinkCount;
    value.status = known ? kNvmlSuccess : kNvmlNotSupported;
    if (known) value.value.number = 0;
  }
  return kNvmlSuccess;
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming)

}  // namespace collbench::simulated_gpu
