#include "topology/telemetry/nvml_telemetry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <future>
#include <optional>
#include <set>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <utility>

#include "base/error.hpp"
#include "base/shared_library.hpp"
#include "topology/graph/pci.hpp"
#include "topology/telemetry/nvml_library.hpp"

namespace collbench::topology {
namespace {

constexpr double kHertzPerMegahertz = 1e6;
constexpr double kWattsPerMilliwatt = 1e-3;
constexpr double kSecondsPerNanosecond = 1e-9;

struct ReasonBit {
  unsigned long long bit;
  GpuTrouble trouble;
};

/// An idle GPU and clocks that somebody has set have bits, too, and are no trouble.
constexpr std::array kReasonBits{
    ReasonBit{kNvmlSwPowerCap, GpuTrouble::sw_power_cap},
    ReasonBit{kNvmlHwSlowdown, GpuTrouble::hw_slowdown},
    ReasonBit{kNvmlHwThermalSlowdown, GpuTrouble::hw_thermal_slowdown},
    ReasonBit{kNvmlHwPowerBrakeSlowdown, GpuTrouble::hw_power_brake_slowdown},
    ReasonBit{kNvmlSwThermalSlowdown, GpuTrouble::sw_thermal_slowdown},
    ReasonBit{kNvmlSyncBoost, GpuTrouble::sync_boost},
};

struct ReasonTime {
  unsigned int field;
  GpuTrouble trouble;
};

/// Those whose number is the same in every driver; of the other reasons only the bits are read.
constexpr std::array kReasonTimes{
    ReasonTime{kNvmlSwPowerCapTime, GpuTrouble::sw_power_cap},
    ReasonTime{kNvmlSyncBoostTime, GpuTrouble::sync_boost},
};

Error nvml_error(const std::string& what) {
  return {ExitStatus::not_here, "NVML", what, "check the driver with nvidia-smi"};
}

NvmlLibrary load_nvml(const std::string& name) {
  const SharedLibrary file = [&] {
    try {
      return SharedLibrary(name);
    } catch (const std::runtime_error& error) {
      throw nvml_error(error.what());
    }
  }();
  NvmlLibrary nvml;
  nvml.path = file.path();
  const auto require = [&](auto& function, const char* symbol) {
    file.find(function, symbol);
    if (function == nullptr) throw nvml_error(fmt::format("{} lacks {}", nvml.path, symbol));
  };
  require(nvml.init, "nvmlInit_v2");
  require(nvml.shutdown, "nvmlShutdown");
  require(nvml.error_string, "nvmlErrorString");
  require(nvml.device_count, "nvmlDeviceGetCount_v2");
  require(nvml.device_handle, "nvmlDeviceGetHandleByIndex_v2");
  require(nvml.pci_info, "nvmlDeviceGetPciInfo_v3");
  require(nvml.uuid, "nvmlDeviceGetUUID");
  require(nvml.clock, "nvmlDeviceGetClockInfo");
  require(nvml.power, "nvmlDeviceGetPowerUsage");
  require(nvml.ecc_errors, "nvmlDeviceGetTotalEccErrors");
  require(nvml.pcie_replays, "nvmlDeviceGetPcieReplayCounter");
  require(nvml.field_values, "nvmlDeviceGetFieldValues");
  file.find(nvml.temperature, "nvmlDeviceGetTemperatureV");
  file.find(nvml.old_temperature, "nvmlDeviceGetTemperature");
  if (nvml.temperature == nullptr && nvml.old_temperature == nullptr) {
    throw nvml_error(fmt::format("{} lacks nvmlDeviceGetTemperatureV", nvml.path));
  }
  file.find(nvml.event_reasons, "nvmlDeviceGetCurrentClocksEventReasons");
  if (nvml.event_reasons == nullptr) {
    require(nvml.throttle_reasons, "nvmlDeviceGetCurrentClocksThrottleReasons");
  }
  file.find(nvml.driver_version, "nvmlSystemGetDriverVersion");
  file.find(nvml.name, "nvmlDeviceGetName");
  file.find(nvml.power_limit, "nvmlDeviceGetEnforcedPowerLimit");
  return nvml;
}

/// None of a type that a power or a time cannot have.
std::optional<double> number(const NvmlFieldValue& answer) {
  if (answer.result != NvmlResult::success) return std::nullopt;
  switch (answer.type) {
    case NvmlValueType::real:
      return answer.value.real;
    case NvmlValueType::unsigned_int:
      return answer.value.unsigned_int;
    case NvmlValueType::unsigned_long:
      return static_cast<double>(answer.value.unsigned_long);
    case NvmlValueType::unsigned_long_long:
      return static_cast<double>(answer.value.unsigned_long_long);
    case NvmlValueType::signed_long_long:
      return static_cast<double>(answer.value.signed_long_long);
    case NvmlValueType::signed_int:
      return answer.value.signed_int;
    case NvmlValueType::unsigned_short:
      return answer.value.unsigned_short;
  }
  return std::nullopt;
}

/// Asks for the figures of one GPU, one at a time: what its driver does not support is none.
class NvmlGpu {
 public:
  NvmlGpu(const NvmlLibrary& nvml, NvmlDevice* device) : nvml_(nvml), device_(device) {}

