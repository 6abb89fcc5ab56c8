#include "analysis/counters/counter_rises.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>

#include "base/host_name.hpp"
#include "base/units.hpp"

namespace collbench::analysis {
namespace {

/// Up to when a rise is only noted; both 0: any is beyond.
struct CounterLimit {
  std::string_view counter;  ///< the last words of its name
  double per_second = 0;
  double in_all = 0;
  std::string_view words;
  RiseGrade beyond = RiseGrade::degraded;
};

constexpr std::array<CounterLimit, 20> kCounterLimits{{
    {"link_downed", 0, 0, "any", RiseGrade::fatal},
    {"excessive_buffer_overrun_errors", 0, 0, "any", RiseGrade::fatal},
    {"local_link_integrity_errors", 0, 0, "any", RiseGrade::fatal},
    {"rnr_nak_retry_err", 0, 0, "any", RiseGrade::fatal},
    {"ecc_uncorrected", 0, 0, "any", RiseGrade::fatal},
    {"ue_count", 0, 0, "any", RiseGrade::fatal},
    {"Xid", 0, 0, "any", RiseGrade::fatal},
    {"aer_dev_fatal", 0, 0, "any", RiseGrade::fatal},
    {"Replay Errors", 0, 0, "any", RiseGrade::fatal},
    {"Recovery Errors", 0, 0, "any", RiseGrade::fatal},
    {"aer_dev_nonfatal", 0, 0, "any"},
    {"CRC Errors", 100, 0, "above 100 a second"},
    {"pcie_replays", 8.0 / 60, 0, "above 8 a minute"},
    {"symbol_error", 10, 0, "above 10 a second"},
    {"link_error_recovery", 5.0 / 60, 0, "above 5 a minute"},
    {"port_rcv_errors", 10, 0, "above 10 a second"},
    {"local_ack_timeout_err", 1, 0, "above 1 a second"},
    {"port_xmit_discards", 100, 0, "above 100 a second"},
    {"roce_slow_restart", 10, 0, "above 10 a second"},
    {"carrier_changes", 0, 2, "above 2"},
}};

/// "mlx5_0/1 symbol_error" and "GPU 0 NVLink 3 CRC Errors" end so.
const CounterLimit* limit_of(std::string_view counter) {
  const auto* const found = std::ranges::find_if(kCounterLimits, [counter](const CounterLimit& limit) {
    const std::size_t before = counter.size() - std::min(counter.size(), limit.counter.size());
    return counter.ends_with(limit.counter) && (before == 0 || counter[before - 1] == ' ');
  });
  return found == kCounterLimits.end() ? nullptr : found;
}

}  // namespace

std::string name(RiseGrade grade) {
  constexpr std::array<const char*, 3> kNames{"noted", "degraded", "fatal"};
  static_assert(kNames.size() == static_cast<std::size_t>(RiseGrade::fatal) + 1);
  return kNames.at(static_cast<std::size_t>(grade));
}

RiseGrade grade_of(const CounterRise& rise) {
  const CounterLimit* const limit = limit_of(rise.counter);
  if (limit == nullptr || rise.to <= rise.from) return RiseGrade::noted;
  if (rise.seconds < 0 && limit->per_second > 0) return RiseGrade::noted;
  const auto more = static_cast<double>(rise.to - rise.from);
  const bool beyond =
      limit->in_all > 0 ? more > limit->in_all : more > limit->per_second * std::max(rise.seconds, 1.0);
  return beyond ? limit->beyond : RiseGrade::noted;
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
  std::ranges::sort(rises, [](const CounterRise& a, const CounterRise& b) {
    return grade_of(a) != grade_of(b) ? grade_of(a) > grade_of(b) : a.counter < b.counter;
  });
  return rises;
}

CountersWithoutAnswer counters_without_answer(const topology::ErrorCounters& before,
                                              const topology::ErrorCounters& after) {
  CountersWithoutAnswer found;
  for (const auto& [counter, earlier] : before.counts) {
    const auto now = after.counts.find(counter);
    if (now == after.counts.end())
      found.gone.push_back(counter);
    else if (now->second < earlier)
      found.fell.push_back(fmt::format("{}, {} to {}", counter, earlier, now->second));
  }
  return found;
}

std::vector<std::string> counter_notes(const std::vector<std::string>& hosts,
                                       const std::vector<topology::ErrorCounters>& looks) {
  std::map<std::string, std::vector<std::string>> hosts_of_note;
  for (const std::string& host : hosts) {
    const auto look = std::ranges::find_if(
        looks, [&host](const topology::ErrorCounters& each) { return is_same_host(each.host, host); });
    if (look == looks.end()) continue;
    for (const std::string& note : look->notes) hosts_of_note[note].push_back(host);
  }
  std::vector<std::string> notes;
  for (const auto& [note, of] : hosts_of_note) {
    notes.push_back(of.size() == hosts.size() ? fmt::format("all hosts: {}", note)
                                              : fmt::format("{}: {}", fmt::join(of, ", "), note));
  }
  return notes;
}

std::string rise_words(const CounterRise& rise) {
  const CounterLimit* const limit = limit_of(rise.counter);
  return fmt::format(
      "{} {}: {} to {} within {}{}", rise.host, rise.counter, rise.from, rise.to,
      rise.seconds < 0 ? "an unknown time" : format_seconds(rise.seconds),
      limit == nullptr ? "" : fmt::format(", {} ({} is too many)", name(grade_of(rise)), limit->words));
}

}  // namespace collbench::analysis
