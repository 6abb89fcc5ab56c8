#pragma once
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "tools/burnin/attribution/burnin_record.hpp"
#include "tools/burnin/command/options.hpp"

// How long a burn-in takes: as planned, and by the first of its launches, since how long one takes to start
// nobody knows in advance.

namespace collbench::program {

/// A phase before it is measured, without retests.
struct PhasePlan {
  analysis::BurninPhase phase = analysis::BurninPhase::pairs;
  std::string text{};
  double seconds = 0;            ///< of measuring
  std::size_t rounds = 0;        ///< launches one after the other
  std::size_t launches = 0;      ///< in all: each is a launcher that starts
  bool doubles_on_gpus = false;  ///< ring and tree are forced there, too
};

/// What these options ask for, in the order in which it is measured.
[[nodiscard]] std::vector<PhasePlan> phase_plans(const BurninOptions& options);

/// Rounds, pairs and minutes of each phase: the seconds of measuring alone.
[[nodiscard]] std::string plan_of(const BurninOptions& options);

/// What of a plan is left while it is measured.
class Forecast {
 public:
  explicit Forecast(std::vector<PhasePlan> plans) : open_(std::move(plans)) {}

  /// The phases before it are over.
  void begin(analysis::BurninPhase phase);
  /// All phases are: what follows are retests.
  void end() { open_.clear(); }
  /// A round is over, whose longest launch that gave a result took `start_seconds` beside its measuring;
  /// below 0: none gave one.
  void add_round(double start_seconds);
  /// A look at the error counters of all hosts is over; there is one after each phase.
  void add_look(double seconds) { look_seconds_ = seconds; }
  /// Hosts have been seen to measure on GPUs.
  void on_gpus();

  [[nodiscard]] bool knows_start() const { return starts_ > 0; }
  [[nodiscard]] double start_seconds() const { return starts_ > 0 ? start_sum_ / starts_ : 0; }
  /// Until all that was planned is measured, with what launches take to start on average.
  [[nodiscard]] double seconds_left() const;
  /// "phase pairs, round 3 of 15"; beyond its plan "phase pairs, retest 2"; without one "phase pairs".
  [[nodiscard]] std::string where() const;

 private:
  std::vector<PhasePlan> open_;  ///< the phase that is measured first
  std::size_t rounds_done_ = 0;  ///< of that phase
  double start_sum_ = 0;         ///< seconds
  int starts_ = 0;
  double look_seconds_ = 0;
};

}  // namespace collbench::program
