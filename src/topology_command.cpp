#include "src/topology_command.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "src/input_text.hpp"
#include "src/topology_diff.hpp"
#include "src/topology_draw.hpp"
#include "topology/detect.hpp"
#include "topology/gather_live.hpp"
#include "topology/merge.hpp"
#include "topology/read_any.hpp"
#include "topology/read_place.hpp"
#include "topology/show.hpp"
#include "topology/summarize_host.hpp"
#include "topology/topology_json.hpp"
#include "topology/write_nccl_topology_xml.hpp"

namespace collbench {
namespace {

/// Several places are one machine: each must be one host.
Topology read_places(const std::vector<std::string>& places) {
  if (places.empty()) return {{gather_live()}};
  std::vector<Host> readings;
  for (const std::string& place : places) {
    Topology topology =
        place == "-" ? read_any_topology(input_text(place), input_name(place)) : read_place(place);
    if (places.size() == 1) return topology;
    if (topology.hosts.size() != 1) {
      throw usage_error(place,
                        fmt::format("it holds {} hosts, and several places are merged as one machine",
                                    topology.hosts.size()),
                        "give it alone");
    }
    readings.push_back(std::move(topology.hosts.front()));
  }
  return {{merge_hosts(readings)}};
}

std::string as_nccl_xml(const Topology& topology) {
  if (topology.hosts.size() != 1) {
    throw usage_error("--format nccl-xml",
                      fmt::format("the format holds one host, not {}", topology.hosts.size()),
                      "use --format json");
  }
  return write_nccl_topology_xml(topology.hosts.front());
}

std::string save(const TopologyOptions& options) {
  require_writable(options.output, options.overwrite, "-o");  // before nvidia-smi is waited for
  const Topology topology = read_places(options.places);
  write_file_by_rename(options.output,
                       options.format == "nccl-xml" ? as_nccl_xml(topology) : save_topology(topology));
  return fmt::format("{}: {}\n", options.output, summarize_host(topology.hosts.front()));
}

/// The reference machines that a host is like, or else the nearest, and how it differs from each.
std::string detect(const Host& host) {
  constexpr std::size_t kShown = 3;
  const std::vector<ReferenceMatch> matches = nearest_references(host);
  if (matches.empty()) {
    throw Error(ExitStatus::not_here, "topo detect", "no GPU is seen, and machines are known by their GPUs",
                "see collbench topo show for what is hidden");
  }
  std::string text = summarize_host(host) + "\n";
  const auto alike = static_cast<std::size_t>(std::count_if(
      matches.begin(), matches.end(), [](const ReferenceMatch& match) { return match.distance == 0; }));
  if (alike > 0) text += "alike in all that is compared (GPUs, NVLinks, NICs and their rate):\n";
  for (std::size_t i = 0; i < (alike > 0 ? alike : std::min(kShown, matches.size())); ++i) {
    const ReferenceMatch& match = matches[i];
    text += fmt::format("{:<12} {}\n", match.machine->name, match.machine->title);
    for (const std::string& difference : match.differences)
      text += fmt::format("{:<12} - {}\n", "", difference);
  }
  const std::vector<std::string>& missing = matches.front().not_compared;
  if (!missing.empty())
    text += fmt::format("not known here, so not compared: {}\n", fmt::join(missing, ", "));
  return text;
}

}  // namespace

Answer topology_command(const TopologyOptions& options) {
  switch (options.action) {
    case TopologyAction::save:
      return {save(options)};
    case TopologyAction::list:
      return {list_reference_machines()};
    case TopologyAction::diff:
      return topology_diff(options);
    case TopologyAction::draw:
      return {draw_topology(options, read_places(options.places))};
    case TopologyAction::detect: {
      std::string text;
      for (const Host& host : read_places(options.places).hosts) text += detect(host);
      return {text};
    }
    case TopologyAction::show:
      break;
  }
  return {show_topology(read_places(options.places), {.matrix = options.matrix, .sources = options.sources})};
}

}  // namespace collbench
