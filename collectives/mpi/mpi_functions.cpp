#include <memory>
#include <utility>

#include "collectives/mpi/calibration.hpp"
#include "collectives/mpi/mpi_backend.hpp"
#include "collectives/mpi/mpi_library.hpp"
#include "collectives/mpi/open_mpi/algorithm_control.hpp"
#include "collectives/mpi/straggler_probe.hpp"
#include "launch/mpi/mpi_session.hpp"

namespace collbench::collectives {
namespace {

std::unique_ptr<launch::Session> start(int* argc, char*** argv, launch::CallCounter& exchanges) {
  return std::make_unique<launch::MpiSession>(argc, argv, exchanges);
}

std::unique_ptr<Backend> make_backend(const Clock& clock, TrafficMatrix traffic,
                                      launch::CallCounters counters, const BufferUse& buffers,
                                      int step_matrix) {
  return std::make_unique<MpiBackend>(clock, std::move(traffic), counters, buffers, step_matrix);
}

std::function<ProbeRepetition()> make_rank_prober(launch::Ranks& ranks, const Clock& clock,
                                                  const Identities& identities, bool transfers) {
  const auto prober = std::make_shared<RankProber>(ranks, clock, identities, transfers);
  return [prober] { return prober->repeat(); };
}

}  // namespace

const MpiFunctions& mpi_functions() {
  static constexpr MpiFunctions functions{.interface_id = kMpiInterface,
                                          .library_version = launch::MpiSession::library_version,
                                          .allow_forced_algorithms = allow_forced_algorithms,
                                          .start = start,
                                          .make_backend = make_backend,
                                          .make_rank_prober = make_rank_prober,
                                          .measure_calibration = measure_calibration};
  return functions;
}

}  // namespace collbench::collectives

/// What mpi_library looks for in the library.
extern "C" __attribute__((visibility("default"))) const collbench::collectives::MpiFunctions*
collbench_mpi_functions() {
  return &collbench::collectives::mpi_functions();
}
