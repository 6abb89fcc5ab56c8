// look_at_init_timings() of look.hpp.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/record/nccl_selection.hpp"
#include "topology/doctor/log_line.hpp"
#include "topology/doctor/look.hpp"

namespace collbench::topology {
namespace {

/// Half of the ranks are needed to say what is usual.
constexpr std::size_t kMinRanks = 3;
/// Less is no loss to a job.
constexpr double kMinLateSeconds = 2;
constexpr double kMinRatio = 3;

/// "Init timings - ncclCommInitRank: rank 1 nranks 2 total 1.43 (kernels 0.18, alloc 1.18, …)", of one
/// communicator by rank.
using Timings = std::map<int, const EvidenceLine*>;

std::vector<Timings> communicators(const std::vector<EvidenceLine>& log) {
  std::vector<Timings> all;
  std::map<double, std::size_t> newest;  // by number of ranks
  for (const EvidenceLine& line : log) {
    if (!has_text(line.text, "Init timings")) continue;
    const auto rank = number_behind(line.text, ": rank ");
    const auto ranks = number_behind(line.text, " nranks ");
    if (!rank || !ranks) continue;
    const auto known = newest.find(*ranks);
    // A rank that comes again is of the next communicator.
    if (known == newest.end() || all[known->second].contains(static_cast<int>(*rank))) {
      newest[*ranks] = all.size();
      all.emplace_back();
    }
    all[newest[*ranks]].emplace(static_cast<int>(*rank), &line);
  }
  return all;
}

void add_slow_ranks(const Timings& timings, std::string_view step, std::vector<DoctorObservation>& found) {
  std::vector<double> all;
  for (const auto& [rank, line] : timings)
    if (const auto seconds = number_behind(line->text, fmt::format("{} ", step))) all.push_back(*seconds);
  if (all.size() < kMinRanks) return;
  const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
  std::nth_element(all.begin(), middle, all.end());
  const double usual = *middle;
  for (const auto& [rank, line] : timings) {
    const double seconds = number_behind(line->text, fmt::format("{} ", step)).value_or(0);
    if (seconds - usual < kMinLateSeconds || seconds < kMinRatio * usual) continue;
    const std::string_view process = log_line(line->text).process();
    found.push_back(
        {fmt::format("rank {}{}: {} {:.2f} s, half of {} ranks at most {:.2f} s", rank,
                     process.empty() ? "" : fmt::format(" ({})", process), step, seconds, all.size(), usual),
         line->location});
  }
}

}  // namespace

DoctorVerdict look_at_init_timings(const Evidence& evidence) {
  const std::vector<Timings> all = communicators(evidence.of("nccl-log"));
  std::vector<DoctorObservation> found;
  bool seen = false;
  for (const Timings& timings : all) {
    seen = seen || timings.size() >= kMinRanks;
    for (const std::string_view step : kNcclStepsAlone) add_slow_ranks(timings, step, found);
  }
  return found_where(seen, found);
}

}  // namespace collbench::topology
