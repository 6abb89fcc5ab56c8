#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "topology/graph/topology.hpp"
#include "topology/machines/reference_machines.hpp"

namespace collbench::topology {

/// The argument that stands for the machine that the program runs on.
inline constexpr const char* kLiveMachine = "live";

/// A file of a folder that is of no use, and why.
struct UnreadableFile {
  std::string file;
  std::string where;  ///< the file, and the line of a damaged one
  std::string why;
};

/// The files of a folder. Beside those of one machine others are usual (dmesg, lspci), and are only noted;
/// where each file is of a host, one that cannot be read is a host that is not looked at.
struct FolderFiles {
  std::size_t count = 0;
  std::size_t read = 0;                    ///< those that describe a machine, and are of use
  std::vector<UnreadableFile> unreadable;  ///< of a folder of hosts
};

/// "8 files, 2 of which cannot be used: n6.json:69:11: the file is cut; n7.json: the file is empty": all are
/// named. Empty where there is none.
[[nodiscard]] std::string unreadable_text(const FolderFiles& files);

/// A machine, and how the argument that names it was resolved.
struct ResolvedMachine {
  std::string argument;
  Topology topology;
  /// Where a reference machine's name was what resolved: what holds of a machine type only (it has no devices
  /// too many, its transport is known) must not be applied to a file or folder of the same name.
  const ReferenceMachine* reference = nullptr;
  FolderFiles files = {};  ///< of a folder

  /// The one host that it describes. Throws Error (usage) for several and for none.
  [[nodiscard]] const Host& only_host() const;

  /// One node of a machine whose nodes are alike: of several hosts the first. Throws Error (usage) for none.
  [[nodiscard]] const Host& first_host() const;
};

/// "left out: node7/dmesg.txt (and 13 like it: limits.txt, …): this file …": the notes of a folder's first
/// host, one for each reason.
[[nodiscard]] std::vector<std::string> left_out_notes(const std::vector<UnreadableFile>& files);

/// The one way from an argument to a machine, wherever the program takes one. In this order: "live", this
/// machine; "-", standard input; a folder (a copy of /sys, or files that describe a machine, which are
/// merged, or several machines where the host names in them differ); a file of any known format
/// (read_any_topology); the name of a reference machine. So a file goes before a name; "./live" is a file of
/// that name. Throws Error (usage) for what is none of these, naming what may have been meant.
[[nodiscard]] ResolvedMachine resolve_machine(const std::string& argument);

/// The reference machine that resolve_machine() takes the argument for, without reading anything; none where
/// it is something else.
[[nodiscard]] const ReferenceMachine* named_reference(const std::string& argument);

/// Whether resolve_machine() takes the argument for a file.
[[nodiscard]] bool names_file(const std::string& argument);

}  // namespace collbench::topology
