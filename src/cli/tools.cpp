#include "src/cli/tools.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <vector>

#include "base/child_process.hpp"
#include "base/environment.hpp"
#include "base/error.hpp"
#include "base/text_input.hpp"
#include "base/text_sinks.hpp"
#include "launch/real_machine.hpp"
#include "src/cli/standard_streams.hpp"

namespace collbench::program {
namespace {

constexpr std::array<Tool, 7> kTools{{
    {"burnin", "hosts alone, in pairs and in groups: which node, NIC or path is slow, and who is good",
     "collbench burnin --hosts @hosts.txt   which of these hosts is slow, and what of it"},
    {"probe", "cores, memory and GPUs of this host alone: peak, matrix products, copies; who is slow",
     "collbench probe                   how fast are this host's cores, memory and GPUs"},
    {"plan", "what a training step takes on a machine, what bounds it, and what the run costs",
     "collbench plan --model llama-3.1-8b --topology hgx-h100 --nodes 128    a step: time, bottleneck"},
    {"nccl-plan",
     "what a libnccl decides on a machine: rings, trees, algorithms; its own code, simulated GPUs",
     "collbench nccl-plan --topology hgx-h100 --nodes 2   what NCCL would do there"},
    {"inspector",
     "what NCCL Inspector wrote of a job: its own collectives against a sound machine, and who is late",
     "collbench inspector DUMP_FOLDER --topology hgx-h100   how quick were that job's collectives"},
    {"lab01",
     "Lab 01 of a record or a log: theory, AllReduce as measured, and why they differ; also --preset lab01",
     "collbench lab01 run.json -o page.md   the page to hand in"},
    {"launch", "the command that starts collbench on several nodes, with the reason of each word",
     "collbench launch --nodes 2 --gpus-per-node 8 --slurm   the command for a cluster, and why"},
}};

const Tool* find_tool(std::string_view name) {
  const auto* const found = std::ranges::find(kTools, name, &Tool::name);
  return found == kTools.end() ? nullptr : found;
}

/// smpirun starts a program of its own, which loads ours: the first word behind its name.
std::filesystem::path simulated_program() {
  std::ifstream words("/proc/self/cmdline");
  std::string word;
  for (int i = 0; i < 2; ++i) std::getline(words, word, '\0');
  return std::filesystem::absolute(word);
}

/// Where this program lies; none where the system does not say. Never relative: who starts a bare name takes
/// it from the current folder.
std::optional<std::filesystem::path> own_folder() {
  const std::filesystem::path self = launch::time_is_simulated() ? simulated_program() : own_program();
  return self.is_absolute() ? std::optional(self.parent_path()) : std::nullopt;
}

std::string program_of(const Tool& tool) { return fmt::format("collbench-{}", tool.name); }

Error not_startable(const Tool& tool, const std::string& program, int why) {
  return {ExitStatus::not_here, "",
          fmt::format("collbench {} is a program of its own, {}, which cannot be started: {}", tool.name,
                      program, std::strerror(why)),
          "install it beside collbench; in a source tree scripts/build release tools makes it"};
}

struct ToolCall {
  const Tool* tool = nullptr;
  std::vector<std::string> words{};
  std::string note{};  ///< for stderr; empty: none
};

/// What predict --by-nccl was called before it became a tool, which this release still knows.
ToolCall former_call(std::span<char* const> words, bool help) {
  std::vector<std::string> rest(words.begin(), words.end());
  if (std::erase(rest, "--by-nccl") == 0) return {};
  if (help) rest = {"--help"};
  return {find_tool("nccl-plan"), std::move(rest),
          "predict --by-nccl is collbench nccl-plan now; the old name is removed in the next release"};
}

/// The first word that is no flag names the tool; "collbench help plan" and "collbench -h plan" ask for its
/// --help.
ToolCall tool_call(std::span<char* const> words) {
  bool help = false;
  for (std::size_t at = 1; at < words.size(); ++at) {
    const std::string_view word = words[at];
    const bool asks = word == "help" || word == "-h" || word == "--help";
    help = help || asks;
    if (asks || word == "-v" || word == "--verbose") continue;
    const Tool* const tool = find_tool(word);
    if (tool == nullptr) return word == "predict" ? former_call(words.subspan(at + 1), help) : ToolCall{};
    if (help) return {tool, {"--help"}};
    return {tool, {words.begin() + static_cast<std::ptrdiff_t>(at) + 1, words.end()}};
  }
  return {};
}

}  // namespace

std::span<const Tool> tools() { return kTools; }

const Tool& tool_named(std::string_view name) {
  const Tool* const found = find_tool(name);
  if (found == nullptr) throw std::logic_error(fmt::format("no tool is called {}", name));
  return *found;
}

std::string beside_this_program(std::string_view name) {
  const auto folder = own_folder();
  if (!folder)
    throw Error(ExitStatus::not_here, std::string(name),
                "/proc/self/exe does not say where this program lies", "start it where /proc is mounted");
  return *folder / name;
}

std::string program_of_tool(std::string_view name) {
  return beside_this_program(program_of(tool_named(name)));
}

void require_tool(std::string_view name) {
  const std::string program = program_of_tool(name);
  if (::access(program.c_str(), X_OK) != 0) throw not_startable(tool_named(name), program, errno);
  const ChildLimits limits{.seconds = 60};
  const ChildResult answer = run_child({program, "--version"}, limits);
  if (answer.succeeded()) return;
  throw Error(ExitStatus::not_here, program,
              fmt::format("does not start: {}: {}", describe_end(answer, limits), one_line(trim(answer.err))),
              "install it again, in the same version as collbench");
}

void become_tool(int argc, char** argv, bool reports) {
  ToolCall call = tool_call({argv, static_cast<std::size_t>(argc)});
  if (call.tool == nullptr) return;
  if (reports && !call.note.empty()) print_message("collbench: " + call.note);
  std::string program = beside_this_program(program_of(*call.tool));
  std::vector<char*> pointers{program.data()};
  for (std::string& each : call.words) pointers.push_back(each.data());
  pointers.push_back(nullptr);
  ::execv(program.c_str(), pointers.data());
  throw not_startable(*call.tool, program, errno);
}

CommandDescription with_tools(CommandDescription core, const std::vector<std::string>& words) {
  const auto folder = own_folder();
  if (!folder) return core;
  for (CommandDescription& each : core.commands) {
    const Tool* const tool = find_tool(std::string_view(each.name).substr(each.name.rfind(' ') + 1));
    if (tool == nullptr || (!words.empty() && std::ranges::find(words, tool->name) == words.end())) continue;
    const ChildResult said = run_child({*folder / program_of(*tool), kDescribeTool});
    if (!said.succeeded()) continue;
    if (auto described = command_description_from_json(said.out)) each = *std::move(described);
  }
  return core;
}

}  // namespace collbench::program
