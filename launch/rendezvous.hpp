#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace collbench::launch {

/// Where the ranks of a run meet that no MPI connects, and which of them this process is.
struct Rendezvous {
  int rank = 0;
  int ranks = 1;
  int local_ranks = 0;       ///< on this host; 0: not said
  std::string host;          ///< rank 0's: a name or an address
  std::uint16_t port = 0;    ///< the first that rank 0 tries to have
  std::uint16_t ports = 1;   ///< and how many, in turn
  std::string job;           ///< shown to be known, and never sent: what names the job, and the secret
  bool has_launcher = true;  ///< false: each process was started by itself (--rendezvous)
  bool is_secret = false;    ///< whether `job` is known to the ranks only
  std::string by;            ///< "torchrun", "srun", "--rendezvous"
  std::string passed_over;   ///< another way that the environment shows, and why it was not taken
};

/// What the command line says of it.
struct GivenRendezvous {
  std::optional<int> rank;
  std::optional<int> ranks;
  std::string address;  ///< HOST:PORT; empty: not given
};

/// How this process finds the other ranks without MPI; none under MPI's own launchers, or alone. By the first
/// of these that is there:
/// - `given`, completed by COLLBENCH_RANK (or JOB_COMPLETION_INDEX of Kubernetes' indexed jobs),
///   COLLBENCH_RANKS and COLLBENCH_RENDEZVOUS;
/// - MPI's variables (launched_rank), unless torchrun (TORCHELASTIC_RUN_ID) under them started more
/// processes;
/// - torchrun's RANK, LOCAL_RANK, WORLD_SIZE (2 and more), MASTER_ADDR and MASTER_PORT, where its own agent
///   listens, so that rank 0 tries the ports above it
///   (https://docs.pytorch.org/docs/stable/elastic/run.html);
/// - the SLURM_ variables of a step without PMI (srun --mpi=none). A batch script has no step, and the shell
/// of
///   srun --pty starts no ranks.
/// Throws Error (usage) where a part is missing or no number.
[[nodiscard]] std::optional<Rendezvous> find_rendezvous(const GivenRendezvous& given);

/// The first host of a list of Slurm's: "n1" of "n1,n3" and of "n[1-4,9]", "a07" of "a[07-12]".
[[nodiscard]] std::string first_slurm_host(std::string_view list);

}  // namespace collbench::launch
