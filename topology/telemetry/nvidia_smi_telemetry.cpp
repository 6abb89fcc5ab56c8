#include "topology/telemetry/nvidia_smi_telemetry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "base/child_process.hpp"
#include "base/error.hpp"
#include "base/text_input.hpp"
#include "base/xml_input.hpp"
#include "topology/graph/pci.hpp"
#include "topology/readers/nvidia_smi/fields.hpp"

namespace collbench::topology {
namespace {

constexpr double kMegahertz = 1e6;
constexpr double kMicrosecond = 1e-6;

/// How nvidia-smi's elements end; those of its counters are shorter.
struct ReasonNames {
  GpuTrouble trouble;
  std::string_view reason;
  std::string_view counter;
};

constexpr std::array kReasons{
    ReasonNames{GpuTrouble::sw_power_cap, "_sw_power_cap", "_sw_power_cap"},
    ReasonNames{GpuTrouble::hw_slowdown, "_hw_slowdown", "_hw_slowdown"},
    ReasonNames{GpuTrouble::hw_thermal_slowdown, "_hw_thermal_slowdown", "_hw_therm_slowdown"},
    ReasonNames{GpuTrouble::hw_power_brake_slowdown, "_hw_power_brake_slowdown", "_hw_power_brake"},
    ReasonNames{GpuTrouble::sw_thermal_slowdown, "_sw_thermal_slowdown", "_sw_therm_slowdown"},
    ReasonNames{GpuTrouble::sync_boost, "_sync_boost", "_sync_boost"},
};

std::optional<std::string> field(pugi::xml_node node) { return known_field(node.child_value()); }

/// The number at the first of the paths that has one.
std::optional<double> number(pugi::xml_node gpu, std::initializer_list<const char*> paths) {
  for (const char* const path : paths) {
    const auto text = field(gpu.first_element_by_path(path));
    if (const auto value = leading_number(text.value_or(""))) return value;
  }
  return std::nullopt;
}

std::optional<double> scaled(std::optional<double> value, double unit) {
  return value ? std::optional(*value * unit) : std::nullopt;
}

std::optional<std::uint64_t> counter(pugi::xml_node node) {
  const auto value =
      parse_integer(field(node).value_or(""), 0, std::numeric_limits<std::int64_t>::max() / 16);
  return value ? std::optional(static_cast<std::uint64_t>(*value)) : std::nullopt;
}

/// The sum of those elements that hold a number; none when none does.
std::optional<std::uint64_t> sum(pugi::xml_node node, std::initializer_list<const char*> paths) {
  std::optional<std::uint64_t> total;
  for (const char* const path : paths) {
    if (const auto part = counter(node.first_element_by_path(path))) total = total.value_or(0) + *part;
  }
  return total;
}

std::vector<GpuTrouble> reasons_now(pugi::xml_node gpu) {
  std::set<GpuTrouble> active;
  for (const char* const list : {"clocks_event_reasons", "clocks_throttle_reasons"}) {
    for (const pugi::xml_node element : gpu.child(list).children()) {
      if (field(element) != "Active") continue;
      const std::string_view name = element.name();
      for (const ReasonNames& known : kReasons) {
        if (name.ends_with(known.reason)) active.insert(known.trouble);
      }
    }
  }
  return most_specific(std::move(active));
}

std::map<GpuTrouble, double> reason_seconds(pugi::xml_node gpu) {
  std::map<GpuTrouble, double> seconds;
  for (const pugi::xml_node element : gpu.child("clocks_event_reasons_counters").children()) {
    const auto microseconds = leading_number(field(element).value_or(""));
    if (!microseconds) continue;
    const std::string_view name = element.name();
    for (const ReasonNames& known : kReasons) {
      if (name.ends_with(known.counter)) seconds[known.trouble] = *microseconds * kMicrosecond;
    }
  }
  return seconds;
}

GpuReading read_gpu(const XmlInput& xml, pugi::xml_node gpu) {
  const pugi::xml_node ecc = gpu.child("ecc_errors").child("volatile");
  GpuReading reading;
  reading.address = pci_address(xml, gpu, "id");
  reading.uuid = field(gpu.child("uuid")).value_or("");
  reading.model = field(gpu.child("product_name")).value_or("");
  reading.driver = field(xml.root().child("driver_version")).value_or("");
  reading.sm_clock_hertz = scaled(number(gpu, {"clocks/sm_clock"}), kMegahertz);
  reading.temperature_celsius = number(gpu, {"temperature/gpu_temp"});
  // The momentary one where there is one: an average over the last second lags behind what runs.
  reading.power_watts = number(gpu, {"gpu_power_readings/instant_power_draw", "gpu_power_readings/power_draw",
                                     "gpu_power_readings/average_power_draw", "power_readings/power_draw"});
  reading.power_limit_watts =
      number(gpu, {"gpu_power_readings/current_power_limit", "gpu_power_readings/power_limit",
                   "power_readings/enforced_power_limit"});
  // Turing and newer count SRAM and DRAM separately; the drivers before, and for older GPUs, have totals.
  reading.ecc_corrected = sum(ecc, {"sram_correctable", "dram_correctable", "single_bit/total"});
  reading.ecc_uncorrected = sum(ecc, {"sram_uncorrectable", "sram_uncorrectable_parity",
                                      "sram_uncorrectable_secded", "dram_uncorrectable", "double_bit/total"});
  reading.pcie_replays = counter(gpu.child("pci").child("replay_counter"));
  reading.throttled_by = reasons_now(gpu);
  reading.throttled_seconds = reason_seconds(gpu);
  return reading;
}

class NvidiaSmiReader final : public GpuReader {
 public:
  NvidiaSmiReader(std::string program, double timeout_seconds) : program_(std::move(program)) {
    limits_.seconds = timeout_seconds;
    limits_.max_bytes = kMaxInputBytes;
  }

  [[nodiscard]] std::string name() const override { return "nvidia-smi -q -x"; }

  [[nodiscard]] std::vector<GpuReading> read_within(double seconds) override {
    ChildLimits limits = limits_;
    limits.seconds = std::min(limits.seconds, seconds);
    const ChildResult child = run_child({program_, "-q", "-x"}, limits);
    if (child.succeeded()) return read_nvidia_smi_telemetry(child.out, "nvidia-smi");
    std::string what = describe_end(child, limits);
    const std::string_view output = trim(trim(child.err).empty() ? child.out : child.err);
    if (!output.empty()) {
      what += fmt::format(", \"{}\"", excerpt(output.substr(0, output.find('\n')), kMaxQuoted));
    }
    throw Error(ExitStatus::not_here, name(), what, "check the driver with nvidia-smi");
  }

 private:
  static constexpr std::size_t kMaxQuoted = 120;  ///< of what the program wrote

  std::string program_;
  ChildLimits limits_;
};

}  // namespace

std::vector<GpuReading> read_nvidia_smi_telemetry(std::string_view text, std::string_view file) {
  const XmlInput xml(text, file, "nvidia_smi_log", "the output of nvidia-smi -q -x");
  std::vector<GpuReading> gpus;
  for (const pugi::xml_node gpu : xml.root().children("gpu")) gpus.push_back(read_gpu(xml, gpu));
  if (gpus.empty()) throw xml.error(xml.root(), "no <gpu> element");
  return gpus;
}

std::unique_ptr<GpuReader> make_nvidia_smi_reader(std::string program, double timeout_seconds) {
  return std::make_unique<NvidiaSmiReader>(std::move(program), timeout_seconds);
}

}  // namespace collbench::topology
