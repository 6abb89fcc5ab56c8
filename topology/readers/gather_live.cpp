#include "topology/readers/gather_live.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "base/child_process.hpp"
#include "base/error.hpp"
#include "base/text_input.hpp"
#include "topology/graph/merge.hpp"
#include "topology/readers/readers.hpp"

namespace collbench::topology {
namespace {

/// Runs programs within one budget of time.
class Programs {
 public:
  explicit Programs(const LiveSources& sources)
      : sources_(sources), start_(std::chrono::steady_clock::now()) {}

  /// What `arguments` print; none, with the reason in failure(), unless they succeed.
  [[nodiscard]] std::optional<std::string> output(const std::vector<std::string>& arguments) {
    const std::chrono::duration<double> gone = std::chrono::steady_clock::now() - start_;
    const ChildLimits limits{
        .seconds = std::clamp(sources_.seconds - gone.count(), 0.0, sources_.seconds_per_program),
        .max_bytes = kMaxInputBytes};
    last_ = run_child(arguments, limits);
    spdlog::debug("{}: {}", fmt::join(arguments, " "), describe_end(last_, limits));
    if (last_.succeeded()) return last_.out;
    // nvidia-smi prints its errors on stdout.
    const std::string_view message = trim(last_.err).empty() ? trim(last_.out) : trim(last_.err);
    failure_ = describe_end(last_, limits);
    if (!message.empty())
      failure_ += fmt::format(", \"{}\"", excerpt(message.substr(0, message.find('\n')), 120));
    return std::nullopt;
  }

  [[nodiscard]] const std::string& failure() const { return failure_; }
  [[nodiscard]] const ChildResult& last() const { return last_; }

 private:
  const LiveSources& sources_;
  std::chrono::steady_clock::time_point start_;
  std::string failure_;
  ChildResult last_;
};

/// What `read` makes of a source; a host with a note alone where it fails.
Host or_note(std::string_view source, const std::function<Host()>& read) {
  try {
    return read();
  } catch (const Error& error) {
    Host host;
    host.notes.emplace_back(fmt::format("{}: {}", source, error.what()));
    return host;
  }
}

struct NvidiaSmiCommand {
  std::vector<std::string> arguments;
  Host (*read)(std::string_view text, std::string_view file);
  bool silent_where_none;  ///< prints nothing when no GPU has what it is about
};

std::vector<NvidiaSmiCommand> nvidia_smi_commands() {
  return {{{"-q", "-x"}, read_nvidia_smi_query, false},
          {{"topo", "-m"}, read_nvidia_smi_topo, false},
          {{"nvlink", "-s"}, read_nvidia_smi_nvlink, true}};
}

std::string missing_nvidia_smi(const LiveSources& sources, bool gpus_on_bus, const std::string& why) {
  if (!gpus_on_bus) return fmt::format("{} not found, and no NVIDIA GPU on the PCI bus", sources.nvidia_smi);
  return fmt::format(
      "{} not found ({}): GPU models, UUIDs and NVLinks are unknown; put it on PATH, or start the container "
      "with --gpus all",
      sources.nvidia_smi, why);
}

/// What nvidia-smi says, by itself: its own numbering holds its tables together, also where it sees fewer
/// GPUs than the PCI bus.
Host gather_nvidia_smi(const LiveSources& sources, bool gpus_on_bus, Programs& programs) {
  std::vector<Host> readings;
  const auto note = [&readings](std::string text) {
    readings.emplace_back().notes.emplace_back(std::move(text));
  };
  std::string failed;
  for (const NvidiaSmiCommand& command : nvidia_smi_commands()) {
    std::vector<std::string> arguments{sources.nvidia_smi};
    arguments.insert(arguments.end(), command.arguments.begin(), command.arguments.end());
    const std::string name = fmt::format("nvidia-smi {}", fmt::join(command.arguments, " "));
    if (const auto text = programs.output(arguments)) {
      if (command.silent_where_none && trim(*text).empty()) continue;
      readings.push_back(or_note(name, [&] { return command.read(*text, "live"); }));
    } else if (programs.last().end == ChildEnd::not_started) {
      note(missing_nvidia_smi(sources, gpus_on_bus, programs.failure()));
      break;
    } else if (programs.last().end == ChildEnd::timed_out) {
      note(fmt::format("{}: {}; its data is missing, and it is not run again: see dmesg for Xid errors", name,
                       programs.failure()));
      break;
    } else if (programs.failure() != failed) {  // the same for every command is said once
      failed = programs.failure();
      note(fmt::format("{}: {}; its data is missing: fix that first", name, failed));
    }
  }
  return merge_hosts(readings);
}

/// "active", "inactive", "failed", …: systemctl prints the state and exits with 0 for "active" only.
Host gather_fabric_manager(const LiveSources& sources, Programs& programs) {
  constexpr std::array<std::string_view, 6> kStates{"active",     "inactive",     "failed",
                                                    "activating", "deactivating", "reloading"};
  Host host;
  host.sources.push_back(kFabricManagerReader.source("live"));
  static_cast<void>(programs.output({sources.systemctl, "is-active", "nvidia-fabricmanager"}));
  const std::string state(trim(programs.last().out));
  if (std::ranges::find(kStates, state) != kStates.end()) {
    host.fabric_manager.value = state;
  } else {
    host.notes.emplace_back(fmt::format(
        "the state of the fabric manager is unknown ({}); on the host: systemctl status nvidia-fabricmanager",
        programs.failure()));
  }
  return host;
}

bool shows_nvidia_gpu(const Host& host) {
  return std::ranges::any_of(host.pci_devices, [&host](const PciDevice& device) {
    return device.vendor.value_or("") == "0x10de" &&
           std::ranges::any_of(host.gpus,
                               [&device](const Gpu& gpu) { return gpu.pci_address.value == device.address; });
  });
}

}  // namespace

Host gather_live(const LiveSources& sources) {
  Programs programs(sources);
  const Host sysfs = read_sysfs(sources.sysfs);
  const bool gpus_on_bus = shows_nvidia_gpu(sysfs);
  const Host nvidia_smi = gather_nvidia_smi(sources, gpus_on_bus, programs);
  std::vector<Host> readings{read_system(sources.sysfs), nvidia_smi, sysfs};
  if (gpus_on_bus || !nvidia_smi.gpus.empty()) readings.push_back(gather_fabric_manager(sources, programs));
  if (sources.hwloc) readings.push_back(or_note("libhwloc", read_hwloc_live));
  Host host = merge_hosts(readings);
  if (!nvidia_smi.gpus.empty() && nvidia_smi.gpus.size() < host.gpus.size()) {
    host.notes.emplace_back(
        fmt::format("nvidia-smi sees {} of the {} GPUs on the PCI bus: the others are not visible to this "
                    "job or container",
                    nvidia_smi.gpus.size(), host.gpus.size()));
  }
  return host;
}

constexpr TopologyReader kFabricManagerReader{
    .name = "systemctl is-active",
    .coverage = {.gpus = false, .nics = false, .nvswitches = false},
};

}  // namespace collbench::topology
