#include "topology/doctor/look.hpp"

#include <fmt/format.h>

#include <map>

#include "base/secrets/secrets.hpp"
#include "topology/doctor/log_line.hpp"
#include "topology/graph/nics.hpp"
#include "topology/graph/pci.hpp"
#include "topology/readers/readers.hpp"

namespace collbench::topology {
namespace {

constexpr std::string_view kSetByEnvironment = " set by environment to ";

bool any_function(const Evidence& evidence, std::string_view vendor) {
  const auto& lines = evidence.of("lspci");
  return std::ranges::any_of(lines, [vendor](const EvidenceLine& line) {
    return line.text.find(vendor) != std::string::npos &&
           canonical_pci_address(line.text.substr(0, line.text.find(' ')));
  });
}

/// "2.19.3+cuda12.2" to 21903; none for another text.
std::optional<int> version_code(std::string_view text) {
  text = text.substr(0, text.find_first_not_of("0123456789."));
  const std::vector<std::string> parts = split_cells(text, '.');
  if (parts.size() != 3) return std::nullopt;
  const auto major = parse_integer(parts[0], 1, 99);
  const auto minor = parse_integer(parts[1], 0, 99);
  const auto patch = parse_integer(parts[2], 0, 99);
  if (!major || !minor || !patch) return std::nullopt;
  return static_cast<int>(*major * 10000 + *minor * 100 + *patch);
}

}  // namespace

bool has_module(const Evidence& evidence, std::string_view prefix) {
  const auto& modules = evidence.of("lsmod");
  return std::ranges::any_of(modules,
                             [prefix](const EvidenceLine& line) { return line.text.starts_with(prefix); });
}

std::optional<NcclVersion> nccl_version(const Evidence& evidence) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 2> kWhere{
      {{"nccl-log", "NCCL version "}, {"nccl-library", "libnccl.so."}}};
  for (const auto& [source, before] : kWhere) {
    for (const EvidenceLine& line : evidence.of(source)) {
      const std::size_t at = line.text.rfind(before);
      if (at == std::string::npos) continue;
      const auto code = version_code(std::string_view(line.text).substr(at + before.size()));
      if (code) return NcclVersion{*code, line.location};
    }
  }
  return std::nullopt;
}

std::optional<KernelRelease> kernel_release(std::string_view text) {
  const std::vector<std::string> parts =
      split_cells(text.substr(0, text.find_first_not_of("0123456789.")), '.');
  if (parts.size() < 2) return std::nullopt;
  const auto major = parse_integer(parts[0], 1, 1000);
  const auto minor = parse_integer(parts[1], 0, 1000);
  if (!major || !minor) return std::nullopt;
  return KernelRelease{static_cast<int>(*major), static_cast<int>(*minor)};
}

DoctorObservation quoted(const EvidenceLine& line) {
  // A failed transfer of NCCL 2.28 and newer names its NIC at the end of 350 letters.
  constexpr std::size_t kMaxQuote = 400;
  // Pages are handed on to people who shall not see what a log says; before the cut, behind which nothing
  // looks like a secret.
  return {fmt::format("\"{}\"", excerpt(recorded_words({std::string(line.text)}).front(), kMaxQuote)),
          line.location};
}

std::optional<bool> has_gpus(const Evidence& evidence) {
  if (!evidence.host.gpus.empty() || has_module(evidence, "nvidia ") ||
      any_function(evidence, "NVIDIA Corporation"))
    return true;
  const bool asked = evidence.whole.contains("lsmod") || evidence.whole.contains("lspci") ||
                     !evidence.host.pci_devices.empty();
  return asked ? std::optional<bool>(false) : std::nullopt;
}

std::optional<bool> has_rdma(const Evidence& evidence) {
  // An RDMA device has a GUID; an interface alone has none.
  const bool listed = std::ranges::any_of(evidence.host.nics, is_rdma);
  if (listed || has_module(evidence, "mlx5_ib") || !evidence.of("ibv_devinfo").empty()) return true;
  const auto& sources = evidence.host.sources;
  const bool asked =
      evidence.whole.contains("lsmod") || std::ranges::any_of(sources, [](const Source& source) {
        return source.reader == kSysfsPciReader.name || source.reader == kLspciReader.name;
      });
  return asked ? std::optional<bool>(false) : std::nullopt;
}

std::optional<EnvironmentSetting> environment_setting(const Evidence& evidence, std::string_view name) {
  for (const EvidenceLine& line : evidence.of("environment")) {
    std::string_view text = line.text;
    if (text.starts_with("export ")) text = trim(text.substr(7));
    if (text.starts_with(name) && text.substr(name.size()).starts_with('='))
      return EnvironmentSetting{std::string(trim(text.substr(name.size() + 1))), line.location};
  }
  const std::string logged = fmt::format("{}{}", name, kSetByEnvironment);
  for (const EvidenceLine& line : evidence.of("nccl-log")) {
    const auto behind = text_behind(line.text, logged);
    if (!behind) continue;
    std::string_view value = trim(*behind);
    if (value.ends_with('.')) value.remove_suffix(1);
    return EnvironmentSetting{std::string(value), line.location};
  }
  return std::nullopt;
}

bool exports_dma_buf(const Evidence& evidence) {
  const bool open = any_line_has(evidence.of("nvidia-module"), "Open Kernel Module");
  if (!open || evidence.of("kernel-version").empty()) return false;
  const auto kernel = kernel_release(evidence.of("kernel-version").front().text);
  return kernel && *kernel >= KernelRelease{5, 12};
}

