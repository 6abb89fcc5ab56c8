#include "src/topology_draw.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "analysis/diff_report.hpp"
#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "src/topology_diff.hpp"
#include "topology/drawing.hpp"
#include "topology/finding_catalogue.hpp"
#include "topology/reference_machines.hpp"
#include "topology/summarize_host.hpp"
#include "topology/svg.hpp"

namespace collbench {
namespace {

/// What the machine has otherwise than the one at `against`, with the loss of the best algorithm.
std::vector<DrawingMark> marks_against(const std::string& against, const Host& host) {
  const bool reference = find_reference_machine(against) != nullptr;
  const ComparedHosts compared = compare_hosts({one_host(against), {against}}, {host, {"drawn"}}, reference);
  std::vector<DrawingMark> marks;
  for (const PricedFinding& each : compared.findings) {
    DrawingMark mark{finding_kind(each.finding.code).severity, {}, {}};
    for (const Twins& twins : each.finding.twins) {
      if (twins.b) mark.devices.push_back(*twins.b);
    }
    mark.text = fmt::format("{}  {}: {}", each.finding.code, each.finding.device, each.finding.what);
    for (const FindingCost& cost : each.costs) {
      if (cost.lost() > 0)
        mark.text +=
            fmt::format("; −{:.1f} GB/s on {} node{}", cost.lost(), cost.nodes, cost.nodes == 1 ? "" : "s");
    }
    marks.push_back(std::move(mark));
  }
  return marks;
}

}  // namespace

std::string draw_topology(const TopologyOptions& options, const Topology& topology) {
  if (topology.hosts.size() != 1) {
    throw usage_error("topo draw", fmt::format("{} hosts do not go into one picture", topology.hosts.size()),
                      "give a file with one host");
  }
  require_writable(options.output, options.overwrite, "-o");
  const Host& host = topology.hosts.front();
  const std::string name = options.places.empty() ? host.name.value_or("this machine")
                                                  : fmt::format("{}", fmt::join(options.places, " + "));
  const auto marks =
      options.against.empty() ? std::vector<DrawingMark>{} : marks_against(options.against, host);
  const std::string dot = draw_dot(host, fmt::format("{}: {}", name, summarize_host(host)), marks);
  write_file_by_rename(options.output, options.output.ends_with(".dot") ? dot : svg_of(dot));
  return fmt::format("{}: {}, {} finding{} marked\n", options.output, summarize_host(host), marks.size(),
                     marks.size() == 1 ? "" : "s");
}

}  // namespace collbench
