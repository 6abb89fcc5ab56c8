#include "topology/doctor/evidence.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "base/error.hpp"
#include "base/files.hpp"
#include "topology/doctor/look.hpp"
#include "topology/graph/merge.hpp"
#include "topology/readers/readers.hpp"

namespace collbench::topology {
namespace {

namespace fs = std::filesystem;

std::vector<EvidenceLine> evidence_lines(const std::vector<Line>& lines, std::string_view file) {
  std::vector<EvidenceLine> kept;
  for (const Line& line : lines) {
    if (const std::string_view text = trim(line.text); !text.empty())
      kept.push_back({std::string(text), location(file, line.number), 0});
  }
  return kept;
}

/// What the readers of topologies make of the text; none where it is nothing of theirs.
std::optional<Topology> as_topology(std::string_view text, std::string_view file, std::string& why) {
  try {
    return read_any_topology(text, file);
  } catch (const Error& error) {
    why = error.what();
    return std::nullopt;
  }
}

/// What a machine says once; ibstat may be asked for each card, and lspci for each device.
bool is_of_one_machine(const Source& source) {
  return source.reader != kIbstatReader.name && source.reader != kLspciReader.name;
}

void merge_into(Evidence& evidence, Topology topology, std::string_view file) {
  for (Host& host : topology.hosts) {
    const bool other =
        evidence.host.name.known() && host.name.known() && *evidence.host.name.value != *host.name.value;
    if (other) {
      throw usage_error(std::string(file),
                        fmt::format("is of host {}, other files are of host {}", *host.name.value,
                                    *evidence.host.name.value),
                        "give each host a folder of its own");
    }
    for (const Source& source : host.sources) {
      const bool twice = std::ranges::any_of(
          evidence.host.sources, [&](const Source& each) { return each.reader == source.reader; });
      if (!twice || !is_of_one_machine(source)) continue;
      throw usage_error(std::string(file),
                        fmt::format("is a second output of {}: of another machine?", source.reader),
                        "give each machine a folder of its own, or one file at a time");
    }
    if (lists_all(host, DeviceKind::gpu) && !host.gpus.empty()) evidence.gpu_counts.insert(host.gpus.size());
    evidence.host = evidence.host.sources.empty() ? std::move(host) : merge_hosts({evidence.host, host});
  }
}

/// Syslog names the host of each line: "Mar  2 14:09:10 n7 kernel: NVRM: …".
void require_one_kernel(const Evidence& evidence) {
  std::string first;
  for (const EvidenceLine& line : evidence.of("kernel-log")) {
    const std::vector<std::string> words = split_words(
        std::string_view(line.text).substr(0, std::min(line.text.find(" kernel: "), line.text.size())));
    if (words.size() < 2 || line.text.find(" kernel: ") == std::string::npos) continue;
    if (first.empty()) first = words.back();
    if (words.back() == first) continue;
    throw usage_error(line.location,
                      fmt::format("is of host {}, other lines are of host {}", words.back(), first),
                      "give each host a file or folder of its own: collbench doctor HOST1 HOST2");
  }
}

std::vector<fs::path> files_of(const fs::path& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return {path};
  std::vector<fs::path> files;
  for (fs::path& entry : entries_of(path, error))
    if (std::error_code unknown; fs::is_regular_file(entry, unknown)) files.push_back(std::move(entry));
  if (error) throw usage_error(path.string(), error.message(), "give a folder that can be read");
  return files;
}

/// The source that a saved folder's file is called after; empty for a file of another name.
std::string_view source_of(const fs::path& file) {
  for (const EvidenceSource& source : evidence_sources())
    if (file.filename() == std::string(source.name) + ".txt") return source.name;
  return {};
}

/// How long a log may be to be read as a whole: a file's share of what a single one may have, so that the
/// logs of 1,024 ranks take no more memory than a few.
std::uintmax_t max_whole_log(const std::vector<fs::path>& files) {
  std::uintmax_t total = 0;
  for (const fs::path& file : files) {
    std::error_code error;
    const std::uintmax_t bytes = fs::file_size(file, error);
    total += error ? 0 : bytes;
  }
  return total <= kMaxInputBytes ? kMaxInputBytes : kMaxInputBytes / files.size();
}

/// A job's log that is too long to be read as a whole; false where the file is none.
bool add_long_log(Evidence& evidence, const fs::path& file, std::uintmax_t max_whole) {
  std::error_code error;
  if (fs::file_size(file, error) <= max_whole || error) return false;
  std::vector<EvidenceLine> kept = read_long_log(file);
  std::vector<Line> lines;
  for (const EvidenceLine& line : kept) lines.push_back({line.text});
  for (const EvidenceSource& source : evidence_sources()) {
    if (source.name != "nccl-log" || !source.recognizes(lines)) continue;
    if (source.is_whole(lines)) evidence.whole.emplace(source.name);
    std::vector<EvidenceLine>& all = evidence.lines[std::string(source.name)];
    all.insert(all.end(), std::make_move_iterator(kept.begin()), std::make_move_iterator(kept.end()));
    return true;
  }
  return false;
}

/// Another command that a file is for; empty where none is known.
std::string_view command_that_reads(std::string_view text) {
  constexpr std::array<std::string_view, 4> kInspectors{"\"coll_perf\"", "\"p2p_perf\"", "\"dump_stats\"",
                                                        "nccl_bus_bandwidth_gbs"};
  constexpr std::array<std::string_view, 2> kHangs{"\"communicators\"", "\"pg_config\""};
  const std::string_view start = text.substr(0, 4096);
  if (has_one_of(start, kInspectors)) return "inspector";
  return has_one_of(start, kHangs) ? "flight" : "";
}

}  // namespace

const std::vector<EvidenceLine>& Evidence::of(std::string_view source) const {
  static const std::vector<EvidenceLine> no_lines;
  const auto found = lines.find(source);
  return found == lines.end() ? no_lines : found->second;
}

bool add_evidence(Evidence& evidence, std::string_view text, std::string_view file, std::string_view source) {
  const std::vector<Line> lines = clean_lines(text);
  bool used = false;
  for (const EvidenceSource& each : evidence_sources()) {
    const bool named = each.name == source;
    const bool is_it = named || (source.empty() && each.recognizes != nullptr && each.recognizes(lines));
    if (!is_it) continue;
    // The kernel lists all of its modules, however few a machine has.
    const bool whole_by_name = named && (each.is_whole == nullptr || each.name == "lsmod");
    if (whole_by_name || (each.is_whole != nullptr && each.is_whole(lines)))
      evidence.whole.emplace(each.name);
    std::vector<EvidenceLine> kept = evidence_lines(lines, file);
    std::vector<EvidenceLine>& all = evidence.lines[std::string(each.name)];
    all.insert(all.end(), kept.begin(), kept.end());
    used = true;
  }
  std::string why;
  if (auto topology = as_topology(text, file, why)) {
    merge_into(evidence, std::move(*topology), file);
    used = true;
  } else if (!used) {
    if (const std::string_view command = command_that_reads(text); !command.empty())
      why = fmt::format("no log, but what collbench {0} reads (collbench {0} FILE)", command);
    else if (why.find("does not describe a machine") != std::string::npos)
      why =
          "no line here is one that doctor knows (it reads logs of NCCL, PyTorch, launchers and the kernel, "
          "and "
          "what nvidia-smi, lspci, ibv_devinfo and others print)";
    evidence.notes.push_back(fmt::format("left out: {}: {}", file, why));
  }
  return used;
}

Evidence read_evidence(const fs::path& path) {
  Evidence evidence;
  bool used = false;
  std::error_code error;
  const bool folder = fs::is_directory(path, error);
  if (folder && is_sysfs(path)) {
    evidence.host = read_sysfs(path);
    used = true;
  }
  const std::vector<fs::path> files = files_of(path);
  const std::uintmax_t max_whole = max_whole_log(files);
  for (const fs::path& file : files) {
    const std::string_view source = source_of(file);
    if ((source.empty() || source == "nccl-log") && add_long_log(evidence, file, max_whole)) {
      used = true;
      continue;
    }
    std::string text;
    try {
      text = read_file(file, kMaxInputBytes);
      if (const std::size_t nuls = drop_nuls(text); nuls > 0)
        evidence.notes.push_back(fmt::format(
            "{}: {} NUL bytes are left out: a node that crashed leaves them in a file", file.string(), nuls));
      if (source.empty()) require_text(text, file.string(), "the output of a command");
    } catch (const Error& unreadable) {
      if (!folder) throw;
      evidence.notes.push_back(fmt::format("left out: {}: {}", file.string(), unreadable.what()));
      continue;
    }
    used = add_evidence(evidence, text, file.string(), source) || used;
  }
  require_one_kernel(evidence);
  if (!used) {
    std::string why = evidence.notes.empty() ? "the folder is empty" : evidence.notes.back();
    const std::string left_out = fmt::format("left out: {}: ", path.string());
    if (why.starts_with(left_out)) why.erase(0, left_out.size());  // the file itself
    throw usage_error(path.string(), folder ? "no file in it is evidence; " + why : why,
                      "give the whole log (NCCL_DEBUG=INFO), or save a folder on the machine with: collbench "
                      "doctor save FOLDER");
  }
  return evidence;
}

}  // namespace collbench::topology
