#pragma once
#include <cstddef>
#include <ctime>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/record/identities.hpp"
#include "base/record/run.hpp"
#include "base/record/telemetry.hpp"
#include "collectives/nccl/gpu_choice.hpp"
#include "launch/rank_use.hpp"
#include "launch/ranks.hpp"
#include "launch/real_machine.hpp"
#include "launch/session.hpp"
#include "src/run/context.hpp"
#include "src/run/make_backend.hpp"
#include "src/run/run_end.hpp"
#include "topology/telemetry/error_counters.hpp"
#include "topology/telemetry/telemetry_watch.hpp"

namespace collbench::program {

/// NVML, named by COLLBENCH_NVML or where the driver puts it; nvidia-smi, a process beside what is timed,
/// where that does not work.
[[nodiscard]] topology::GpuReaders gpu_readers();

/// The telemetry of the GPUs that ranks use, from all hosts.
struct GatheredTelemetry {
  Telemetry telemetry;
  std::map<std::size_t, std::vector<RowMark>> marks;  ///< by row
};

/// Puts the logs of all hosts together, on rank 0; empty on the others. Collective. `log` is null where a
/// rank is not the first of its host. `gpus` are those of the ranks, by rank.
[[nodiscard]] GatheredTelemetry gather_telemetry(launch::Ranks& ranks, const Identities& machines,
                                                 const std::vector<collectives::VisibleGpu>& gpus,
                                                 const topology::TelemetryLog* log);

/// What the kernel of this host counts of errors (topology::read_error_counters), on its first rank; nothing
/// elsewhere, and in simulated time.
[[nodiscard]] topology::ErrorCounters view_error_counters(const Identity& mine, const Clock& clock);

/// What of a host's counters stands in a report.
struct CounterNotes {
  std::vector<std::string> network;  ///< of NICs: their ports, and each lost carrier
  std::vector<std::string> machine;  ///< of PCIe and memory
  std::vector<ErrorCount> counts;    ///< all that are not zero
};

/// Of all hosts what their counters say, and what went up between two looks at them faster than operators
/// accept, and each lost carrier: on rank 0. Collective.
[[nodiscard]] CounterNotes gather_counter_rises(launch::Ranks& ranks, const topology::ErrorCounters& before,
                                                const topology::ErrorCounters& now);

/// The GPUs' clocks, throttling and errors while a run measures. Does nothing on host memory, and with
/// --no-telemetry.
class RunTelemetry {
 public:
  /// `context` and `gpus` outlive it.
  RunTelemetry(const RunContext& context, const RunGpus& gpus, bool wanted)
      : context_(context), gpus_(gpus), wanted_(wanted && !gpus.by_rank.empty()) {}

  /// Begins, on the first rank of each host.
  void begin(const launch::Ranks& ranks);
  /// The row that runs from now on, behind the last of them the one that is sustained; none between rows.
  void running(std::optional<std::size_t> row);
  /// Ends, and writes all readings into the record: on rank 0. Collective.
  void end(launch::Ranks& ranks, Run& run);
  /// Marks the rows of the record, once it is known which.
  void mark_rows(Run& run) const;

 private:
  const RunContext& context_;
  const RunGpus& gpus_;
  bool wanted_;
  std::optional<topology::TelemetryWatch> watch_;
  std::map<std::size_t, std::vector<RowMark>> marks_;  // by row
};

/// What is looked at before the measurement, and again behind it.
struct MachineLook {
  launch::CpuTimes cpu = launch::view_cpu_times();
  std::time_t time_of_day = std::time(nullptr);
  double suspended = suspended_seconds();
  RankUse use = launch::view_rank_use();
  double seconds = 0;  ///< by the session's clock
  topology::ErrorCounters counters;
};

[[nodiscard]] MachineLook look_at_machine(const launch::Session& session, const RunContext& context);

/// Notes what others took of the machine, lost packets and errors since `before`, and its counters of errors;
/// with `says_rank_use` also on stderr what each rank was given. Collective.
void note_changes(const launch::Session& session, const RunContext& context, bool says_rank_use,
                  const MachineLook& before, Run& run);

}  // namespace collbench::program
