#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_reader.hpp"
#include "base/record/calibration.hpp"
#include "base/record/cluster.hpp"
#include "base/record/identities.hpp"
#include "base/record/incident.hpp"
#include "base/record/json_fields.hpp"
#include "base/record/log_facts.hpp"
#include "base/record/measurement.hpp"
#include "base/record/nccl_selection.hpp"
#include "base/record/probe.hpp"
#include "base/record/process_shape.hpp"
#include "base/record/states.hpp"
#include "base/record/straggler_probe.hpp"
#include "base/record/telemetry.hpp"
#include "base/record/traffic_matrix.hpp"
#include "base/record/yardstick.hpp"

namespace collbench {

/// The version of the record; docs/run.schema.json describes it.
inline constexpr int kRunSchemaVersion = 2;

struct Row {
  Measurement measurement;
  Expectation expectation;
  Verdict verdict{};
  std::optional<StepVerdict> step{};  ///< of a Step: who makes the others wait

  bool operator==(const Row&) const = default;
};

/// A row that the ranks of one node, or of two neighbors, measured among themselves, while other nodes did
/// the same.
struct NodeGroup {
  std::vector<std::string> hosts;  ///< one or two
  int ranks = 0;
  Row row;

  bool operator==(const NodeGroup&) const = default;
};

/// "n1 alone", "n1 with n2"
[[nodiscard]] std::string name(const NodeGroup& group);

/// Programs and libraries of a run.
struct Versions {
  std::string collbench;
  std::string mpi;  ///< the library's own words, first line
  std::string hwloc;
  std::string nccl;  ///< empty when not used
  std::string cuda;  ///< empty when not used

  bool operator==(const Versions&) const = default;
};

struct Buffers {
  /// The call that allocated them: "cudaMalloc" or "ncclMemAlloc"; empty: host memory, or not known.
  std::string allocator;
  /// With NCCL; none: an imported log that does not say.
  std::optional<BufferRegistration> registration = BufferRegistration::none;
  /// A rank's part may be any number of elements, not of 16 bytes; none: an imported log.
  std::optional<bool> exact_counts = false;
  std::uint64_t unaligned_elements = 0;  ///< by which they begin late
  /// Of each, through which timed calls walk, so that data are not in the GPU's L2; 0: they repeat on the
  /// same addresses, as on host memory. None: an imported log that does not say.
  std::optional<std::uint64_t> walk_bytes = 0;
  int kept_passes = 0;  ///< of the last launch: with buffers and communicators of the pass before

  bool operator==(const Buffers&) const = default;
};

/// GPU memory that was taken: of each, on the rank where it was most. Below 0: more was given back.
struct GpuMemory {
  std::int64_t init_bytes = 0;        ///< by NCCL and its communicators
  std::int64_t buffer_bytes = 0;      ///< by the operations' buffers, and to register them
  std::int64_t collective_bytes = 0;  ///< by calls, which NCCL may set up when they are made first

  bool operator==(const GpuMemory&) const = default;
};

/// The record that is saved; report, compare and plots read nothing else.
struct Run {
  int schema_version = kRunSchemaVersion;
  Versions versions;
  std::string started;               ///< UTC, ISO 8601
  std::string finished;              ///< UTC, ISO 8601; of the last write
  bool complete = false;             ///< false: the run was cut short, or is still going
  std::optional<Incident> incident;  ///< what cut the run short, where somebody could still tell
  std::vector<RankPause> pauses;     ///< ranks that were stopped, and went on
  std::vector<std::string> command_line;
  std::map<std::string, std::string> environment;  ///< the allow-listed variables of rank 0
  std::string config_file;                         ///< options were read from it too; empty: none
  std::string label;                               ///< --label, the user's name for the run; empty: none
  BackendId backend = BackendId::mpi;
  NcclObserverStatus nccl_observer_status;                ///< why NCCL tells nothing of its choices
  NcclNetworks nccl_networks;                             ///< that carried its data between hosts
  RankAggregate time_reduction = RankAggregate::maximum;  ///< how ranks' times became one
  bool simulated = false;                                 ///< times are SimGrid's
  bool gpus_simulated = false;  ///< NCCL's host code alone ran (collbench nccl-plan run): times are the CPU's
  Identities ranks;
  ProcessShape process;                    ///< how the ranks are processes; of a log, see `log`
  std::vector<int> cores_per_node;         ///< cores that the ranks of each node may use; empty when unknown
  std::optional<Cluster> cluster;          ///< the machines; none when nobody looked
  std::vector<std::string> load_notes;     ///< what others took of the hosts' cores during the run
  std::vector<std::string> network_notes;  ///< TCP retransmissions, error counters that rose
  std::vector<std::string> environment_notes;  ///< what about the place makes the numbers less than they seem
  std::optional<TrafficMatrix> traffic;        ///< what AllToAllv moved; none without a row of it
  std::optional<Calibration> calibration;
  std::optional<RankProbe> rank_probe;  ///< who was late; none where nobody looked
  std::optional<LogFacts> log;          ///< of an imported log: what it says about its job
  std::optional<Yardstick> yardstick;   ///< of a judged run; none where nobody said, and before 0.2
  std::vector<Row> rows;
  std::vector<NodeGroup> node_groups;  ///< each node, then each pair, before the rows; empty: not measured
  /// The GPUs of each host, each alone, before the rows; of a host whose GPUs could not be probed the notes
  /// say why. Empty: nobody asked for it.
  std::vector<ProbeRecord> gpu_probes;
  std::optional<Row> sustained;  ///< the worst of the rows, again and again after them; none: not asked for
  int launches = 1;       ///< that the rows are from; more than one for `repeat` and a run that was resumed
  bool repeated = false;  ///< by `repeat`: times and intervals are over launches
  int passes = 0;         ///< over all rows, of the last launch
  double wall_seconds = 0;
  double validation_seconds =
      0;  ///< of wall_seconds, what generating and checking data took on the slowest rank,
  double calibration_seconds = 0;
  Buffers buffers;
  int graph_launches = 0;               ///< of a CUDA graph of iterations, in each block; 0: calls one by one
  std::optional<GpuMemory> gpu_memory;  ///< in the first pass; none: not asked for, or not known
  /// Counters of errors that are not zero, of each host by its name; empty where nobody looked, too.
  std::vector<ErrorCount> error_counts;
  std::optional<Telemetry> telemetry;        ///< of the GPUs; none without GPUs, or where nobody looked
  std::vector<double> communicator_seconds;  ///< what making each NCCL communicator took on the slowest rank,
                                             ///< the first with NCCL's own set-up; empty without NCCL
  std::vector<NcclInitStep> init_steps;      ///< in NCCL's order; empty where it does not say

