#include "topology/machines/resolve.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/suggest_names.hpp"
#include "topology/graph/merge.hpp"
#include "topology/machines/reference_machines.hpp"
#include "topology/readers/gather_live.hpp"
#include "topology/readers/readers.hpp"

namespace collbench::topology {
namespace {

namespace fs = std::filesystem;

bool is_sysfs(const fs::path& folder) {
  return fs::exists(folder / "bus/pci/devices") || fs::exists(folder / "class/infiniband") ||
         fs::exists(folder / "class/net");
}

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
    throw usage_error(
        folder.string(),
        left_out.notes.empty() ? "the folder is empty" : "nothing in it is read; " + left_out.notes.front(),
        "give a copy of /sys, or a folder with output of nvidia-smi topo -m and the like");
  }
  readings.push_back(std::move(left_out));
  return merge_hosts(readings);
}

Error unknown_place(const std::string& place) {
  std::vector<std::string> names;
  for (const ReferenceMachine& machine : reference_machines()) names.emplace_back(machine.name);
  const std::vector<std::string> near = suggest_names(place, names);
  return usage_error(
      place, "there is no such file or folder, and no reference machine of that name",
      near.empty() ? "see collbench topo list" : fmt::format("did you mean {}?", fmt::join(near, ", ")));
}

}  // namespace

Topology resolve_machine(const std::string& place) {
  std::error_code error;
  if (fs::is_directory(place, error)) return {{read_folder(place)}};
  if (fs::exists(place, error)) return read_any_topology(read_file(place), place);
  if (const ReferenceMachine* machine = find_reference_machine(place)) return {{reference_host(*machine)}};
  throw unknown_place(place);
}

}  // namespace collbench::topology
