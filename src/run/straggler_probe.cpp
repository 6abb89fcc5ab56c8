#include "src/run/straggler_probe.hpp"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "analysis/stragglers/straggler_analysis.hpp"

namespace collbench::program {
namespace {

constexpr double kShare = 0.05;      // of the time since the beginning
constexpr std::size_t kEnough = 14;  // repetitions: two halves of a coin in a row so often are one in 16,000
constexpr double kMinSeconds = 2;    // that short runs may spend on them

}  // namespace

StragglerProbe::StragglerProbe(launch::Ranks& ranks, const Clock& clock, const Identities& identities,
                               double seconds, bool links)
    : ranks_(ranks),
      clock_(clock),
      identities_(identities),
      prober_(ranks, clock, identities, links),
      start_(clock.seconds()),
      max_seconds_(std::max(kMinSeconds, kShare * seconds)) {}

void StragglerProbe::between_passes() {
  if (launch::broadcast_value(ranks_, taken_seconds_ <= kShare * (clock_.seconds() - start_))) repeat_probe();
}

RankProbe StragglerProbe::finish() {
  while (launch::broadcast_value(ranks_, repetitions_.size() < kEnough && taken_seconds_ < max_seconds_)) {
    // Probes in a row would all see the same passing disturbance.
    std::this_thread::sleep_for(std::chrono::milliseconds(15));
    repeat_probe();
  }
  if (!ranks_.is_root()) return {};
  RankProbe probe = analysis::straggler_findings(repetitions_, identities_);
  probe.seconds = taken_seconds_;
  return probe;
}

void StragglerProbe::repeat_probe() {
  const double before = clock_.seconds();
  ProbeRepetition repetition = prober_.repeat();
  if (ranks_.is_root()) repetitions_.push_back(std::move(repetition));
  taken_seconds_ += clock_.seconds() - before;
}

}  // namespace collbench::program
