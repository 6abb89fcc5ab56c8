#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "collectives/engine/backend.hpp"
#include "collectives/mpi/open_mpi/algorithm_rules.hpp"

namespace collbench::collectives {

/// Call before MPI_Init: allows AlgorithmControl::select to work, unless the user has decided otherwise in
/// the environment. Changes nothing about the library's own choice of algorithms.
void allow_forced_algorithms();

/// The algorithms of the MPI library's collectives: which ones there are, which one the next communicator
/// gets, and which one really runs. Lives between MPI_Init and MPI_Finalize. On a library that cannot be told
/// (anything but Open MPI) there is only "auto".
class AlgorithmControl {
 public:
  AlgorithmControl();
  ~AlgorithmControl();
  AlgorithmControl(const AlgorithmControl&) = delete;
  AlgorithmControl& operator=(const AlgorithmControl&) = delete;

  /// What may be selected beside "auto", by the library's own names; empty when nothing can be.
  [[nodiscard]] std::vector<std::string> available(OperationId operation) const;

  /// Why `algorithm` cannot run `operation` on `ranks` ranks here, in one line that names what can; none when
  /// it can. Ask before select: some algorithms of Open MPI fail inside the call on other numbers of ranks.
  [[nodiscard]] std::optional<std::string> unsupported_reason(OperationId operation,
                                                              const std::string& algorithm, int ranks) const;

  /// Communicators made from now on (MPI_Comm_dup) run `operation` by `algorithm`; "auto" sets what was set
  /// before the first select. Every rank of the communicator must select the same. Throws Error(not_here)
  /// when the library lacks the algorithm or did not take it.
  void select(OperationId operation, const std::string& algorithm);

  /// What runs in `call` when `algorithm` was selected, the library's own fallbacks included: "ring" becomes
  /// "recursive_doubling" for fewer elements than ranks. "auto" becomes what the environment of the run
  /// names, or what the library's rules say (open_mpi_chooses), and stays "auto" where neither is known.
  [[nodiscard]] std::string ran(const std::string& algorithm, const CollectiveCall& call) const;

  [[nodiscard]] EagerLimits eager_limits() const;

 private:
  bool knows_rules_ = false;        ///< open_mpi_chooses holds for this library as it is set
  std::string unsupported_reason_;  ///< why nothing can be selected here; empty when something can
  std::map<OperationId, std::string> configured_;  ///< the algorithms that the environment of the run names
};

}  // namespace collbench::collectives
