#include "tools/nccl_plan/command/nccl_plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>

#include "base/child_process.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "collectives/nccl/loader/nccl_library.hpp"
#include "src/cli/tools.hpp"
#include "tools/nccl_plan/simulated_run/simulated_rank.hpp"
#include "tools/nccl_plan/simulated_run/simulated_run.hpp"

namespace collbench::program {
namespace {

constexpr const char* kProgram = "collbench";
constexpr const char* kJobLibrary = "libcollbench_simulated_job.so";

void set_variable(const char* name, const std::string& value) { ::setenv(name, value.c_str(), 1); }

bool has_option(const std::vector<std::string>& words, const std::string& name) {
  return std::ranges::any_of(words, [&](const std::string& word) {
    return word == name || word.starts_with(name + "=") ||
           (!name.starts_with("--") && word.starts_with(name));  // -g8
  });
}

/// "0-7,8-15"
std::string node_map(int nodes, int ranks_per_node) {
  std::vector<std::string> parts;
  for (int node = 0; node < nodes; ++node)
    parts.push_back(fmt::format("{}-{}", node * ranks_per_node, (node + 1) * ranks_per_node - 1));
  return fmt::format("{}", fmt::join(parts, ","));
}

/// A file that this process and what it becomes hold open: it has a name while they run, and no longer.
std::string file_of_process(const std::string& text) {
  const int file = ::memfd_create("topology", 0);
  if (file < 0) throw Error(ExitStatus::not_here, "memfd_create", std::strerror(errno), "see ulimit -n");
  write_all(file, text, "topology");
  return fmt::format("/proc/{}/fd/{}", ::getpid(), file);
}

/// The value of COLLBENCH_SIMULATED_GPU, whose last file is that of all further nodes.
std::string machine_files(std::vector<std::string> node_xml) {
  while (node_xml.size() > 1 && node_xml.back() == node_xml[node_xml.size() - 2]) node_xml.pop_back();
  std::vector<std::string> files;
  std::ranges::transform(node_xml, std::back_inserter(files), file_of_process);
  return fmt::format("{}", fmt::join(files, ","));
}

/// The library that moves data, beside that of the simulated GPU. Throws Error (not_here).
std::string job_library(const std::string& simulated_gpu) {
  const std::filesystem::path file = std::filesystem::path(simulated_gpu).parent_path() / kJobLibrary;
  if (std::filesystem::exists(file)) return file;
  throw Error(ExitStatus::not_here, file, "is not there",
              "install the package collbench-nccl, or build collbench whole: scripts/build release tools");
}

void set_environment(const NcclPlanRequest& request, const SimulatedNodes& nodes) {
  const std::string library = job_library(collectives::load_simulated_libraries(request.library));
  for (const char* const name : collectives::variables_of_real_hosts())
    if (!std::string_view(name).starts_with("NCCL_DEBUG")) ::unsetenv(name);
  ::unsetenv("COLLBENCH_SIMULATED_HOST");
  ::unsetenv("COLLBENCH_SIMULATED_HOSTS_PER_DOMAIN");
  collectives::set_simulated_network();
  set_variable("COLLBENCH_SIMULATED_GPU", machine_files(nodes.xml));
  set_variable("COLLBENCH_SIMULATED_GPUS_PER_HOST", std::to_string(nodes.ranks_per_node));
  if (nodes.per_domain > 1 && collectives::NcclLibrary::load().version >= collectives::kMinMnnvlVersion)
    set_variable("COLLBENCH_SIMULATED_HOSTS_PER_DOMAIN", std::to_string(nodes.per_domain));
  set_variable("COLLBENCH_CUDART", library);
  set_variable("COLLBENCH_KERNELS", library);
}

}  // namespace

std::vector<std::string> job_words(std::vector<std::string> given, int nodes, int ranks_per_node) {
  if (given.empty())
    given = {kProgram, "--ops", "all_reduce,all_gather,all_to_all", "--sizes", "1K,64K,1M", "--passes", "1",
             "-n",     "1"};
  const bool is_collbench = std::filesystem::path(given.front()).filename() == kProgram;
  const bool is_run = is_collbench && (given.size() == 1 || given[1].starts_with('-'));
  if (given.front() == kProgram) given.front() = beside_this_program(kProgram);
  if (!is_run) return given;
  std::vector<std::string> added;
  const auto add = [&](const char* name, const std::string& value) {
    if (!has_option(given, name)) added.insert(added.end(), {name, value});
  };
  add("--backend", "nccl");
  if (!has_option(given, "-g") && !has_option(given, "--ngpus")) {
    add("-g", std::to_string(nodes * ranks_per_node));
    if (nodes > 1) add("--node-map", node_map(nodes, ranks_per_node));
  }
  // A simulated GPU has no clocks and no temperature.
  if (!has_option(given, "--no-telemetry")) added.emplace_back("--no-telemetry");
  given.insert(given.begin() + 1, added.begin(), added.end());
  return given;
}

void become_simulated_job(const NcclPlanRequest& request, const std::vector<std::string>& program) {
  const SimulatedNodes nodes = simulated_nodes(request);
  const std::vector<std::string> words =
      job_words(program, static_cast<int>(nodes.xml.size()), nodes.ranks_per_node);
  set_environment(request, nodes);
  const int why = replace_process(words);
  throw usage_error(words.front(), fmt::format("it cannot be started: {}", std::strerror(why)),
                    "give collbench and its options behind --, or a program on PATH");
}

}  // namespace collbench::program
