#pragma once
#include <string>
#include <vector>

#include "tools/launch/launch_command.hpp"

namespace collbench::program {

/// A file that `collbench launch --write` makes.
struct JobFile {
  std::string name;
  std::string text;
};

/// What the launcher takes as a file: Slurm's batch script; Kubernetes' MPIJob (Kubeflow's v2beta1) with the
/// Dockerfile of its image; for ssh a hostfile and a script.
[[nodiscard]] std::vector<JobFile> job_files(const LaunchRequest& request);

}  // namespace collbench::program
