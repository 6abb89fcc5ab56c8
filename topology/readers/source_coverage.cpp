#include "topology/readers/source_coverage.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace collbench::topology {
namespace {

constexpr std::array<std::string_view, 7> kWithoutNics{"nvidia-smi -q -x",
                                                       "nvidia-smi --query-gpu",
                                                       "nvidia-smi nvlink -s",
                                                       "nvidia-smi topo -p2p",
                                                       "NCCL graph XML",
                                                       "systemctl is-active",
                                                       "system"};
constexpr std::array<std::string_view, 5> kWithoutGpus{"ibstat", "sysfs InfiniBand", "sysfs net",
                                                       "systemctl is-active", "system"};

template <std::size_t Size>
bool all_among(const std::vector<Source>& sources, const std::array<std::string_view, Size>& readers) {
  return !sources.empty() && std::all_of(sources.begin(), sources.end(), [&](const Source& source) {
    return std::find(readers.begin(), readers.end(), source.reader) != readers.end();
  });
}

}  // namespace

bool source_coverage(const Host& host, DeviceKind kind) {
  if (kind == DeviceKind::gpu) return !all_among(host.sources, kWithoutGpus);
  return !all_among(host.sources, kWithoutNics);
}

}  // namespace collbench::topology
