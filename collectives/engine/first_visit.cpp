#include "collectives/engine/first_visit.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/units.hpp"

namespace collbench::collectives {

FirstVisit expected_visit(std::span<const FirstVisit> smaller, std::uint64_t size_bytes) {
  FirstVisit expected{.size_bytes = size_bytes};
  if (smaller.empty()) return expected;
  const FirstVisit& last = smaller.back();
  const FirstVisit& before = smaller[smaller.size() - std::min<std::size_t>(2, smaller.size())];
  const auto apart = static_cast<double>(last.size_bytes - before.size_bytes);
  const double further = apart > 0 ? static_cast<double>(size_bytes - last.size_bytes) / apart : 0;
  const auto extended = [further](double from, double to) { return to + further * std::max(0.0, to - from); };
  expected.call_seconds = extended(before.call_seconds, last.call_seconds);
  expected.check_seconds = extended(before.check_seconds, last.check_seconds);
  return expected;
}

bool is_left_out(double needed, double left, double run_seconds) {
  constexpr double kShortShare = 0.05;
  constexpr double kShortSeconds = 1;
  return needed > left && needed > std::max(kShortSeconds, kShortShare * run_seconds);
}

std::string left_out_reason(std::uint64_t size_bytes, double needed, double left) {
  return fmt::format("{} left out: it takes about {}, and {} of the run's time was left",
                     format_bytes(size_bytes), format_seconds(needed),
                     left > 0 ? format_seconds(left) : "nothing");
}

}  // namespace collbench::collectives