  /// None of a GPU that is lost, and of one without a PCI address: it could not be told from others.
  std::optional<GpuReading> read() {
    NvmlPciInfo pci{};
    failure_ = nvml_.pci_info(device_, &pci);
    if (failure_ != NvmlResult::success) return std::nullopt;
    const auto address = canonical_pci_address(pci.bus_id.data());
    if (!address) {
      failure_ = NvmlResult::unknown;
      return std::nullopt;
    }
    GpuReading reading;
    reading.source = TelemetrySource::nvml;
    reading.address = *address;
    const auto uuid = ask<std::array<char, kNvmlUuidBytes>>(
        [&](auto* text) { return nvml_.uuid(device_, text->data(), kNvmlUuidBytes); });
    if (uuid) reading.uuid = uuid->data();
    describe(reading);
    const auto clock =
        ask<unsigned>([&](auto* megahertz) { return nvml_.clock(device_, NvmlClock::sm, megahertz); });
    if (clock) reading.sm_clock_hertz = *clock * kHertzPerMegahertz;
    reading.temperature_celsius = temperature();
    reading.ecc_corrected = ecc_errors(NvmlMemoryError::corrected);
    reading.ecc_uncorrected = ecc_errors(NvmlMemoryError::uncorrected);
    reading.pcie_replays = ask<unsigned>([&](auto* count) { return nvml_.pcie_replays(device_, count); });
    reading.throttled_by = reasons();
    read_fields(reading);
    if (failure_ != NvmlResult::success) return std::nullopt;
    return reading;
  }

  /// Why there is no reading.
  [[nodiscard]] NvmlResult failure() const { return failure_; }

 private:
  template <typename Value, typename Call>
  std::optional<Value> ask(const Call& call) {
    Value value{};
    const NvmlResult result = call(&value);
    if (result == NvmlResult::gpu_is_lost) failure_ = result;
    return result == NvmlResult::success ? std::optional(value) : std::nullopt;
  }

  std::optional<double> temperature() {
    if (nvml_.temperature != nullptr) {
      const auto answer = ask<NvmlTemperature>([&](auto* wanted) {
        *wanted = {kNvmlTemperatureVersion, NvmlTemperatureSensor::gpu, 0};
        return nvml_.temperature(device_, wanted);
      });
      if (answer) return answer->celsius;
    }
    if (nvml_.old_temperature == nullptr) return std::nullopt;
    return ask<unsigned>(
        [&](auto* celsius) { return nvml_.old_temperature(device_, NvmlTemperatureSensor::gpu, celsius); });
  }

  std::optional<std::uint64_t> ecc_errors(NvmlMemoryError kind) {
    return ask<unsigned long long>([&](auto* count) {
      return nvml_.ecc_errors(device_, kind, NvmlEccCounter::since_the_driver_loaded, count);
    });
  }

  std::vector<GpuTrouble> reasons() {
    const auto get = nvml_.event_reasons != nullptr ? nvml_.event_reasons : nvml_.throttle_reasons;
    const auto bits = ask<unsigned long long>([&](auto* mask) { return get(device_, mask); });
    std::set<GpuTrouble> active;
    for (const ReasonBit& reason : kReasonBits) {
      if ((bits.value_or(0) & reason.bit) != 0) active.insert(reason.trouble);
    }
    return most_specific(std::move(active));
  }

  void describe(GpuReading& reading) {
    if (nvml_.name != nullptr) {
      const auto name = ask<std::array<char, kNvmlNameBytes>>(
          [&](auto* text) { return nvml_.name(device_, text->data(), kNvmlNameBytes); });
      if (name) reading.model = name->data();
    }
    std::array<char, kNvmlDriverVersionBytes> driver{};
    if (nvml_.driver_version != nullptr &&
        nvml_.driver_version(driver.data(), kNvmlDriverVersionBytes) == NvmlResult::success)
      reading.driver = driver.data();
    if (nvml_.power_limit == nullptr) return;
    const auto limit =
        ask<unsigned>([&](auto* milliwatts) { return nvml_.power_limit(device_, milliwatts); });
    if (limit) reading.power_limit_watts = *limit * kWattsPerMilliwatt;
  }

