#include "topology/machines/resolve.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/suggest_names.hpp"
#include "base/text_input.hpp"
#include "topology/graph/merge.hpp"
#include "topology/readers/gather_live.hpp"
#include "topology/readers/readers.hpp"

namespace collbench::topology {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> files_in(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.is_regular_file(error)) files.push_back(entry.path());
  }
  if (error) throw usage_error(folder.string(), error.message(), "give a folder that can be read");
  std::sort(files.begin(), files.end());
  return files;
}

/// Every file of the folder that describes a machine. Others are usual there (dmesg, lspci) and are left out
/// with a note, a damaged one with the reason.
Host read_folder(const fs::path& folder) {
  std::vector<Host> readings;
  if (is_sysfs(folder)) readings.push_back(read_sysfs(folder));
  if (is_sysfs(folder / "sys")) readings.push_back(read_sysfs(folder / "sys"));
  Host left_out;
  for (const fs::path& file : files_in(folder)) {
    try {
      Topology topology = read_any_topology(read_file(file), file.string());
      std::move(topology.hosts.begin(), topology.hosts.end(), std::back_inserter(readings));
    } catch (const Error& error) {
      left_out.notes.push_back(fmt::format("left out: {}: {}", error.where(), error.what()));
    }
  }
  if (readings.empty()) {
    throw usage_error(folder.string(),
                      left_out.notes.empty() ? "the folder is empty"
                                             : "no file in it can be read; " + left_out.notes.front(),
                      "give a copy of /sys, or a folder with files such as the output of nvidia-smi topo -m");
  }
  readings.push_back(std::move(left_out));
  return merge_hosts(readings);
}

Error unknown_machine(const std::string& argument) {
  std::vector<std::string> names;
  for (const ReferenceMachine& machine : reference_machines()) names.emplace_back(machine.name);
  std::vector<std::string> near = suggest_names(argument, names);
  // "H100" is in the title of machines that are not called by it.
  for (const ReferenceMachine& machine : reference_machines()) {
    const bool titled =
        argument.size() > 1 && lower(machine.title).find(lower(argument)) != std::string::npos;
    if (titled && std::find(near.begin(), near.end(), machine.name) == near.end())
      near.emplace_back(machine.name);
  }
  return usage_error(
      argument, "no such file or folder, and no reference machine of that name",
      near.empty() ? "see collbench topo list" : fmt::format("did you mean {}?", fmt::join(near, ", ")));
}

/// What an argument is, in the order in which the kinds are tried.
enum class ArgumentKind { live, standard_input, folder, file, name };

ArgumentKind kind_of(const std::string& argument) {
  std::error_code error;
  if (argument == kLiveMachine) return ArgumentKind::live;
  if (argument == "-") return ArgumentKind::standard_input;
  if (fs::is_directory(argument, error)) return ArgumentKind::folder;
  if (fs::exists(argument, error)) return ArgumentKind::file;
  // What cannot be looked at (a folder above without permission, a loop of links) is a file that read_file
  // explains.
  return error && error != std::errc::no_such_file_or_directory && error != std::errc::not_a_directory
             ? ArgumentKind::file
             : ArgumentKind::name;
}

}  // namespace

const Host& ResolvedMachine::only_host() const {
  if (topology.hosts.size() > 1) {
    throw usage_error(
        argument, fmt::format("it describes {} hosts, and one is needed", topology.hosts.size()),
        "give a file with one host; to compare these with each other: collbench topo diff FILE");
  }
  return first_host();
}

const Host& ResolvedMachine::first_host() const {
  if (topology.hosts.empty())
    throw usage_error(argument, "there is no host in it", "save it again with collbench topo save");
  return topology.hosts.front();
}

ResolvedMachine resolve_machine(const std::string& argument) {
  switch (kind_of(argument)) {
    case ArgumentKind::live:
      return {argument, {{gather_live()}}};
    case ArgumentKind::standard_input:
      return {argument,
              read_any_topology(std::string(std::istreambuf_iterator<char>(std::cin), {}), "stdin")};
    case ArgumentKind::folder:
      return {argument, {{read_folder(argument)}}};
    case ArgumentKind::file:
      return {argument, read_any_topology(read_file(argument), argument)};
    case ArgumentKind::name:
      break;
  }
  const ReferenceMachine* machine = find_reference_machine(argument);
  if (machine == nullptr) throw unknown_machine(argument);
  return {argument, {{reference_host(*machine)}}, machine};
}

const ReferenceMachine* named_reference(const std::string& argument) {
  return kind_of(argument) == ArgumentKind::name ? find_reference_machine(argument) : nullptr;
}

bool names_file(const std::string& argument) { return kind_of(argument) == ArgumentKind::file; }

}  // namespace collbench::topology
