#pragma once
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/text_input.hpp"
#include "topology/graph/topology.hpp"

namespace collbench::topology {

/// A line of what a machine says of itself.
struct EvidenceLine {
  std::string text;      ///< trimmed, without ANSI codes
  std::string location;  ///< "FILE:LINE"
  std::size_t more = 0;  ///< lines of a long log that were left out since they differ from it in numbers only
};

/// Where a text about a machine comes from: a file of the kernel, or the output of a command.
struct EvidenceSource {
  std::string_view name;         ///< the file of a saved folder is NAME.txt
  std::string_view description;  ///< what a person runs to get it: "lspci -vvv (as root)"
  /// Whether a text of unknown origin contains it; a text may contain several. None: by file name only.
  std::function<bool(const std::vector<Line>& lines)> recognizes;
  /// Whether a text is all that the source says, so that what is not in it is not there; the output of a grep
  /// is not. None: a text by that file name is.
  std::function<bool(const std::vector<Line>& lines)> is_whole;
  /// On this machine: a file if the first word starts with '/', else a command with its arguments.
  std::vector<std::string_view> live;
};

/// All of them.
[[nodiscard]] std::span<const EvidenceSource> evidence_sources();

/// What is known of one machine before anything is measured. Checks read it and nothing else, so that a saved
/// folder is judged as the machine itself would be.
struct Evidence {
  Host host;  ///< what the readers of topologies make of it
  std::map<std::string, std::vector<EvidenceLine>, std::less<>> lines;  ///< by EvidenceSource::name
  std::set<std::string, std::less<>> whole;                             ///< the sources of which all is known
  std::set<std::size_t> gpu_counts;  ///< how many each text lists that lists GPUs
  std::vector<std::string> notes;    ///< which files were left out, and why

  [[nodiscard]] bool has(std::string_view source) const { return lines.contains(source); }
  /// Of that source; empty where there is none.
  [[nodiscard]] const std::vector<EvidenceLine>& of(std::string_view source) const;
};

/// Adds a text whose origin is known (`source` is a name of evidence_sources()), or recognized by its content
/// where `source` is empty. Returns whether it contained anything that a check can use.
bool add_evidence(Evidence& evidence, std::string_view text, std::string_view file, std::string_view source);

/// A folder that `collbench doctor save` wrote, a folder of other files, or a single file. Files that nothing
/// recognizes become notes. Throws Error (usage) when nothing can be read, or the files name several hosts.
[[nodiscard]] Evidence read_evidence(const std::filesystem::path& path);

/// The lines of a job's log of any length that checks can use: of those that differ in numbers only the first
/// ones and the last, with how many lie between. What a program writes besides NCCL is left out, but for
/// tables of nccl-tests. Takes a few dozen MB, however long the log is. Throws Error (usage) when the file
/// cannot be read.
[[nodiscard]] std::vector<EvidenceLine> read_long_log(const std::filesystem::path& path);

/// What an environment means to collectives: NCCL_*, UCX_*, FI_* and a few by name; nothing else is read, and
/// of these values what looks like a secret is left out (recorded_value), so that none is saved.
[[nodiscard]] std::string collective_environment(std::span<const std::string> variables);

/// How thoroughly to look: files alone take milliseconds, commands seconds.
enum class LiveScope { files, commands_too };

/// The texts of this machine, by source; a source that fails becomes a note. Each command gets 8 seconds.
struct LiveTexts {
  std::map<std::string, std::string, std::less<>> texts;
  std::vector<std::string> notes;
};
[[nodiscard]] LiveTexts gather_live_texts(LiveScope scope = LiveScope::commands_too);

/// Of this machine, which is `host`. Throws Error where a text of its own is not understood.
[[nodiscard]] Evidence live_evidence(const Host& host, LiveScope scope = LiveScope::commands_too);

}  // namespace collbench::topology
