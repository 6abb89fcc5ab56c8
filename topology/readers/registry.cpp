#include <algorithm>
#include <array>

#include "base/text_input.hpp"
#include "topology/graph/merge.hpp"
#include "topology/readers/readers.hpp"

namespace collbench::topology {
namespace {

/// One line a reader. A text is offered to them in this order, and merging keeps what the first of them read.
constexpr std::array kReaders{
    &kNcclTopologyReader, &kNcclGraphReader,     &kHwlocXmlReader,        &kNvidiaSmiQueryReader,
    &kNvidiaSmiP2pReader, &kNvidiaSmiTopoReader, &kNvidiaSmiNvlinkReader, &kNvidiaSmiCsvReader,
    &kLspciReader,        &kIbstatReader,        &kSysfsPciReader,        &kSysfsInfinibandReader,
    &kSysfsNetReader,     &kLibhwlocReader,      &kFabricManagerReader,   &kSystemReader,
};

ReaderCoverage coverage_of(const Source& source) {
  const auto* const found = std::ranges::find_if(
      kReaders, [&source](const TopologyReader* reader) { return reader->name == source.reader; });
  return found == kReaders.end() ? ReaderCoverage{} : (*found)->coverage;
}

}  // namespace

bool ReaderCoverage::covers(DeviceKind kind) const {
  switch (kind) {
    case DeviceKind::gpu:
      return gpus;
    case DeviceKind::nic:
      return nics;
    case DeviceKind::nvswitch:
      return nvswitches;
    case DeviceKind::numa_node:
      break;
  }
  return true;
}

Source TopologyReader::source(std::string_view location, std::string_view version) const {
  return {std::string(name), std::string(location), std::string(version)};
}

std::span<const TopologyReader* const> topology_readers() { return kReaders; }

bool lists_all(const Host& host, DeviceKind kind) {
  return host.sources.empty() || std::ranges::any_of(host.sources, [kind](const Source& source) {
           return coverage_of(source).covers(kind);
         });
}

bool is_sysfs(const std::filesystem::path& root) {
  return std::ranges::any_of(kReaders, [&root](const TopologyReader* reader) {
    return reader->recognizes_tree != nullptr && reader->recognizes_tree(root);
  });
}

Host read_sysfs(const std::filesystem::path& root) {
  std::vector<Host> readings;
  for (const TopologyReader* reader : kReaders) {
    if (reader->read_tree != nullptr) readings.push_back(reader->read_tree(root));
  }
  return merge_hosts(readings);
}

}  // namespace collbench::topology
