#include "src/launch_help/job_files.hpp"

#include <fmt/format.h>

#include <iterator>
#include <sstream>

namespace collbench::program {
namespace {

constexpr int kFileColumns = 100;

/// The reasons as comments of a script.
std::string comments(const std::vector<LaunchWord>& command) {
  std::string text;
  for (const LaunchWord& each : command) {
    if (!each.reason.empty()) text += fmt::format("# {}: {}\n", each.text, each.reason);
  }
  return text;
}

/// The words of a text without quotes.
std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

JobFile batch_script(const LaunchRequest& request) {
  // What the job asks for stands in its head; srun inherits it.
  std::string head;
  std::vector<LaunchWord> body;
  for (const LaunchWord& each : launch_command(request)) {
    const bool is_of_job = each.text.starts_with("--nodes=") || each.text.starts_with("--gpus-per-node=") ||
                           each.text.starts_with("--exclusive") || each.text.starts_with("--time=");
    if (!is_of_job) {
      body.push_back(each);
      continue;
    }
    head += "# " + each.reason + "\n";
    for (const std::string& option : words_of(each.text)) head += "#SBATCH " + option + "\n";
  }
  return {"collbench.sbatch", fmt::format(R"(#!/bin/bash
# sbatch collbench.sbatch      (written by: collbench launch --slurm --write)
#SBATCH --job-name=collbench
#SBATCH --output=collbench-%j.log
{}set -euo pipefail

{}{})",
                                          head, comments(body), command_text(body, kFileColumns))};
}

/// A string of YAML: JSON's quotes are YAML's.
std::string yaml(const std::string& text) {
  std::string quoted = "\"";
  for (const char letter : text) {
    if (letter == '"' || letter == '\\') quoted += '\\';
    quoted += letter;
  }
  return quoted + "\"";
}

/// The words of the command as the arguments of a container: a shell is not there to divide them.
std::string yaml_arguments(const std::vector<LaunchWord>& command) {
  std::string text;
  for (const LaunchWord& each : command) {
    std::string comment = each.reason.empty() ? "" : fmt::format("                # {}\n", each.reason);
    text += comment;
    for (const std::string& word : words_of(each.text))
      text += fmt::format("                - {}\n", yaml(word));
  }
  return text;
}

JobFile mpi_job(const LaunchRequest& request) {
  LaunchRequest without_own = request;
  without_own.arguments.clear();
  std::string command = yaml_arguments(launch_command(without_own));
  for (const std::string& each : request.arguments)
    command += fmt::format("                - {}\n", yaml(each));
  const std::string image = yaml(request.container.empty() ? "REGISTRY/collbench:0.1.0" : request.container);
  const std::string gpus =
      request.gpus_per_node > 0
          ? fmt::format(
                "              resources:\n                limits:\n                  nvidia.com/gpu: {}\n",
                request.gpus_per_node)
          : "";
  return {
      "collbench-mpijob.yaml",
      fmt::format(
          R"(# kubectl create -f collbench-mpijob.yaml     (Kubeflow's MPI operator; written by: collbench launch --k8s --write)
# kubectl logs -f -l training.kubeflow.org/job-role=launcher
apiVersion: kubeflow.org/v2beta1
kind: MPIJob
metadata:
  name: collbench
spec:
  slotsPerWorker: {slots}
  mpiImplementation: OpenMPI
  runPolicy:
    # The workers' pods end with the launcher: their GPUs are free again.
    cleanPodPolicy: Running
    activeDeadlineSeconds: {seconds}
  mpiReplicaSpecs:
    Launcher:
      replicas: 1
      template:
        spec:
          restartPolicy: Never
          containers:
            - name: launcher
              image: {image}
              command:
{command}    Worker:
      replicas: {nodes}
      template:
        spec:
          containers:
            - name: worker
              image: {image}
{gpus}              securityContext:
                capabilities:
                  # RDMA registers memory, which the default limit of locked memory refuses.
                  add: ["IPC_LOCK"]
              volumeMounts:
                - name: shm
                  mountPath: /dev/shm
          volumes:
            # Ranks of a node exchange through /dev/shm; a pod's own has 64 MB.
            - name: shm
              emptyDir:
                medium: Memory
)",
          fmt::arg("slots", request.ranks_per_node), fmt::arg("seconds", request.minutes * 60),
          fmt::arg("image", image), fmt::arg("nodes", request.nodes), fmt::arg("gpus", gpus),
          fmt::arg("command", command))};
}

JobFile dockerfile(const LaunchRequest& request) {
  const bool gpus = request.gpus_per_node > 0;
  return {
      "Dockerfile",
      fmt::format(R"(# docker build -t REGISTRY/collbench:0.1.0 .     beside the packages of scripts/package
FROM {base}
COPY collbench_*.deb {nccl}/tmp/
# sshd is how mpirun of the launcher's pod reaches the workers; its folder is what it asks for.
RUN apt-get update && \
    apt-get install -y --no-install-recommends /tmp/collbench*.deb openssh-server openssh-client && \
    rm -rf /var/lib/apt/lists/* /tmp/collbench*.deb && mkdir -p /run/sshd
ENV OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
CMD ["/usr/sbin/sshd", "-De"]
)",
                  fmt::arg("base", "debian:12"), fmt::arg("nccl", gpus ? "collbench-nccl_*.deb " : ""))};
}

std::vector<JobFile> ssh_files(const LaunchRequest& request) {
  std::string hostfile;
  for (int node = 0; node < request.nodes; ++node) {
    const std::string name = node < static_cast<int>(request.hosts.size())
                                 ? request.hosts[static_cast<std::size_t>(node)]
                                 : fmt::format("NODE{}", node + 1);
    hostfile += fmt::format("{} slots={}\n", name, request.ranks_per_node);
  }
  std::vector<LaunchWord> command = launch_command(request);
  for (LaunchWord& each : command) {
    if (each.text.starts_with("--host ")) each.text = "--hostfile hostfile";
  }
  return {{"hostfile", hostfile},
          {"collbench.sh",
           fmt::format("#!/bin/bash\n# Beside hostfile (written by: collbench launch --ssh --write)\n{}"
                       "set -euo pipefail\ncd \"$(dirname \"$0\")\"\n\n{}",
                       comments(command), command_text(command, kFileColumns))}};
}

}  // namespace

std::vector<JobFile> job_files(const LaunchRequest& request) {
  switch (request.kind) {
    case LauncherKind::slurm:
      return {batch_script(request)};
    case LauncherKind::kubernetes:
      return {mpi_job(request), dockerfile(request)};
    case LauncherKind::ssh:
      break;
  }
  return ssh_files(request);
}

}  // namespace collbench::program
