#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <sys/socket.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/text_sinks.hpp"
#include "src/cli/command_line_errors.hpp"
#include "src/cli/options.hpp"
#include "src/cli/standard_streams.hpp"
#include "src/cli/version.hpp"
#include "src/run/options.hpp"
#include "src/tool_main.hpp"
#include "tools/launch/launch_command.hpp"

namespace collbench::program {
namespace {

constexpr int kMaxNodes = 100'000;
constexpr int kMaxRanksPerNode = 1024;
constexpr int kMaxMinutes = 100'000;

struct LaunchOptions {
  LaunchRequest request;
  bool slurm = false;
  bool kubernetes = false;
  bool ssh = false;
  bool ranks_given = false;
  bool nodes_given = false;
  bool minutes_given = false;
  std::string folder;
  bool overwrite = false;
};

/// For NCCL_SOCKET_IFNAME: what is set here; else the one network that is up and has an address, "=" in front
/// (that name alone, where NCCL would take a prefix); empty where there are several or none.
std::string interface_here() {
  if (const char* own = std::getenv("NCCL_SOCKET_IFNAME")) return own;
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) != 0) return "";
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(all, freeifaddrs);
  std::set<std::string> names;
  for (const ifaddrs* each = all; each != nullptr; each = each->ifa_next) {
    const bool has_address = each->ifa_addr != nullptr &&
                             (each->ifa_addr->sa_family == AF_INET || each->ifa_addr->sa_family == AF_INET6);
    const std::string_view name = each->ifa_name;
    const bool is_local = (each->ifa_flags & IFF_LOOPBACK) != 0 || name.starts_with("docker") ||
                          name.starts_with("veth") || name.starts_with("br-") || name.starts_with("virbr");
    if (has_address && (each->ifa_flags & IFF_UP) != 0 && !is_local) names.emplace(name);
  }
  return names.size() == 1 ? "=" + *names.begin() : "";
}

/// Names of what is set here for NCCL, UCX and the loader, but for the network's.
std::vector<std::string> variables_here() {
  std::vector<std::string> names;
  for (char** each = environ; *each != nullptr; ++each) {
    const std::string_view entry = *each;
    const std::string name(entry.substr(0, entry.find('=')));
    const bool matters = name.starts_with("NCCL_") || name.starts_with("UCX_") ||
                         name.starts_with("COLLBENCH_") || name == "LD_LIBRARY_PATH";
    if (matters && name != "NCCL_SOCKET_IFNAME") names.push_back(name);
  }
  std::ranges::sort(names);
  return names;
}

/// Inside an allocation Slurm's launcher is meant, unless another one is named.
LauncherKind kind_of(const LaunchOptions& options) {
  if (options.kubernetes) return LauncherKind::kubernetes;
  const bool in_slurm = std::getenv("SLURM_JOB_ID") != nullptr;
  return options.slurm || (in_slurm && !options.ssh) ? LauncherKind::slurm : LauncherKind::ssh;
}

/// The value of collbench's own option `name` among `words`; empty where it is not there.
std::string value_of(const std::vector<std::string>& words, const std::string& name) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == name && i + 1 < words.size()) return words[i + 1];
    if (words[i].starts_with(name + "=")) return words[i].substr(name.size() + 1);
  }
  return {};
}

/// What the job's limit has to leave beside --time: the start of the ranks and of NCCL, and the last tables.
/// An estimate.
constexpr int kStartMinutes = 5;

bool has_word(const LaunchRequest& request, const char* word) {
  return std::ranges::find(request.arguments, word) != request.arguments.end();
}

