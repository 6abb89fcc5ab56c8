// What we declare of NVML in our own words, against the real header, of CUDA 13 or newer. Compiled only where
// it is found (CMakeLists.txt says which it took); every comparison is made by the compiler.
#include <gtest/gtest.h>
// After the standard library's.
#include <nvml.h>

#include <cstddef>
#include <type_traits>

#include "topology/telemetry/nvml_library.hpp"

namespace collbench::topology::nvml_header_test {
namespace {

template <typename Ours, typename Theirs>
constexpr bool same(Ours ours, Theirs theirs) {
  return sizeof ours == sizeof theirs && static_cast<long>(ours) == static_cast<long>(theirs);
}

// Results, kinds.
static_assert(same(NvmlResult::success, NVML_SUCCESS));
static_assert(same(NvmlResult::not_supported, NVML_ERROR_NOT_SUPPORTED));
static_assert(same(NvmlResult::no_permission, NVML_ERROR_NO_PERMISSION));
static_assert(same(NvmlResult::driver_not_loaded, NVML_ERROR_DRIVER_NOT_LOADED));
static_assert(same(NvmlResult::gpu_is_lost, NVML_ERROR_GPU_IS_LOST));
static_assert(same(NvmlResult::lib_rm_version_mismatch, NVML_ERROR_LIB_RM_VERSION_MISMATCH));
static_assert(same(NvmlResult::unknown, NVML_ERROR_UNKNOWN));
static_assert(same(NvmlClock::sm, NVML_CLOCK_SM));
static_assert(same(NvmlTemperatureSensor::gpu, NVML_TEMPERATURE_GPU));
static_assert(same(NvmlMemoryError::corrected, NVML_MEMORY_ERROR_TYPE_CORRECTED));
static_assert(same(NvmlMemoryError::uncorrected, NVML_MEMORY_ERROR_TYPE_UNCORRECTED));
static_assert(same(NvmlEccCounter::since_the_driver_loaded, NVML_VOLATILE_ECC));
static_assert(same(NvmlValueType::real, NVML_VALUE_TYPE_DOUBLE));
static_assert(same(NvmlValueType::unsigned_int, NVML_VALUE_TYPE_UNSIGNED_INT));
static_assert(same(NvmlValueType::unsigned_long, NVML_VALUE_TYPE_UNSIGNED_LONG));
static_assert(same(NvmlValueType::unsigned_long_long, NVML_VALUE_TYPE_UNSIGNED_LONG_LONG));
static_assert(same(NvmlValueType::signed_long_long, NVML_VALUE_TYPE_SIGNED_LONG_LONG));
static_assert(same(NvmlValueType::signed_int, NVML_VALUE_TYPE_SIGNED_INT));
static_assert(same(NvmlValueType::unsigned_short, NVML_VALUE_TYPE_UNSIGNED_SHORT));

// Reasons, fields, sizes.
static_assert(kNvmlSwPowerCap == nvmlClocksEventReasonSwPowerCap);
static_assert(kNvmlHwSlowdown == nvmlClocksThrottleReasonHwSlowdown);
static_assert(kNvmlSyncBoost == nvmlClocksEventReasonSyncBoost);
static_assert(kNvmlSwThermalSlowdown == nvmlClocksEventReasonSwThermalSlowdown);
static_assert(kNvmlHwThermalSlowdown == nvmlClocksThrottleReasonHwThermalSlowdown);
static_assert(kNvmlHwPowerBrakeSlowdown == nvmlClocksThrottleReasonHwPowerBrakeSlowdown);
static_assert(kNvmlSwPowerCapTime == NVML_FI_DEV_CLOCKS_EVENT_REASON_SW_POWER_CAP);
static_assert(kNvmlSyncBoostTime == NVML_FI_DEV_CLOCKS_EVENT_REASON_SYNC_BOOST);
static_assert(kNvmlInstantPower == NVML_FI_DEV_POWER_INSTANT);
static_assert(kNvmlTemperatureVersion == nvmlTemperature_v1);
static_assert(kNvmlUuidBytes == NVML_DEVICE_UUID_V2_BUFFER_SIZE);

// Structs.
static_assert(sizeof(NvmlPciInfo) == sizeof(nvmlPciInfo_t) && alignof(NvmlPciInfo) == alignof(nvmlPciInfo_t));
static_assert(offsetof(NvmlPciInfo, bus_id_legacy) == offsetof(nvmlPciInfo_t, busIdLegacy));
static_assert(offsetof(NvmlPciInfo, domain) == offsetof(nvmlPciInfo_t, domain));
static_assert(offsetof(NvmlPciInfo, bus) == offsetof(nvmlPciInfo_t, bus));
static_assert(offsetof(NvmlPciInfo, device) == offsetof(nvmlPciInfo_t, device));
static_assert(offsetof(NvmlPciInfo, pci_device_id) == offsetof(nvmlPciInfo_t, pciDeviceId));
static_assert(offsetof(NvmlPciInfo, pci_subsystem_id) == offsetof(nvmlPciInfo_t, pciSubSystemId));
static_assert(offsetof(NvmlPciInfo, bus_id) == offsetof(nvmlPciInfo_t, busId));
static_assert(sizeof(NvmlTemperature) == sizeof(nvmlTemperature_v1_t));
static_assert(offsetof(NvmlTemperature, version) == offsetof(nvmlTemperature_v1_t, version));
static_assert(offsetof(NvmlTemperature, sensor) == offsetof(nvmlTemperature_v1_t, sensorType));
static_assert(offsetof(NvmlTemperature, celsius) == offsetof(nvmlTemperature_v1_t, temperature));
static_assert(sizeof(NvmlValue) == sizeof(nvmlValue_t) && alignof(NvmlValue) == alignof(nvmlValue_t));
static_assert(std::is_same_v<decltype(NvmlValue::real), decltype(nvmlValue_t::dVal)>);
static_assert(std::is_same_v<decltype(NvmlValue::signed_int), decltype(nvmlValue_t::siVal)>);
static_assert(std::is_same_v<decltype(NvmlValue::unsigned_int), decltype(nvmlValue_t::uiVal)>);
static_assert(std::is_same_v<decltype(NvmlValue::unsigned_long), decltype(nvmlValue_t::ulVal)>);
static_assert(std::is_same_v<decltype(NvmlValue::unsigned_long_long), decltype(nvmlValue_t::ullVal)>);
static_assert(std::is_same_v<decltype(NvmlValue::signed_long_long), decltype(nvmlValue_t::sllVal)>);
static_assert(std::is_same_v<decltype(NvmlValue::unsigned_short), decltype(nvmlValue_t::usVal)>);
static_assert(sizeof(NvmlFieldValue) == sizeof(nvmlFieldValue_t));
static_assert(alignof(NvmlFieldValue) == alignof(nvmlFieldValue_t));
static_assert(offsetof(NvmlFieldValue, field) == offsetof(nvmlFieldValue_t, fieldId));
static_assert(offsetof(NvmlFieldValue, scope) == offsetof(nvmlFieldValue_t, scopeId));
static_assert(offsetof(NvmlFieldValue, timestamp) == offsetof(nvmlFieldValue_t, timestamp));
static_assert(offsetof(NvmlFieldValue, latency_usec) == offsetof(nvmlFieldValue_t, latencyUsec));
static_assert(offsetof(NvmlFieldValue, type) == offsetof(nvmlFieldValue_t, valueType));
static_assert(offsetof(NvmlFieldValue, result) == offsetof(nvmlFieldValue_t, nvmlReturn));
static_assert(offsetof(NvmlFieldValue, value) == offsetof(nvmlFieldValue_t, value));

/// Whether a type of ours goes into a call as theirs does: the same type, a pointer for a pointer, or an
/// enumeration for one of its size.
template <typename Ours, typename Theirs>
struct PassesAs : std::is_same<Ours, Theirs> {};
template <typename Ours, typename Theirs>
struct PassesAs<Ours*, Theirs*> : std::true_type {};
template <typename Ours, typename Theirs>
  requires std::conjunction_v<std::is_enum<Ours>, std::is_enum<Theirs>>
struct PassesAs<Ours, Theirs> : std::is_same<std::make_unsigned_t<Ours>, std::make_unsigned_t<Theirs>> {};

template <typename Ours, typename Theirs>
struct SameCall : std::false_type {};
template <typename R1, typename... A1, typename R2, typename... A2>
  requires(sizeof...(A1) == sizeof...(A2))
struct SameCall<R1 (*)(A1...), R2(A2...)> : std::conjunction<PassesAs<R1, R2>, PassesAs<A1, A2>...> {};

template <auto member, typename Theirs>
constexpr bool same_call(Theirs* /*function*/) {
  const NvmlLibrary* nvml = nullptr;
  return SameCall<std::remove_cvref_t<decltype(nvml->*member)>, Theirs>::value;
}

// Calls. nvml.h has deprecated two of them, which older drivers need.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
static_assert(same_call<&NvmlLibrary::init>(nvmlInit_v2));
static_assert(same_call<&NvmlLibrary::shutdown>(nvmlShutdown));
static_assert(same_call<&NvmlLibrary::error_string>(nvmlErrorString));
static_assert(same_call<&NvmlLibrary::device_count>(nvmlDeviceGetCount_v2));
static_assert(same_call<&NvmlLibrary::device_handle>(nvmlDeviceGetHandleByIndex_v2));
static_assert(same_call<&NvmlLibrary::pci_info>(nvmlDeviceGetPciInfo_v3));
static_assert(same_call<&NvmlLibrary::uuid>(nvmlDeviceGetUUID));
static_assert(same_call<&NvmlLibrary::clock>(nvmlDeviceGetClockInfo));
static_assert(same_call<&NvmlLibrary::power>(nvmlDeviceGetPowerUsage));
static_assert(same_call<&NvmlLibrary::ecc_errors>(nvmlDeviceGetTotalEccErrors));
static_assert(same_call<&NvmlLibrary::pcie_replays>(nvmlDeviceGetPcieReplayCounter));
static_assert(same_call<&NvmlLibrary::field_values>(nvmlDeviceGetFieldValues));
static_assert(same_call<&NvmlLibrary::temperature>(nvmlDeviceGetTemperatureV));
static_assert(same_call<&NvmlLibrary::old_temperature>(nvmlDeviceGetTemperature));
static_assert(same_call<&NvmlLibrary::event_reasons>(nvmlDeviceGetCurrentClocksEventReasons));
static_assert(same_call<&NvmlLibrary::throttle_reasons>(nvmlDeviceGetCurrentClocksThrottleReasons));
static_assert(same_call<&NvmlLibrary::driver_version>(nvmlSystemGetDriverVersion));
static_assert(same_call<&NvmlLibrary::name>(nvmlDeviceGetName));
static_assert(same_call<&NvmlLibrary::power_limit>(nvmlDeviceGetEnforcedPowerLimit));
static_assert(kNvmlNameBytes == NVML_DEVICE_NAME_V2_BUFFER_SIZE);
static_assert(kNvmlDriverVersionBytes == NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE);
#pragma GCC diagnostic pop

TEST(NvmlHeader, TheRealOneAgreesWithOurs) { RecordProperty("nvml", NVML_API_VERSION); }

}  // namespace
}  // namespace collbench::topology::nvml_header_test
