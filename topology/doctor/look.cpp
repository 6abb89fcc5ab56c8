#include "topology/doctor/look.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <system_error>

#include "topology/graph/nics.hpp"
#include "topology/graph/pci.hpp"
#include "topology/readers/readers.hpp"

namespace collbench::topology {
namespace {

constexpr std::string_view kSetByEnvironment = " set by environment to ";

bool any_module(const Evidence& evidence, std::string_view prefix) {
  const auto& modules = evidence.of("lsmod");
  return std::any_of(modules.begin(), modules.end(),
                     [prefix](const EvidenceLine& line) { return line.text.starts_with(prefix); });
}

bool any_function(const Evidence& evidence, std::string_view vendor) {
  const auto& lines = evidence.of("lspci");
  return std::any_of(lines.begin(), lines.end(), [vendor](const EvidenceLine& line) {
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
  return {fmt::format("\"{}\"", excerpt(line.text, 160)), line.location};
}

std::optional<bool> has_gpus(const Evidence& evidence) {
  if (!evidence.host.gpus.empty() || any_module(evidence, "nvidia ") ||
      any_function(evidence, "NVIDIA Corporation"))
    return true;
  const bool asked = evidence.whole.contains("lsmod") || evidence.whole.contains("lspci") ||
                     !evidence.host.pci_devices.empty();
  return asked ? std::optional<bool>(false) : std::nullopt;
}

std::optional<bool> has_rdma(const Evidence& evidence) {
  // An RDMA device has a GUID; an interface alone has none.
  const bool listed = std::any_of(evidence.host.nics.begin(), evidence.host.nics.end(), is_rdma);
  if (listed || any_module(evidence, "mlx5_ib") || !evidence.of("ibv_devinfo").empty()) return true;
  const auto& sources = evidence.host.sources;
  const bool asked = evidence.whole.contains("lsmod") ||
                     std::any_of(sources.begin(), sources.end(), [](const Source& source) {
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
  bool open = false;
  for (const EvidenceLine& line : evidence.of("nvidia-module"))
    open = open || has_text(line.text, "Open Kernel Module");
  if (!open || evidence.of("kernel-version").empty()) return false;
  const auto kernel = kernel_release(evidence.of("kernel-version").front().text);
  return kernel && *kernel >= KernelRelease{5, 12};
}

std::string gpudirect_fix(const Evidence& evidence) {
  if (any_module(evidence, "nvidia_peermem") || any_module(evidence, "nv_peer_mem"))
    return "the peer memory module is loaded where lsmod was taken; of that node see ACS (lspci -vvv), "
           "iommu=pt, "
           "NCCL_NET_GDR_LEVEL and whether the NIC and the GPU are below one switch; on others: modprobe "
           "nvidia-peermem";
  if (exports_dma_buf(evidence))
    return "this kernel and driver export DMA-BUF: NCCL 2.12 or newer without NCCL_DMABUF_ENABLE=0, and an "
           "RDMA driver "
           "that takes it; or modprobe nvidia-peermem";
  return {};
}

bool is_virtual_interface(std::string_view name) {
  constexpr std::array<std::string_view, 7> kPrefixes{"docker", "veth",    "virbr", "br-",
                                                      "cni",    "flannel", "cali"};
  return std::any_of(kPrefixes.begin(), kPrefixes.end(),
                     [name](std::string_view prefix) { return name.starts_with(prefix); });
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

std::optional<std::uint32_t> parse_hexadecimal(std::string_view text) {
  constexpr int kBase = 16;
  std::uint32_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value, kBase);
  return error == std::errc() && stopped == end && !text.empty() ? std::optional(value) : std::nullopt;
}

}  // namespace collbench::topology