/// The limit that the run's own --time or --soak, and the loads of --accept, ask for. Throws Error (usage)
/// for a shorter one.
int minutes_for(const LaunchRequest& request, bool is_given) {
  const bool stresses = has_word(request, "--accept") && !has_word(request, "--no-stress");
  const bool soaks = !value_of(request.arguments, "--soak").empty();  // which is in minutes
  const std::string option = soaks ? "--soak" : "--time";
  const std::string time = value_of(request.arguments, option);
  if (time.empty() && (is_given || !stresses)) return request.minutes;
  const double unit = soaks ? 60 : 1;
  const double rows =
      time.empty() ? kGpuSeconds : unit * parse_number(time, option, 0.0, kMaxMinutes * 60 / unit);
  const double loads = stresses ? 2 * std::min(rows, kMaxStressSeconds) : 0;
  const int run = static_cast<int>(std::ceil((rows + loads) / 60));
  if (!is_given) return std::max(request.minutes, run + kStartMinutes);
  if (request.minutes >= run) return request.minutes;
  throw usage_error("--minutes",
                    fmt::format("the job would end after {} min, and {} {}{} takes {} min", request.minutes,
                                option, time, stresses ? " with --accept" : " alone", run),
                    fmt::format("give --minutes {}, or leave it out", run + kStartMinutes));
}

/// Throws Error (usage) for ranks on host memory where only GPUs answer what is asked for.
void require_gpus(const LaunchRequest& request) {
  if (request.gpus_per_node > 0) return;
  const bool accepts = has_word(request, "--accept");
  if (!accepts && value_of(request.arguments, "--backend") != "nccl") return;
  throw usage_error(accepts ? "--accept" : "--backend nccl",
                    "without --gpus-per-node the command starts ranks on host memory",
                    "add --gpus-per-node 8, or as many GPUs as a node has");
}

/// Throws Error (usage) for what the launcher has no use for.
LaunchRequest completed(const LaunchOptions& options) {
  LaunchRequest request = options.request;
  request.kind = kind_of(options);
  request.version = versions().collbench;
  request.variables = variables_here();
  const char* allocated = std::getenv("SLURM_JOB_NUM_NODES");
  request.in_allocation =
      request.kind == LauncherKind::slurm && allocated != nullptr && options.folder.empty();
  if (request.in_allocation && !options.nodes_given)
    request.nodes = parse_number(allocated, "SLURM_JOB_NUM_NODES", 1, kMaxNodes);
  if (options.minutes_given && request.kind == LauncherKind::ssh)
    throw usage_error("--minutes", "over ssh nothing ends a job by time",
                      "give -- --time SECONDS, which a run keeps to");
  if (!request.hosts.empty() && request.kind == LauncherKind::kubernetes)
    throw usage_error("--hosts", "Kubernetes chooses the nodes", "leave it out");
  if (std::set<std::string>(request.hosts.begin(), request.hosts.end()).size() < request.hosts.size())
    throw usage_error("--hosts", "a host is there twice",
                      "name each once; --ranks-per-node says how many ranks it has");
  if (!request.hosts.empty()) {
    const int hosts = static_cast<int>(request.hosts.size());
    if (options.nodes_given && request.nodes != hosts)
      throw usage_error("--hosts", fmt::format("{} are named, and --nodes says {}", hosts, request.nodes),
                        "leave --nodes out");
    request.nodes = hosts;
  }
  request.minutes = minutes_for(request, options.minutes_given);
  require_gpus(request);
  if (request.gpus_per_node > 0) {
    if (options.ranks_given && request.ranks_per_node != request.gpus_per_node)
      throw usage_error("--ranks-per-node", "on GPUs there is one rank for each", "leave it out");
    request.ranks_per_node = request.gpus_per_node;
    request.interface = interface_here();
  }
  return request;
}

CommandResult launch_help(const LaunchOptions& options) {
  const LaunchRequest request = completed(options);
  const std::vector<JobFile> files = job_files(request);
  if (!options.folder.empty()) {
    const std::filesystem::path folder = options.folder;
    std::error_code failure;  // require_writable says what it is
    std::filesystem::create_directories(folder, failure);
    for (const JobFile& each : files) require_writable(folder / each.name, options.overwrite, "--write");
    std::string text;
    for (const JobFile& each : files) {
      write_file_by_rename(folder / each.name, each.text);
      text += one_line((folder / each.name).string()) + "\n";
    }
    CommandResult written{text};
    written.notes = launch_notes(request);
    return written;
  }
  constexpr int kMinColumns = 60;
  constexpr int kMaxColumns = 110;
  const int columns = std::clamp(text_options(When::never, false).columns, kMinColumns, kMaxColumns);
  std::string text;
  if (request.kind == LauncherKind::kubernetes) {
    text = files.front().text;
  } else {
    const std::vector<LaunchWord> command = launch_command(request);
    text = command_text(command, columns) + "\n" + reasons_text(command, columns);
  }
  CommandResult result{text};
  result.notes = launch_notes(request);
  return result;
}

