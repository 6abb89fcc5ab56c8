#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
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
#include "base/record/incident.hpp"
#include "base/text_input.hpp"
#include "launch/flight/flight_folder.hpp"
#include "src/cli/command_description.hpp"
#include "src/cli/options.hpp"
#include "src/cli/standard_streams.hpp"
#include "src/commands/registry.hpp"

namespace collbench::program {
namespace {

namespace fs = std::filesystem;

struct FlightOptions {
  std::vector<std::string> of;  ///< folders, process IDs, files; empty: the newest run
  std::string format = "text";
};

fs::path folder_with_process(int pid) {
  for (const fs::path& folder : launch::flight_folders()) {
    for (const RankActivity& rank : launch::read_flight_folder(folder))
      if (rank.pid == pid) return folder;
  }
  throw usage_error(std::to_string(pid), "no run of yours on this host has this process",
                    "collbench flight without an argument shows the newest run of this host");
}

fs::path newest_run() {
  const std::vector<fs::path> folders = launch::flight_folders();
  if (folders.empty()) {
    throw usage_error("flight", "no run of yours has a flight recorder on this host",
                      "run it on a host of the run, or give a folder or files from there");
  }
  return folders.front();
}

/// The folder of a process; anything else is what it says.
fs::path path_of(const std::string& of) {
  const auto pid = whole_number<int>(of);
  return pid && !fs::exists(of) ? folder_with_process(*pid) : fs::path(of);
}

/// Whether a file was written by another tool: a recorder begins with "collflt". What can be read only once
/// is taken for one.
bool is_dump(const fs::path& file) {
  if (file == "-" || fs::is_fifo(file)) return true;
  if (!fs::is_regular_file(file)) return false;
  std::array<char, 7> start{};
  std::ifstream(file).read(start.data(), start.size());
  return std::string_view(start.data(), start.size()) != "collflt";
}

/// The regular files of a folder of dumps, by name; none where a recorder is among them.
std::vector<fs::path> dumps_in(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code failure;
  for (fs::path& entry : entries_of(folder, failure)) {
    std::error_code unknown;
    if (!fs::is_regular_file(entry, unknown)) continue;
    if (!is_dump(entry)) return {};
    files.push_back(std::move(entry));
  }
  if (failure) throw file_error(folder, "read", failure.value());
  return files;
}

struct FlightSources {
  std::vector<fs::path> dumps;
  std::vector<RankActivity> ranks;
  std::optional<Incident> reported;  ///< by the run itself
  fs::path run;                      ///< the first argument that names recorders
};

void add_run(FlightSources& found, const fs::path& path) {
  const bool is_folder = fs::is_directory(path);
  const std::vector<RankActivity> ranks =
      is_folder ? launch::read_flight_folder(path) : std::vector{launch::read_flight_file(path)};
  if (ranks.empty()) {
    throw usage_error(path.string(), "no flight recorder and no dump is in this folder",
                      "collbench flight without an argument shows the newest run of this host");
  }
  found.ranks.insert(found.ranks.end(), ranks.begin(), ranks.end());
  if (is_folder && !found.reported) found.reported = incident_from_line(launch::left_incident(path));
  if (found.run.empty()) found.run = path;
}

FlightSources sources(const std::vector<std::string>& of) {
  FlightSources found;
  for (const std::string& each : of) {
    const std::vector<fs::path> dumps = fs::is_directory(each) ? dumps_in(each)
                                        : is_dump(each)        ? std::vector<fs::path>{each}
                                                               : std::vector<fs::path>{};
    found.dumps.insert(found.dumps.end(), dumps.begin(), dumps.end());
    if (!dumps.empty()) continue;
    add_run(found, path_of(each));
  }
  if (of.empty()) add_run(found, newest_run());
  if (!found.dumps.empty() && !found.run.empty()) {
    throw usage_error(found.run.string(),
                      "is of a run of collbench, and " + found.dumps.front().string() + " is not",
                      "show them one after the other");
  }
  return found;
}

/// What others' tools wrote, and which files say nothing of a hang.
struct Dumps {
  std::vector<analysis::Communicator> communicators;
  std::vector<std::string> silent_files;
};

Dumps read_dumps(const std::vector<fs::path>& files) {
  Dumps read;
  analysis::PytorchDumps of_pytorch;
  for (const fs::path& file : files) {  // one in memory at a time
    const analysis::HangDump dump{input_name(file.string()), input_text(file.string())};
    if (!analysis::is_nccl_ras(dump.text)) {
      if (!of_pytorch.add(dump)) read.silent_files.push_back(dump.file);
      continue;
    }
    std::vector<analysis::Communicator> more = analysis::read_nccl_ras(dump);
    std::move(more.begin(), more.end(), std::back_inserter(read.communicators));
  }
  if (!of_pytorch.empty()) {
    std::vector<analysis::Communicator> groups = of_pytorch.groups();
    std::move(groups.begin(), groups.end(), std::back_inserter(read.communicators));
  }
  if (!read.communicators.empty()) return read;
  if (read.silent_files.empty())
    throw usage_error(input_name(files.front().string()), "it lists no communicator",
                      "ask while the job hangs: ncclras -v");
  throw usage_error(
      read.silent_files.front(),
      "is neither a recorder of collbench, an answer of NCCL's RAS, a dump of PyTorch's flight recorder as "
      "JSON, nor a log in which PyTorch's watchdog names a collective, or a rank its error",
      "what else a job's log says: collbench doctor FILE; see collbench flight --help");
}

CommandResult flight(const FlightOptions& options) {
  const bool as_json = options.format == "json";
  const int columns = text_options(When::never, false).columns;
  const FlightSources found = sources(options.of);
  if (!found.dumps.empty()) {
    const Dumps dumps = read_dumps(found.dumps);
    for (const std::string& file : dumps.silent_files)
      print_message(fmt::format("collbench: {}: says nothing of a hang, and is left out", file));
    if (as_json) return {analysis::communicators_json(dumps.communicators), ExitStatus::ok, false};
    return {analysis::communicators_text(dumps.communicators, columns)};
  }
  const analysis::HangFinding finding = analysis::look_at(found.ranks, found.reported);
  if (as_json) return {analysis::flight_json(found.ranks, finding), ExitStatus::ok, false};
  return {found.run.string() + "\n" + analysis::flight_text(found.ranks, finding, columns)};
}

void add_flight(CLI::App& command, CommandFunction& chosen) {
  const auto options = std::make_shared<FlightOptions>();
  command
      .add_option("of", options->of,
                  "folders, process IDs or files of flight recorders; what NCCL's RAS answered (ncclras -v), "
                  "or the dumps of PyTorch's flight recorder as JSON, and logs with its watchdog's lines; -: "
                  "standard input; none: the newest run on this host")
      ->option_text("PID|FOLDER|FILE...");
  const std::vector<std::string> formats{"text", "json"};
  CLI::Option* format = add_option(command, "Options", "--format", "NAME", "text or json (text)",
                                   [options, formats](const std::string& text) {
                                     options->format = parse_name(text, "--format", formats);
                                   });
  set_choices(*format, formats);
  command.callback([options, &chosen] { chosen = [options] { return flight(*options); }; });
}

}  // namespace

Subcommand flight_subcommand() {
  return {"flight", "shows what each rank of a run on this host is doing, or was doing when it died",
          "collbench flight                  where each rank of a run that hangs is", add_flight};
}

}  // namespace collbench::program
