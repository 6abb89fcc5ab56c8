#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/hang/communicators.hpp"
#include "analysis/hang/hang.hpp"
#include "analysis/hang/nccl_ras.hpp"
#include "analysis/hang/pytorch_dump.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "launch/flight/flight_folder.hpp"
#include "src/cli/options.hpp"
#include "src/cli/standard_streams.hpp"
#include "src/commands/registry.hpp"

namespace collbench::program {
namespace {

namespace fs = std::filesystem;

/// `collbench flight`.
struct FlightOptions {
  std::vector<std::string> of;  ///< folders, process IDs, files; empty: the newest run
  std::string format = "text";
};

/// The recorders of the run that has this process.
std::vector<RankActivity> ranks_with_process(int pid) {
  for (const fs::path& folder : launch::flight_folders()) {
    std::vector<RankActivity> ranks = launch::read_flight_folder(folder);
    for (const RankActivity& rank : ranks)
      if (rank.pid == pid) return ranks;
  }
  throw usage_error(std::to_string(pid), "no run of yours on this host has this process",
                    "collbench flight without an argument shows the newest run of this host");
}

std::vector<RankActivity> newest_run() {
  const std::vector<fs::path> folders = launch::flight_folders();
  if (folders.empty()) {
    throw usage_error("flight", "no run of yours has a flight recorder on this host",
                      "run it on a host of the run, or give a folder or files from there");
  }
  return launch::read_flight_folder(folders.front());
}

std::vector<RankActivity> activities(const std::string& of) {
  if (fs::is_directory(of)) return launch::read_flight_folder(of);
  int pid = 0;
  const auto [end, failure] = std::from_chars(of.data(), of.data() + of.size(), pid);
  if (failure == std::errc() && end == of.data() + of.size() && !fs::exists(of))
    return ranks_with_process(pid);
  return {launch::read_flight_file(of)};
}

/// Whether a file was written by another tool: a recorder begins with "collflt".
bool is_dump(const fs::path& file) {
  if (!fs::is_regular_file(file)) return false;
  std::array<char, 7> start{};
  std::ifstream(file).read(start.data(), start.size());
  return std::string_view(start.data(), start.size()) != "collflt";
}

/// The regular files of a folder of dumps, by name; none where a recorder is among them.
std::vector<fs::path> dumps_in(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code failure;
  for (fs::directory_iterator entry(folder, failure); !failure && entry != fs::directory_iterator();
       entry.increment(failure)) {
    std::error_code unknown;
    if (!entry->is_regular_file(unknown)) continue;
    if (!is_dump(entry->path())) return {};
    files.push_back(entry->path());
  }
  if (failure) throw file_error(folder, "read", failure.value());
  std::sort(files.begin(), files.end());
  return files;
}

/// What the arguments name.
struct FlightSources {
  std::vector<fs::path> dumps;
  std::vector<RankActivity> ranks;
};

FlightSources sources(const std::vector<std::string>& of) {
  FlightSources found;
  std::string recorder;  // the first argument that names one
  for (const std::string& each : of) {
    const std::vector<fs::path> dumps = fs::is_directory(each) ? dumps_in(each)
                                        : is_dump(each)        ? std::vector<fs::path>{each}
                                                               : std::vector<fs::path>{};
    found.dumps.insert(found.dumps.end(), dumps.begin(), dumps.end());
    if (!dumps.empty()) continue;
    const std::vector<RankActivity> ranks = activities(each);
    if (ranks.empty()) {
      throw usage_error(each, "no flight recorder and no dump is in this folder",
                        "collbench flight without an argument shows the newest run of this host");
    }
    found.ranks.insert(found.ranks.end(), ranks.begin(), ranks.end());
    if (recorder.empty()) recorder = each;
  }
  if (!found.dumps.empty() && !recorder.empty()) {
    throw usage_error(recorder, "is of a run of collbench, and " + found.dumps.front().string() + " is not",
                      "show them one after the other");
  }
  return found;
}

std::vector<analysis::Communicator> read_dumps(const std::vector<fs::path>& files) {
  std::vector<analysis::Communicator> communicators;
  analysis::PytorchDumps of_pytorch;
  for (const fs::path& file : files) {  // one in memory at a time
    const analysis::HangDump dump{file.string(), read_file(file)};
    if (!analysis::is_nccl_ras(dump.text)) {
      of_pytorch.add(dump);
      continue;
    }
    std::vector<analysis::Communicator> more = analysis::read_nccl_ras(dump);
    std::move(more.begin(), more.end(), std::back_inserter(communicators));
  }
  if (of_pytorch.empty()) return communicators;
  std::vector<analysis::Communicator> groups = of_pytorch.groups();
  std::move(groups.begin(), groups.end(), std::back_inserter(communicators));
  return communicators;
}

CommandResult flight(const FlightOptions& options) {
  const bool as_json = options.format == "json";
  const int columns = text_options(When::never, false).columns;
  const FlightSources found =
      options.of.empty() ? FlightSources{.dumps = {}, .ranks = newest_run()} : sources(options.of);
  if (!found.dumps.empty()) {
    const std::vector<analysis::Communicator> communicators = read_dumps(found.dumps);
    if (as_json) return {analysis::communicators_json(communicators), ExitStatus::ok, false};
    return {analysis::communicators_text(communicators, columns)};
  }
  const analysis::HangFinding finding = analysis::find_hang(found.ranks, 0);
  if (as_json) return {analysis::flight_json(found.ranks, finding), ExitStatus::ok, false};
  return {analysis::flight_text(found.ranks, finding, columns)};
}

void add_flight(CLI::App& command, CommandFunction& chosen) {
  const auto options = std::make_shared<FlightOptions>();
  command.add_option(
      "of", options->of,
      "folders, process IDs or files of flight recorders; what NCCL's RAS answered (ncclras -v), "
      "or the dumps of PyTorch's flight recorder as JSON; none: the newest run on this host");
  command.add_option("--format", options->format, "text or json")->check(CLI::IsMember({"text", "json"}));
  command.callback([options, &chosen] { chosen = [options] { return flight(*options); }; });
}

}  // namespace

Subcommand flight_subcommand() {
  return {"flight", "shows what each rank of a run on this host is doing, or was doing when it died",
          "collbench flight                  where each rank of a run that hangs is", add_flight};
}

}  // namespace collbench::program
