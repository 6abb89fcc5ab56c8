#include "tools/launch/launch_command.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/document/text_layout.hpp"
#include "base/text_sinks.hpp"

namespace collbench::program {
namespace {

void add(std::vector<LaunchWord>& words, std::string text, std::string reason = "") {
  words.push_back({std::move(text), std::move(reason)});
}

/// "node1:8,node2:8".
std::string slots(const LaunchRequest& request) {
  std::vector<std::string> hosts = request.hosts;
  for (int node = static_cast<int>(hosts.size()) + 1; node <= request.nodes; ++node)
    hosts.push_back(fmt::format("NODE{}", node));
  std::vector<std::string> words;
  words.reserve(hosts.size());
  for (const std::string& host : hosts) words.push_back(fmt::format("{}:{}", host, request.ranks_per_node));
  return fmt::format("{}", fmt::join(words, ","));
}

/// apptainer takes an image without a scheme for a file, also where it is a registry's,
/// "nvcr.io/nvidia/pytorch:25.01-py3". By Docker's rule the first part of a registry's has a dot or a colon
/// or is localhost.
std::string apptainer_image(std::string image) {
  const std::string_view file_starts = "/.~$";
  if (image.find("://") != std::string::npos || file_starts.find(image.front()) != std::string_view::npos)
    return image;
  const std::size_t slash = image.find_first_of("/#");
  const std::string first = image.substr(0, slash);
  const bool is_file = image.ends_with(".sif") || image.ends_with(".sqsh") || image.ends_with(".img");
  const bool has_registry =
      slash != std::string::npos && (first.find_first_of(".:") != std::string::npos || first == "localhost");
  const bool has_tag = slash == std::string::npos && image.find(':') != std::string::npos;
  if (is_file || !(has_registry || has_tag)) return image;
  if (slash != std::string::npos) image[slash] = '/';  // enroot writes nvcr.io#nvidia/pytorch
  return "docker://" + image;
}

/// Open MPI hands OMPI_… on to other hosts, and no other variables.
void add_environment(std::vector<LaunchWord>& words, const LaunchRequest& request) {
  add(words, "-x PATH",
      "so that collbench is found on the other nodes as it is here; mpirun hands on OMPI_… only");
  if (request.kind != LauncherKind::ssh) return;
  for (const std::string& each : request.variables)
    add(words, "-x " + each, "set here: to be the same on all nodes");
  if (request.gpus_per_node > 0) {
    const std::string name = request.interface.empty() ? "NETWORK" : request.interface;
    add(words, "-x NCCL_SOCKET_IFNAME=" + shell_word(name),
        "the network over which NCCL's ranks find each other (=NAME: that one alone); without it NCCL "
        "chooses by name, those that begin with ib first, docker and lo last");
  }
}

void add_mpirun_binding(std::vector<LaunchWord>& words, const LaunchRequest& request) {
  add(words, fmt::format("--map-by ppr:{}:node", request.ranks_per_node),
      "as many ranks on each node, neighbors on one node: the order that the models and NCCL's rings expect");
  if (request.gpus_per_node > 0) {
    add(words, "--bind-to none",
        "bound to a core, a rank may sit far from its GPU; NCCL binds its own threads near the GPU's NIC");
  } else {
    add(words, "--bind-to core", "ranks that move between cores make times jump");
  }
}

std::vector<LaunchWord> mpirun_command(const LaunchRequest& request) {
  std::vector<LaunchWord> words;
  add(words, "mpirun");
  add(words, fmt::format("-np {}", request.nodes * request.ranks_per_node),
      request.gpus_per_node > 0
          ? fmt::format("one rank for each of {} × {} GPUs", request.nodes, request.gpus_per_node)
          : fmt::format("{} × {} ranks", request.nodes, request.ranks_per_node));
  if (request.kind == LauncherKind::ssh)
    add(words, "--host " + slots(request), "the nodes, with their slots");
  add_mpirun_binding(words, request);
  add_environment(words, request);
  if (request.kind == LauncherKind::ssh && !request.container.empty()) {
    add(words,
        fmt::format("apptainer exec{} {}", request.gpus_per_node > 0 ? " --nv" : "",
                    shell_word(apptainer_image(request.container))),
        request.gpus_per_node > 0 ? "each rank in the container; --nv brings the driver's libraries. The "
                                    "Open MPI inside has to be that outside"
                                  : "each rank in the container. The Open MPI inside has to be that outside");
  }
  return words;
}

std::vector<LaunchWord> srun_command(const LaunchRequest& request) {
  std::vector<LaunchWord> words;
  add(words, "srun");
  add(words, "--mpi=pmix",
      "how the ranks find each other: Debian's Open MPI has PMIx only; with pmi2 or none each rank is alone "
      "or fails");
  add(words, fmt::format("--nodes={} --ntasks-per-node={}", request.nodes, request.ranks_per_node),
      "per node, since -n alone may divide the ranks unevenly (5, 1, 1, 1)");
  if (request.gpus_per_node > 0) {
    add(words, fmt::format("--gpus-per-node={}", request.gpus_per_node),
        "every rank sees all GPUs and takes that of its local rank. --gpus-per-task hides the others, and "
        "under mpirun it puts all ranks of a node on one GPU");
    add(words, "--gpu-bind=none", "whatever the cluster's own default is");
    add(words, "--cpu-bind=none",
        "bound to a core, a rank may sit far from its GPU; NCCL binds its own threads near the GPU's NIC");
  } else {
    add(words, "--cpu-bind=cores", "ranks that move between cores make times jump");
  }
  if (!request.hosts.empty())
    add(words, fmt::format("--nodelist={}", fmt::join(request.hosts, ",")), "these nodes and no others");
  if (!request.in_allocation) {  // of a step --exclusive would mean one core for each rank
    add(words, "--exclusive", "others' jobs on the same nodes would be in every time");
    add(words, fmt::format("--time={}", request.minutes),
        "in minutes; collbench asks Slurm for what is left and ends before it");
  }
  add(words, "--kill-on-bad-exit=1",
      "when a rank dies the others get SIGTERM and can save what is measured; by default they are killed");
  if (!request.container.empty()) {
    add(words, "--container-image=" + shell_word(request.container),
        "needs the plugin pyxis on the cluster; the image needs the Open MPI that Slurm's PMIx fits");
  }
  return words;
}

}  // namespace

std::vector<LaunchWord> launch_command(const LaunchRequest& request) {
  std::vector<LaunchWord> words =
      request.kind == LauncherKind::slurm ? srun_command(request) : mpirun_command(request);
  std::string own = "collbench";
  for (const std::string& each : request.arguments) own += " " + shell_word(each);
  add(words, own);
  return words;
}

std::vector<std::string> launch_notes(const LaunchRequest& request) {
  std::vector<std::string> notes;
  const bool ssh = request.kind == LauncherKind::ssh;
  if (ssh && static_cast<int>(request.hosts.size()) < request.nodes)
    notes.emplace_back(
        "put the names of the nodes for NODE1, NODE2, …; ssh to each has to work without a password");
  if (ssh && request.gpus_per_node > 0 && request.interface.empty())
    notes.emplace_back(
        "put the nodes' common network for NETWORK, as `ip -brief address` on a node names it");
  if (ssh && request.gpus_per_node > 0 && !request.interface.empty())
    notes.push_back(
        fmt::format("NCCL_SOCKET_IFNAME is this machine's ({}): that it is the nodes' too is assumed",
                    request.interface));
  if (ssh)
    notes.emplace_back(
        "where mpirun is not in the nodes' PATH, add --prefix with the folder that holds its bin");
  if (request.kind == LauncherKind::kubernetes) {
    if (request.container.empty()) notes.emplace_back("put the image's name for REGISTRY/collbench");
    notes.emplace_back(
        "files such as -J's are written in a worker's pod, which is deleted at the end: mount a volume for "
        "them, or read the launcher's log");
  }
  notes.emplace_back("all nodes need the same collbench: it refuses to measure otherwise");
  return notes;
}

std::string command_text(const std::vector<LaunchWord>& command, int columns) {
  std::string text;
  std::size_t used = 0;
  for (const LaunchWord& each : command) {
    const auto width = static_cast<std::size_t>(display_width(each.text));
    constexpr std::size_t kEnd = 3;  // " \" and the blank before the next word
    if (used > 0 && used + width + kEnd > static_cast<std::size_t>(columns)) {
      text += " \\\n  ";
      used = 2;
    } else if (used > 0) {
      text += " ";
      ++used;
    }
    text += each.text;
    used += width;
  }
  return text + "\n";
}

std::string reasons_text(const std::vector<LaunchWord>& command, int columns) {
  constexpr std::size_t kMaxColumn = 30;
  std::size_t column = 0;
  for (const LaunchWord& each : command) {
    if (!each.reason.empty() && each.text.size() <= kMaxColumn) column = std::max(column, each.text.size());
  }
  std::string text;
  for (const LaunchWord& each : command) {
    if (each.reason.empty()) continue;
    const std::string indent(column + 2, ' ');
    if (each.text.size() > column) {
      text += each.text + "\n" + wrap(each.reason, columns, indent, indent);
    } else {
      text += wrap(each.reason, columns, fmt::format("{:{}}  ", each.text, column), indent);
    }
  }
  return text;
}

}  // namespace collbench::program
