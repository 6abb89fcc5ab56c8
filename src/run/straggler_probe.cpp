#include "src/run/straggler_probe.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>
#include <utility>

#include "analysis/stragglers/straggler_analysis.hpp"
#include "collectives/mpi/mpi_library.hpp"

namespace collbench::program {
namespace {

constexpr double kShare = 0.05;    // of the time since the beginning, where nothing presses
constexpr double kMaxShare = 0.5;  // of it, that probes over a slow link may take to become enough
constexpr double kMinSeconds = 2;  // that short runs may spend on them

}  // namespace

StragglerProbe::StragglerProbe(launch::Ranks& ranks, const Clock& clock, const Identities& identities,
                               double seconds, bool links, launch::CallCounter& exchanges)
    : ranks_(ranks),
      clock_(clock),
      identities_(identities),
      probe_(collectives::mpi_library().functions->make_rank_prober(ranks, clock, identities, links)),
      start_(clock.seconds()),
      seconds_(seconds),
      needed_(std::max(analysis::kProbesToClear,
                       links ? analysis::probes_to_clear_links(node_count(identities)) : 0)),
      exchanges_(exchanges) {}

/// On rank 0: fewer than the share of the time that has passed, and room for more.
bool StragglerProbe::is_behind() const {
  const double passed = clock_.seconds() - start_;
  const double pace = needed_ * std::min(1.0, passed / seconds_);
  return static_cast<double>(repetitions_.size()) < std::floor(pace) && taken_seconds_ < kMaxShare * passed;
}

void StragglerProbe::between_passes() {
  if (launch::broadcast_value(ranks_, taken_seconds_ <= kShare * (clock_.seconds() - start_))) repeat_probe();
  while (launch::broadcast_value(ranks_, is_behind())) repeat_probe_after_a_while();
}

RankProbe StragglerProbe::finish() {
  const auto go_on = [this] {
    const bool in_time = clock_.seconds() - start_ < seconds_ || taken_seconds_ < kMinSeconds;
    return static_cast<int>(repetitions_.size()) < needed_ && in_time;
  };
  while (launch::broadcast_value(ranks_, go_on())) repeat_probe_after_a_while();
  if (!ranks_.is_root()) return {};
  RankProbe probe = analysis::straggler_findings(repetitions_, identities_);
  probe.seconds = taken_seconds_;
  return probe;
}

/// Probes in a row would all see the same passing disturbance.
void StragglerProbe::repeat_probe_after_a_while() {
  std::this_thread::sleep_for(std::chrono::milliseconds(15));
  repeat_probe();
}

void StragglerProbe::repeat_probe() {
  const launch::CountedCall waiting(exchanges_);
  const double before = clock_.seconds();
  ProbeRepetition repetition = probe_();
  if (ranks_.is_root()) repetitions_.push_back(std::move(repetition));
  taken_seconds_ += clock_.seconds() - before;
}

std::string straggler_probe_obstacle(bool has_mpi, bool share_a_gpu, bool share_cores) {
  if (!has_mpi) return "the messages of the probe are MPI's, which does not connect these ranks";
  if (share_a_gpu) return "ranks share a GPU, so only correctness is checked";
  if (share_cores) return "ranks share cores, so one straggler delays the others";
  return {};
}

}  // namespace collbench::program
