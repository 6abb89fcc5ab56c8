#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "analysis/doctor/fleet_check.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "src/cli/fleet_file.hpp"
#include "src/cli/options.hpp"
#include "src/cli/output.hpp"
#include "src/commands/doctor.hpp"
#include "src/commands/registry.hpp"
#include "topology/doctor/checks.hpp"
#include "topology/graph/topology_json.hpp"
#include "topology/readers/gather_live.hpp"
#include "topology/readers/readers.hpp"

namespace collbench::program {
namespace {

namespace fs = std::filesystem;

/// The file of a saved folder that holds what the readers of topologies saw.
constexpr const char* kTopologyFile = "topology.json";

struct DoctorCommand {
  std::vector<std::string> evidence;  ///< folders or files, one for each machine; none: this machine
  std::string fleet;                  ///< --fleet: what is expected of hosts; empty: nothing
  OutputOptions output;
};

struct SaveEvidenceCommand {
  std::string folder;
  bool overwrite = false;
};

/// A folder that holds folders and no file, but hidden ones and the `fleet` file, is a fleet: each of them is
/// a machine. A copy of /sys is one machine.
std::vector<std::string> machines_of(const std::vector<std::string>& evidence, const std::string& fleet) {
  std::vector<std::string> machines;
  for (const std::string& each : evidence) {
    std::vector<std::string> folders;
    std::error_code error;
    bool has_files = !fs::is_directory(each, error) || topology::is_sysfs(each);
    for (const fs::path& entry : entries_of(each, error)) {
      std::error_code not_there;
      const bool is_hidden = entry.filename().string().starts_with('.');
      if (is_hidden || fs::equivalent(entry, fleet, not_there)) continue;
      has_files = has_files || !fs::is_directory(entry, not_there);
      folders.push_back(entry.string());
    }
    if (has_files || folders.empty()) folders = {each};
    machines.insert(machines.end(), folders.begin(), folders.end());
  }
  return machines;
}

/// How the folder or file of a machine is called, where its evidence does not name the host.
std::string evidence_host(const topology::Evidence& evidence, const fs::path& path) {
  const fs::path full = fs::absolute(path).lexically_normal();
  const fs::path named = full.has_filename() ? full : full.parent_path();
  std::error_code ignored;
  return evidence.host.name.value_or(fs::is_directory(path, ignored) ? named.filename().string()
                                                                     : named.stem().string());
}

/// What was looked at, machine by machine.
struct Looked {
  std::vector<analysis::DoctorPage> pages{};
  std::vector<analysis::HostEvidence> hosts{};  ///< for a fleet file
  std::vector<Error> not_read{};                ///< without one, which has them among its hosts

