#include <CLI/CLI.hpp>
#include <charconv>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "analysis/hang/hang.hpp"
#include "base/error.hpp"
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

CommandResult flight(const FlightOptions& options) {
  std::vector<RankActivity> ranks;
  if (options.of.empty()) ranks = newest_run();
  for (const std::string& each : options.of) {
    const std::vector<RankActivity> more = activities(each);
    ranks.insert(ranks.end(), more.begin(), more.end());
  }
  const analysis::HangFinding finding = analysis::find_hang(ranks, 0);
  if (options.format == "json") return {analysis::flight_json(ranks, finding), ExitStatus::ok, false};
  return {analysis::flight_text(ranks, finding, text_options(When::never, false).columns)};
}

void add_flight(CLI::App& command, CommandFunction& chosen) {
  const auto options = std::make_shared<FlightOptions>();
  command.add_option("of", options->of,
                     "folders, process IDs or files of flight recorders; none: the newest run on this host");
  command.add_option("--format", options->format, "text or json")->check(CLI::IsMember({"text", "json"}));
  command.callback([options, &chosen] { chosen = [options] { return flight(*options); }; });
}

}  // namespace

Subcommand flight_subcommand() {
  return {"flight", "shows what each rank of a run on this host is doing, or was doing when it died",
          "collbench flight                  where each rank of a run that hangs is", add_flight};
}

}  // namespace collbench::program
