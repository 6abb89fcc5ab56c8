// gpu_checks() of checks.hpp: GPUs, NVLink and its fabric, and the driver.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/units.hpp"
#include "topology/catalog/gpus.hpp"
#include "topology/doctor/gpu_query.hpp"
#include "topology/doctor/look.hpp"
#include "topology/telemetry/error_counters.hpp"

namespace collbench::topology {
namespace {

/// One kind of Xid: those for which NVIDIA's catalog of Xids (docs.nvidia.com/deploy/xid-errors, "immediate
/// action") wants the GPU reset, the machine restarted or its links examined, and 94, which ends a job by an
/// error of the memory.
struct Xid {
  int number;
  std::string_view meaning;
};
constexpr std::array<Xid, 23> kHardwareXids{{
    {46, "GPU stopped processing"},
    {48, "double-bit ECC error"},
    {54, "auxiliary power is not connected"},
    {62, "internal micro-controller halt"},
    {64, "row remapping failed"},
    {74, "NVLink error"},
    {79, "the GPU has fallen off the bus"},
    {94, "contained ECC error"},
    {95, "uncontained ECC error"},
    {109, "context switch timeout"},
    {110, "security fault"},
    {119, "GSP timeout, often a driver defect"},
    {120, "GSP error, often a driver defect"},
    {136, "NVLink training failed"},
    {140, "unrecovered ECC error"},
    {143, "GPU initialization error"},
    {144, "NVLink error"},
    {145, "NVLink error"},
    {146, "NVLink error"},
    {147, "NVLink error"},
    {149, "NVLink error"},
    {150, "NVLink error"},
    {154, "the driver asks for a recovery"},
}};

/// From Blackwell on those of NVLink say whether they are fatal: the catalog's decision goes by that.
bool is_harmless_nvlink_xid(int number, std::string_view message) {
  return number >= 144 && number <= 150 && has_text(message, "Nonfatal");
}

/// "154, GPU recovery action changed from 0x1 (GPU Reset Required) to 0x0 (None)": the driver asks for
/// nothing.
bool asks_for_nothing(int number, std::string_view message) {
  return number == 154 && has_text(message, "to 0x0 (None)");
}

/// A line about an Xid (GPU) or SXid (NVSwitch).
struct XidLine {
  std::string key;  ///< its device and number
  int number = 0;
  bool of_switch = false;
  /// "45, …, Ch 00000001 caused by previous Xid 149": a channel that ended with the others. The number is
  /// that of the earlier one.
  bool is_consequence = false;
  std::string_view message;
  const EvidenceLine* seen_in = nullptr;
};

std::optional<XidLine> xid_line(const EvidenceLine& seen_in) {
  const std::string_view line = seen_in.text;
  const std::size_t at = line.find("Xid (PCI:");
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view message = line.substr(at);
  const std::size_t closed = message.find("): ");
  if (closed == std::string_view::npos) return std::nullopt;
  const auto earlier = number_behind(message, "caused by previous Xid ");
  const auto number = earlier ? earlier : leading_number(message.substr(closed + 3));
  if (!number || *number > 1e6) return std::nullopt;
  return XidLine{fmt::format("{} {}", message.substr(0, closed), *number),
                 static_cast<int>(*number),
                 at > 0 && line[at - 1] == 'S',
                 earlier.has_value(),
                 message,
                 &seen_in};
}

/// The lines of the kernel log about Xids and SXids for which `words_of` has words, one for each device and
/// number: a bad GPU repeats itself thousands of times. A consequence counts only where the log does not have
/// what it followed, which alone says whether it was fatal.
template <class WordsOf>
DoctorVerdict xids_that(const Evidence& evidence, WordsOf words_of) {
  std::set<std::string> causes;
  for (const EvidenceLine& line : evidence.of("kernel-log"))
    if (const auto xid = xid_line(line); xid && !xid->is_consequence) causes.insert(xid->key);
  std::vector<DoctorObservation> found;
  std::set<std::string> seen;
  for (const EvidenceLine& line : evidence.of("kernel-log")) {
    const auto xid = xid_line(line);
    if (!xid || (xid->is_consequence && causes.contains(xid->key))) continue;
    const std::string words = words_of(*xid);
    if (words.empty() || !seen.insert(xid->key).second) continue;
    found.push_back({fmt::format("{}: {}", words, quoted(line).what), line.location});
  }
  return found_in(evidence, "kernel-log", found);
}

/// "Fatal", "Non-fatal", or by number, "Severity 1 Engine instance …": 1 is fatal
/// (NVSWITCH_ERROR_SEVERITY_FATAL of NVIDIA's open kernel modules, ctrl_dev_nvswitch.h). None for the lines
/// of data that follow.
std::optional<bool> is_fatal_of_switch(std::string_view message) {
  if (has_text(message, "Non-fatal")) return false;
  if (has_text(message, "Fatal")) return true;
  if (const auto severity = number_behind(message, "Severity ")) return *severity == 1;
  return std::nullopt;
}

const Xid* hardware_xid(int number) {
  const auto* found = std::ranges::find(kHardwareXids, number, &Xid::number);
  return found == kHardwareXids.end() ? nullptr : found;
}

/// Where its message does not say that nothing is to be done; else null.
const Xid* acting_xid(const XidLine& line) {
  const bool asks =
      !is_harmless_nvlink_xid(line.number, line.message) && !asks_for_nothing(line.number, line.message);
  return asks ? hardware_xid(line.number) : nullptr;
}

DoctorVerdict look_at_xids(const Evidence& evidence) {
  return xids_that(evidence, [](const XidLine& line) -> std::string {
    if (line.of_switch)
      return is_fatal_of_switch(line.message).value_or(false) ? fmt::format("fatal SXid {}", line.number)
                                                              : "";
    const Xid* xid = acting_xid(line);
    return xid == nullptr ? "" : fmt::format("Xid {} ({})", line.number, xid->meaning);
  });
}

bool is_of_program(int number) { return std::ranges::find(kXidsOfPrograms, number) != kXidsOfPrograms.end(); }

/// The Xids of programs that come soon after their GPU or a PCIe link failed: what a program reads then is
/// not there.
std::set<const EvidenceLine*> xids_after_failures(const Evidence& evidence) {
  static constexpr std::array<std::string_view, 6> kFailures{"PCIe Bus Error: severity=Uncorrect",
                                                             "AER: Uncorrect",
                                                             "AER: Multiple Uncorrect",
                                                             "DPC: containment event",
                                                             "fallen off the bus",
                                                             "): Link Down"};  // pciehp: Slot(3)
  constexpr std::size_t kSoon = 100;                                           // lines
  std::map<std::string, std::size_t> failed;  // where a device did; "" where a link
  std::set<const EvidenceLine*> excused;
  std::size_t at = 2 * kSoon;
  for (const EvidenceLine& line : evidence.of("kernel-log")) {
    ++at;
    if (has_one_of(line.text, kFailures)) failed[""] = at;
    const auto xid = xid_line(line);
    if (!xid) continue;
    std::size_t& own = failed[xid->key.substr(0, xid->key.rfind(' '))];
    if (acting_xid(*xid) != nullptr) own = at;
    if (is_of_program(xid->number) && std::max(own, failed[""]) + kSoon >= at) excused.insert(&line);
  }
  return excused;
}

DoctorVerdict look_at_other_xids(const Evidence& evidence) {
  const std::set<const EvidenceLine*> after_failures = xids_after_failures(evidence);
  // Of a switch's error other lines may say how severe it is.
  std::map<std::string, bool> fatal;
  for (const EvidenceLine& line : evidence.of("kernel-log"))
    if (const auto xid = xid_line(line); xid && xid->of_switch)
      if (const auto is_fatal = is_fatal_of_switch(xid->message))
        fatal[xid->key] = fatal[xid->key] || *is_fatal;
  return xids_that(evidence, [&](const XidLine& line) -> std::string {
    const int number = line.number;
    if (line.of_switch) {
      const auto known = fatal.find(line.key);
      if (known == fatal.end()) return fmt::format("SXid {}, whose severity no line here says", number);
      return known->second ? "" : fmt::format("SXid {}, not fatal", number);
    }
    if (after_failures.contains(line.seen_in))
      return fmt::format("Xid {}, soon after the GPU or a PCIe link failed", number);
    if (is_harmless_nvlink_xid(number, line.message))
      return fmt::format("Xid {} (NVLink, not fatal)", number);
    return is_of_program(number) || hardware_xid(number) != nullptr ? "" : fmt::format("Xid {}", number);
  });
}

/// Those of a program's own kernels: the GPU is not at fault, and the job has ended all the same.
DoctorVerdict look_at_program_xids(const Evidence& evidence) {
  const std::set<const EvidenceLine*> after_failures = xids_after_failures(evidence);
  return xids_that(evidence, [&](const XidLine& line) -> std::string {
    if (line.of_switch || (line.number != 31 && line.number != 13)) return "";
    if (after_failures.contains(line.seen_in)) return "";
    return line.number == 31 ? "Xid 31 (a page fault of a program)"
                             : "Xid 13 (an exception in a program's kernel)";
  });
}

/// Errors of a GPU's memory that were not corrected, of one section: since the driver started, or ever.
DoctorVerdict uncorrectable_errors(const Evidence& evidence, std::string_view section) {
  std::vector<DoctorObservation> found;
  bool seen = false;
  for (const QueryLine& each : query_lines(evidence)) {
    if (each.section != section) continue;
    const std::string key = lower(each.key);
    const bool total_or_kind =
        has_text(key, "uncorrectable") || has_text(key, "double bit") || key == "total";
    const auto count = leading_number(each.value);
    if (!total_or_kind || !count) continue;
    seen = true;
    if (*count > 0 && key != "total")
      found.push_back({fmt::format("{}: {}", each.gpu, quoted(*each.line).what), each.line->location});
  }
  return found_where(seen, found);
}

DoctorVerdict look_at_new_ecc(const Evidence& evidence) { return uncorrectable_errors(evidence, "volatile"); }
DoctorVerdict look_at_old_ecc(const Evidence& evidence) {
  const DoctorVerdict now = look_at_new_ecc(evidence);
  return now && !now->empty() ? std::nullopt : uncorrectable_errors(evidence, "aggregate");  // said there
}

DoctorVerdict look_at_driver(const Evidence& evidence) {
  for (const EvidenceLine& line : evidence.of("nvidia-smi-failure")) {
    const bool fails = line.text.starts_with("NVIDIA-SMI has failed") ||
                       line.text == "No devices were found" ||
                       line.text.starts_with("Failed to initialize NVML");
    // That is driver-mismatch.
    if (fails && !has_text(line.text, "version mismatch")) return finding(quoted(line));
  }
  return healthy_if(evidence.whole.contains("nvidia-smi-q"));
}

/// Of the text, where no GPU is read of it: whether one has joined the fabric, and what others wait for.
bool looks_joined_by_text(const Evidence& evidence, std::vector<DoctorObservation>& found) {
  bool joined = false;
  for (const QueryLine& each : query_lines(evidence)) {
    if (each.section != "fabric") continue;
    const std::string key = lower(each.key);
    joined = joined || (key == "state" && each.value == "Completed");
    const bool waits = key == "state" && each.value == "In Progress";
    const bool failed = key == "status" && each.value != "Success" && each.value != "N/A";
    if (waits || failed)
      found.push_back({fmt::format("{}: fabric {} {}", each.gpu, key, each.value), each.line->location});
  }
  return joined;
}

DoctorVerdict look_at_fabric_manager(const Evidence& evidence) {
  std::string state = evidence.host.fabric_manager.value_or("");
  std::string where;
  if (!evidence.of("fabric-manager").empty()) {
    state = evidence.of("fabric-manager").front().text;
    where = evidence.of("fabric-manager").front().location;
  }
  const bool switched = !evidence.host.nvswitches.empty();
  std::vector<DoctorObservation> found;
  bool joined = evidence.host.gpus.empty() && looks_joined_by_text(evidence, found);
  for (std::size_t i = 0; i < evidence.host.gpus.size(); ++i) {
    const Gpu& gpu = evidence.host.gpus[i];
    const std::string fabric = gpu.fabric_state.value_or("");
    joined = joined || fabric == "Completed";
    const std::string status = gpu.fabric_status.value_or("");
    if (fabric == "In Progress" ||
        (fabric == "Completed" && !status.empty() && status != "Success" && status != "N/A")) {
      found.push_back({fmt::format("GPU{}: fabric state {}{}", i, fabric,
                                   status.empty() ? "" : fmt::format(", status {}", status)),
                       ""});
    }
  }
  if (switched && (state == "inactive" || state == "failed"))
    found.push_back({fmt::format("NVSwitches are there, and nvidia-fabricmanager is {}", state), where});
  if (!found.empty()) return found;
  // Without NVSwitches there is nothing to join, and only a list of PCI functions shows that there are none.
  const bool none_to_join =
      !switched && !evidence.host.gpus.empty() && !evidence.host.pci_devices.empty() && !state.empty();
  const bool known = joined || (switched && state == "active") || none_to_join;
  return known ? DoctorVerdict(found) : std::nullopt;
}

/// The switches of NVLink 5 (B200 and newer) are reached through an InfiniBand device: without its modules
/// the fabric manager never ends.
std::string fabric_manager_fix(const Evidence& evidence) {
  const auto is_fifth = [](std::string_view text) {
    const GpuModel* model = find_gpu_model(text);
    return model != nullptr && model->nvlinks > 0 && model->generation() >= GpuGeneration::blackwell;
  };
  const auto& lines = evidence.of("nvidia-smi-q");
  const auto& gpus = evidence.host.gpus;
  const bool fifth =
      std::ranges::any_of(gpus, [&](const Gpu& gpu) { return is_fifth(gpu.model.value_or("")); }) ||
      std::ranges::any_of(lines, [&](const EvidenceLine& line) {
        return (line.text.starts_with("Product Name") || line.text.starts_with("<product_name>")) &&
               is_fifth(line.text);
      });
  return fifth ? "modprobe -a mlx5_ib ib_umad (the switches of NVLink 5 are reached through them), install "
                 "nvlsm, then restart nvidia-fabricmanager in the version of the driver; starting it alone "
                 "does not help there"
               : "";
}

/// "595.71.05" of "Fabric Manager version is : 595.71.05", and of the driver.
DoctorVerdict look_at_fabric_manager_version(const Evidence& evidence) {
  const auto& lines = evidence.of("fabric-manager-version");
  if (lines.empty() || !evidence.host.driver_version.known()) return std::nullopt;
  const std::size_t colon = lines.front().text.rfind(':');
  if (colon == std::string::npos) return std::nullopt;
  const std::string_view manager = trim(std::string_view(lines.front().text).substr(colon + 1));
  if (manager == *evidence.host.driver_version.value) return healthy();
  return finding({fmt::format("fabric manager {}, driver {}", manager, *evidence.host.driver_version.value),
                  lines.front().location});
}

/// NVLinks between GPUs by topo -m: [GPU][GPU].
using NvLinkMatrix = std::vector<std::vector<int>>;

NvLinkMatrix stated_nvlinks(const Host& host) {
  NvLinkMatrix links(host.gpus.size(), std::vector<int>(host.gpus.size(), 0));
  for (const StatedPath& path : host.stated_paths) {
    if (path.from.kind != DeviceKind::gpu || path.to.kind != DeviceKind::gpu) continue;
    links.at(static_cast<std::size_t>(path.from.index)).at(static_cast<std::size_t>(path.to.index)) =
        path.nvlinks.value_or(0);
  }
  return links;
}

/// Where NVSwitches join all GPUs, every pair of topo -m has the same number of NVLinks: a GPU that has fewer
/// to all of the others lost some. None where the others (three and more) are not joined like that: pairs
/// with a bridge and meshes differ by design.
DoctorVerdict gpus_apart_in_matrix(const Host& host) {
  const NvLinkMatrix links = stated_nvlinks(host);
  int full = 0;
  for (const auto& row : links) full = std::max(full, *std::ranges::max_element(row));
  if (full == 0) return std::nullopt;
  std::vector<std::size_t> joined;
  std::vector<std::size_t> apart;
  for (std::size_t gpu = 0; gpu < links.size(); ++gpu) {
    const auto full_pairs = std::ranges::count(links[gpu], full);
    (2 * static_cast<std::size_t>(full_pairs) >= links.size() - 1 ? joined : apart).push_back(gpu);
  }
  constexpr std::size_t kMinJoined = 3;
  const bool switched = std::ranges::all_of(joined, [&](std::size_t a) {
    return std::ranges::all_of(joined, [&](std::size_t b) { return a == b || links[a][b] == full; });
  });
  if (joined.size() < kMinJoined || !switched) return std::nullopt;
  std::vector<DoctorObservation> found;
  for (const std::size_t gpu : apart) {
    const int most = *std::ranges::max_element(links[gpu]);
    // A GPU of another model, such as a workstation's display adapter, has no links to lose.
    const Fact<std::string>& model = host.gpus.at(gpu).model;
    const Fact<std::string>& others = host.gpus.at(joined.front()).model;
    if (most == 0 && model.known() && others.known() && *model.value != *others.value) continue;
    found.push_back({fmt::format("GPU{}: {} to each of the others, which have {} among themselves (topo -m)",
                                 gpu, most == 0 ? "no NVLink" : counted(most, "NVLink"), full),
                     ""});
  }
  return found;
}

/// Fewer active links than a sibling of the same model; some models have inactive ones by design, on all.
DoctorVerdict look_at_nvlinks(const Evidence& evidence) {
  std::vector<DoctorObservation> found;
  const DoctorVerdict by_matrix = gpus_apart_in_matrix(evidence.host);
  bool seen = by_matrix.has_value();
  for (std::size_t i = 0; i < evidence.host.gpus.size(); ++i) {
    const Gpu& gpu = evidence.host.gpus[i];
    int most = 0;
    for (const Gpu& other : evidence.host.gpus) {
      if (other.model.value_or("") == gpu.model.value_or(""))
        most = std::max(most, other.nvlinks_active.value_or(0));
    }
    const bool all_off =
        gpu.nvlink_state.known() && lower(*gpu.nvlink_state.value).find("inactive") != std::string::npos;
    if (!gpu.nvlinks_active.known() && !all_off) continue;
    const GpuModel* model = find_gpu_model(gpu.model.value_or(""));
    if (all_off && most == 0 && model == nullptr) continue;  // a card without a bridge has none, either
    seen = true;
    const int active = all_off ? 0 : gpu.nvlinks_active.value_or(0);
    // Of a single GPU its model says how many are in use; a list that shows none as inactive may be cut.
    const bool below_model =
        model != nullptr && active < model->nvlinks && gpu.nvlinks_inactive.value_or(0) > 0;
    if (active >= most && below_model && !all_off) {
      found.push_back(
          {fmt::format("GPU{}: {} NVLinks active of the {} of its model", i, active, model->nvlinks), ""});
    } else if (active < most) {
      found.push_back({fmt::format("GPU{}: {} NVLinks active, a sibling has {}", i, active, most), ""});
    } else if (all_off && model != nullptr && model->nvlinks > 0) {
      found.push_back({fmt::format("GPU{}: {}", i, excerpt(*gpu.nvlink_state.value, 80)), ""});
    }
  }
  if (found.empty() && by_matrix) found = *by_matrix;
  return found_where(seen, found);
}

DoctorVerdict look_at_mig(const Evidence& evidence) {
  std::vector<DoctorObservation> found;
  bool seen = false;
  for (std::size_t i = 0; i < evidence.host.gpus.size(); ++i) {
    const Fact<bool>& mig = evidence.host.gpus[i].mig;
    seen = seen || mig.known();
    if (mig.value_or(false)) found.push_back({fmt::format("GPU{} is in MIG mode", i), ""});
  }
  return found_where(seen, found);
}

/// Reasons that lower a clock by force; idle and power capping are usual. Of "HW Slowdown : Active", or of
/// the XML "<clocks_event_reason_hw_slowdown>Active<".
DoctorVerdict look_at_throttling(const Evidence& evidence) {
  return lines_that(evidence, "nvidia-smi-q", [](std::string_view line) {
    const bool reason = line.starts_with("HW Slowdown") || line.starts_with("HW Thermal Slowdown") ||
                        line.starts_with("HW Power Brake Slowdown") ||
                        line.starts_with("SW Thermal Slowdown");
    const bool in_xml = has_text(line, "reason_hw_slowdown>Active") ||
                        has_text(line, "reason_hw_thermal_slowdown>Active") ||
                        has_text(line, "reason_hw_power_brake_slowdown>Active") ||
                        has_text(line, "reason_sw_thermal_slowdown>Active");
    return in_xml || (reason && line.ends_with(": Active"));
  });
}

DoctorVerdict look_at_row_remapping(const Evidence& evidence) {
  bool in_remapped_rows = false;  // "Pending" stands in other sections, too
  return lines_that(evidence, "nvidia-smi-q", [&in_remapped_rows](std::string_view line) {
    if (!has_text(line, " : ") && !line.starts_with("<"))
      in_remapped_rows = line.starts_with("Remapped Rows");
    return (line.starts_with("Remapping Failure Occurred") && line.ends_with(": Yes")) ||
           (line.starts_with("Pending Page Blacklist") && line.ends_with(": Yes")) ||
           (in_remapped_rows && line.starts_with("Pending") && line.ends_with(": Yes")) ||
           has_text(line, "<remapped_row_failure>Yes<") || has_text(line, "<remapped_row_pending>Yes<");
  });
}

DoctorVerdict look_at_peer_memory(const Evidence& evidence) {
  if (has_module(evidence, "nvidia_peermem") || has_module(evidence, "nv_peer_mem") ||
      exports_dma_buf(evidence))
    return healthy();
  if (!evidence.whole.contains("lsmod")) return std::nullopt;
  if (!has_module(evidence, "nvidia ") || !has_module(evidence, "mlx5_ib")) return healthy();
  // Without the driver's kind and the kernel's version, DMA-BUF may be there.
  if (evidence.of("nvidia-module").empty() || evidence.of("kernel-version").empty()) return std::nullopt;
  return finding(
      {"nvidia and mlx5_ib are loaded, nvidia_peermem is not, and this driver and kernel have no DMA-BUF",
       ""});
}

DoctorVerdict look_at_fabric_manager_log(const Evidence& evidence) {
  return lines_that(evidence, "fabric-manager-log", [](std::string_view line) {
    return has_text(line, "[ERROR]") || has_text(line, "[FATAL]");
  });
}

/// Multi-node NVLink needs it on every node of the domain.
DoctorVerdict look_at_imex(const Evidence& evidence) {
  return lines_that(evidence, "imex", [](std::string_view line) {
    return line.starts_with("Domain State:") && trim(line.substr(line.find(':') + 1)) != "UP";
  });
}

constexpr std::array<DoctorCheck, 15> kGpuChecks{{
    {"driver-failed", DoctorSeverity::broken,
     "nvidia-smi cannot speak to the driver, or finds no GPU: no job does.", "nvidia-smi -q",
     "nvidia-smi ; dmesg | grep -i nvrm",
     "load or install the driver of this kernel, then look for Xid errors; Unknown Error in a container that "
     "had its GPUs before: systemd was reloaded and took them away: restart the container; to prevent it, "
     "pass all /dev/nvidia* nodes with --device, or use CDI",
     "NVIDIA, nvidia-smi; NVIDIA container toolkit, troubleshooting", look_at_driver},
    {"xid-other", DoctorSeverity::risk, "The kernel log has other errors of a GPU or NVSwitch.",
     "dmesg, from the boot on", "dmesg | grep -i xid", "look the number up in NVIDIA's Xid catalog",
     "NVIDIA, Xid errors", look_at_other_xids},
    {"xid", DoctorSeverity::broken, "The kernel log has errors of a GPU's hardware or of its firmware (GSP).",
     "dmesg, from the boot on", "dmesg | grep -i xid",
     "drain the node; reset or replace the GPU as NVIDIA's Xid catalog says; for 119 and 120 try a newer "
     "driver first (open-gpu-kernel-modules#272, #446), and replace the GPU if they return on it",
     "NVIDIA, Xid errors", look_at_xids},
    {"xid-program", DoctorSeverity::risk,
     "A program's kernel failed (memory that is not its own, an illegal instruction), and was ended: the "
     "program's fault, seldom the GPU's.",
     "dmesg, from the boot on", "dmesg | grep -i xid ; compute-sanitizer PROGRAM",
     "correct the program; the same GPU with different programs: test or replace it",
     "NVIDIA, Xid errors: 13 and 31", look_at_program_xids},
    {"ecc-uncorrectable", DoctorSeverity::broken,
     "A GPU's memory has had errors that were not corrected since its driver started: jobs on it fail or "
     "compute with wrong data.",
     "nvidia-smi -q", "nvidia-smi -q -d ECC,ROW_REMAPPER",
     "drain the node and reset the GPU, so that the rows are replaced; if it comes back, replace the GPU",
     "NVIDIA, GPU memory error management", look_at_new_ecc},
    {"ecc-uncorrectable-before", DoctorSeverity::risk,
     "A GPU's memory has had errors that were not corrected, none since its driver started.", "nvidia-smi -q",
     "nvidia-smi -q -d ECC,ROW_REMAPPER",
     "nothing, unless there are more of them than on its siblings, or new ones",
     "NVIDIA, GPU memory error management", look_at_old_ecc},
    {"fabric-manager", DoctorSeverity::broken,
     "GPUs behind NVSwitches have not joined their fabric: CUDA fails with 802, or NVLS with 401.",
     "systemctl is-active nvidia-fabricmanager, nvidia-smi -q",
     "systemctl status nvidia-fabricmanager ; nvidia-smi -q | grep -A 4 Fabric",
     "systemctl enable --now nvidia-fabricmanager, in the version of the driver; then restart jobs",
     "pytorch/ci-infra#541 (confirmed), nccl#1562, gpu-operator#2781", look_at_fabric_manager, false,
     fabric_manager_fix},
    {"fabric-manager-version", DoctorSeverity::broken,
     "The fabric manager has another version than the driver: it refuses to start.",
     "nv-fabricmanager --version and the driver's version",
     "nv-fabricmanager --version ; nvidia-smi --version",
     "install the fabric manager of the driver's version", "NVIDIA, fabric manager user guide",
     look_at_fabric_manager_version},
    {"fabric-manager-error", DoctorSeverity::risk,
     "The fabric manager reported errors: of an NVSwitch, of a link, or of its own state.",
     "/var/log/fabricmanager.log", "grep -E 'ERROR|FATAL' /var/log/fabricmanager.log",
     "look the error up in the fabric manager's guide; a link error (SXid) that repeats is a bad link; for "
     "errors of multicast teams or GPU handles restart the fabric manager and reset the GPUs, or reboot "
     "(NCCL_NVLS_ENABLE=0 until then)",
     "NVIDIA, fabric manager user guide; gpud", look_at_fabric_manager_log},
    {"imex-not-up", DoctorSeverity::broken,
     "The IMEX domain is not up: NVLink between nodes (GB200, GB300) and its NVLS cannot be used.",
     "nvidia-imex-ctl -N", "nvidia-imex-ctl -H -N ; systemctl status nvidia-imex",
     "start nvidia-imex on every node of the domain, with one driver version and the same nodes_config.cfg",
     "NCCL user guide, troubleshooting, multi-node NVLink; pytorch/ci-infra#541 (confirmed)", look_at_imex},
    {"nvlink-inactive", DoctorSeverity::slow,
     "A GPU has fewer NVLinks than its siblings: rings run at the rate of the weakest.",
     "nvidia-smi nvlink -s or nvidia-smi topo -m", "nvidia-smi nvlink -s ; nvidia-smi nvlink -e",
     "reset the GPUs; if it comes back, replace the GPU or its tray", "azhpc-diagnostics#73, gpud#1085",
     look_at_nvlinks},
    {"mig-on", DoctorSeverity::slow, "A GPU in MIG mode has no NVLink, and a process sees a part of it.",
     "nvidia-smi -q -x", "nvidia-smi -q -d MIG", "nvidia-smi -mig 0 on an idle GPU", "NVIDIA, MIG user guide",
     look_at_mig},
    {"clock-slowdown", DoctorSeverity::slow, "A GPU's clock is held down by heat or by its power supply.",
     "nvidia-smi -q", "nvidia-smi -q -d PERFORMANCE",
     "look at cooling, power cables and the chassis' power brake", "NVIDIA, nvidia-smi: clocks event reasons",
     look_at_throttling},
    {"row-remap-failed", DoctorSeverity::broken,
     "Memory rows or pages of a GPU are to be replaced, or could not be.", "nvidia-smi -q",
     "nvidia-smi -q -d ROW_REMAPPER", "reset the GPU; after a failure, replace it",
     "NVIDIA, GPU memory error management", look_at_row_remapping},
    {"peermem-missing", DoctorSeverity::slow,
     "GPUDirect RDMA is off: what crosses the network goes through host memory.",
     "lsmod, uname -r and /proc/driver/nvidia/version", "lsmod | grep -E 'peermem|peer_mem'",
     "modprobe nvidia-peermem, and load it at boot on all nodes",
     "nccl-tests#152 (confirmed), nccl#1676 (confirmed), nccl#897", look_at_peer_memory, false,
     gpudirect_fix},
}};

}  // namespace

std::span<const DoctorCheck> gpu_checks() { return kGpuChecks; }

}  // namespace collbench::topology
