#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/cli/options.hpp"
#include "src/cli/output.hpp"
#include "src/commands/registry.hpp"

namespace collbench::program {

/// `collbench repeat -- mpirun -np 16 collbench …`, or `-- A… --versus B…`.
struct RepeatOptions {
  std::vector<std::string> command;  ///< of one launch, without -J; or of two, with --versus between them
  int max_launches = 0;              ///< 0: not given
  double precision = 0.05;           ///< wanted half-width of every row's interval, as a fraction of its time
  double every_seconds = 0;          ///< from the start of a launch to the next one's, at least
  double launch_seconds = 1800;      ///< after which a launch is taken to hang
  std::optional<std::uint64_t> seed;  ///< of the order within each round of A and B; none: drawn
  double same_within = 0.02;          ///< a difference of B from A by less is none
  OutputOptions output;
  bool resume = false;  ///< the launches beside record_path count
  When color = When::automatic;
  When progress = When::automatic;
};

/// Between the two commands.
inline constexpr const char* kVersus = "--versus";

/// Launches two commands in turn, in random order, until it is decided which is faster. Exit statuses are
/// those of a run; which of the two is faster is no failure. Throws Error.
[[nodiscard]] CommandResult versus(const RepeatOptions& options);

}  // namespace collbench::program
