// version_checks() of checks.hpp: versions of libraries with known defects.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "base/nccl_version.hpp"
#include "topology/doctor/look.hpp"
#include "topology/doctor/nccl_messages.hpp"
#include "topology/graph/lookup.hpp"

namespace collbench::topology {
namespace {

/// NVLink between nodes, by NCCL's log or the GPUs.
bool has_multi_node_nvlink(const Evidence& evidence) {
  const auto& gpus = evidence.host.gpus;
  const auto& log = evidence.of("nccl-log");
  return std::ranges::any_of(gpus,
                             [](const Gpu& gpu) {
                               const std::string model = gpu.model.value_or("");
                               return has_text(model, "GB200") || has_text(model, "GB300");
                             }) ||
         any_line_has(log, "MNNVL busId");
}

bool is_arm(const Evidence& evidence) {
  const auto& nodes = evidence.host.numa_nodes;
  return std::ranges::any_of(
      nodes, [](const NumaNode& node) { return node.architecture.value_or("") == "aarch64"; });
}

bool may_use_network(const Evidence& evidence) { return job_shape(evidence).has_several_nodes != false; }

bool is_ampere_or_older(const Evidence& evidence) {
  const auto& gpus = evidence.host.gpus;
  return std::ranges::any_of(gpus, [&evidence](const Gpu& gpu) {
    const auto generation = generation_of(evidence.host, gpu);
    return generation && *generation < GpuGeneration::hopper;
  });
}

/// NCCL's own words of a kernel that wants more shared memory than a block of this GPU has.
bool lacks_shared_memory(const Evidence& evidence) {
  const auto& log = evidence.of("nccl-log");
  return any_line_has(log, "exceeds device/fn maxSharedMem");
}

/// A range of NCCL's versions, and what was reported of it. Of a defect that release notes call fixed, the
/// versions from the one that a thread names to the last before the fix; the last one alone where none does.
struct DefectiveVersion {
  int from;  ///< as NCCL_VERSION_CODE: 21903
  int to;    ///< the last one that has it
  std::string_view symptom;
  bool (*applies)(const Evidence& evidence) = nullptr;  ///< what else must be known; none: to all machines
};
constexpr std::array<DefectiveVersion, 14> kDefective{{
    {21003, 21104, "AllGather's data is corrupt where an NVLink is down (nccl#596; fixed in 2.12.7)"},
    {21602, 21602, "all collectives 10 times slower on 8 × A40 with driver 470 (nccl#770)"},
    {21801, 21801, "corrupt data with Tree and LL128 where each GPU has its own NIC (notes of 2.18.3)"},
    {21801, 21803,
     "two GPUs may use one NIC, depending on who is in the communicator (nccl#820; fixed in 2.18.5)",
     may_use_network},
    {21903, 21904, "AllReduce by NVLS-tree at 104 instead of 280 GB/s on 8 nodes of H100 (pytorch#117748)"},
    {22501, 22501,
     "its kernels want more shared memory than GeForce RTX 50 has, and fail (nccl-tests#287; fixed in "
     "2.26.2)",
     lacks_shared_memory},
    {22602, 22603, "AllToAll may hang on multi-node NVLink with more than 80 ranks (notes of 2.26.5)",
     has_multi_node_nvlink},
    {22803, 22803, "symmetric memory: small messages may be corrupt (notes of 2.28.7)"},
    {22803, 22803, "NCCL_CROSS_NIC=0: no ring is found for some splits, much slower (notes of 2.28.7)"},
    {22807, 22807, "may hang at large scale (notes of 2.28.9)"},
    {22809, 22809,
     "slower on some machines of A100 and older with one NIC for each GPU (nccl#1876; fixed in 2.29.2)",
     is_ampere_or_older},
    {22902, 22902, "may hang on ARM where it was built with GCC 9 or older (notes of 2.29.3)", is_arm},
    {22902, 22907, "leaves the calling thread bound to the GPU's NUMA node (nccl#2033; fixed in 2.30)"},
    {22907, 22907, "symmetric memory: AllReduce, AllGather and ReduceScatter slower than 2.29.2 (nccl#2058)"},
}};

DoctorVerdict look_at_versions(const Evidence& evidence) {
  const auto version = nccl_version(evidence);
  if (!version) return std::nullopt;
  std::vector<DoctorObservation> found;
  for (const DefectiveVersion& defect : kDefective) {
    if (version->code < defect.from || version->code > defect.to) continue;
    if (defect.applies != nullptr && !defect.applies(evidence)) continue;
    found.push_back(
        {fmt::format("NCCL {}: {}", nccl_version_text(version->code), defect.symptom), version->location});
  }
  const bool is_covered = version->code >= kDefective.front().from && version->code <= kLastKnownNccl;
  return found.empty() && !is_covered ? DoctorVerdict() : found;
}

/// From Linux 6.6 on the file is gone by which NCCL before 2.23.4 sees the module (notes of 2.23.4).
DoctorVerdict look_at_unseen_peer_memory(const Evidence& evidence) {
  constexpr int kSeesItSince = 22304;
  const auto version = nccl_version(evidence);
  if (!version || evidence.of("kernel-version").empty() || !evidence.has("lsmod")) return std::nullopt;
  const auto kernel = kernel_release(evidence.of("kernel-version").front().text);
  if (!kernel) return std::nullopt;
  if (!has_module(evidence, "nvidia_peermem") || version->code >= kSeesItSince ||
      *kernel < KernelRelease{6, 6})
    return healthy();
  return finding({fmt::format("NCCL {} on Linux {}.{} does not see nvidia_peermem, which is loaded",
                              nccl_version_text(version->code), kernel->major, kernel->minor),
                  version->location});
}

/// UCX asks for relaxed ordering by itself on the CPUs that it knows to need it.
DoctorVerdict look_at_ucx(const Evidence& evidence) {
  constexpr std::string_view kBefore = "# Library version:";
  constexpr int kIntelFamily = 6;
  constexpr int kEmeraldRapids = 207;
  constexpr int kKnowsItSince = 20;  // the change is of 2025-10, UCX 1.19 of 2025-07
  const auto& nodes = evidence.host.numa_nodes;
  const bool known = std::ranges::any_of(nodes, [](const NumaNode& node) { return node.cpu_model.known(); });
  if (!known) return std::nullopt;
  const bool emerald = std::ranges::any_of(nodes, [](const NumaNode& node) {
    return node.cpu_vendor.value_or("") == "GenuineIntel" && node.cpu_family.value_or(0) == kIntelFamily &&
           node.cpu_model.value_or(0) == kEmeraldRapids;
  });
  if (!emerald) return healthy();
  for (const EvidenceLine& line : evidence.of("ucx")) {
    if (!line.text.starts_with(kBefore)) continue;
    const std::vector<std::string> parts =
        split_cells(trim(std::string_view(line.text).substr(kBefore.size())), '.');
    const auto minor = parts.size() < 2 || parts[0] != "1" ? std::nullopt : parse_integer(parts[1], 0, 1000);
    if (!minor) return std::nullopt;
    if (*minor >= kKnowsItSince || environment_setting(evidence, "UCX_IB_PCI_RELAXED_ORDERING"))
      return healthy();
    if (!knows_environment(evidence)) return std::nullopt;
    return finding({"Emerald Rapids, " + quoted(line).what, line.location});
  }
  return std::nullopt;
}

/// "nvidia-nccl-cu12==2.29.3" or "nvidia-nccl-cu12  2.29.3": wheels for several CUDAs put their libnccl into
/// one place, nvidia/nccl/lib, where the one that was installed last lies.
DoctorVerdict look_at_wheels(const Evidence& evidence) {
  std::map<std::string, DoctorObservation> wheels;
  for (const EvidenceLine& line : evidence.of("nccl-log"))
    if (const std::string_view wheel = nccl_wheel(line.text); !wheel.empty())
      wheels.try_emplace(std::string(wheel), quoted(line));
  if (wheels.empty()) return std::nullopt;
  std::vector<DoctorObservation> found;
  if (wheels.size() > 1)
    for (auto& [cuda, line] : wheels) found.push_back(std::move(line));
  return found;
}

constexpr std::array<DoctorCheck, 4> kVersionChecks{{
    {"nccl-wheels", DoctorSeverity::risk,
     "Wheels of NCCL for two CUDA versions are listed: where both are installed, both bring "
     "nvidia/nccl/lib/libnccl.so.2, and programs load whichever came last.",
     "pip list, or PyTorch's collect_env",
     "pip list | grep nvidia-nccl ; python3 -c 'import torch; print(torch.version.cuda, "
     "torch.cuda.nccl.version())'",
     "pip uninstall the one of the other CUDA (cu12 beside cu13), then install the one that stays again "
     "(--force-reinstall)",
     "pytorch#186591 (confirmed); the wheels of 2.28.9", look_at_wheels},
    {"nccl-defect", DoctorSeverity::risk, "This version of NCCL has a reported defect.",
     "a log with NCCL_DEBUG=INFO, or the name of libnccl.so", "grep 'NCCL version' LOG",
     "try another version with LD_LIBRARY_PATH", "the threads and release notes that the finding names",
     look_at_versions},
    {"peermem-unseen", DoctorSeverity::slow,
     "This NCCL does not find nvidia-peermem on this kernel: GPUDirect RDMA is off although the module is "
     "loaded.",
     "NCCL's version, uname -r and lsmod", "grep 'GPU Direct RDMA' LOG",
     "NCCL 2.23.4 or newer, or the open kernel modules (DMA-BUF)",
     "nccl#1676 (confirmed: 180 to 10 GB/s); NCCL's notes of 2.23.4", look_at_unseen_peer_memory},
    {"ucx-ordering-unknown", DoctorSeverity::slow,
     "This UCX does not ask for relaxed ordering on this CPU: about 16 instead of more than 40 GB/s.",
     "ucx_info -v, the CPU's model, and the environment", "ucx_info -v ; lscpu | grep -E 'Model:|Model name'",
     "UCX_IB_PCI_RELAXED_ORDERING=y, or UCX 1.20 or newer", "ucx#10955 (confirmed by the vendor)",
     look_at_ucx},
}};

}  // namespace

std::span<const DoctorCheck> version_checks() { return kVersionChecks; }

}  // namespace collbench::topology
