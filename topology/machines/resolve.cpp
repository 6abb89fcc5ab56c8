#include "topology/machines/resolve.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/suggest_names.hpp"
#include "base/text_input.hpp"
#include "base/text_sinks.hpp"
#include "base/units.hpp"
#include "topology/graph/merge.hpp"
#include "topology/readers/gather_live.hpp"
#include "topology/readers/readers.hpp"

namespace collbench::topology {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> files_in(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::path& entry : entries_of(folder, error)) {
    std::error_code of_entry;
    // Editors, file managers and NFS hide files of their own in any folder.
    if (entry.filename().string().starts_with('.')) continue;
    // A link to nothing is a file that is not there, which read_file explains.
    if (fs::is_regular_file(entry, of_entry) ||
        (fs::is_symlink(entry, of_entry) && !fs::exists(entry, of_entry)))
      files.push_back(std::move(entry));
  }
  if (error) throw usage_error(folder.string(), error.message(), "give a folder that can be read");
  return files;
}

/// What one file of a folder says, and the file's name up to its first dot.
struct Reading {
  std::string stem;
  Host host;
  std::string file;
  bool saved = false;  ///< by `topo save`
};

std::string stem_of(const fs::path& file) {
  const std::string name = file.filename().string();
  return name.substr(0, name.find('.'));
}

/// The readings by host, in the order of names, where the folder holds those of several hosts; else empty.
/// Host names that differ mean several hosts; a file that names none belongs to the host that it is called
/// after. Where no file names a host, several files of the same kind are of as many hosts, called after them.
std::map<std::string, std::vector<Host>> by_host(const std::vector<Reading>& readings,
                                                 std::vector<UnreadableFile>& left_out) {
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
      } else if (left_out.empty() || left_out.back().file != reading.file) {  // its other hosts
        left_out.push_back(
            {reading.file, reading.file,
             fmt::format("it names no host, and the folder has files of {} hosts", hosts.size())});
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
  const bool alike =
      std::ranges::all_of(kinds, [&kinds](const auto& each) { return each.second == kinds.begin()->second; });
  return hosts.size() > 1 && alike ? hosts : std::map<std::string, std::vector<Host>>();
}

/// "no files in it, only folders (n1, n2)"; empty where it has none.
std::string only_folders(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (const fs::path& entry : entries_of(folder, error))
    if (fs::is_directory(entry, error)) names.push_back(entry.filename().string());
  if (names.empty()) return {};
  constexpr std::size_t kShown = 3;
  const auto end = names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), kShown));
  return fmt::format("no files in it, only folders ({}{})", fmt::join(names.begin(), end, ", "),
                     names.size() > kShown ? ", …" : "");
}