  bool operator==(const Run&) const = default;
};

/// The run record as docs/run.schema.json and docs/formats.md describe it: SI base units, one row per line,
/// the rates of each row added for scripts. Never throws for its content: what is not a finite number
/// becomes null, and bytes that are not UTF-8 become U+FFFD.
[[nodiscard]] std::string to_json_text(const Run& run);

/// The run that `to_json_text` wrote; keys that it does not know are passed over, and rates are derived anew.
/// Throws Error (usage) that names `file_name` and the place in it: a line and column where the text is not
/// JSON, the path of a key that is missing or of another kind, a schema version newer than this program's.
[[nodiscard]] Run run_from_json_text(std::string_view text, std::string_view file_name);

/// One element of its nodes_alone or node_pairs.
[[nodiscard]] Json node_group_to_json(const NodeGroup& group);
[[nodiscard]] NodeGroup node_group_from_json(const JsonReader& json);

/// The same as JSON values: what a stream's line holds.
[[nodiscard]] Json run_to_json(const Run& run);
[[nodiscard]] Run run_from_json(const JsonReader& json, std::string_view file_name);

/// What follows from a row's times. Rates are derived from times and never averaged. Bytes per second; none
/// where there is no time to derive them from, or where one rank moves nothing.
struct Rates {
  std::optional<double> algorithm_bandwidth;
  std::optional<double> bus_bandwidth;
  std::optional<double> ring_bus_bandwidth;  ///< expected, as are the next two
  std::optional<double> tree_bus_bandwidth;
  std::optional<double> expected_bus_bandwidth;
  /// Measured over expected bus bandwidth: 1 is as expected, below 1 is slower.
  std::optional<double> measured_over_expected;
};

/// How the ranks of a run are processes; of a log as far as it says so: none, where it does not.
[[nodiscard]] std::optional<ProcessShape> process_of(const Run& run);

/// "8 GPUs per process, 2 threads"
[[nodiscard]] std::string words(const ProcessShape& shape);

/// Wrong values that the run's log counts at its end and no row of it has; 0: none.
[[nodiscard]] std::uint64_t wrong_values_beyond_rows(const Run& run);

/// Why a machine whose series are all SOUND is not: wrong data, or a run that was cut short. Empty for
/// neither.
[[nodiscard]] std::string why_not_sound(const Run& run);

/// Whether a log was judged without any machine to hold it against: UNCLEAR.
[[nodiscard]] bool is_machine_unknown(const Run& run);

/// The word of the machine: the worst of its series and of its nodes alone. Wrong data and a run that was cut
/// short are never SOUND.
[[nodiscard]] VerdictWord machine_word(const Run& run);

/// Whether any row has wrong data, or the log counts some that no row has.
[[nodiscard]] bool has_wrong_data(const Run& run);

[[nodiscard]] Rates rates(const Row& row, int ranks);

/// Half the width of the row's interval over its time (0.05 is ±5 %); none without an interval.
[[nodiscard]] std::optional<double> interval_half_width(const Measurement& measurement);

/// A row of a run record (docs/formats.md): its key, what was measured, what was expected, and the rates that
/// follow for `ranks` ranks.
[[nodiscard]] Json row_to_json(const Row& row, int ranks);

/// Rates are passed over: they are derived. Throws Error (usage) that names the place in the file.
[[nodiscard]] Row row_from_json(const JsonReader& json);

}  // namespace collbench
