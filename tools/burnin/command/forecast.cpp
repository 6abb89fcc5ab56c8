#include "tools/burnin/command/forecast.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace collbench::program {

void Forecast::begin(analysis::BurninPhase phase) {
  open_.erase(open_.begin(), std::ranges::find(open_, phase, &PhasePlan::phase));
  rounds_done_ = 0;
}

void Forecast::add_round(double start_seconds) {
  rounds_done_ += 1;
  if (start_seconds < 0) return;
  start_sum_ += start_seconds;
  starts_ += 1;
}

void Forecast::on_gpus() {
  for (PhasePlan& plan : open_)
    if (std::exchange(plan.doubles_on_gpus, false)) plan.seconds *= 2;
}

double Forecast::seconds_left() const {
  double seconds = 0;
  std::size_t done = rounds_done_;
  for (const PhasePlan& plan : open_) {
    const std::size_t left = plan.rounds - std::min(plan.rounds, std::exchange(done, 0));
    if (left > 0)
      seconds +=
          static_cast<double>(left) * (plan.seconds / static_cast<double>(plan.rounds) + start_seconds());
    seconds += look_seconds_;
  }
  return seconds;
}

std::string Forecast::where() const {
  if (open_.empty()) return "retests";
  const PhasePlan& plan = open_.front();
  const std::string phase = stage(plan.phase);
  if (plan.rounds == 0) return phase;
  return rounds_done_ < plan.rounds ? fmt::format("{}, round {} of {}", phase, rounds_done_ + 1, plan.rounds)
                                    : fmt::format("{}, retest {}", phase, rounds_done_ - plan.rounds + 1);
}

}  // namespace collbench::program
