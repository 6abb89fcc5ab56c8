// libnvidia-ml without a GPU: the eight GPUs of the stand-in CUDA runtime, with the same figures as the
// stand-in nvidia-smi (tests/collectives/nccl/stand_in/nvidia-smi), so that the two readers can be compared.
// For the control flow, units and words, and for nothing that only hardware shows.
//
// Controlled by COLLBENCH_STAND_IN_SMI, as that one is, words between blanks: a reason of those in
// kReasonWords: it holds on GPU 1; na: nothing is supported; replays: GPU 0's PCIe replay counter goes up
// with every call; hang: nvmlInit does not return; mismatch: the library is of another version than the
// kernel module; lost: GPU 1 has fallen off the bus; lost_all; forbidden: GPU 0 may not be used; no_address:
// that of GPU 1 cannot be read; no_gpu.
//
// STAND_IN_OLD: an older driver: no nvmlDeviceGetTemperatureV, no
// nvmlDeviceGetCurrentClocksEventReasons, and of the fields those up to 80. STAND_IN_INCOMPLETE: it lacks
// nvmlDeviceGetFieldValues.
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "topology/telemetry/nvml_library.hpp"

using namespace collbench::topology;

namespace collbench::topology {

struct NvmlDevice {
  unsigned int index = 0;
};

}  // namespace collbench::topology

namespace {

constexpr unsigned int kGpus = 8;

constexpr std::array<std::pair<std::string_view, unsigned long long>, 8> kReasonWords{{
    {"gpu_idle", 0x01},
    {"applications_clocks_setting", 0x02},
    {"sw_power_cap", 0x04},
    {"hw_slowdown", 0x08},
    {"sync_boost", 0x10},
    {"sw_thermal_slowdown", 0x20},
    {"hw_thermal_slowdown", 0x40},
    {"hw_power_brake_slowdown", 0x80},
}};

bool is_set(std::string_view option) {
  const char* const text = std::getenv("COLLBENCH_STAND_IN_SMI");
  std::istringstream words(text == nullptr ? "" : text);
  for (std::string word; words >> word;) {
    if (word == option) return true;
  }
  return false;
}

/// Writes what `device` answers, unless something is wrong with it.
template <typename Value, typename Answer>
NvmlResult answer(const NvmlDevice* device, Value* value, Answer is) {
  if (is_set("lost_all") || (is_set("lost") && device->index == 1)) return NvmlResult::gpu_is_lost;
  if (is_set("na")) return NvmlResult::not_supported;
  *value = static_cast<Value>(is);
  return NvmlResult::success;
}

[[maybe_unused]] NvmlResult reasons(const NvmlDevice* device, unsigned long long* mask) {
  unsigned long long bits = 0;
  for (const auto& [word, bit] : kReasonWords) {
    if (device->index == 1 && is_set(word)) bits |= bit;
  }
  return answer(device, mask, bits);
}

[[maybe_unused]] void answer_field(const NvmlDevice* device, NvmlFieldValue& field) {
  field.type = NvmlValueType::unsigned_long_long;
  field.value.unsigned_long_long = 0;
  field.result = answer(device, &field.value.unsigned_long_long, 0);
#ifdef STAND_IN_OLD
  if (field.field > 80) field.result = NvmlResult::not_supported;
#endif
  if (field.result != NvmlResult::success) return;
  switch (field.field) {
    case kNvmlInstantPower:
      field.type = NvmlValueType::unsigned_int;
      field.value.unsigned_int = 300500;
      return;
    case kNvmlSwPowerCapTime:
      field.value.unsigned_long_long = 2500000000;
      return;
    case kNvmlSyncBoostTime:
      return;
    default:
      field.result = NvmlResult::not_supported;
  }
}

}  // namespace

