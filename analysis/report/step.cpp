#include <fmt/format.h>

#include <string>

#include "analysis/report/sections.hpp"
#include "analysis/stragglers/step_verdict.hpp"
#include "base/units.hpp"

namespace collbench::analysis {
namespace {

constexpr std::size_t kMaxRanks = 8;  // that stand one by one; the record has them all

std::string parts_text(const StepTimes& times) {
  return fmt::format("compute {}, AllReduce {}, neither {}", format_seconds(times.compute_seconds),
                     format_seconds(times.inside_seconds), format_seconds(times.between_seconds));
}

/// What no finding says: that nobody is slow, and by which lines; or why nobody can be named.
std::string verdict_text(const Row& row) {
  const StepVerdict& verdict = *row.step;
  switch (verdict.word) {
    case StepWord::nobody:
      return fmt::format(
          "nobody is slow: in three of four of {} passes no rank's kernel takes {:.0f} % longer than the "
          "others', and none is late by {:.0f} % of a step",
          row.measurement.pass_seconds.size(), 100 * kSlowComputeShare, 100 * kMinStepShare);
    case StepWord::named:
      return verdict.text;
    case StepWord::too_few:
    case StepWord::ambiguous:
    case StepWord::not_judged:
      return fmt::format("{}: {}", name(verdict.word), verdict.text);
  }
  return {};
}

}  // namespace

ReportLines step_lines(const Run& run) {
  ReportLines lines;
  for (const Row& row : run.rows) {
    if (!row.step) continue;
    const Measurement& measured = row.measurement;
    const StepTimes middle = median_step(measured);
    const std::string title = format_row(measured.key);
    add(lines, "{}: {}; the AllReduce alone {} (medians of {}); {}", title, parts_text(middle),
        format_seconds(middle.alone_seconds), counted(measured.ranks.size(), "rank"), measured.note);
    for (const RankTimes& times : measured.ranks) {
      if (!times.step || measured.ranks.size() > kMaxRanks || measured.ranks.size() < 2) break;
      add(lines, "rank {}: {}", times.rank, parts_text(*times.step));
    }
    for (const StepFinding& finding : row.step->findings) warn(lines, "{}: {}", title, finding.text);
    if (const std::string text = verdict_text(row); !text.empty())
      lines.push_back({fmt::format("{}: {}", title, text),
                       row.step->word == StepWord::nobody ? Tone::quiet : Tone::plain});
  }
  return lines;
}

}  // namespace collbench::analysis
