#pragma once
#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text_search.hpp"
#include "topology/doctor/checks.hpp"

// What the checks of several themes are made of.

namespace collbench::topology {

[[nodiscard]] inline bool has_text(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

template <std::size_t count>
[[nodiscard]] bool has_one_of(std::string_view text, const std::array<std::string_view, count>& parts) {
  return std::ranges::any_of(parts, [text](std::string_view part) { return has_text(text, part); });
}

/// A line as evidence: itself, quoted.
[[nodiscard]] DoctorObservation quoted(const EvidenceLine& line);

/// Nothing is wrong, and what would show it is there.
[[nodiscard]] inline DoctorVerdict healthy() { return std::vector<DoctorObservation>(); }
[[nodiscard]] inline DoctorVerdict healthy_if(bool is_known) { return is_known ? healthy() : std::nullopt; }

[[nodiscard]] inline DoctorVerdict finding(DoctorObservation observation) {
  return std::vector{std::move(observation)};
}

/// What was found; where `is_known`, that is all there is, and without it nothing is known.
[[nodiscard]] inline DoctorVerdict found_where(bool is_known, std::vector<DoctorObservation> found) {
  return is_known ? DoctorVerdict(std::move(found)) : std::nullopt;
}

/// What was found in a source. Without any: healthy where the source is known as a whole, else not known.
[[nodiscard]] inline DoctorVerdict found_in(const Evidence& evidence, std::string_view source,
                                            std::vector<DoctorObservation> found) {
  const bool is_known = !found.empty() || evidence.whole.contains(source);
  return found_where(is_known, std::move(found));
}

/// The first of the lines that has the text; null where none has.
[[nodiscard]] inline const EvidenceLine* first_line_with(const std::vector<EvidenceLine>& lines,
                                                         std::string_view part) {
  const auto found =
      std::ranges::find_if(lines, [part](const EvidenceLine& line) { return has_text(line.text, part); });
  return found == lines.end() ? nullptr : &*found;
}

[[nodiscard]] inline bool any_line_has(const std::vector<EvidenceLine>& lines, std::string_view part) {
  return first_line_with(lines, part) != nullptr;
}

/// The lines of a source for which `is_finding(text)` holds, each text once, as found_in().
template <class IsFinding>
[[nodiscard]] DoctorVerdict lines_that(const Evidence& evidence, std::string_view source,
                                       IsFinding is_finding) {
  if (!evidence.has(source)) return std::nullopt;
  std::vector<DoctorObservation> found;
  std::set<std::string> known;
  for (const EvidenceLine& line : evidence.of(source)) {
    if (!is_finding(std::string_view(line.text))) continue;
    DoctorObservation observation = quoted(line);
    if (known.insert(observation.what).second) found.push_back(std::move(observation));
  }
  return found_in(evidence, source, std::move(found));
}

/// Whether lsmod lists a module whose line begins so; a blank ends the whole name.
[[nodiscard]] bool has_module(const Evidence& evidence, std::string_view prefix);

/// Whether the machine has NVIDIA GPUs, by any evidence; none where nothing says.
[[nodiscard]] std::optional<bool> has_gpus(const Evidence& evidence);

/// Whether it has RDMA devices of NVIDIA (Mellanox), by any evidence; none where nothing says.
[[nodiscard]] std::optional<bool> has_rdma(const Evidence& evidence);

/// The value of an environment variable, from a saved environment or from NCCL's log ("X set by environment
/// to Y."); none where it is not set or nothing is known.
struct EnvironmentSetting {
  std::string value;
  std::string location;
};
[[nodiscard]] std::optional<EnvironmentSetting> environment_setting(const Evidence& evidence,
                                                                    std::string_view name);

/// NCCL's version as its NCCL_VERSION_CODE (21903 is 2.19.3), by its log or the name of its library.
struct NcclVersion {
  int code = 0;
  std::string location;
};
[[nodiscard]] std::optional<NcclVersion> nccl_version(const Evidence& evidence);

/// "5.15.0-91-generic" is {5, 15}; none for another text.
struct KernelRelease {
  int major = 0;
  int minor = 0;
  auto operator<=>(const KernelRelease&) const = default;
};
[[nodiscard]] std::optional<KernelRelease> kernel_release(std::string_view text);

/// NVIDIA's open kernel modules export DMA-BUF on Linux 5.12 and newer: GPUDirect RDMA needs no peer memory
/// module there. False where the evidence does not say.
[[nodiscard]] bool exports_dma_buf(const Evidence& evidence);

/// What brings GPUDirect RDMA about on this machine: by what its kernel has loaded and exports.
[[nodiscard]] std::string gpudirect_fix(const Evidence& evidence);

/// A check of log_checks(): who waits in which collective, and who is behind, by PyTorch's own account of a
/// timeout.
[[nodiscard]] DoctorVerdict look_at_watchdog(const Evidence& evidence);

/// A check of log_checks(): who is slow in which step of NCCL's start, against the others.
[[nodiscard]] DoctorVerdict look_at_init_timings(const Evidence& evidence);

/// The NICs of "NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/IB [RO]; OOB …": a name for each port; empty for
/// another line.
[[nodiscard]] std::vector<std::string> listed_nics(std::string_view line);

/// "NET/OFI Selected provider is tcp, fabric is …": libfabric without RDMA.
[[nodiscard]] bool is_libfabric_over_tcp(std::string_view line);

/// "nvidia-nccl-cu12" of a line of pip or of PyTorch's collect_env that lists this wheel; else empty.
[[nodiscard]] std::string_view nccl_wheel(std::string_view line);

/// Whether a job did something after its start: a row of nccl-tests, or the end of a communicator.
[[nodiscard]] bool goes_beyond_start(const std::vector<EvidenceLine>& log);

/// The ranks that wrote how they joined the largest communicator, and how many it has; none where no line
/// names one.
struct RanksHeard {
  std::size_t heard = 0;
  std::size_t all = 0;
};
[[nodiscard]] std::optional<RanksHeard> ranks_heard(const std::vector<EvidenceLine>& log);

/// Whether the job of the log is on several nodes, and whether several of its ranks share one: by NCCL's own
/// numbers, else by the hosts of all of its ranks or of nccl-tests' list. None where nothing says.
struct JobShape {
  std::optional<bool> has_several_nodes;
  std::optional<bool> shares_nodes;
};
[[nodiscard]] JobShape job_shape(const Evidence& evidence);

/// Connections between GPUs of one host: how many are not peer to peer, and whether they should be.
struct LocalConnections {
  std::size_t peer_to_peer = 0;
  std::size_t by_memory = 0;
  const EvidenceLine* first = nullptr;  ///< by memory
  bool expects_nvlink = false;          ///< the GPUs are wired by NVLink to all others of the host
};
[[nodiscard]] LocalConnections local_connections(const Evidence& evidence);

/// Interfaces of containers and virtual machines, by the names that their software gives them: they lead to
/// no other node.
[[nodiscard]] bool is_virtual_interface(std::string_view name);

/// Whether all is known of the environment: NCCL's log names only what NCCL itself read.
[[nodiscard]] bool knows_environment(const Evidence& evidence);

/// One function of `lspci -vvv`: its title ("19:00.0 3D controller: …"), and its details.
struct LspciFunction {
  std::string title;
  std::vector<const EvidenceLine*> details;
};
[[nodiscard]] std::vector<LspciFunction> lspci_functions(const Evidence& evidence);

}  // namespace collbench::topology
