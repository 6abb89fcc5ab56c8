#include "analysis/report/lab01/price.hpp"

#include <fmt/format.h>

#include <cmath>
#include <string>

#include "analysis/report/text_layout.hpp"
#include "base/units.hpp"

namespace collbench::analysis {
namespace {

constexpr int kCents = 2;  // decimals

std::string money(double amount, const std::string& currency) {
  return currency.empty() ? fmt::format("{:.2f}", amount) : fmt::format("{:.2f} {}", amount, currency);
}

/// The same work at line rate would take (busbw / line rate) of the time, and of the bill.
std::string bill_by_terms(const SizeGap& priced, const Lab01Options& options, double bill,
                          const std::string& hours) {
  const auto& levels = priced.gap.levels;
  const auto cents = [&](const GapLevel& level) {
    return std::llround(100 * bill * level.bytes_per_second / levels.front().bytes_per_second);
  };
  const std::string currency = markdown_text(options.price.currency);
  const bool measured = options.prediction.empty();
  const std::string at = lab01_size(priced.size_bytes);
  std::string text = fmt::format(
      "\nIf {} were nothing but AllReduce of {}, the same work at line rate would cost {}; the rest "
      "is what "
      "the gap costs:\n\n| part of the bill | {} |\n| --- | ---: |\n",
      hours, priced.size == at ? at : fmt::format("{} (measured at {})", priced.size, at),
      money(static_cast<double>(cents(levels.back())) / 100, currency),
      currency.empty() ? "price" : currency);
  text += fmt::format("| {} at line rate | {} |\n", measured ? "the work done," : "the work expected,",
                      fixed_point(cents(levels.back()), kCents));
  for (std::size_t i = 1; i < levels.size(); ++i) {
    const auto lost = cents(levels[i - 1]) - cents(levels[i]);
    text += fmt::format("| {} | {}{} |\n", levels[i].term, lost < 0 ? "−" : "",
                        fixed_point(std::abs(lost), kCents));
  }
  return text + fmt::format("| **the bill** | **{}** |\n", fixed_point(cents(levels.front()), kCents));
}

}  // namespace

std::string lab01_price(const Run& run, const Lab01Options& options, const std::vector<SizeGap>& gaps) {
  std::string text = "\n## Price\n";
  if (!measures_gpus(run.backend)) return text + "No GPU was used.\n";
  const Lab01Price& asked = options.price;
  if (!asked.per_gpu_hour) {
    return text + "Not given: `--price` takes the price of one GPU for one hour, `--hours` for how long.\n";
  }
  const std::string currency = markdown_text(asked.currency);
  const double hour = *asked.per_gpu_hour * static_cast<double>(run.ranks.size());
  text += fmt::format("{} × {} = {} per hour", counted(run.ranks.size(), "GPU"),
                      money(*asked.per_gpu_hour, currency), money(hour, currency));
  const double hours = asked.hours.value_or(1);
  if (hours != 1) text += fmt::format("; {:g} hours: {}", hours, money(hours * hour, currency));
  constexpr double kHourSeconds = 3600;
  if (run.wall_seconds > 0) {
    text += fmt::format("; this run took {}: {}", format_seconds(run.wall_seconds),
                        money(hour * run.wall_seconds / kHourSeconds, currency));
  } else if (!asked.hours && options.prediction.empty()) {
    text += "; the log does not say how long the run took";
  }
  text += ".\n";
  if (gaps.empty()) return text;
  return text + bill_by_terms(gaps.back(), options, hours * hour,
                              hours == 1 ? "the hour" : fmt::format("the {:g} hours", hours));
}

}  // namespace collbench::analysis
