#include "tools/lab01/report/gap.hpp"

#include <fmt/format.h>

#include <cmath>
#include <string>

#include "base/units.hpp"

namespace collbench::analysis {
namespace {

constexpr int kCents = 2;  // decimals

std::string money(double amount, const std::string& currency) {
  return currency.empty() ? fmt::format("{:.2f}", amount) : fmt::format("{:.2f} {}", amount, currency);
}

/// The bill split as the time is: by the levels of the gap.
void add_bill(const SizeGap& priced, const Lab01Options& options, double bill, const std::string& hours,
              ReportSection& section) {
  const auto& levels = priced.gap.levels;
  const auto cents = [&](const GapLevel& level) {
    return std::llround(100 * bill * level.seconds / levels.back().seconds);
  };
  const std::string& currency = options.price.currency;
  const std::string at = lab01_size(priced.size_bytes);
  section.blocks.emplace_back(
      fmt::format("If {} were nothing but AllReduce of {}, the same work at line rate would cost {}; the "
                  "rest is what the gap costs:",
                  hours, priced.size == at ? at : fmt::format("{} (measured at {})", priced.size, at),
                  money(static_cast<double>(cents(levels.front())) / 100, currency)));
  ReportTable table{
      .headings = {"part of the bill", currency.empty() ? "price" : currency},
      .rows = {{fmt::format("the work {}, at line rate", options.prediction.empty() ? "done" : "expected"),
                fixed_point(cents(levels.front()), kCents)}}};
  for (std::size_t i = 1; i < levels.size(); ++i) {
    const auto lost = cents(levels[i]) - cents(levels[i - 1]);
    table.rows.push_back({levels[i].term, (lost < 0 ? "−" : "") + fixed_point(std::abs(lost), kCents)});
  }
  const std::string_view bold = tone_class(Tone::warning);
  table.rows.push_back({{"the bill", bold}, {fixed_point(cents(levels.back()), kCents), bold}});
  section.blocks.emplace_back(std::move(table));
}

}  // namespace

ReportSection lab01_price(const Run& run, const Lab01Options& options, const std::vector<SizeGap>& gaps) {
  const Lab01Price& asked = options.price;
  if (!measures_gpus(run.backend)) return {"Price", {"No GPU was used."}};
  if (!asked.per_gpu_hour)
    return {"Price", {"Not given: --price takes the price of one GPU for one hour, --hours for how long."}};
  const double hour = *asked.per_gpu_hour * static_cast<double>(run.ranks.size());
  std::string text = fmt::format("{} × {} = {} per hour", counted(run.ranks.size(), "GPU"),
                                 money(*asked.per_gpu_hour, asked.currency), money(hour, asked.currency));
  const double hours = asked.hours.value_or(1);
  if (hours != 1) text += fmt::format("; {:g} hours: {}", hours, money(hours * hour, asked.currency));
  constexpr double kHourSeconds = 3600;
  if (run.wall_seconds > 0) {
    text += fmt::format("; this run took {}: {}", format_seconds(run.wall_seconds),
                        money(hour * run.wall_seconds / kHourSeconds, asked.currency));
  } else if (!asked.hours && options.prediction.empty()) {
    text += "; the log does not say how long the run took";
  }
  ReportSection section{"Price", {text + "."}};
  if (!gaps.empty())
    add_bill(gaps.back(), options, hours * hour,
             hours == 1 ? "the hour" : fmt::format("the {:g} hours", hours), section);
  return section;
}

}  // namespace collbench::analysis
