#include "src/cli/tools.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <vector>

#include "base/child_process.hpp"
#include "base/error.hpp"

namespace collbench::program {
namespace {

constexpr std::array<Tool, 2> kTools{{
    {"plan", "what a training step takes on a machine, what bounds it, and what the run costs",
     "collbench plan --model llama-3.1-8b --topology hgx-h100 --nodes 128    a step: time, bottleneck"},
    {"launch", "the command that starts collbench on several nodes, with the reason of each word",
     "collbench launch --nodes 2 --gpus-per-node 8 --slurm   the command for a cluster, and why"},
}};

const Tool* find_tool(std::string_view name) {
  const auto* const found =
      std::find_if(kTools.begin(), kTools.end(), [name](const Tool& tool) { return tool.name == name; });
  return found == kTools.end() ? nullptr : found;
}

/// Beside this program, wherever that was started from.
std::string path_of(const Tool& tool) {
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe");
  return (self.parent_path() / fmt::format("collbench-{}", tool.name)).string();
}

/// "collbench help plan" asks for plan's --help.
std::vector<std::string> words_for_tool(const Tool& tool, std::span<char* const> words) {
  std::vector<std::string> result{path_of(tool)};
  if (std::string_view(words[1]) == "help") {
    result.emplace_back("--help");
  } else {
    result.insert(result.end(), words.begin() + 2, words.end());
  }
  return result;
}

}  // namespace

std::span<const Tool> tools() { return kTools; }

void become_tool(int argc, char** argv) {
  const std::span<char* const> words(argv, static_cast<std::size_t>(argc));
  if (words.size() < 2) return;
  const bool help = std::string_view(words[1]) == "help" && words.size() > 2;
  const Tool* const tool = find_tool(words[help ? 2 : 1]);
  if (tool == nullptr) return;
  std::vector<std::string> arguments = words_for_tool(*tool, words);
  std::vector<char*> pointers;
  pointers.reserve(arguments.size() + 1);
  for (std::string& each : arguments) pointers.push_back(each.data());
  pointers.push_back(nullptr);
  ::execv(pointers.front(), pointers.data());
  throw Error(ExitStatus::not_here, "",
              fmt::format("collbench {} is a program of its own, {}, which cannot be started: {}", tool->name,
                          arguments.front(), std::strerror(errno)),
              "install it beside collbench; in a source tree scripts/build release all makes it");
}

CommandDescription with_tools(CommandDescription core) {
  for (CommandDescription& each : core.commands) {
    const Tool* const tool = find_tool(std::string_view(each.name).substr(each.name.rfind(' ') + 1));
    if (tool == nullptr) continue;
    const ChildResult said = run_child({path_of(*tool), kDescribeTool});
    if (said.succeeded()) each = command_description_from_json(said.out);
  }
  return core;
}

}  // namespace collbench::program