  /// Power, and how long some reasons have held: one call, in which each field has a result of its own.
  void read_fields(GpuReading& reading) {
    std::array<NvmlFieldValue, 1 + kReasonTimes.size()> answers{};
    answers.front().field = kNvmlInstantPower;
    for (std::size_t i = 0; i < kReasonTimes.size(); ++i) answers.at(1 + i).field = kReasonTimes.at(i).field;
    const auto asked = ask<int>([&](auto* /*value*/) {
      return nvml_.field_values(device_, static_cast<int>(answers.size()), answers.data());
    });
    std::optional<double> milliwatts;
    if (asked) {
      milliwatts = number(answers.front());
      for (std::size_t i = 0; i < kReasonTimes.size(); ++i) {
        const auto nanoseconds = number(answers.at(1 + i));
        if (nanoseconds)
          reading.throttled_seconds[kReasonTimes.at(i).trouble] = *nanoseconds * kSecondsPerNanosecond;
      }
    }
    // As nvidia-smi's: the momentary one where there is one, since an average over the last second lags
    // behind.
    if (!milliwatts) milliwatts = ask<unsigned>([&](auto* power) { return nvml_.power(device_, power); });
    if (milliwatts) reading.power_watts = *milliwatts * kWattsPerMilliwatt;
  }

  const NvmlLibrary& nvml_;
  NvmlDevice* device_;
  NvmlResult failure_ = NvmlResult::success;
};

/// NVML, initialized.
class NvmlSession {
 public:
  explicit NvmlSession(const std::string& library) : nvml_(load_nvml(library)) {
    check(nvml_.init(), "nvmlInit_v2");
  }
  NvmlSession(const NvmlSession&) = delete;
  NvmlSession& operator=(const NvmlSession&) = delete;
  ~NvmlSession() { nvml_.shutdown(); }

  /// Looks for the GPUs anew each time: that takes no call of the driver once each has been opened.
  [[nodiscard]] std::vector<GpuReading> read() const {
    unsigned int count = 0;
    check(nvml_.device_count(&count), "nvmlDeviceGetCount_v2");
    if (count == 0) throw nvml_error("nvmlDeviceGetCount_v2: no GPU");
    std::vector<GpuReading> readings;
    NvmlResult unread = NvmlResult::success;
    for (unsigned int index = 0; index < count; ++index) {
      NvmlDevice* device = nullptr;
      const NvmlResult found = nvml_.device_handle(index, &device);
      if (found != NvmlResult::success) {
        unread = found;
        continue;
      }
      NvmlGpu gpu(nvml_, device);
      if (auto reading = gpu.read()) {
        readings.push_back(*std::move(reading));
      } else {
        unread = gpu.failure();
      }
    }
    if (readings.empty()) {
      throw nvml_error(fmt::format("cannot read {}: {}",
                                   count == 1 ? "the GPU" : fmt::format("any of {} GPUs", count),
                                   nvml_.error_string(unread)));
    }
    return readings;
  }

 private:
  void check(NvmlResult result, const char* call) const {
    if (result == NvmlResult::success) return;
    throw nvml_error(fmt::format("{}: {}", call, nvml_.error_string(result)));
  }

  NvmlLibrary nvml_;
};

/// What a reading needs; a thread that is left behind keeps it.
struct NvmlState {
  std::string library;
  std::optional<NvmlSession> session;
};

std::vector<GpuReading> read_with(NvmlState& state) {
  if (!state.session) state.session.emplace(state.library);
  return state.session->read();
}

class NvmlReader final : public GpuReader {
 public:
  NvmlReader(std::string library, double timeout_seconds)
      : library_(std::move(library)),
        timeout_(timeout_seconds),
        state_(std::make_shared<NvmlState>(library_)) {}

  [[nodiscard]] std::string name() const override { return "NVML"; }

  [[nodiscard]] std::vector<GpuReading> read_within(double seconds) override {
    const auto limit = std::min(timeout_, std::chrono::duration<double>(seconds));
    std::packaged_task<std::vector<GpuReading>()> task([state = state_] { return read_with(*state); });
    std::future<std::vector<GpuReading>> result = task.get_future();
    std::thread thread = start(std::move(task));
    if (result.wait_for(limit) != std::future_status::ready) {
      thread.detach();
      state_ = std::make_shared<NvmlState>(library_);  // the other is that thread's now
      throw nvml_error(fmt::format("timed out after {} s", limit.count()));
    }
    thread.join();
    return result.get();
  }

 private:
  static std::thread start(std::packaged_task<std::vector<GpuReading>()> task) {
    try {
      return std::thread(std::move(task));
    } catch (const std::system_error& error) {
      throw nvml_error(fmt::format("no thread: {}", error.what()));
    }
  }

  std::string library_;
  std::chrono::duration<double> timeout_;
  std::shared_ptr<NvmlState> state_;
};

}  // namespace

std::unique_ptr<GpuReader> make_nvml_reader(std::string library, double timeout_seconds) {
  return std::make_unique<NvmlReader>(std::move(library), timeout_seconds);
}

}  // namespace collbench::topology
