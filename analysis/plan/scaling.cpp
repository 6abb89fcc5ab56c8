#include "analysis/plan/scaling.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/plan/search.hpp"
#include "base/error.hpp"

namespace collbench::analysis {
namespace {

double tokens_per_second(const ScalePoint& point) {
  return point.plan->tokens_per_second_per_gpu * point.gpus;
}

ScalePoint point_at(PlanRequest request, const GpuCluster& node, int gpus, int batch) {
  request.n_gpus = gpus;
  request.global_batch = batch;
  ScalePoint point{.gpus = gpus, .plan = std::nullopt, .refused = {}};
  try {
    SplitSearch found = fastest_splits(request, node, 1);
    if (!found.best.empty()) {
      point.plan = std::move(found.best.front());
    } else {
      point.refused = found.tried == 0
                          ? fmt::format("no split of {} samples over {} GPUs is possible", batch, gpus)
                          : fmt::format("none of {} splits fits into memory", found.tried);
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

std::string where_it_stops_paying(const std::vector<ScalePoint>& points) {
  const ScalePoint* first = nullptr;
  const ScalePoint* last = nullptr;
  double added_part = 1;
  for (const ScalePoint& point : points) {
    if (!point.plan) continue;
    if (first == nullptr) {
      first = last = &point;
      continue;
    }
    const double per_gpu = tokens_per_second(*first) / first->gpus;
    added_part = (tokens_per_second(point) - tokens_per_second(*last)) / (point.gpus - last->gpus) / per_gpu;
    if (added_part < kPaysFrom) {
      return fmt::format(
          "It stops paying at {} GPUs: from there to {}, an added GPU brings {:.0f} % of the tokens/s "
          "that one brings at {} (paying: at least {:.0f} %).",
          last->gpus, point.gpus, 100 * added_part, first->gpus, 100 * kPaysFrom);
    }
    last = &point;
  }
  if (first == nullptr) return "Where it stops paying is not known: nothing could be planned.";
  if (first == last)
    return fmt::format("Where it stops paying is not known: only {} GPUs could be planned.", first->gpus);
  return fmt::format(
      "It pays up to {} GPUs, the most that could be planned: the last ones added bring {:.0f} % each of "
      "the tokens/s that one brings at {} (paying: at least {:.0f} %).",
      last->gpus, 100 * added_part, first->gpus, 100 * kPaysFrom);
}

}  // namespace collbench::analysis
