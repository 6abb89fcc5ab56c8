#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "launch/flight/flight_recorder.hpp"
#include "launch/rendezvous.hpp"

namespace collbench::launch {

/// What started this process as a rank of MPI, by the variables that it sets: Open MPI's mpirun; srun
/// --mpi=pmix; hydra and srun --mpi=pmi2. SLURM_PROCID is the daemon's under mpirun. Of several
/// Open MPI's count first; then PMI's in a shell of PMIx's, but PMIx's in one of a single rank of PMI. None
/// when there is no launcher. Ask before MPI_Init, which sets them even where there is none.
enum class MpiLauncher { open_mpi, pmix, pmi };
[[nodiscard]] std::optional<MpiLauncher> mpi_launcher();

/// The rank that the launcher gave this process; none when there is no launcher.
[[nodiscard]] std::optional<int> launched_rank();

/// How many ranks the launcher started, likewise; none when it does not say.
[[nodiscard]] std::optional<int> launched_size();

/// How many of them it started on this host, likewise.
[[nodiscard]] std::optional<int> launched_local_size();

/// The command, behind assignments of variables where there are any, so that its process is no rank: it would
/// leave what it has to say to rank 0.
[[nodiscard]] std::vector<std::string> as_no_rank(const std::vector<std::string>& command);

/// This process's, as `rendezvous` or the launcher's variables have it.
[[nodiscard]] FlightIdentity flight_identity(const std::optional<Rendezvous>& rendezvous);

/// Whether a program of this name is a launcher of Open MPI, under Debian's own names too. Other MPI
/// libraries have launchers of the same names.
[[nodiscard]] bool is_open_mpi_launcher(std::string_view name);

/// mpirun, as the one process that it is.
struct MpirunProcess {
  int pid = 0;
  std::uint64_t start_ticks = 0;  ///< as ProcessStat has it
};

/// The mpirun above this process, if it runs on this host.
[[nodiscard]] std::optional<MpirunProcess> find_mpirun();

/// The libmpi of the Open MPI whose mpirun, or its daemon, is above this process, as an installation under a
/// prefix has it (HPC-X): in `lib` beside `bin`. None where a system has it elsewhere, and for other
/// launchers.
[[nodiscard]] std::optional<std::filesystem::path> libmpi_of_launcher();

/// True inside a Slurm allocation (SLURM_JOB_ID is set).
[[nodiscard]] bool inside_slurm();

/// The variables that shape a run and that may be written down: NCCL_*, UCX_*, FI_*, Open MPI's own
/// parameters, CUDA_VISIBLE_DEVICES and a few of Slurm's. Never the whole environment, which holds secrets,
/// and of these what looks like one as recorded_value has it; what mpirun sets for itself (OMPI_MCA_orte_*,
/// keys of the transport) is left out too.
[[nodiscard]] std::map<std::string, std::string> recorded_environment();

}  // namespace collbench::launch
