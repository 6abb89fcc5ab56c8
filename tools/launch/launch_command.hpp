#pragma once
#include <string>
#include <vector>

// The command that starts collbench on several nodes, with the reason of each word: what `collbench launch`
// prints. Pure: nothing is looked up, nothing is started.

namespace collbench::program {

enum class LauncherKind { ssh, slurm, kubernetes };

struct LaunchRequest {
  LauncherKind kind = LauncherKind::ssh;
  int nodes = 2;
  int gpus_per_node = 0;                    ///< 0: host memory
  int ranks_per_node = 2;                   ///< one for each GPU, where there are GPUs
  int minutes = 10;                         ///< the job's time limit
  std::vector<std::string> hosts = {};      ///< empty: names to be filled in
  std::string container = {};               ///< image; empty: none
  std::string interface = {};               ///< for NCCL_SOCKET_IFNAME; empty: to be filled in
  std::vector<std::string> variables = {};  ///< of this environment, which other hosts need: "NCCL_DEBUG"
  bool in_allocation = false;               ///< of Slurm: what the job asked for is not asked for again
  std::string version = {};                 ///< of collbench
  std::vector<std::string> arguments = {};  ///< collbench's own
};

/// One word of the command, or several that belong together, and why it is there.
struct LaunchWord {
  std::string text;
  std::string reason;  ///< empty: it needs none
};

/// The command, word by word. Kubernetes': the launcher's in its pod.
[[nodiscard]] std::vector<LaunchWord> launch_command(const LaunchRequest& request);

/// What the command cannot see to: a sentence each.
[[nodiscard]] std::vector<std::string> launch_notes(const LaunchRequest& request);

/// The command over several lines as a shell takes it, each of at most `columns` where its words allow.
[[nodiscard]] std::string command_text(const std::vector<LaunchWord>& command, int columns);

[[nodiscard]] std::string reasons_text(const std::vector<LaunchWord>& command, int columns);

/// A file that `collbench launch --write` makes.
struct JobFile {
  std::string name;
  std::string text;
};

/// What the launcher takes as a file: Slurm's batch script; Kubernetes' MPIJob (Kubeflow's v2beta1) with the
/// Dockerfile of its image; for ssh a hostfile and a script.
[[nodiscard]] std::vector<JobFile> job_files(const LaunchRequest& request);

}  // namespace collbench::program
