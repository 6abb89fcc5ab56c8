#include "tools/nccl_plan/report/report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "analysis/report/columns.hpp"
#include "base/record/operation.hpp"
#include "base/units.hpp"
#include "tools/nccl_plan/report/words.hpp"

namespace collbench::analysis {
namespace {

constexpr double kWorthSetting = 0.01;  // of the time

/// Of each operation that has an algorithm the row of its largest size, in the order of the rows.
std::vector<NcclPlannedRow> largest_rows(const NcclPlan& plan) {
  std::vector<NcclPlannedRow> rows;
  for (const NcclPlannedRow& row : plan.rows) {
    if (row.selection.algorithm == "p2p") continue;
    const auto known = std::ranges::find(rows, row.operation, &NcclPlannedRow::operation);
    if (known == rows.end()) {
      rows.push_back(row);
    } else if (row.size_bytes > known->size_bytes) {
      *known = row;
    }
  }
  return rows;
}

/// None where NCCL does not say the time of each.
std::optional<double> seconds_in_all(const NcclPlan& plan) {
  const std::vector<NcclPlannedRow> rows = largest_rows(plan);
  if (rows.empty()) return std::nullopt;
  double sum = 0;
  for (const NcclPlannedRow& row : rows) {
    if (!row.expected_seconds) return std::nullopt;
    sum += *row.expected_seconds;
  }
  return sum;
}

double rate_of_rings(const NcclPlan& plan) {
  const auto ring = agreed_graph(plan, NcclAlgorithm::ring);
  return ring ? ring->channels * ring->inter_bytes_per_second : 0;
}

std::string ring_words(const NcclPlan& plan) {
  const auto ring = agreed_graph(plan, NcclAlgorithm::ring);
  if (!ring) return std::string(kNoValue);
  return fmt::format("{} × {}", ring->channels, channel_rate(ring->inter_bytes_per_second));
}

std::string saved_words(double saved) {
  std::string percent = fmt::format("{:.1f} %", 100 * std::abs(saved));
  if (percent == "0.0 %") return percent;
  return (saved > 0 ? "−" : "+") + percent;
}

/// A line for each trial, with the time of each operation.
ReportTable trial_table(const NcclPlan& plan, const std::vector<NcclTrial>& trials,
                        const NcclAdvice& advice) {
  const std::vector<NcclPlannedRow> asked = largest_rows(plan);
  ReportTable table{.headings = {"rings"}, .right = 1, .wraps = true};
  for (const NcclPlannedRow& row : asked)
    table.spare.push_back(fmt::format("{} (µs)", operation(row.operation).name));
  table.headings.insert(table.headings.end(), table.spare.begin(), table.spare.end());
  table.headings.insert(table.headings.end(), {"in all", "setting"});
  const auto add = [&](const std::string& setting, const NcclPlan& other, const std::string& saved) {
    std::vector<ReportCell>& cells = table.rows.emplace_back(std::vector<ReportCell>{ring_words(other)});
    const std::vector<NcclPlannedRow> rows = largest_rows(other);
    for (std::size_t i = 0; i < asked.size(); ++i) {
      const auto seconds = rows.at(i).expected_seconds;
      cells.emplace_back(seconds ? format_significant(*seconds / kMicrosecond, 4, 9) : std::string(kNoValue));
    }
    cells.insert(cells.end(), {saved, setting});
  };
  add("as asked", plan, std::string(kNoValue));
  for (std::size_t i = 0; i < trials.size(); ++i)
    add(trials[i].setting, trials[i].plan, saved_words(advice.saved[i]));
  return table;
}

std::string operations_of(const NcclPlan& plan) {
  std::vector<std::string> names;
  for (const NcclPlannedRow& row : largest_rows(plan))
    names.push_back(fmt::format("{} of {}", operation(row.operation).name, format_bytes(row.size_bytes)));
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

NcclAdvice nccl_advice(const NcclPlan& plan, const std::vector<NcclTrial>& trials) {
  const auto has_time = [](const NcclTrial& trial) { return seconds_in_all(trial.plan).has_value(); };
  NcclAdvice advice;
  advice.by_time = seconds_in_all(plan) && std::ranges::all_of(trials, has_time);
  const auto saved = [&](const NcclPlan& other) {
    if (advice.by_time) return 1 - *seconds_in_all(other) / *seconds_in_all(plan);
    const double rate = rate_of_rings(other);
    return rate > 0 ? 1 - rate_of_rings(plan) / rate : -1.0;
  };
  for (const NcclTrial& trial : trials) advice.saved.push_back(saved(trial.plan));
  const auto most = std::ranges::max_element(advice.saved);
  if (most != advice.saved.end() && *most >= kWorthSetting) {
    advice.best = static_cast<int>(most - advice.saved.begin());
  }
  return advice;
}

std::string nccl_advice_answer(const NcclPlan& plan, const std::vector<NcclTrial>& trials) {
  const NcclAdvice advice = nccl_advice(plan, trials);
  if (advice.best < 0) return "advice: nothing that was tried saves 1 %";
  const auto best = static_cast<std::size_t>(advice.best);
  return fmt::format("advice: {} ({} of the {}); NCCL reads it when it starts, so restart the job",
                     trials[best].setting, saved_words(advice.saved[best]),
                     advice.by_time ? "time" : "time on the rings");
}

ReportSection nccl_advice_section(const NcclPlan& plan, const std::vector<NcclTrial>& trials) {
  const NcclAdvice advice = nccl_advice(plan, trials);
  return {advice.by_time
              ? "what other settings would give, by NCCL's own time of " + operations_of(plan)
              : "what other settings would give, by the rate of the rings: this NCCL says no times",
          {trial_table(plan, trials, advice)}};
}

Json nccl_advice_json(const NcclPlan& plan, const std::vector<NcclTrial>& trials) {
  const NcclAdvice advice = nccl_advice(plan, trials);
  Json list = Json::array();
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const NcclPlan& other = trials[i].plan;
    const auto ring = agreed_graph(other, NcclAlgorithm::ring);
    Json seconds = Json::object();
    for (const NcclPlannedRow& row : largest_rows(other)) {
      seconds[std::string(operation(row.operation).name)] =
          row.expected_seconds ? Json(*row.expected_seconds) : Json(nullptr);
    }
    list.push_back({{"setting", trials[i].setting},
                    {"ring_channels", ring ? ring->channels : 0},
                    {"ring_bytes_per_second", ring ? ring->inter_bytes_per_second : 0},
                    {"expected_seconds", std::move(seconds)},
                    {"saved_percent", 100 * advice.saved[i]}});
  }
  return {{"by", advice.by_time ? "time" : "rings"},
          {"trials", std::move(list)},
          {"best",
           advice.best < 0 ? Json(nullptr) : Json(trials[static_cast<std::size_t>(advice.best)].setting)}};
}

}  // namespace collbench::analysis
