#include "analysis/report/lab01/lab01.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <vector>

#include "analysis/report/columns.hpp"
#include "analysis/report/sections.hpp"
#include "analysis/report/text_layout.hpp"
#include "base/record/run.hpp"
#include "base/units.hpp"

namespace collbench::analysis {
namespace {

struct LabSize {
  std::string_view name;
  std::uint64_t bytes;
};
constexpr std::array<LabSize, 3> kSizes{
    {{"1 MB", 1'000'000}, {"100 MB", 100'000'000}, {"1 GB", 1'000'000'000}}};
constexpr double kNearEnough = 1.5;

/// The AllReduce row next to `bytes`: out of place before in place, what the library chose before what was
/// forced.
const Row* nearest_row(const Run& run, std::uint64_t bytes) {
  const Row* best = nullptr;
  double best_distance = std::log(kNearEnough);
  for (const Row& row : run.rows) {
    const RowKey& key = row.measurement.key;
    if (key.operation != OperationId::all_reduce || key.in_place || key.size_bytes == 0) continue;
    if (key.algorithm != kLibraryChoice || !row.measurement.unavailable.empty() ||
        row.measurement.seconds <= 0)
      continue;
    const double distance =
        std::fabs(std::log(static_cast<double>(key.size_bytes) / static_cast<double>(bytes)));
    if (distance < best_distance || (best == nullptr && distance == best_distance)) {
      best = &row;
      best_distance = distance;
    }
  }
  return best;
}

std::string hardware(const Run& run) {
  std::string text = "\n## Hardware as found\n";
  if (!measures_gpus(run.backend)) {
    text +=
        "No GPU took part: this is host memory through MPI. NVLink and InfiniBand do not apply; the links "
        "are those that calibration measured.\n\n";
  }
  for (const ReportLine& fact : header_lines(run)) text += "- " + markdown_text(fact.text) + "\n";
  return text;
}

std::string checks(const Lab01Options& options) {
  std::string text = "\n## Preliminary checks\n| question | answer |\n| --- | --- |\n";
  for (const PrecedingCheck& check : options.checks) {
    const std::string answer = markdown_text(check.answer);
    text += fmt::format("| {} | {} |\n", check.question, check.good ? answer : "**" + answer + "**");
  }
  return text;
}

std::string ceilings(const Run& run, const Lab01Options& options) {
  std::string text = "\n## Theoretical ceilings\n";
  const auto& found = options.ceilings;
  if (found.empty()) {
    return text + "Unknown: neither the record nor a topology describes the links. Give `--topology`.\n";
  }
  text += fmt::format("p = {} ranks, S bytes in each rank's buffer; GB = 10^9 bytes.\n\n", run.ranks.size());
  text += "| what | arithmetic | GB/s | from |\n| --- | --- | ---: | --- |\n";
  for (const Ceiling& ceiling : found) {
    text +=
        fmt::format("| {} | {} | {} | {} |\n", markdown_text(ceiling.what), markdown_text(ceiling.arithmetic),
                    table_rate(ceiling.bytes_per_second), markdown_text(ceiling.source));
  }
  return text;
}

std::optional<double> ceiling_of(const Lab01Options& options, std::string_view what) {
  const auto found = std::find_if(options.ceilings.begin(), options.ceilings.end(),
                                  [&](const Ceiling& ceiling) { return ceiling.what == what; });
  return found == options.ceilings.end() ? std::nullopt : std::optional(found->bytes_per_second);
}

/// What a row expects of an algorithm; where it has no expectation, what the ceiling allows at most.
std::string expected_or_ceiling(std::optional<double> expected, std::optional<double> ceiling) {
  return expected || !ceiling ? table_rate(expected) : "≤ " + table_rate(ceiling);
}

/// Ring and tree move every byte through the links; only reduction in the switch does not.
std::string above_ceilings(const Run& run, const Lab01Options& options, std::optional<double> busbw) {
  if (!measures_gpus(run.backend)) return "";
  const auto ring = ceiling_of(options, kRingCeiling);
  const auto tree = ceiling_of(options, kTreeCeiling);
  if (!busbw || !ring || *busbw <= std::max(*ring, tree.value_or(0))) return "";
  return " This is above what ring and tree can reach: NCCL reduces in the NVSwitch (NVLS), or the given "
         "topology or rank count is wrong.";
}

std::string results(const Run& run, const Lab01Options& options) {
  std::string table =
      "\n## AllReduce, expected and measured\nbusbw in GB/s.\n\n"
      "| size | measured at | time (µs) | ring | tree | expected | measured | measured/expected |\n"
      "| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n";
  std::string explanations = "\n## Explanation\n";
  std::string verdict;
  for (const LabSize& size : kSizes) {
    const Row* row = nearest_row(run, size.bytes);
    if (row == nullptr) {
      table += fmt::format("| {} | – | – | – | – | – | – | – |\n", size.name);
      explanations += fmt::format("- {}: the run has no AllReduce within a factor of {} of it.\n", size.name,
                                  kNearEnough);
      continue;
    }
    verdict = lab01_verdict(run, *row);
    const Rates found = rates(*row, static_cast<int>(run.ranks.size()));
    const auto& ratio = found.measured_over_expected;
    table += fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} |\n", size.name,
                         format_bytes(row->measurement.key.size_bytes),
                         table_number(row->measurement.seconds / kMicrosecond, 8),
                         expected_or_ceiling(found.ring_bus_bandwidth, ceiling_of(options, kRingCeiling)),
                         expected_or_ceiling(found.tree_bus_bandwidth, ceiling_of(options, kTreeCeiling)),
                         table_rate(found.expected_bus_bandwidth), table_rate(found.bus_bandwidth),
                         ratio ? fmt::format("{:.2f}", *ratio) : std::string(kNoValue));
    explanations += fmt::format(
        "- {}: {}\n", size.name,
        markdown_text(lab01_explanation(run, *row)) + above_ceilings(run, options, found.bus_bandwidth));
  }
  if (!verdict.empty()) explanations += fmt::format("- All sizes: {}\n", markdown_text(verdict));
  return table + explanations;
}

std::string price(const Run& run, const Lab01Options& options) {
  std::string text = "\n## Price\n";
  if (!measures_gpus(run.backend)) return text + "No GPU was used.\n";
  if (!options.price_per_gpu_hour)
    return text + "Not given: `--price` takes the price of one GPU for one hour.\n";
  const double hour = *options.price_per_gpu_hour * static_cast<double>(run.ranks.size());
  text += fmt::format("{} × {:.2f} = {:.2f} per hour", counted(run.ranks.size(), "GPU"),
                      *options.price_per_gpu_hour, hour);
  constexpr double kHourSeconds = 3600;
  if (run.wall_seconds > 0) {
    text += fmt::format("; this run took {}: {:.2f}", format_seconds(run.wall_seconds),
                        hour * run.wall_seconds / kHourSeconds);
  } else {
    text += "; the log does not say how long the run took";
  }
  return text + ".\n";
}

}  // namespace

std::string report_lab01(const Run& run, const Lab01Options& options) {
  return "# Lab 01: AllReduce, expected and measured\n" + hardware(run) + checks(options) +
         ceilings(run, options) + results(run, options) + price(run, options);
}

}  // namespace collbench::analysis