  void add(topology::Evidence evidence, const std::string& host, const std::string& machine) {
    hosts.push_back({host, machine, "", analysis::seen_facts(evidence)});
    std::vector<analysis::DoctorPage> more = analysis::doctor_pages(std::move(evidence), machine);
    std::move(more.begin(), more.end(), std::back_inserter(pages));
  }
};

/// Throws Error (usage) for what is not there, and where nothing can be read.
Looked look_at(const std::vector<std::string>& machines, bool has_fleet) {
  Looked looked;
  for (const std::string& each : machines) {
    try {
      topology::Evidence evidence = topology::read_evidence(each);
      const std::string host = evidence_host(evidence, each);
      looked.add(std::move(evidence), host, each);
    } catch (const Error& unreadable) {
      if (!fs::exists(each)) throw;
      if (has_fleet)
        looked.hosts.push_back({evidence_host({}, each),
                                each,
                                fmt::format("{}; {}", unreadable.what(), unreadable.next_step()),
                                {}});
      else
        looked.not_read.push_back(unreadable);
    }
  }
  if (looked.pages.empty() && !looked.not_read.empty()) throw Error(looked.not_read.front());
  return looked;
}

/// Exit status 1 for what breaks jobs or slows them, and for hosts that are not known to be as the fleet file
/// expects; a risk alone is none. 2 where a machine's evidence could not be read, and the others have
/// neither.
CommandResult diagnose_machines(const DoctorCommand& options) {
  const auto documents = writable_documents(options.output);
  const bool has_fleet = !options.fleet.empty();
  std::vector<analysis::ExpectedHost> expected;
  if (has_fleet) expected = parse_fleet_file(read_file(options.fleet, kMaxFleetBytes), options.fleet);
  Looked looked = look_at(machines_of(options.evidence, options.fleet), has_fleet);
  if (options.evidence.empty()) {
    topology::Evidence evidence = topology::live_evidence(topology::gather_live());
    const std::string host = evidence.host.name.value_or("this machine");
    looked.add(std::move(evidence), host, host);
  }
  const std::vector<analysis::DoctorPage>& pages = looked.pages;
  const std::vector<Error>& not_read = looked.not_read;
  std::optional<analysis::FleetComparison> fleet;
  if (has_fleet) fleet = analysis::compare_with_fleet(options.fleet, expected, looked.hosts);
  const auto write = [&](const OutputDocument& document) {
    return pages.size() == 1 && !fleet && not_read.empty()
               ? analysis::report(pages.front(), document.format, page_options(document))
               : analysis::fleet_report(pages, fleet, not_read, document.format, page_options(document));
  };
  const bool failed = std::ranges::any_of(pages, [](const analysis::DoctorPage& page) {
    return std::ranges::any_of(page.diagnosis.findings, [](const auto& finding) {
      return finding.check.severity != topology::DoctorSeverity::risk;
    });
  });
  const std::string summary = fleet               ? analysis::fleet_check_summary(*fleet)
                              : pages.size() == 1 ? analysis::doctor_summary(pages.front().diagnosis)
                                                  : analysis::fleet_summary(pages);
  return {write_documents(documents, write),
          failed || (fleet && !fleet->is_as_expected()) ? ExitStatus::low
          : not_read.empty()                            ? ExitStatus::ok
                                                        : ExitStatus::usage,
          prints_text(documents), written_notes(documents, summary)};
}

/// Evidence of an earlier save, perhaps of another machine, would be judged as this one's: refused, or
/// removed where it may be. Throws Error (usage).
void require_no_evidence(const fs::path& folder, bool overwrite) {
  std::vector<fs::path> earlier{folder / kTopologyFile};
  for (const topology::EvidenceSource& source : topology::evidence_sources())
    earlier.push_back(folder / (std::string(source.name) + ".txt"));
  for (const fs::path& path : earlier) {
    std::error_code failure;
    if (!fs::exists(path, failure)) continue;
    if (!overwrite)
      throw usage_error(path.string(), "is of an earlier save", "name another folder, or add --overwrite");
    fs::remove(path, failure);
    if (failure)
      throw usage_error(path.string(), "cannot be removed: " + failure.message(), "name another folder");
  }
}

CommandResult save_evidence(const SaveEvidenceCommand& options) {
  const fs::path folder = options.folder;
  std::error_code failure;
  fs::create_directories(folder, failure);
  if (failure) throw usage_error(options.folder, failure.message(), "give a folder that can be written");
  require_no_evidence(folder, options.overwrite);
  const topology::LiveTexts live = topology::gather_live_texts();
  std::vector<std::pair<fs::path, std::string>> files{
      {folder / kTopologyFile, topology::save_topology({{topology::gather_live()}})}};
  for (const auto& [source, text] : live.texts) files.emplace_back(folder / (source + ".txt"), text);
  for (const auto& [path, text] : files) write_file_by_rename(path, text);
  CommandResult result{fmt::format("{}: {} files; look at them elsewhere with: collbench doctor {}\n",
                                   options.folder, files.size(), options.folder)};
  result.notes = live.notes;
  return result;
}

void add_save(CLI::App& command, CommandFunction& chosen) {
  const auto options = std::make_shared<SaveEvidenceCommand>();
  command.add_option("folder", options->folder, "the folder to write; it is made where it is missing")
      ->required();
  command.add_flag("--overwrite", options->overwrite, "replace files that exist");
  command.callback([options, &chosen] { chosen = [options] { return save_evidence(*options); }; });
}

void add_catalog(CLI::App& command, CommandFunction& chosen) {
  const auto output = std::make_shared<OutputOptions>();
  add_output_options(command, "Options", *output, {"text", "md"}, "");
  command.callback([output, &chosen] {
    chosen = [output]() -> CommandResult {
      const auto documents = writable_documents(*output);
      return {write_documents(documents, [](const OutputDocument& document) {
        return analysis::doctor_catalog(document.format, page_options(document));
      })};
    };
  });
}

void add_doctor(CLI::App& command, CommandFunction& chosen) {
  const auto options = std::make_shared<DoctorCommand>();
  command.add_option("evidence", options->evidence,
                     "a folder of doctor save, or of outputs of commands, or one such file; several: a fleet "
                     "(this machine)");
  add_option(command, "Options", "--fleet", "FILE", "what is expected of each host, as TOML: a line a host",
             into(options->fleet));
  add_output_options(command, "Options", options->output, analysis::doctor_formats(), "the findings (JSON)");
  add_save(
      *command.add_subcommand("save", "this machine's evidence as a folder; collbench doctor save node7"),
      chosen);
  add_catalog(*command.add_subcommand("list", "all checks; collbench doctor list"), chosen);
  command.callback([&command, options, &chosen] {
    if (command.get_subcommands().empty()) chosen = [options] { return diagnose_machines(*options); };
  });
}

}  // namespace

std::vector<analysis::DoctorPage> doctor_pages_of_this_machine() {
  const topology::Evidence evidence = topology::live_evidence(topology::gather_live());
  return analysis::doctor_pages(evidence, evidence.host.name.value_or("this machine"));
}

Subcommand doctor_subcommand() {
  return {"doctor", "what will break jobs or cost bandwidth on a machine, before anything is measured",
          "collbench doctor                  what is wrong with this machine", add_doctor};
}

}  // namespace collbench::program
