#pragma once
#include <array>
#include <string>

namespace collbench::topology {

// The part of NVML that telemetry uses, declared here so that no header of NVIDIA's is needed to build.
// Source: nvml.h of CUDA 13 (also in PyPI's nvidia-nvml-dev 13) and the NVML API reference,
// docs.nvidia.com/deploy/nvml-api. tests/topology/telemetry/nvml_header_test.cpp compares it with the real
// header where there is one.

/// nvmlReturn_t, as far as it is acted upon; the others have a text (NvmlLibrary::error_string).
enum class NvmlResult : int {
  success = 0,
  not_supported = 3,
  no_permission = 4,
  driver_not_loaded = 9,
  gpu_is_lost = 15,
  lib_rm_version_mismatch = 18,  ///< the library is of another version than the kernel module
  unknown = 999,
};

enum class NvmlClock : int { sm = 1 };                            ///< nvmlClockType_t
enum class NvmlTemperatureSensor : int { gpu = 0 };               ///< nvmlTemperatureSensors_t: of the die
enum class NvmlMemoryError : int { corrected, uncorrected };      ///< nvmlMemoryErrorType_t
enum class NvmlEccCounter : int { since_the_driver_loaded = 0 };  ///< nvmlEccCounterType_t: NVML_VOLATILE_ECC

/// nvmlValueType_t: which member of NvmlValue holds.
enum class NvmlValueType : int {
  real = 0,
  unsigned_int = 1,
  unsigned_long = 2,
  unsigned_long_long = 3,
  signed_long_long = 4,
  signed_int = 5,
  unsigned_short = 6,
};

/// Bits of nvmlDeviceGetCurrentClocksEventReasons.
inline constexpr unsigned long long kNvmlSwPowerCap = 0x04;
inline constexpr unsigned long long kNvmlHwSlowdown = 0x08;
inline constexpr unsigned long long kNvmlSyncBoost = 0x10;
inline constexpr unsigned long long kNvmlSwThermalSlowdown = 0x20;
inline constexpr unsigned long long kNvmlHwThermalSlowdown = 0x40;
inline constexpr unsigned long long kNvmlHwPowerBrakeSlowdown = 0x80;

/// Fields of nvmlDeviceGetFieldValues: a power in mW, and for how long a reason has lowered the clocks, in
/// ns. The times of the other reasons have numbers that mean something else in other drivers, so they are not
/// asked for: 269 to 271 in nvml.h of CUDA 13, 251 to 253 elsewhere, where CUDA 13 has power smoothing.
inline constexpr unsigned int kNvmlSwPowerCapTime = 74;
inline constexpr unsigned int kNvmlSyncBoostTime = 76;
inline constexpr unsigned int kNvmlInstantPower = 186;

struct NvmlDevice;  ///< nvmlDevice_t is a pointer to it

/// nvmlPciInfo_t; texts end with a zero byte.
struct NvmlPciInfo {
  std::array<char, 16> bus_id_legacy;
  unsigned int domain;
  unsigned int bus;
  unsigned int device;
  unsigned int pci_device_id;
  unsigned int pci_subsystem_id;
  std::array<char, 32> bus_id;  ///< "00000000:18:00.0"
};

/// nvmlTemperature_v1_t.
struct NvmlTemperature {
  unsigned int version;
  NvmlTemperatureSensor sensor;
  int celsius;
};

/// nvmlTemperature_v1: the size of the struct, and the version in the upper byte.
inline constexpr unsigned int kNvmlTemperatureVersion = sizeof(NvmlTemperature) | 1U << 24U;

/// nvmlValue_t.
union NvmlValue {
  double real;
  int signed_int;
  unsigned int unsigned_int;
  unsigned long unsigned_long;
  unsigned long long unsigned_long_long;
  signed long long signed_long_long;
  unsigned short unsigned_short;
};

/// nvmlFieldValue_t.
struct NvmlFieldValue {
  unsigned int field;
  unsigned int scope;
  long long timestamp;     ///< in µs since 1970
  long long latency_usec;  ///< how long NVML took for it
  NvmlValueType type;
  NvmlResult result;  ///< the value is undefined where this is no success
  NvmlValue value;
};

/// The longest text of nvmlDeviceGetUUID (NVML_DEVICE_UUID_V2_BUFFER_SIZE).
inline constexpr unsigned int kNvmlUuidBytes = 96;

/// The longest text of nvmlDeviceGetName, and of nvmlSystemGetDriverVersion.
inline constexpr unsigned int kNvmlNameBytes = 96;
inline constexpr unsigned int kNvmlDriverVersionBytes = 80;

/// The functions; most are nvmlDeviceGet… of that name.
struct NvmlLibrary {
  std::string path;  ///< the file that the loader took

  NvmlResult (*init)() = nullptr;      ///< nvmlInit_v2; counted, as NCCL uses NVML in this process, too
  NvmlResult (*shutdown)() = nullptr;  ///< once for each init
  const char* (*error_string)(NvmlResult) = nullptr;
  NvmlResult (*device_count)(unsigned int*) = nullptr;  ///< _v2: with those that this user may not use
  NvmlResult (*device_handle)(unsigned int index, NvmlDevice**) = nullptr;  ///< ByIndex_v2
  NvmlResult (*pci_info)(NvmlDevice*, NvmlPciInfo*) = nullptr;              ///< _v3
  NvmlResult (*uuid)(NvmlDevice*, char*, unsigned int) = nullptr;
  NvmlResult (*clock)(NvmlDevice*, NvmlClock, unsigned int* megahertz) = nullptr;
  NvmlResult (*power)(NvmlDevice*,
                      unsigned int* milliwatts) = nullptr;  ///< Ampere and later: averaged over 1 s
  NvmlResult (*ecc_errors)(NvmlDevice*, NvmlMemoryError, NvmlEccCounter, unsigned long long*) = nullptr;
  NvmlResult (*pcie_replays)(NvmlDevice*, unsigned int*) = nullptr;
  NvmlResult (*field_values)(NvmlDevice*, int count, NvmlFieldValue*) = nullptr;
  // In pairs, the newer and the one of older drivers, of which one is enough.
  NvmlResult (*temperature)(NvmlDevice*, NvmlTemperature*) = nullptr;  ///< nvmlDeviceGetTemperatureV
  NvmlResult (*old_temperature)(NvmlDevice*, NvmlTemperatureSensor, unsigned int* celsius) = nullptr;
  NvmlResult (*event_reasons)(NvmlDevice*, unsigned long long*) = nullptr;
  NvmlResult (*throttle_reasons)(NvmlDevice*, unsigned long long*) = nullptr;
  // What a GPU is, for the probe; null where the library lacks it.
  NvmlResult (*driver_version)(char*, unsigned int) = nullptr;  ///< nvmlSystemGetDriverVersion
  NvmlResult (*name)(NvmlDevice*, char*, unsigned int) = nullptr;
  NvmlResult (*power_limit)(NvmlDevice*, unsigned int* milliwatts) = nullptr;  ///< EnforcedPowerLimit
};

}  // namespace collbench::topology
