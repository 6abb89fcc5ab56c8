#include "analysis/report/html/markup.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/error.hpp"
#include "base/units.hpp"
#include "topology/catalog/finding_kinds.hpp"

namespace collbench::analysis {
namespace {

/// "; −104.5 GB/s on 2 nodes if present when NCCL starts": of the best algorithm, or of the ring where that
/// alone loses.
std::string loss_text(const FindingCost& cost) {
  constexpr double kMinShown = 0.05;  // GB/s; less is 0.0
  const double of_ring = cost.healthy.ring && cost.faulty.ring ? *cost.healthy.ring - *cost.faulty.ring : 0.0;
  const bool best = cost.lost() >= kMinShown;
  if (!best && of_ring < kMinShown) return {};
  const std::string_view when = cost_case_text(cost.when);
  return fmt::format("; {}−{:.1f} GB/s on {}{}{}", best ? "" : "ring ", best ? cost.lost() : of_ring,
                     counted(cost.nodes, "node"), when.empty() ? "" : " ", when);
}

}  // namespace

std::vector<topology::DrawingMark> drawing_marks(const std::vector<PricedFinding>& findings) {
  std::vector<topology::DrawingMark> marks;
  for (const PricedFinding& each : findings) {
    topology::DrawingMark mark{topology::finding_kind(each.finding.code).severity, {}, {}};
    for (const topology::DevicePair& devices : each.finding.devices) {
      if (devices.b) mark.devices.push_back(*devices.b);
    }
    mark.text = fmt::format("{}  {}: {}", each.finding.code, each.finding.device, each.finding.what);
    for (const FindingCost& cost : each.price.costs) {
      if (cost.when != CostCase::all_nodes) mark.text += loss_text(cost);
    }
    if (each.price.kind == PriceKind::not_modeled) mark.text += "; cost not modeled";
    marks.push_back(std::move(mark));
  }
  return marks;
}

ReportBlock machine_drawing(const topology::Host& host, const std::string& name,
                            const std::vector<topology::DrawingMark>& marks) {
  const std::string caption = fmt::format("{}: {}", name, topology::summarize_host(host));
  try {
    return ReportPicture{topology::svg_of(topology::draw_dot(host, caption, marks)), caption,
                         fmt::format("Drawing of {}, {} marked", caption, counted(marks.size(), "finding"))};
  } catch (const Error& error) {
    return fmt::format("{}: not drawn: {}; {}", caption, error.what(), error.next_step());
  }
}

}  // namespace collbench::analysis
