#include <fmt/format.h>
#include <hwloc.h>

#include <memory>

#include "base/error.hpp"
#include "topology/readers/readers.hpp"

namespace collbench::topology {
namespace {

struct Destroy {
  void operator()(hwloc_topology* topology) const { hwloc_topology_destroy(topology); }
};
using Handle = std::unique_ptr<hwloc_topology, Destroy>;

Error cannot(std::string_view what) {
  return {ExitStatus::not_here, "hwloc", fmt::format("{} failed", what), "run lstopo to see what is wrong"};
}

Handle load() {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) throw cannot("hwloc_topology_init");
  Handle topology(raw);
  hwloc_topology_set_io_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_ALL);
  if (hwloc_topology_load(raw) != 0) throw cannot("hwloc_topology_load");
  return topology;
}

std::string library_version() {
  const unsigned version = hwloc_get_api_version();
  return fmt::format("{}.{}.{}", version >> 16U, version >> 8U & 0xFFU, version & 0xFFU);
}

}  // namespace

// Through libhwloc's own XML, so that live and saved machines go through one reader.
Host read_hwloc_live() {
  const Handle topology = load();
  char* buffer = nullptr;
  int length = 0;
  if (hwloc_topology_export_xmlbuffer(topology.get(), &buffer, &length, 0) != 0) {
    throw cannot("hwloc_topology_export_xmlbuffer");
  }
  const auto release = [&topology](char* text) { hwloc_free_xmlbuffer(topology.get(), text); };
  const std::unique_ptr<char, decltype(release)> owned(buffer, release);
  // The length counts the closing 0.
  Host host = read_hwloc_xml({buffer, static_cast<std::size_t>(length > 0 ? length - 1 : 0)}, "live");
  host.sources[0] = kLibhwlocReader.source("live", library_version());
  return host;
}

constexpr TopologyReader kLibhwlocReader{
    .name = "libhwloc",
    .coverage = {.gpus = true, .nics = true, .nvswitches = true},
};

}  // namespace collbench::topology