std::string gpudirect_fix(const Evidence& evidence) {
  if (has_module(evidence, "nvidia_peermem") || has_module(evidence, "nv_peer_mem"))
    return "the peer memory module is loaded where lsmod was taken; of that node see ACS (lspci -vvv), "
           "iommu=pt, NCCL_NET_GDR_LEVEL and whether the NIC and the GPU are below one switch; on others: "
           "modprobe nvidia-peermem";
  const auto says = [&evidence](std::string_view words) {
    const auto& log = evidence.of("nccl-log");
    return any_line_has(log, words);
  };
  if (says("RCCL version"))
    return "of AMD's GPUs: the peer memory of amdgpu-dkms with the RDMA driver, or DMA-BUF on a newer kernel "
           "and RCCL; NCCL_NET_GDR_LEVEL";
  if (says("DMA-BUF is available on GPU device") && !says("GPU Direct RDMA Disabled"))
    return "the GPU's driver exports DMA-BUF (the log says so), so first see whether GPU and NIC are far "
           "apart (nvidia-smi topo -m: PHB, NODE or SYS) and what NCCL_NET_GDR_LEVEL allows; a module "
           "changes nothing there";
  if (exports_dma_buf(evidence))
    return "this kernel and driver export DMA-BUF: NCCL 2.12 or newer without NCCL_DMABUF_ENABLE=0, and an "
           "RDMA driver that takes it; or modprobe nvidia-peermem";
  return {};
}

std::string_view nccl_wheel(std::string_view line) {
  for (const std::string_view before : {"[pip3] ", "[pip] ", "[conda] "})
    if (line.starts_with(before)) line.remove_prefix(before.size());
  constexpr std::string_view kName = "nvidia-nccl-cu";
  const std::size_t end = std::min(line.find_first_of("= "), line.size());
  const bool names = line.starts_with(kName) && end > kName.size();
  const std::size_t version = line.find_first_not_of("= ", end);
  const bool has_version = version != std::string_view::npos && line[version] >= '0' && line[version] <= '9';
  return names && has_version ? line.substr(0, end) : std::string_view();
}

JobShape job_shape(const Evidence& evidence) {
  int nodes = 0;
  int local_ranks = 0;
  int all_ranks = 0;
  std::map<int, std::string> host_of;
  std::set<std::string_view> listed;
  std::size_t listed_ranks = 0;
  std::set<std::string_view> devices;
  bool same_names = false;
  const std::vector<EvidenceLine>& log = evidence.of("nccl-log");
  const bool uses_network = any_line_has(log, "via NET/");  // which a job on one node need not
  const bool crosses_by_nvlink = any_line_has(log, " MNNVL 1");
  for (const EvidenceLine& line : log) {
    const std::string_view text = line.text;
    nodes = std::max(nodes, integer_behind(text, " nNodes ").value_or(0));
    local_ranks = std::max(local_ranks, integer_behind(text, " localRanks ").value_or(0));
    // nccl-tests' list: "#  Rank  0 Group  0 Pid  16629 on HOST device  0 [0000:06:00] NVIDIA H100".
    if (const auto host = text_between(text, " on ", " device "); host && has_text(text, " Pid ")) {
      listed.insert(trim(*host));
      ++listed_ranks;
      // Several hosts of one name have the same GPUs.
      same_names = same_names || !devices.insert(text.substr(text.find(" on "))).second;
    }
    const auto rank = integer_behind(text, " rank ");
    const int ranks = integer_behind(text, " nranks ").value_or(0);
    const std::string_view process = log_line(text).process();
    if (rank && ranks > 0 && !process.empty()) {
      all_ranks = std::max(all_ranks, ranks);
      host_of.try_emplace(*rank, process.substr(0, process.rfind(':')));
    }
  }
  JobShape shape;
  if (nodes > 0) shape.has_several_nodes = nodes > 1;
  if (local_ranks > 0 && !crosses_by_nvlink) shape.shares_nodes = local_ranks > 1;
  if (nodes > 0 || local_ranks > 0 || uses_network || crosses_by_nvlink || same_names) return shape;
  const bool all_heard = all_ranks > 0 && std::cmp_equal(host_of.size(), all_ranks);
  if (!all_heard && listed_ranks > 0 && std::cmp_greater_equal(listed_ranks, all_ranks))
    return {listed.size() > 1, listed.size() < listed_ranks};
  if (!all_heard) return shape;
  std::set<std::string_view> hosts;
  for (const auto& [rank, host] : host_of) hosts.insert(host);
  return {hosts.size() > 1, std::cmp_less(hosts.size(), all_ranks)};
}

bool is_virtual_interface(std::string_view name) {
  constexpr std::array<std::string_view, 7> kPrefixes{"docker", "veth",    "virbr", "br-",
                                                      "cni",    "flannel", "cali"};
  return std::ranges::any_of(kPrefixes, [name](std::string_view prefix) { return name.starts_with(prefix); });
}

bool knows_environment(const Evidence& evidence) { return evidence.whole.contains("environment"); }

std::vector<LspciFunction> lspci_functions(const Evidence& evidence) {
  std::vector<LspciFunction> functions;
  for (const EvidenceLine& line : evidence.of("lspci")) {
    const std::size_t blank = line.text.find(' ');
    const bool title = blank != std::string::npos &&
                       line.text.substr(0, blank).find('.') != std::string::npos &&
                       canonical_pci_address(line.text.substr(0, blank));
    if (title) {
      functions.push_back({line.text, {}});
    } else {
      if (functions.empty()) functions.emplace_back();  // the output of a grep: details without their titles
      functions.back().details.push_back(&line);
    }
  }
  return functions;
}

}  // namespace collbench::topology