extern "C" {

NvmlResult nvmlInit_v2() {
  if (is_set("hang")) std::this_thread::sleep_for(std::chrono::seconds(1000));
  return is_set("mismatch") ? NvmlResult::lib_rm_version_mismatch : NvmlResult::success;
}

NvmlResult nvmlShutdown() { return NvmlResult::success; }

const char* nvmlErrorString(NvmlResult result) {
  switch (result) {
    case NvmlResult::success:
      return "Success";
    case NvmlResult::not_supported:
      return "Not Supported";
    case NvmlResult::no_permission:
      return "Insufficient Permissions";
    case NvmlResult::driver_not_loaded:
      return "Driver Not Loaded";
    case NvmlResult::gpu_is_lost:
      return "GPU is lost";
    case NvmlResult::lib_rm_version_mismatch:
      return "Driver/library version mismatch";
    case NvmlResult::unknown:
      break;
  }
  return "Unknown Error";
}

NvmlResult nvmlDeviceGetCount_v2(unsigned int* count) {
  *count = is_set("no_gpu") ? 0 : kGpus;
  return NvmlResult::success;
}

NvmlResult nvmlDeviceGetHandleByIndex_v2(unsigned int index, NvmlDevice** device) {
  static std::array<NvmlDevice, kGpus> devices{{{0}, {1}, {2}, {3}, {4}, {5}, {6}, {7}}};
  if (is_set("forbidden") && index == 0) return NvmlResult::no_permission;
  *device = &devices.at(index);
  return NvmlResult::success;
}

NvmlResult nvmlDeviceGetPciInfo_v3(NvmlDevice* device, NvmlPciInfo* info) {
  *info = {};
  if (is_set("no_address") && device->index == 1) return NvmlResult::unknown;
  std::snprintf(info->bus_id.data(), info->bus_id.size(), "00000000:%02X:00.0", 0x18 + device->index);
  return NvmlResult::success;
}

NvmlResult nvmlSystemGetDriverVersion(char* version, unsigned int bytes) {
  std::snprintf(version, bytes, "550.54.15");
  return NvmlResult::success;
}

NvmlResult nvmlDeviceGetName(NvmlDevice* /*device*/, char* name, unsigned int bytes) {
  const char* const model = std::getenv("COLLBENCH_STAND_IN_MODEL");
  std::snprintf(name, bytes, "%s", model == nullptr ? "stand-in for a GPU" : model);
  return NvmlResult::success;
}

/// Of GPU 7 COLLBENCH_STAND_IN_LIMIT watts, where it is set.
NvmlResult nvmlDeviceGetEnforcedPowerLimit(NvmlDevice* device, unsigned int* milliwatts) {
  const char* const watts = std::getenv("COLLBENCH_STAND_IN_LIMIT");
  const bool is_lowered = watts != nullptr && device->index == kGpus - 1;
  return answer(device, milliwatts, is_lowered ? 1000 * std::atoi(watts) : 700000);
}

NvmlResult nvmlDeviceGetUUID(NvmlDevice* device, char* uuid, unsigned int bytes) {
  std::snprintf(uuid, bytes, "GPU-c0000000-0000-0000-0000-00000000000%u", device->index);
  return NvmlResult::success;
}

NvmlResult nvmlDeviceGetClockInfo(NvmlDevice* device, NvmlClock clock, unsigned int* megahertz) {
  return answer(device, megahertz, clock == NvmlClock::sm ? 1755 : 0);
}

NvmlResult nvmlDeviceGetPowerUsage(NvmlDevice* device, unsigned int* milliwatts) {
  return answer(device, milliwatts, 250250);
}

NvmlResult nvmlDeviceGetTotalEccErrors(NvmlDevice* device, NvmlMemoryError kind, NvmlEccCounter /*counter*/,
                                       unsigned long long* count) {
  return answer(device, count, kind == NvmlMemoryError::corrected ? 3 : 4);
}

NvmlResult nvmlDeviceGetPcieReplayCounter(NvmlDevice* device, unsigned int* count) {
  static std::atomic<unsigned int> calls{10};
  if (device->index != 0) return answer(device, count, 0);
  return answer(device, count, is_set("replays") ? ++calls : 9);
}

NvmlResult nvmlDeviceGetTemperature(NvmlDevice* device, NvmlTemperatureSensor /*sensor*/,
                                    unsigned int* celsius) {
  return answer(device, celsius, 40 + device->index);
}

#ifdef STAND_IN_OLD
NvmlResult nvmlDeviceGetCurrentClocksThrottleReasons(NvmlDevice* device, unsigned long long* mask) {
  return reasons(device, mask);
}
#else
NvmlResult nvmlDeviceGetTemperatureV(NvmlDevice* device, NvmlTemperature* temperature) {
  if (temperature->version != kNvmlTemperatureVersion) return NvmlResult::unknown;
  return answer(device, &temperature->celsius, 40 + device->index);
}

NvmlResult nvmlDeviceGetCurrentClocksEventReasons(NvmlDevice* device, unsigned long long* mask) {
  return reasons(device, mask);
}
#endif

#ifndef STAND_IN_INCOMPLETE
NvmlResult nvmlDeviceGetFieldValues(NvmlDevice* device, int count, NvmlFieldValue* fields) {
  for (int i = 0; i < count; ++i) answer_field(device, fields[i]);
  return NvmlResult::success;
}
#endif

}  // extern "C"
