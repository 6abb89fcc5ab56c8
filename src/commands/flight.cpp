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

/// Those of `of`, and all of a folder that holds nothing else. Empty where recorders are meant.
std::vector<fs::path> dump_files(const std::vector<std::string>& of) {
  std::vector<fs::path> files;
  for (const std::string& each : of) {
    if (!fs::is_directory(each)) {
      if (is_dump(each)) files.emplace_back(each);
      continue;
    }
    const std::vector<fs::path> inside(fs::directory_iterator(each), {});
    if (std::all_of(inside.begin(), inside.end(), is_dump))
      files.insert(files.end(), inside.begin(), inside.end());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<analysis::Communicator> read_dumps(const std::vector<fs::path>& files) {
  std::vector<analysis::Communicator> communicators;
  std::vector<analysis::HangDump> of_pytorch;
  for (const fs::path& file : files) {
    analysis::HangDump dump{file.string(), read_file(file)};
    if (!analysis::is_nccl_ras(dump.text)) {
      of_pytorch.push_back(std::move(dump));
      continue;
    }
    std::vector<analysis::Communicator> more = analysis::read_nccl_ras(dump);
    std::move(more.begin(), more.end(), std::back_inserter(communicators));
  }
  if (of_pytorch.empty()) return communicators;
  std::vector<analysis::Communicator> groups = analysis::read_pytorch_dumps(of_pytorch);
  std::move(groups.begin(), groups.end(), std::back_inserter(communicators));
  return communicators;
}

CommandResult flight(const FlightOptions& options) {
  const bool as_json = options.format == "json";
  const int columns = text_options(When::never, false).columns;
  if (const std::vector<fs::path> files = dump_files(options.of); !files.empty()) {
    const std::vector<analysis::Communicator> communicators = read_dumps(files);
    if (as_json) return {analysis::communicators_json(communicators), ExitStatus::ok, false};
    return {analysis::communicators_text(communicators, columns)};
  }
  std::vector<RankActivity> ranks;
  if (options.of.empty()) ranks = newest_run();
  for (const std::string& each : options.of) {
    const std::vector<RankActivity> more = activities(each);
    ranks.insert(ranks.end(), more.begin(), more.end());
  }
  const analysis::HangFinding finding = analysis::find_hang(ranks, 0);
  if (as_json) return {analysis::flight_json(ranks, finding), ExitStatus::ok, false};
  return {analysis::flight_text(ranks, finding, columns)};
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
