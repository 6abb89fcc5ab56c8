#pragma once
#include <functional>
#include <vector>

#include "tools/burnin/attribution/burnin_record.hpp"
#include "tools/burnin/attribution/pair_outcome.hpp"
#include "tools/burnin/attribution/pairs/pair_schedule.hpp"

// The phase "pairs" of a burn-in, without what measures it: launches of mpirun, or a simulator.

namespace collbench::analysis {

/// Pairs that are measured at the same time; no node is in two of them.
struct PairBatch {
  std::vector<PairOnRail> pairs;
  bool alone = false;  ///< one pair, and nothing beside it
  int repeat = 0;      ///< as RailTime's
};

/// Measures a batch, and adds its times, or why there are none, to the record (add_outcome). False: it was
/// left out for want of time.
using MeasureBatch = std::function<bool(const PairBatch&)>;

/// Both directions of a pair of a batch, or why there are none.
void add_outcome(BurninRecord& record, const PairBatch& batch, const PairOnRail& pair,
                 const PairOutcome& outcome);

struct PairPhaseOptions {
  int at_once = 128;  ///< pairs of a batch
  PairScheduleOptions schedule{};
  std::size_t few_retests =
      24;  ///< beyond so many, what stands out is repeated in batches before anybody is alone
};

/// Measures pairs until each finding is confirmed or nobody's: the rounds (less what the record has of an
/// earlier run), failures once more, alone; what stands out again in batches, as long as that at least halves
/// it; then, alone, whoever is still suspected; and, where nothing was repeated in batches, what may come and
/// go (repeats_of).
void measure_pairs(BurninRecord& record, const PairPhaseOptions& options, const MeasureBatch& measure);

}  // namespace collbench::analysis