/// Why a folder without a reading is none of a machine.
Error no_reading(const fs::path& folder, const std::vector<UnreadableFile>& refusals) {
  if (!refusals.empty()) {
    return usage_error(
        folder.string(),
        fmt::format("no file in it can be read; {}", fmt::join(left_out_notes(refusals), "; ")),
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

/// What the files of a folder say, and those that say nothing.
struct FolderReadings {
  std::vector<Reading> readings;
  std::vector<UnreadableFile> refusals;
  std::size_t files = 0;

  /// Whether its one host is what is left of several: a file is called like one that is of a host (saved, or
  /// naming it), and not after any that could be read.
  [[nodiscard]] bool is_rest_of_fleet() const {
    return std::ranges::any_of(refusals, [this](const UnreadableFile& refused) {
      const fs::path file = refused.file;
      const auto has_stem = [&](const Reading& each) { return each.stem == stem_of(file); };
      const auto is_like = [&](const Reading& each) {
        return (each.saved || each.host.name.known()) && fs::path(each.file).extension() == file.extension();
      };
      return std::ranges::none_of(readings, has_stem) && std::ranges::any_of(readings, is_like);
    });
  }
};

FolderReadings read_files(const fs::path& folder) {
  FolderReadings found;
  for (const fs::path& file : files_in(folder)) {
    ++found.files;
    try {
      const std::string text = read_file(file);
      if (trim(text).empty()) throw usage_error(file.string(), "the file is empty", "save it again");
      for (Host& host : read_any_topology(text, file.string()).hosts)
        found.readings.push_back({stem_of(file), std::move(host), file.string(), is_saved_topology(text)});
    } catch (const Error& error) {
      found.refusals.push_back({file.string(), error.where(), error.what()});
    }
  }
  return found;
}

/// Two saves of one host that differ in their devices are two states of it, not two parts: what is gone in
/// one the other would fill in.
void require_one_state_each(const std::vector<Reading>& readings) {
  const auto differ = [](const auto& a, const auto& b) {
    return !a.empty() && !b.empty() && a.size() != b.size();
  };
  std::map<std::string, const Reading*> saved;  // the first of each host
  for (const Reading& each : readings) {
    if (!each.saved || !each.host.name.known()) continue;
    const Reading& first = *saved.try_emplace(*each.host.name.value, &each).first->second;
    if (!differ(first.host.gpus, each.host.gpus) && !differ(first.host.nics, each.host.nics)) continue;
    throw usage_error(fmt::format("{}, {}", first.file, each.file),
                      fmt::format("both are saved from {}, and one lacks devices that the other has",
                                  *each.host.name.value),
                      "leave one of them in the folder; collbench topo diff compares the two");
  }
}

/// Every file of the folder that describes a machine: one host, or several where by_host() says so. Others
/// are usual beside those of one host (dmesg, lspci).
ResolvedMachine read_folder(const std::string& argument) {
  const fs::path folder = argument;
  FolderReadings found = read_files(folder);
  require_one_state_each(found.readings);
  ResolvedMachine machine{argument, {}};
  std::vector<Host> trees;
  for (const fs::path& tree : {folder, folder / "sys"})
    if (is_sysfs(tree)) trees.push_back(read_sysfs(tree));
  if (found.readings.empty() && trees.empty()) throw no_reading(folder, found.refusals);
  std::map<std::string, std::vector<Host>> hosts;
  if (trees.empty()) {
    hosts = by_host(found.readings, found.refusals);
    machine.files = {found.files, found.files - found.refusals.size(), {}};
    if (!hosts.empty() || found.is_rest_of_fleet()) machine.files.unreadable = found.refusals;
  }
  Host left_out;
  for (std::string& note : left_out_notes(found.refusals)) left_out.notes.push_back({std::move(note), true});
  if (hosts.empty()) {
    std::vector<Host> all = std::move(trees);
    for (Reading& reading : found.readings) all.push_back(std::move(reading.host));
    all.push_back(std::move(left_out));
    machine.topology.hosts.push_back(merge_hosts(all));
    return machine;
  }
  for (const auto& [name, of_host] : hosts) {
    Host host = of_host.size() == 1 ? of_host.front() : merge_hosts(of_host);
    if (is_host_name(name)) host.name.value = name;  // a file may be called anything
    machine.topology.hosts.push_back(std::move(host));
  }
  Host& first = machine.topology.hosts.front();
  first.notes.insert(first.notes.end(), left_out.notes.begin(), left_out.notes.end());
  return machine;
}

Error unknown_machine(const std::string& argument) {
  std::vector<std::string> names;
  for (const ReferenceMachine& machine : reference_machines()) names.emplace_back(machine.name);
  std::vector<std::string> near = suggest_names(argument, names);
  // "H100" is in the title of machines that are not called by it.
  for (const ReferenceMachine& machine : reference_machines()) {
    const bool titled =
        argument.size() > 1 && lower(machine.title).find(lower(argument)) != std::string::npos;
    if (titled && std::ranges::find(near, machine.name) == near.end()) near.emplace_back(machine.name);
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

/// Files that are left out for one reason, in their order.
struct SharedReason {
  std::string why;
  std::vector<std::string> where;
};

std::vector<SharedReason> by_reason(const std::vector<UnreadableFile>& files) {
  std::vector<SharedReason> reasons;
  std::map<std::string, std::size_t> position;
  for (const UnreadableFile& each : files) {
    const auto [found, is_new] = position.try_emplace(each.why, reasons.size());
    if (is_new) reasons.push_back({each.why, {}});
    reasons[found->second].where.push_back(each.where);
  }
  return reasons;
}

}  // namespace

std::vector<std::string> left_out_notes(const std::vector<UnreadableFile>& files) {
  constexpr std::size_t kNamed = 3;
  std::vector<std::string> notes;
  for (const SharedReason& reason : by_reason(files)) {
    std::vector<std::string> others;
    for (std::size_t i = 1; i < std::min(reason.where.size(), kNamed + 1); ++i)
      others.push_back(fs::path(reason.where[i]).filename().string());
    const std::size_t count = reason.where.size() - 1;
    const std::string like_it = count == 0
                                    ? ""
                                    : fmt::format(" (and {} like it: {}{})", count, fmt::join(others, ", "),
                                                  count > kNamed ? ", …" : "");
    notes.push_back(fmt::format("{}{}{}: {}", kLeftOut, reason.where.front(), like_it, reason.why));
  }
  return notes;
}

std::string unreadable_text(const FolderFiles& files) {
  if (files.unreadable.empty()) return {};
  std::vector<std::string> reasons;
  for (const SharedReason& each : by_reason(files.unreadable))
    reasons.push_back(fmt::format("{}: {}", fmt::join(each.where, ", "), each.why));
  return fmt::format("{}, {} of which cannot be used: {}", counted(files.count, "file"),
                     files.unreadable.size(), fmt::join(reasons, "; "));
}

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
      return read_folder(argument);
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
