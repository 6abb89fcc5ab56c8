#include "tools/plan/step/scaling.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.hpp"
#include "tools/plan/step/search.hpp"

namespace collbench::analysis {
namespace {

double tokens_per_second(const ScalePoint& point) {
  return point.plan->tokens_per_second_per_gpu * point.gpus;
}

ScalePoint point_at(PlanRequest request, const GpuCluster& node, int gpus, int batch) {
  request.n_gpus = gpus;
  request.global_batch = batch;
  // Scaling can begin within a node, where a fabric has no part.
  if (gpus <= node.ranks_per_node * node.nodes_per_domain) request.fabric = {};
  ScalePoint point{.gpus = gpus, .plan = std::nullopt, .refused = {}};
  try {
    SplitSearch found = fastest_splits(request, node, 1);
    if (!found.best.empty()) {
      point.plan = std::move(found.best.front());
    } else {
      point.refused = found.tried > 0 ? fmt::format("none of {} splits fits into memory", found.tried)
                                      : fmt::format("no split of {} samples is possible", batch);
      std::vector<TakenDefault> ignored;  // where that of the request itself is the reason, it says so
      if (found.tried == 0) (void)complete_job(request, gpus, node.ranks_per_node, ignored);
    }
  } catch (const Error& error) {
    point.refused = error.what();
  }
  return point;
}

ScaleSeries scale_series(const char* name, const PlanRequest& request, const GpuCluster& node,
                         const std::vector<int>& gpus, double samples, double samples_per_gpu) {
  ScaleSeries series{.name = name, .points = {}, .verdict = {}};
  std::optional<double> base;
  for (const int count : gpus) {
    const double batch = samples + samples_per_gpu * count;
    ScalePoint point = point_at(request, node, count, static_cast<int>(batch));
    if (point.plan) {
      if (!base) base = point.plan->tokens_per_second_per_gpu;
      point.efficiency = point.plan->tokens_per_second_per_gpu / *base;
    }
    series.points.push_back(std::move(point));
  }
  series.verdict = where_it_stops_paying(series.points);
  return series;
}

}  // namespace

std::vector<ScaleSeries> scaling(const PlanRequest& request, const GpuCluster& node,
                                 const std::vector<int>& gpus) {
  const int batch = request.global_batch.value_or(usual_global_batch(request));
  const int per_gpu = std::max(1, batch / gpus.back());
  return {scale_series("strong", request, node, gpus, batch, 0),
          scale_series("weak", request, node, gpus, 0, per_gpu)};
}

ScaleVerdict where_it_stops_paying(const std::vector<ScalePoint>& points) {
  std::vector<const ScalePoint*> planned;
  for (const ScalePoint& point : points) {
    if (point.plan) planned.push_back(&point);
  }
  if (planned.empty()) return {{}, "Where it stops paying is not known: nothing could be planned."};
  const ScalePoint& first = *planned.front();
  if (planned.size() == 1)
    return {{},
            fmt::format("Where it stops paying is not known: only {} GPUs could be planned.", first.gpus)};
  const double per_gpu = tokens_per_second(first) / first.gpus;
  const auto added_part = [&](const ScalePoint& from, const ScalePoint& to) {
    return (tokens_per_second(to) - tokens_per_second(from)) / (to.gpus - from.gpus) / per_gpu;
  };
  // A number that divides badly is no end: it ends where no later number pays either.
  std::size_t end = 0;
  std::size_t before_end = 0;
  double part_at_end = 1;
  std::vector<int> dips;
  for (std::size_t at = 1; at < planned.size(); ++at) {
    const double part = added_part(*planned[end], *planned[at]);
    if (part < kPaysFrom) continue;
    for (std::size_t between = end + 1; between < at; ++between) dips.push_back(planned[between]->gpus);
    before_end = end;
    end = at;
    part_at_end = part;
  }
  const std::string dips_in_words =
      dips.empty() ? ""
                   : fmt::format(" Left out, for a larger number pays again: {}.", fmt::join(dips, ", "));
  const ScalePoint& last = *planned[end];
  if (end + 1 == planned.size())
    return {last,
            fmt::format("It pays up to {0} GPUs, the most that could be planned: from {1} to {0} GPUs each "
                        "added GPU gives {2:.0f} % of the tokens/s of a GPU at {3} (it pays from "
                        "{4:.0f} %).{5}",
                        last.gpus, planned[before_end]->gpus, 100 * part_at_end, first.gpus, 100 * kPaysFrom,
                        dips_in_words)};
  const ScalePoint& next = *planned[end + 1];
  return {last,
          fmt::format("It stops paying at {} GPUs: from there to {} GPUs each added GPU gives {:.0f} % of "
                      "the tokens/s of a GPU at {} (it pays from {:.0f} %){}.{}",
                      last.gpus, next.gpus, 100 * added_part(last, next), first.gpus, 100 * kPaysFrom,
                      end + 2 < planned.size() ? ", and no larger number pays either" : "", dips_in_words)};
}

}  // namespace collbench::analysis
