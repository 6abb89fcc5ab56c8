#include "topology/machines/resolve.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/suggest_names.hpp"
#include "base/text_input.hpp"
#include "base/text_sinks.hpp"
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

/// What one file of a folder says, and the file's name up to its first dot.
struct Reading {
  std::string stem;
  Host host;
};

std::string stem_of(const fs::path& file) {
  const std::string name = file.filename().string();
  return name.substr(0, name.find('.'));
}

/// The readings by host, in the order of names, where the folder holds those of several hosts; else empty.
/// Host names that differ mean several hosts; a file that names none belongs to the host that it is called
/// after. Where no file names a host, several files of the same kind are of as many hosts, called after them.
std::map<std::string, std::vector<Host>> by_host(const std::vector<Reading>& readings, Host& left_out) {
  std::map<std::string, std::vector<Host>> hosts;
  for (const Reading& reading : readings) {
    if (reading.host.name.known()) hosts[*reading.host.name.value].push_back(reading.host);
  }
  if (hosts.size() > 1) {
    for (const Reading& reading : readings) {
      if (reading.host.name.known()) continue;
      const auto found = hosts.find(reading.stem);
      if (found != hosts.end()) {
        found->second.push_back(reading.host);
      } else {
        left_out.notes.push_back(
            fmt::format("left out: {}: it names no host, and the folder has files of {} hosts",
                        reading.host.sources.empty() ? reading.stem : reading.host.sources.front().location,
                        hosts.size()));
      }
    }
    return hosts;
  }
  if (!hosts.empty()) return {};
  std::map<std::string, std::multiset<std::string>> kinds;  // of the sources, by stem
  for (const Reading& reading : readings) {
    hosts[reading.stem].push_back(reading.host);
    for (const Source& source : reading.host.sources) kinds[reading.stem].insert(source.reader);
  }
  const bool alike = std::all_of(kinds.begin(), kinds.end(),
                                 [&kinds](const auto& each) { return each.second == kinds.begin()->second; });
  return hosts.size() > 1 && alike ? hosts : std::map<std::string, std::vector<Host>>();
}

/// "no files in it, only folders (n1, n2)"; empty where it has none.
std::string only_folders(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.is_directory(error)) names.push_back(entry.path().filename().string());
  }
  if (names.empty()) return {};
  std::sort(names.begin(), names.end());
  constexpr std::size_t kShown = 3;
  const auto end = names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), kShown));
  return fmt::format("no files in it, only folders ({}{})", fmt::join(names.begin(), end, ", "),
                     names.size() > kShown ? ", …" : "");
}

/// Why a folder without a reading is none of a machine.
Error no_reading(const fs::path& folder, const Host& left_out) {
  if (!left_out.notes.empty()) {
    return usage_error(
        folder.string(), "no file in it can be read; " + left_out.notes.front(),
        "give a copy of /sys, or a folder with files such as the output of nvidia-smi topo -m");
  }
  const std::string folders = only_folders(folder);
  if (!folders.empty()) {
    return usage_error(folder.string(), folders,
                       fmt::format("name them, each a machine: {}", (folder / "*").string()));
  }
  return usage_error(folder.string(), "the folder is empty",
                     "give a copy of /sys, or a folder with files such as the output of nvidia-smi topo -m");
}

/// Why a file of a folder is none of a machine.
struct Refusal {
  std::string where;  ///< the file, and the line of a damaged one
  std::string why;
};

/// "left out: node7/dmesg.txt (and 13 like it: limits.txt, …): this file …": one note for each reason.
std::vector<std::string> left_out_notes(const std::vector<Refusal>& refusals) {
  constexpr std::size_t kNamed = 3;
  std::vector<std::string> notes;
  std::set<std::string> reasons;
  for (const Refusal& first : refusals) {
    if (!reasons.insert(first.why).second) continue;
    std::vector<std::string> others;
    for (const Refusal& other : refusals)
      if (other.why == first.why && other.where != first.where)
        others.push_back(fs::path(other.where).filename().string());
    const std::vector<std::string> named(
        others.begin(), others.begin() + static_cast<std::ptrdiff_t>(std::min(others.size(), kNamed)));
    const std::string like_it =
        others.empty() ? ""
                       : fmt::format(" (and {} like it: {}{})", others.size(), fmt::join(named, ", "),
                                     others.size() > kNamed ? ", …" : "");
    notes.push_back(fmt::format("left out: {}{}: {}", first.where, like_it, first.why));
  }
  return notes;
}

/// Every file of the folder that describes a machine: one host, or several where by_host() says so. Others
/// are usual there (dmesg, lspci) and are left out with a note, a damaged one with the reason.
Topology read_folder(const fs::path& folder) {
  std::vector<Reading> readings;
  if (is_sysfs(folder)) readings.push_back({"", read_sysfs(folder)});
  if (is_sysfs(folder / "sys")) readings.push_back({"", read_sysfs(folder / "sys")});
  const bool tree = !readings.empty();
  std::vector<Refusal> refusals;
  for (const fs::path& file : files_in(folder)) {
    try {
      for (Host& host : read_any_topology(read_file(file), file.string()).hosts)
        readings.push_back({stem_of(file), std::move(host)});
    } catch (const Error& error) {
      refusals.push_back({error.where(), error.what()});
    }
  }
  Host left_out;
  left_out.notes = left_out_notes(refusals);
  if (readings.empty()) throw no_reading(folder, left_out);
  std::vector<Host> all;
  for (const Reading& reading : readings) all.push_back(reading.host);
  const auto hosts = tree ? std::map<std::string, std::vector<Host>>() : by_host(readings, left_out);
  if (hosts.empty()) {
    all.push_back(std::move(left_out));
    return {{merge_hosts(all)}};
  }
  Topology fleet;
  for (const auto& [name, of_host] : hosts) {
    Host host = of_host.size() == 1 ? of_host.front() : merge_hosts(of_host);
    if (is_host_name(name)) host.name.value = name;  // a file may be called anything
    fleet.hosts.push_back(std::move(host));
  }
  Host& first = fleet.hosts.front();
  first.notes.insert(first.notes.end(), left_out.notes.begin(), left_out.notes.end());
  return fleet;
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
    throw usage_error(argument,
                      fmt::format("it describes {} hosts, and one is needed", topology.hosts.size()),
                      "give one host; to compare these with each other: collbench topo diff FILE");
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
      return {argument, read_folder(argument)};
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
