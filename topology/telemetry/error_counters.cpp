#include "topology/telemetry/error_counters.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ctime>
#include <limits>
#include <optional>

#include "base/child_process.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/host_name.hpp"
#include "base/json_reader.hpp"
#include "base/record/fields.hpp"
#include "base/text_input.hpp"
#include "topology/readers/sysfs/sysfs.hpp"
#include "topology/telemetry/nvidia_smi_telemetry.hpp"

namespace collbench::topology {
namespace {

namespace fs = std::filesystem;

/// Of ports/N/counters and hw_counters, by the names of the kernel
/// (Documentation/ABI/stable/sysfs-class-infiniband) and of mlx5: what goes up by an error or a drop, and
/// never by traffic.
constexpr std::array<std::string_view, 19> kPortErrors{"symbol_error",
                                                       "link_error_recovery",
                                                       "link_downed",
                                                       "port_rcv_errors",
                                                       "port_rcv_remote_physical_errors",
                                                       "port_rcv_switch_relay_errors",
                                                       "port_xmit_discards",
                                                       "port_xmit_constraint_errors",
                                                       "port_rcv_constraint_errors",
                                                       "local_link_integrity_errors",
                                                       "excessive_buffer_overrun_errors",
                                                       "VL15_dropped",
                                                       "out_of_sequence",
                                                       "packet_seq_err",
                                                       "local_ack_timeout_err",
                                                       "rnr_nak_retry_err",
                                                       "roce_slow_restart",
                                                       "out_of_buffer",
                                                       "implied_nak_seq_err"};

std::optional<std::uint64_t> whole_number(std::string_view text) {
  const auto value = parse_integer(text, 0, std::numeric_limits<long long>::max());
  return value ? std::optional(static_cast<std::uint64_t>(*value)) : std::nullopt;
}

/// `unread`: files that are there and give no number.
void count_file(ErrorCounters& counters, const std::string& name, const fs::path& file,
                std::vector<std::string>& unread) {
  std::error_code ignored;
  if (const auto value = whole_number(sysfs_text(file).value_or("")))
    counters.counts[name] = *value;
  else if (fs::exists(file, ignored))
    unread.push_back(file.string());
}

void count_ports(ErrorCounters& counters, const fs::path& root, std::vector<std::string>& unread) {
  const fs::path devices = root / "class/infiniband";
  for (const std::string& device : sysfs_names(devices)) {
    for (const std::string& port : sysfs_names(devices / device / "ports")) {
      for (const char* const folder : {"counters", "hw_counters"}) {
        for (const std::string_view error : kPortErrors) {
          count_file(counters, fmt::format("{}/{} {}", device, port, error),
                     devices / device / "ports" / port / folder / error, unread);
        }
      }
    }
  }
  if (sysfs_names(devices).empty())
    counters.notes.push_back(fmt::format("{} is hidden or empty: no port was read", devices.string()));
}

void count_carriers(ErrorCounters& counters, const fs::path& root, std::vector<std::string>& unread) {
  const fs::path interfaces = root / "class/net";
  std::error_code ignored;
  const std::vector<std::string> names = sysfs_names(interfaces);
  const auto is_device = [&](const std::string& name) {
    return fs::exists(interfaces / name / "device", ignored);
  };
  // A container has none, and an interface whose other end is elsewhere; a host's such ends come and go.
  const bool is_container = std::ranges::none_of(names, is_device);
  for (const std::string& name : names) {
    const fs::path interface = interfaces / name;
    const bool is_a_containers = is_container &&
                                 sysfs_text(interface / "iflink") != sysfs_text(interface / "ifindex") &&
                                 !fs::exists(interface / "brport", ignored);
    if (is_device(name) || is_a_containers)
      count_file(counters, name + " carrier_changes", interface / "carrier_changes", unread);
  }
}

/// The last line of these files is their sum: "TOTAL_ERR_COR 0" (Documentation/ABI/testing/sysfs-bus-pci).
void count_pci(ErrorCounters& counters, const fs::path& root) {
  const fs::path functions = root / "bus/pci/devices";
  for (const std::string& function : sysfs_names(functions)) {
    for (const char* const kind : {"aer_dev_correctable", "aer_dev_nonfatal", "aer_dev_fatal"}) {
      const fs::path file = functions / function / kind;
      std::error_code ignored;
      if (!fs::is_regular_file(file, ignored)) continue;
      std::optional<std::uint64_t> sum;
      const std::string content = read_file(file);
      for (const Line& each : clean_lines(content)) {
        const std::string_view line = each.text;
        if (line.starts_with("TOTAL_ERR_")) sum = whole_number(trim(line.substr(line.find(' ') + 1)));
      }
      if (sum) counters.counts[fmt::format("PCI {} {}", function, kind)] = *sum;
    }
  }
}

void count_memory(ErrorCounters& counters, const fs::path& root, std::vector<std::string>& unread) {
  const fs::path controllers = root / "devices/system/edac/mc";
  for (const std::string& controller : sysfs_names(controllers)) {
    for (const char* const kind : {"ce_count", "ue_count"})
      count_file(counters, fmt::format("memory {} {}", controller, kind), controllers / controller / kind,
                 unread);
  }
}

/// What a program says; none, and a note, where it fails.
std::optional<std::string> said(ErrorCounters& counters, const std::vector<std::string>& command) {
  const ChildLimits limits{.seconds = 8};
  ChildResult result = run_child(command, limits);
  if (result.succeeded()) return std::move(result.out);
  counters.notes.push_back(fmt::format("{}: {}", fmt::join(command, " "), describe_end(result, limits)));
  return std::nullopt;
}

}  // namespace

ErrorCounters read_error_counters(const fs::path& root) {
  ErrorCounters counters;
  std::vector<std::string> unread;
  count_ports(counters, root, unread);
  count_carriers(counters, root, unread);
  count_pci(counters, root);
  count_memory(counters, root, unread);
  if (!unread.empty())
    counters.notes.push_back(fmt::format("{} here gave no number, such as {}",
                                         counted(unread.size(), "error counter"), unread.front()));
  return counters;
}

void count_xids(ErrorCounters& counters, std::string_view kernel_log) {
  std::uint64_t count = 0;
  for (const Line& each : clean_lines(kernel_log)) {
    const std::string_view line = each.text;
    const std::size_t at = line.find("Xid (PCI:");
    const std::size_t closed = at == std::string_view::npos ? at : line.find("): ", at);
    if (closed == std::string_view::npos) continue;
    const auto number = leading_number(line.substr(closed + 3));
    const bool of_a_program =
        number && std::ranges::any_of(kXidsOfPrograms, [&](int xid) { return *number == xid; });
    if (number && !of_a_program) ++count;
  }
  counters.counts["kernel Xid"] = count;
}

void count_gpu_errors(ErrorCounters& counters, const std::vector<GpuReading>& gpus) {
  for (const GpuReading& gpu : gpus) {
    counters.gpu_models.push_back(gpu.model);
    const auto count = [&](std::string_view name, const std::optional<std::uint64_t>& value) {
      if (value) counters.counts[fmt::format("GPU {} {}", gpu.address, name)] = *value;
    };
    count("ecc_corrected", gpu.ecc_corrected);
    count("ecc_uncorrected", gpu.ecc_uncorrected);
    count("pcie_replays", gpu.pcie_replays);
  }
}

void count_nvlink_errors(ErrorCounters& counters, std::string_view nvlink_errors) {
  std::string gpu;
  for (const Line& each : clean_lines(nvlink_errors)) {
    const std::string_view line = trim(each.text);
    if (line.starts_with("GPU ")) gpu = line.substr(0, line.find(':'));
    const std::size_t last = line.rfind(": ");
    const std::size_t first = line.find(": ");
    if (gpu.empty() || !line.starts_with("Link ") || last == first) continue;
    if (const auto value = whole_number(trim(line.substr(last + 2)))) {
      counters.counts[fmt::format("{} NV{} {}", gpu, line.substr(0, first),
                                  line.substr(first + 2, last - first - 2))] = *value;
    }
  }
}

ErrorCounters live_error_counters() {
  ErrorCounters counters = read_error_counters("/sys");
  counters.host = own_host_name();
  if (const auto log = said(counters, {"dmesg"})) count_xids(counters, *log);
  try {
    count_gpu_errors(counters, make_nvidia_smi_reader()->read());
    if (const auto links = said(counters, {"nvidia-smi", "nvlink", "-e"}))
      count_nvlink_errors(counters, *links);
  } catch (const Error& error) {
    counters.notes.push_back(fmt::format("GPUs (nvidia-smi): {}", error.what()));
  }
  counters.unix_seconds = static_cast<double>(std::time(nullptr));
  return counters;
}

static void each_field(auto& visit, Either<ErrorCounters> auto& counters) {
  visit("host", counters.host, ReadBy{host_name_from_json});
  visit("unix_seconds", counters.unix_seconds, kSeconds);
  visit("counts", counters.counts);
  visit("notes", counters.notes);
  visit.older("gpus", counters.gpu_models);
}

std::string error_counters_json(const ErrorCounters& counters) {
  nlohmann::json document = record_to_json(counters);
  document["record"] = "collbench error counters";
  document["unit"] = "events since each was reset";
  return document.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

ErrorCounters error_counters_from_json(std::string_view text, const std::string& file) {
  const nlohmann::json document = parse_json(text, file);
  const JsonReader root(document, file);
  if (root.at("record").text() != "collbench error counters")
    throw root.at("record").expected("\"collbench error counters\"");
  return record_from_json<ErrorCounters>(root);
}

}  // namespace collbench::topology
