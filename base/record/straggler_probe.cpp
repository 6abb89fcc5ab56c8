#include "base/record/straggler_probe.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/statistics.hpp"

namespace collbench {

StepTimes median_of(const std::vector<StepTimes>& steps) {
  StepTimes middle;
  if (steps.empty()) return middle;
  for (const StepFigure& figure : kStepFigures) {
    std::vector<double> values;
    for (const StepTimes& each : steps) values.push_back(each.*figure.value);
    middle.*figure.value = median(std::move(values));
  }
  return middle;
}

std::vector<double> above_others(const std::vector<double>& values) {
  std::vector<double> above(values.size(), 0);
  if (values.size() < 2) return above;
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  const std::size_t others = values.size() - 1;
  for (std::size_t position = 0; position < order.size(); ++position) {
    // Of the sorted ones without this.
    const auto other = [&](std::size_t i) { return values[order[i < position ? i : i + 1]]; };
    const double middle =
        others % 2 == 1 ? other(others / 2) : (other(others / 2 - 1) + other(others / 2)) / 2;
    above[order[position]] = values[order[position]] - middle;
  }
  return above;
}

}  // namespace collbench
