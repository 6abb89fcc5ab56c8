#pragma once
#include <CLI/App.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/units.hpp"
#include "src/cli/options.hpp"
#include "tools/burnin/attribution/burnin_record.hpp"
#include "tools/burnin/attribution/group_phases.hpp"
#include "tools/burnin/attribution/pair_tables/imported_pairs.hpp"

namespace collbench::program {

inline constexpr const char* kPairLauncher = "mpirun -np 2 --host {a}:1,{b}:1 --map-by node";
inline constexpr const char* kGroupLauncher = "mpirun -np {ranks} --host {slots} --map-by node";
// Under Slurm. Without -N srun takes the nodes of its environment, which are all of the allocation's.
inline constexpr const char* kSrunPairs = "srun -K --overlap --mpi=pmix -N 2 -n 2 -w {a},{b}";
inline constexpr const char* kSrunGroups = "srun -K --overlap --mpi=pmix -N {nodes} -n {ranks} -w {hosts}";

/// All but halving, which --diagnose asks for.
[[nodiscard]] std::vector<analysis::BurninPhase> usual_phases();

struct BurninOptions {
  std::vector<std::string> hosts;
  std::vector<analysis::BurninPhase> phases = usual_phases();
  bool phases_given = false;
  int rails = 1;
  std::string rail_setting;  ///< "NAME=VALUE{rail}": the environment of a rail's launches; empty: none
  std::string launcher = kPairLauncher;
  std::string group_launcher;  ///< empty: kGroupLauncher where `launcher` is the usual one, else none
  int ranks_per_host = 1;      ///< of a group
  /// AllReduce of groups is measured with these too, by their names as --algo of a run; empty: as
  /// forced_algorithms says.
  std::vector<std::string> group_algorithms;
  bool counters = true;  ///< read before and after each phase
  std::uint64_t bytes = 64 * kMiB;
  double pair_seconds = 3;
  double gpu_seconds = 20;  ///< of each type of product in the probes of GPUs
  double soak_seconds = 0;  ///< of a product at their end; 0: none
  double expected = 0;      ///< bytes per second of a message one way on a rail; 0: not known
  double seconds = 0;       ///< for all phases; 0: all of them
  /// Launches at the same time: each has a launcher, a thread and pipes on this host, of whose 1,024 usual
  /// descriptors it takes four or five.
  int parallel = 128;
  int leaf_nodes = 0;
  int nvlink_nodes = 0;  ///< of a domain with NVLink between hosts; 0: none
  bool dry_run = false;
  When progress = When::automatic;
  bool resume = false;
  bool overwrite = false;
  std::string record_path;
  std::string from_path;  ///< --from: say what this record or table of pairs says, and measure nothing
  analysis::PairTableChoice choice;  ///< --column, --where: what of that table
  std::string html_path;             ///< --html
  std::string csv_path;              ///< --csv
  std::string picture_path;          ///< --plot-file
  std::string format = "text";
};

/// Throws Error (usage) for what cannot be burned in.
void require_sensible(const BurninOptions& options);

/// What changes what a launch measures, by the option's or the variable's name: what --resume must find
/// unchanged.
[[nodiscard]] std::map<std::string, std::string> measuring_settings(const BurninOptions& options);

/// The leaf of each host; empty where nothing is known of them.
[[nodiscard]] std::vector<int> leaves_of(const BurninOptions& options);

/// That a leaf or an NVLink domain has more hosts than are named, a line each; empty where none has.
[[nodiscard]] std::string whole_fleet_note(const BurninOptions& options);

/// Whether more than pairs can be launched: a launcher of pairs alone says nothing of groups.
[[nodiscard]] bool launches_groups(const BurninOptions& options);

/// Whether a phase is part of this burn-in, and why one is not, as "rails (there is one)".
[[nodiscard]] bool has_phase(const BurninOptions& options, analysis::BurninPhase phase);
[[nodiscard]] std::vector<analysis::LeftOutPhase> phases_left_out(const BurninOptions& options);

/// The options of `collbench burnin`, which fill `options` while the command line is parsed.
void add_burnin_options(CLI::App& command, const std::shared_ptr<BurninOptions>& options);

}  // namespace collbench::program
