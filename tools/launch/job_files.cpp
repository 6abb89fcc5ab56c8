#include "tools/launch/launch_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text_input.hpp"
#include "base/text_sinks.hpp"

namespace collbench::program {
namespace {

constexpr int kFileColumns = 100;

std::string comments(const std::vector<LaunchWord>& command) {
  std::string text;
  for (const LaunchWord& each : command) {
    if (!each.reason.empty()) text += "# " + one_line(each.text + ": " + each.reason) + "\n";
  }
  return text;
}

JobFile batch_script(const LaunchRequest& request) {
  // What the job asks for stands in its head; srun inherits it.
  std::string head;
  std::vector<LaunchWord> body;
  for (const LaunchWord& each : launch_command(request)) {
    const bool is_of_job = each.text.starts_with("--nodes=") || each.text.starts_with("--gpus-per-node=") ||
                           each.text.starts_with("--exclusive") || each.text.starts_with("--time=") ||
                           each.text.starts_with("--nodelist=");
    if (!is_of_job) {
      body.push_back(each);
      continue;
    }
    head += "# " + each.reason + "\n";
    for (const std::string& option : split_words(each.text)) head += "#SBATCH " + option + "\n";
  }
  return {"collbench.sbatch", fmt::format(R"(#!/bin/bash
# sbatch collbench.sbatch      (written by: collbench launch --slurm --write)
#SBATCH --job-name=collbench
#SBATCH --output=collbench-%j.log
{}set -euo pipefail

{}{})",
                                          head, comments(body), command_text(body, kFileColumns))};
}

/// A string of YAML: JSON's are.
std::string yaml(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

/// The words of the command as the arguments of a container: a shell is not there to divide them.
std::string yaml_arguments(const std::vector<LaunchWord>& command) {
  std::string text;
  for (const LaunchWord& each : command) {
    if (!each.reason.empty()) text += fmt::format("                # {}\n", each.reason);
    for (const std::string& word : split_words(each.text))
      text += fmt::format("                - {}\n", yaml(word));
  }
  return text;
}

/// A version may have a + that the tag of an image may not.
std::string image_name(const LaunchRequest& request) {
  if (!request.container.empty()) return request.container;
  std::string tag = request.version;
  std::ranges::replace(tag, '+', '_');
  return "REGISTRY/collbench:" + tag;
}

JobFile mpi_job(const LaunchRequest& request) {
  LaunchRequest without_own = request;
  without_own.arguments.clear();
  std::string command = yaml_arguments(launch_command(without_own));
  for (const std::string& each : request.arguments)
    command += fmt::format("                - {}\n", yaml(each));
  const std::string image = yaml(image_name(request));
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
    # From the start of the job: waiting for nodes and pulling the image count.
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
          affinity:
            # One worker to a node: two on one would measure its memory for the network.
            podAntiAffinity:
              requiredDuringSchedulingIgnoredDuringExecution:
                - topologyKey: kubernetes.io/hostname
                  labelSelector:
                    matchLabels:
                      training.kubeflow.org/job-name: collbench
                      training.kubeflow.org/job-role: worker
          containers:
            - name: worker
              image: {image}
{gpus}              securityContext:
                capabilities:
                  # RDMA locks memory beyond the default limit. The device itself is a resource of your cluster's plugin, to be
                  # added to the limits, such as rdma/hca: 1; without it NCCL uses TCP over the pods' network.
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
  const char* nccl =
      R"(# Debian has no libnccl; this one brings the CUDA runtime with it. The driver's libraries come from the node.
RUN apt-get update && apt-get install -y --no-install-recommends python3-pip && \
    pip install --no-cache-dir --no-deps --target /opt/nccl nvidia-nccl-cu12==2.28.9 && rm -rf /var/lib/apt/lists/*
ENV COLLBENCH_NCCL=/opt/nccl/nvidia/nccl/lib/libnccl.so.2
)";
  return {"Dockerfile",
          fmt::format(R"(# docker build -t {image} .     beside the packages of scripts/package
FROM debian:12
COPY collbench_*.deb {nccl_package}/tmp/
RUN apt-get update && \
    apt-get install -y --no-install-recommends /tmp/collbench*.deb openssh-server openssh-client && \
    rm -rf /var/lib/apt/lists/* /tmp/collbench*.deb
{nccl}# mpirun of the launcher's pod reaches the workers by sshd. Their host keys are new each time, and their keys come from a
# secret whose owner and mode sshd would refuse.
RUN mkdir -p /run/sshd && \
    printf 'StrictHostKeyChecking no\nUserKnownHostsFile /dev/null\n' > /etc/ssh/ssh_config.d/mpi.conf && \
    printf 'StrictModes no\n' > /etc/ssh/sshd_config.d/mpi.conf
ENV OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
CMD ["/usr/sbin/sshd", "-De"]
)",
                      fmt::arg("image", one_line(image_name(request))), fmt::arg("nccl", gpus ? nccl : ""),
                      fmt::arg("nccl_package", gpus ? "collbench-nccl_*.deb " : ""))};
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
          {"collbench.sh", fmt::format("#!/bin/bash\n# bash collbench.sh      (beside hostfile; written by: "
                                       "collbench launch --ssh --write)\n{}"
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