/// Throws Error (usage) for what stands behind "--" and is no option of the program `root`: the command would
/// only fail on the nodes.
void require_known_options(const CLI::App& root, const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    const bool is_long = word.starts_with("--");
    const bool is_short = !is_long && word.size() > 1 && word[0] == '-' &&
                          std::isalpha(static_cast<unsigned char>(word[1])) != 0;
    if (!is_long && !is_short) continue;
    const std::string name = is_long ? word.substr(0, word.find('=')) : word.substr(0, 2);
    if (root.get_option_no_throw(name) == nullptr) throw unknown_option(root, root, name);
  }
}

}  // namespace

void add_tool(CLI::App& command, CommandFunction& chosen) {
  const auto options = std::make_shared<LaunchOptions>();
  const std::string theme = "Options";
  LaunchRequest& request = options->request;
  add_option(command, theme, "--nodes", "N", "number of nodes (2)", [options](const std::string& text) {
    options->request.nodes = parse_number(text, "--nodes", 1, kMaxNodes);
    options->nodes_given = true;
  });
  add_option(command, theme, "--gpus-per-node", "N", "GPUs of each node, one rank each (none: host memory)",
             number_into(request.gpus_per_node, "--gpus-per-node", 1, kMaxRanksPerNode));
  add_option(command, theme, "--ranks-per-node", "N", "ranks of each node on host memory (2)",
             [options](const std::string& text) {
               options->request.ranks_per_node = parse_number(text, "--ranks-per-node", 1, kMaxRanksPerNode);
               options->ranks_given = true;
             });
  CLI::Option* slurm =
      command.add_flag("--slurm", options->slurm, "srun, or a batch script (so inside an allocation)");
  CLI::Option* kubernetes =
      command.add_flag("--k8s", options->kubernetes, "an MPIJob of Kubeflow's operator, and a Dockerfile");
  CLI::Option* ssh = command.add_flag("--ssh", options->ssh, "mpirun over ssh (so elsewhere)");
  slurm->excludes(kubernetes)->excludes(ssh);
  kubernetes->excludes(ssh);
  add_option(command, theme, "--hosts", "LIST", "names of the nodes, joined by commas",
             [options](const std::string& text) {
               options->request.hosts = split_list(text);
               for (const std::string& each : options->request.hosts) {
                 if (!is_host_name(each))
                   throw usage_error("--hosts", fmt::format("'{}' is no name of a host", each),
                                     "join names by commas, such as node1,node2");
               }
             });
  add_option(command, theme, "--container", "IMAGE", "the image that the ranks run in",
             [options](const std::string& text) {
               if (text.empty() || text != one_line(text))
                 throw usage_error("--container", "it is no name of an image", "give one line");
               options->request.container = text;
             });
  add_option(command, theme, "--minutes", "N", "time limit of the job, of Slurm and Kubernetes (10)",
             [options](const std::string& text) {
               options->request.minutes = parse_number(text, "--minutes", 1, kMaxMinutes);
               options->minutes_given = true;
             });
  add_option(command, theme, "--write", "FOLDER", "write the files that the launcher takes into it",
             into(options->folder));
  command.add_flag("--overwrite", options->overwrite, "replace files that exist");
  command.add_option("arguments", request.arguments, "options of collbench itself, behind --")
      ->option_text("-- OPTIONS...");
  command.callback([options, &command, &chosen] {
    require_known_options(*command.get_parent(), options->request.arguments);
    chosen = [options] { return launch_help(*options); };
  });
}

}  // namespace collbench::program
