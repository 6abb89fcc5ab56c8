#include "analysis/attribution/counter_rises.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/units.hpp"

namespace collbench::analysis {
namespace {

/// Up to when a rise is only noted; both 0: any is fatal.
struct CounterLimit {
  std::string_view counter;
  double per_second = 0;
  double in_all = 0;
  std::string_view words;
};

constexpr std::array<CounterLimit, 15> kCounterLimits{{
    {"link_downed", 0, 0, "any"},
    {"excessive_buffer_overrun_errors", 0, 0, "any"},
    {"local_link_integrity_errors", 0, 0, "any"},
    {"rnr_nak_retry_err", 0, 0, "any"},
    {"ecc_uncorrected", 0, 0, "any"},
    {"ue_count", 0, 0, "any"},
    {"Xid", 0, 0, "any"},
    {"aer_dev_fatal", 0, 0, "any"},  // by its name in the PCIe specification: the link is not reliable
    {"symbol_error", 10, 0, "above 10 a second"},
    {"link_error_recovery", 5.0 / 60, 0, "above 5 a minute"},
    {"port_rcv_errors", 10, 0, "above 10 a second"},
    {"local_ack_timeout_err", 1, 0, "above 1 a second"},
    {"port_xmit_discards", 100, 0, "above 100 a second"},
    {"roce_slow_restart", 10, 0, "above 10 a second"},
    {"carrier_changes", 0, 2, "above 2"},
}};

/// Of "mlx5_0/1 symbol_error" the last word.
const CounterLimit* limit_of(std::string_view counter) {
  const std::string_view last = counter.substr(counter.rfind(' ') + 1);
  const auto* const found = std::find_if(kCounterLimits.begin(), kCounterLimits.end(),
                                         [last](const CounterLimit& limit) { return limit.counter == last; });
  return found == kCounterLimits.end() ? nullptr : found;
}

}  // namespace

std::string name(RiseGrade grade) {
  switch (grade) {
    case RiseGrade::noted:
      return "noted";
    case RiseGrade::degraded:
      return "degraded";
    case RiseGrade::fatal:
      return "fatal";
  }
  return {};
}

RiseGrade grade_of(const CounterRise& rise) {
  const CounterLimit* const limit = limit_of(rise.counter);
  if (limit == nullptr || rise.to <= rise.from) return RiseGrade::noted;
  if (limit->per_second <= 0 && limit->in_all <= 0) return RiseGrade::fatal;
  const auto more = static_cast<double>(rise.to - rise.from);
  const bool beyond =
      limit->in_all > 0 ? more > limit->in_all : more > limit->per_second * std::max(rise.seconds, 1.0);
  return beyond ? RiseGrade::degraded : RiseGrade::noted;
}

std::string limit_words(std::string_view counter) {
  const CounterLimit* const limit = limit_of(counter);
  return limit == nullptr ? std::string() : std::string(limit->words);
}

std::vector<CounterRise> counter_rises(const topology::ErrorCounters& before,
                                       const topology::ErrorCounters& after, const std::string& phase) {
  std::vector<CounterRise> rises;
  for (const auto& [counter, count] : after.counts) {
    const auto earlier = before.counts.find(counter);
    if (earlier == before.counts.end() || count <= earlier->second) continue;
    rises.push_back(
        {phase, after.host, counter, earlier->second, count, after.unix_seconds - before.unix_seconds});
  }
  std::sort(rises.begin(), rises.end(), [](const CounterRise& a, const CounterRise& b) {
    return grade_of(a) != grade_of(b) ? grade_of(a) > grade_of(b) : a.counter < b.counter;
  });
  return rises;
}

std::string rise_words(const CounterRise& rise) {
  const std::string limit = limit_words(rise.counter);
  return fmt::format(
      "{} {}: {} to {} within {}{}", rise.host, rise.counter, rise.from, rise.to,
      format_seconds(rise.seconds),
      limit.empty() ? std::string() : fmt::format(", {} ({} is too many)", name(grade_of(rise)), limit));
}

}  // namespace collbench::analysis
