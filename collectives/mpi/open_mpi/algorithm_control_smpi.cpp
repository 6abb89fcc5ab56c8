// The same seam on SimGrid's MPI, which has no tool interface: smpirun's command line chooses, and the
// settings in force can be read.
#include <array>
#include <utility>
#include <xbt/config.hpp>

#include "base/error.hpp"
#include "collectives/mpi/open_mpi/algorithm_control.hpp"

namespace collbench::collectives {

void allow_forced_algorithms() {}

AlgorithmControl::AlgorithmControl()
    : unsupported_reason_(
          "SimGrid takes algorithms from smpirun's command line, such as --cfg=smpi/allreduce:lr") {
  using enum OperationId;
  constexpr std::array<std::pair<OperationId, const char*>, 8> kSettings{
      {{all_reduce, "smpi/allreduce"},
       {all_gather, "smpi/allgather"},
       {reduce_scatter, "smpi/reduce_scatter"},
       {all_to_all, "smpi/alltoall"},
       {broadcast, "smpi/bcast"},
       {reduce, "smpi/reduce"},
       {gather, "smpi/gather"},
       {scatter, "smpi/scatter"}}};
  for (const auto& [operation, setting] : kSettings) {
    configured_[operation] = simgrid::config::get_value<std::string>(setting);
  }
}

AlgorithmControl::~AlgorithmControl() = default;

std::vector<std::string> AlgorithmControl::available(OperationId) const { return {}; }

std::optional<std::string> AlgorithmControl::unsupported_reason(OperationId, const std::string& algorithm,
                                                                int) const {
  if (algorithm == kLibraryChoice) return std::nullopt;
  return unsupported_reason_;
}

void AlgorithmControl::select(OperationId, const std::string& algorithm) {
  if (algorithm == kLibraryChoice) return;
  throw Error(ExitStatus::not_here, "--algo " + algorithm, unsupported_reason_, "use --algo auto");
}

std::string AlgorithmControl::ran(const std::string& algorithm, const CollectiveCall& call) const {
  const auto configured = configured_.find(call.operation);
  return configured == configured_.end() ? algorithm : smpi_runs(configured->second, call);
}

EagerLimits AlgorithmControl::eager_limits() const {
  // smpi_request.cpp, Request::start: eager below the threshold, not at it
  const int threshold = simgrid::config::get_value<int>("smpi/async-small-thresh");
  const auto bytes = threshold > 0 ? static_cast<std::uint64_t>(threshold - 1) : 0;
  return {.within_host_bytes = bytes, .across_hosts_bytes = bytes};
}

}  // namespace collbench::collectives
