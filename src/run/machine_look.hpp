#pragma once
#include <ctime>

#include "base/record/run.hpp"
#include "launch/rank_use.hpp"
#include "launch/real_machine.hpp"
#include "launch/session.hpp"
#include "src/run/context.hpp"
#include "src/run/run_end.hpp"
#include "topology/telemetry/error_counters.hpp"

namespace collbench::program {

/// What is looked at before the measurement, and again behind it.
struct MachineLook {
  launch::CpuTimes cpu = launch::view_cpu_times();
  std::time_t time_of_day = std::time(nullptr);
  double suspended = suspended_seconds();
  RankUse use = launch::view_rank_use();
  double seconds;  ///< by the session's clock
  topology::ErrorCounters counters;
};

[[nodiscard]] MachineLook look_at_machine(const launch::Session& session, const RunContext& context);

/// Notes what others took of the machine, lost packets and errors since `before`, and its counters of errors;
/// with `says_rank_use` also on stderr what each rank was given. Collective.
void note_changes(const launch::Session& session, const RunContext& context, bool says_rank_use,
                  const MachineLook& before, Run& run);

}  // namespace collbench::program
