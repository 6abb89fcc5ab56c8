#include "tools/nccl_plan/report/report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "analysis/report/columns.hpp"
#include "base/document/text_layout.hpp"
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

/// A line for each trial; `with_times`: with a column for each operation.
TextTable trial_table(const NcclPlan& plan, const std::vector<NcclTrial>& trials, const NcclAdvice& advice,
                      bool with_times) {
  const std::vector<NcclPlannedRow> asked = with_times ? largest_rows(plan) : std::vector<NcclPlannedRow>{};
  TextTable table{{"setting", "rings"}};
  for (const NcclPlannedRow& row : asked)
    table.front().push_back(fmt::format("{} (µs)", operation(row.operation).name));
  table.front().emplace_back("in all");
  const auto add = [&](const std::string& setting, const NcclPlan& other, const std::string& saved) {
    std::vector<std::string>& cells = table.emplace_back(std::vector{setting, ring_words(other)});
    const std::vector<NcclPlannedRow> rows = largest_rows(other);
    for (std::size_t i = 0; i < asked.size(); ++i) {
      const auto seconds = rows.at(i).expected_seconds;
      cells.push_back(seconds ? format_significant(*seconds / kMicrosecond, 4, 9) : std::string(kNoValue));
    }
    cells.push_back(saved);
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

std::string nccl_advice_text(const NcclPlan& plan, const std::vector<NcclTrial>& trials, int width) {
  const NcclAdvice advice = nccl_advice(plan, trials);
  std::string text = wrap(
      advice.by_time ? "what other settings would give, by NCCL's own time of " + operations_of(plan)
                     : "what other settings would give, by the rate of the rings: this NCCL says no times",
      width, "\n", "  ");
  const TextTable with_times = trial_table(plan, trials, advice, true);
  const bool fits = table_width(with_times) <= width;
  text += table_lines(fits ? with_times : trial_table(plan, trials, advice, false), 1);
  if (advice.best < 0) {
    return text + wrap("advice: nothing that was tried saves 1 %", width, "", "  ");
  }
  const auto best = static_cast<std::size_t>(advice.best);
  return text + wrap(one_line(fmt::format(
                         "advice: {} ({} of the {}); NCCL reads it when it starts, so restart the job",
                         trials[best].setting, saved_words(advice.saved[best]),
                         advice.by_time ? "time" : "time on the rings")),
                     width, "", "  ");
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
