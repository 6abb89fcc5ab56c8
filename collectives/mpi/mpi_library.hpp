#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/record/identities.hpp"
#include "base/record/straggler_probe.hpp"
#include "collectives/engine/backend.hpp"
#include "collectives/mpi/calibration.hpp"
#include "launch/flight/flight_page.hpp"
#include "launch/launcher.hpp"
#include "launch/ranks.hpp"
#include "launch/session.hpp"

// What is compiled against mpi.h (launch/mpi and collectives/mpi) is a library of its own for each ABI of
// MPI, and loaded when something asks for MPI: collbench starts where there is none.

namespace collbench::collectives {

/// Programs built for one implementation of an ABI run on the others of it.
enum class MpiAbi : std::uint8_t {
  open_mpi,  ///< libmpi.so.40: Open MPI 3 to 5, HPC-X
  mpich,     ///< libmpi.so.12: MPICH and, by their ABI initiative, Intel MPI, Cray MPICH, MVAPICH
};

/// What such a library offers.
struct MpiFunctions {
  std::uint64_t interface_id;  ///< kMpiInterface of the build that the library is from
  /// MPI_Get_library_version up to its first comma or line end. Needs no session.
  std::string (*library_version)();
  /// Before `start`: allows what MpiBackend forces later (allow_forced_algorithms).
  void (*allow_forced_algorithms)();
  /// MPI from Init to Finalize: a launch::MpiSession.
  std::unique_ptr<launch::Session> (*start)(int* argc, char*** argv, launch::CallCounter& exchanges);
  std::unique_ptr<Backend> (*make_backend)(const Clock& clock, TrafficMatrix traffic,
                                           launch::CallCounters counters, const BufferUse& buffers,
                                           int step_matrix);
  /// A RankProber's repeat(); collective, as is each call of what it returns.
  std::function<ProbeRepetition()> (*make_rank_prober)(launch::Ranks& ranks, const Clock& clock,
                                                       const Identities& identities, bool transfers);
  MeasuredCalibration (*measure_calibration)(launch::Ranks& ranks, const Clock& clock,
                                             const Identities& identities, const CalibrationRequest& request);
};

/// Another one in most builds in which what crosses has another form.
inline constexpr std::uint64_t kMpiInterface =
    1000003U * (1000003U * sizeof(MpiFunctions) + sizeof(CalibrationRequest) + sizeof(Run)) +
    sizeof(ProbeRepetition) + sizeof(RowKey) + sizeof(TrafficMatrix);

struct MpiLibrary {
  const MpiFunctions* functions = nullptr;
  MpiAbi abi = MpiAbi::open_mpi;
  std::string
      passed_over{};  ///< what would have suited the launcher better, and why it was not taken; mostly empty
};

/// The library to use: by COLLBENCH_MPI (openmpi or mpich), by the launcher's variables, or the first that
/// can be loaded. The same on every call. Throws Error (not_here) where there is none, with each that was
/// tried, and Error (usage) where COLLBENCH_MPI says something else.
[[nodiscard]] const MpiLibrary& mpi_library();

/// The ABIs to try, the likeliest first. `named` is COLLBENCH_MPI, or empty. Throws Error (usage) for another
/// name.
[[nodiscard]] std::vector<MpiAbi> mpi_abis(std::string_view named,
                                           std::optional<launch::MpiLauncher> launcher);

}  // namespace collbench::collectives
