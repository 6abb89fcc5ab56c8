#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/record/process_shape.hpp"
#include "collectives/engine/backend.hpp"
#include "collectives/engine/measurement_loop.hpp"
#include "collectives/engine/plan.hpp"
#include "collectives/nccl/nccl_config.hpp"
#include "launch/rendezvous.hpp"
#include "src/cli/config_file.hpp"
#include "src/cli/criteria_options.hpp"
#include "src/cli/options.hpp"
#include "src/cli/output.hpp"

namespace collbench::program {

/// The sizes as typed; the upper end of the default depends on the machine.
struct SizeOptions {
  std::uint64_t first = 8;            ///< -b
  std::optional<std::uint64_t> last;  ///< -e
  double factor = 4;                  ///< -f
  std::optional<std::uint64_t> step;  ///< -i
  std::vector<std::uint64_t> list;    ///< --sizes; replaces the four above
  bool fit = false;                   ///< --fit: the largest are left out where they do not fit
};

/// --calibration: neither a file nor a calibration.
inline constexpr std::string_view kNoCalibration = "none";

/// The command line of a run, read and checked as far as one process can.
struct RunOptions {
  collectives::PlanRequest request;  ///< without its sizes
  SizeOptions sizes;
  std::string counts_path;  ///< --counts; empty: by distance
  collectives::MeasurementLoopOptions loop;
  int step_matrix = 512;          ///< --step-matrix: the n of a Step's product on host memory
  std::optional<double> seconds;  ///< --time: calibration and measurement together; none: run_seconds
  /// --backend: MPI on host memory, or NCCL on that of GPUs; none: by what the hosts have.
  std::optional<collectives::MemoryKind> memory;
  std::vector<std::string> protocols;                             ///< --proto; empty: left to NCCL
  std::vector<int> ctas;                                          ///< --ctas; empty: left to NCCL
  bool share_gpu = false;                                         ///< ranks may share a GPU
  int graph_launches = 0;                                         ///< -G; 0: no CUDA graphs
  collectives::NcclConfigValues nccl_config;                      ///< --nccl-config, -x
  collectives::CallWait call_wait = collectives::CallWait::none;  ///< -z
  bool hot = false;              ///< --hot: timed calls repeat on the same addresses of a GPU
  bool memory_use = false;       ///< -M: what takes the GPUs' memory
  bool telemetry = true;         ///< --no-telemetry: false
  bool nodes_alone = true;       ///< --no-nodes-alone: false
  bool stress = true;            ///< --no-stress: false
  bool rank_use = false;         ///< --rank-use: said on stderr (base/rank_use.hpp)
  std::string calibration_path;  ///< --calibration: of an earlier run; empty: this run calibrates,
                                 ///< kNoCalibration: nobody does
  /// -R: how the buffers are registered with NCCL.
  BufferRegistration registration = BufferRegistration::none;
  std::string node_map;
  std::string expect;  ///< --expect: the machine that every node should be; empty: none
  OutputOptions output;
  std::vector<OutputDocument> documents;  ///< what `output` asks for
  std::string stream_path;                ///< --stream, or --resume; empty: none
  bool resume = false;                    ///< the stream is there, and is continued
  std::string samples_path;
  ConfigFile config;
  CriteriaOptions criteria;
  std::string label;
  bool percentiles = false;
  When color = When::automatic;
  When progress = When::automatic;
  Lab01Request lab01;
  bool dry_run = false;
  bool verbose = false;
  bool quiet = false;               ///< tables, warnings and faults only
  double timeout_seconds = 300;     ///< of one step; 0: none
  bool blocks_have_timeout = true;  ///< a block of a row on GPUs is such a step; not with -n alone
  int local_ranks = 0;              ///< -g: processes to start here; 0: not given
  ProcessShape process;             ///< --gpus-per-process, --threads
  std::vector<std::string> command_line;
  std::map<std::string, std::string> environment;  ///< what may be recorded of it, before we add to it
  bool is_soak = false;                            ///< --soak, which sets passes and seconds
  bool launched = false;                           ///< by a launcher; found out before MPI_Init
  launch::GivenRendezvous given_rendezvous;
  std::optional<launch::Rendezvous> rendezvous;  ///< where the ranks meet without MPI
  std::optional<int> launched_ranks;             ///< as many, where the launcher says

  /// -N 0: until it is interrupted, or --time is over.
  [[nodiscard]] bool is_endless() const {
    return std::holds_alternative<collectives::Endless>(loop.stopping.passes);
  }
  /// -N 0: an interrupt is its end, and cuts nothing short; but of --soak, which was to last.
  [[nodiscard]] bool ends_by_interrupt() const { return is_endless() && !is_soak; }
};

/// Adds the options of a run; parsing fills `run`, which must outlive `app`.
void add_run_options(CLI::App& app, RunOptions& run);

/// What follows from several options together, once all are parsed. Throws Error (usage).
void complete_run_options(const CLI::App& app, RunOptions& run);

/// What several GPUs in a process mean for the times, in a sentence; empty for one.
[[nodiscard]] std::string process_note(const ProcessShape& process);

/// Without --time, on GPUs.
inline constexpr double kGpuSeconds = 120;

/// Of each load that --accept adds.
inline constexpr double kMaxStressSeconds = 120;

/// --time, or the default: on host memory a first look ends after a minute.
[[nodiscard]] double run_seconds(const RunOptions& run, collectives::MemoryKind memory);

/// How long --accept loads each GPU alone before the rows, and how long it repeats the worst of them after
/// them; none: not asked for, host memory, or a run whose end is an interrupt.
[[nodiscard]] std::optional<double> stress_seconds(const RunOptions& run, collectives::MemoryKind memory);

/// The sizes of the run, given the default upper end. Throws Error (usage) when first is above last.
[[nodiscard]] std::vector<std::uint64_t> sizes_bytes(const SizeOptions& sizes, std::uint64_t default_last);

}  // namespace collbench::program
