#include "analysis/report/sections.hpp"

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <vector>

#include "analysis/models/alpha_beta_fit.hpp"
#include "base/error.hpp"
#include "base/units.hpp"

namespace collbench::analysis {
namespace {

constexpr std::size_t kMinSizes = 4;

std::optional<AlphaBetaFit> fit_of(const SizeSeries& series) {
  std::vector<TimePoint> points;
  for (const Row* row : series) {
    points.push_back({static_cast<double>(row->measurement.key.size_bytes), row->measurement.seconds});
  }
  if (points.size() < kMinSizes) return std::nullopt;
  try {
    return fit_alpha_beta(points);
  } catch (const Error&) {
    return std::nullopt;  // times that do not grow with the size: noise, and no line
  }
}

const RowKey& key(const SizeSeries& series) { return series.front()->measurement.key; }

std::string name_of(const SizeSeries& series) {
  std::string text(operation(key(series).operation).name);
  if (key(series).algorithm != kLibraryChoice) text += " " + key(series).algorithm;
  return text + fmt::format(" {}{}", traits(key(series).type).name, key(series).in_place ? " in place" : "");
}

std::string in_gigabytes(double bytes_per_second) {
  return std::isfinite(bytes_per_second) ? format_significant(bytes_per_second / kGigabyte, 3, 8) : "∞";
}

std::string format_crossing(double bytes) {
  return format_bytes(static_cast<std::uint64_t>(std::llround(bytes)));
}

/// Where the sizes bound the rate from below only ("1.37 to ∞"), the fit says nothing of it.
bool determines_rate(const AlphaBetaFit& fit) {
  return std::isfinite(fit.bytes_per_second) &&
         (!fit.rate_interval || std::isfinite(fit.rate_interval->high));
}

std::string fit_line(const SizeSeries& series, const AlphaBetaFit& fit) {
  if (!determines_rate(fit))
    return fmt::format("fit of {}: none, the measured times do not bound the rate", name_of(series));
  std::string text = fmt::format("fit of {}: α {}", name_of(series), format_seconds(fit.alpha_seconds));
  if (fit.alpha_interval) {
    text += fmt::format(" ({} to {})", format_seconds(fit.alpha_interval->low),
                        format_seconds(fit.alpha_interval->high));
  }
  text += fmt::format(", algbw {} GB/s", in_gigabytes(fit.bytes_per_second));
  if (fit.rate_interval) {
    text += fmt::format(" ({} to {})", in_gigabytes(fit.rate_interval->low),
                        in_gigabytes(fit.rate_interval->high));
  }
  return text + fmt::format(", n½ {}, R² {:.3f}, {} sizes, largest error {:.0f} %",
                            format_crossing(fit.half_rate_bytes()), fit.r_squared, series.size(),
                            100 * fit.max_relative_error);
}

bool same_but_algorithm(const RowKey& a, const RowKey& b) {
  return a.operation == b.operation && a.type == b.type && a.reduction == b.reduction &&
         a.in_place == b.in_place && a.algorithm != b.algorithm;
}

std::string between(const std::optional<CrossingSizes>& sizes) {
  if (!sizes) return "outside these sizes";
  return fmt::format("between {} and {}", format_bytes(sizes->below), format_bytes(sizes->above));
}

void add_crossing(const SizeSeries& earlier, const SizeSeries& later, const std::optional<double>& by_fits,
                  ReportLines& facts) {
  const auto seen = crossing_of(earlier, later, false);
  const auto predicted = crossing_of(earlier, later, true);
  if (!seen && !predicted && !by_fits) return;
  add(facts, "{} {} overtakes {}: predicted {}; measured {}; crossover of the fits: {}",
      operation(key(later).operation).name, key(later).algorithm, key(earlier).algorithm, between(predicted),
      between(seen), by_fits ? format_crossing(*by_fits) : "none");
}

}  // namespace

std::optional<CrossingSizes> crossing_of(const SizeSeries& earlier, const SizeSeries& later, bool predicted) {
  const auto seconds = [predicted](const Row& row) {
    return predicted ? row.expectation.expected_seconds : std::optional(row.measurement.seconds);
  };
  std::optional<CrossingSizes> crossing;
  std::optional<std::uint64_t> last_slower;
  for (const Row* a : earlier) {
    for (const Row* b : later) {
      const std::uint64_t size = a->measurement.key.size_bytes;
      if (size != b->measurement.key.size_bytes || !seconds(*a) || !seconds(*b)) continue;
      if (*seconds(*b) >= *seconds(*a)) {
        last_slower = size;
        crossing.reset();
      } else if (last_slower && !crossing) {
        crossing = CrossingSizes{*last_slower, size};
      }
    }
  }
  return crossing;
}

ReportLines fit_lines(const Run& run) {
  ReportLines facts;
  const std::vector<SizeSeries> all_series = judged_series_of(run.rows);
  std::vector<std::optional<AlphaBetaFit>> fits;
  for (const SizeSeries& series : all_series) {
    fits.push_back(fit_of(series));
    if (fits.back()) facts.push_back({fit_line(series, *fits.back())});
  }
  for (std::size_t a = 0; a < all_series.size(); ++a) {
    for (std::size_t b = 0; b < all_series.size(); ++b) {
      if (!fits[a] || !fits[b] || !same_but_algorithm(key(all_series[a]), key(all_series[b]))) continue;
      // The one with the smaller α comes first; each pair is met in both orders.
      if (fits[a]->alpha_seconds >= fits[b]->alpha_seconds) continue;
      add_crossing(all_series[a], all_series[b], crossover_bytes(*fits[a], *fits[b]), facts);
    }
  }
  return facts;
}

}  // namespace collbench::analysis
