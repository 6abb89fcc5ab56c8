#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fstream>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analysis/doctor/doctor_report.hpp"
#include "analysis/import/import_log.hpp"
#include "analysis/models/nccl/cluster_of_run.hpp"
#include "analysis/models/nccl/links.hpp"
#include "analysis/models/nccl/sound_machine.hpp"
#include "analysis/report/diff_report.hpp"
#include "analysis/report/report.hpp"
#include "analysis/report/run_charts.hpp"
#include "analysis/verdict/fitting_machines.hpp"
#include "analysis/verdict/verdict.hpp"
#include "base/error.hpp"
#include "base/text_input.hpp"
#include "src/cli/criteria_options.hpp"
#include "src/cli/host_list.hpp"
#include "src/cli/options.hpp"
#include "src/cli/output.hpp"
#include "src/cli/standard_streams.hpp"
#include "src/cli/version.hpp"
#include "src/commands/registry.hpp"
#include "src/run/expectation.hpp"
#include "src/run/output_files.hpp"
#include "topology/cluster/cluster_topology.hpp"
#include "topology/doctor/checks.hpp"
#include "topology/machines/resolve.hpp"

namespace collbench::program {
namespace {

using analysis::RunOfFile;

struct JudgeOptions {
  std::vector<std::string> files;
  bool apart = false;           ///< each file is a run of its own where the document can hold several
  analysis::ImportOptions log;  ///< what logs do not say
  std::string topology;
  analysis::StatedNics nics;  ///< of nodes whose machine is not given
  std::string transport;      ///< empty: what the log names, else what the NICs are made for
  analysis::Fabric fabric;    ///< Fabric{}: nothing is told
  bool own_floor = false;     ///< the run's own time at 1 KiB or less takes the place of the modeled floor
  OutputOptions output;
  When color = When::automatic;
  Lab01Request lab01;
  std::string label;
  bool percentiles = false;
  CriteriaOptions criteria;
};

/// The run with the machine that --topology names: reports name what a verdict is against. That the run had
/// no expectation, as its record says, is no longer so.
Run with_judged_machine(Run run, const std::string& topology) {
  if (topology.empty()) return run;
  if (!run.log) {
    std::erase_if(run.environment_notes,
                  [](const std::string& note) { return note.starts_with(kNothingExpected); });
    run.environment_notes.push_back(fmt::format("judged against --topology {}", topology));
    return run;
  }
  if (topology == "-" || topology == topology::kLiveMachine) {
    throw usage_error("--topology",
                      fmt::format("'{}' would mean another machine where the record is read", topology),
                      "give a name or a file; collbench topo save -o FILE saves this machine");
  }
  MaybeLogFact<std::string>& machine = run.log->topology;
  if (machine && machine->value != topology) {
    run.log->notes.push_back(
        fmt::format("imported with --topology {}, judged against {}", machine->value, topology));
  }
  machine = LogFact<std::string>{topology, 0};
  return run;
}

/// `several`: or the runs that a log holds.
std::vector<RunOfFile> runs_from_file(const JudgeOptions& options, const std::string& path, bool several) {
  const std::string file = input_name(path);
  std::vector<RunOfFile> runs;
  for (Run& each : analysis::runs_of_file(input_parts(path), file, options.log, several)) {
    analysis::require_times_of_gpus(each, file);
    Run run = with_judged_machine(std::move(each), options.topology);
    if (run.log && run.versions.collbench.empty()) run.versions.collbench = versions().collbench;
    if (!options.label.empty()) run.label = options.label;
    runs.push_back({run.log ? run.log->file : file, std::move(run)});
  }
  return runs;
}

/// The machines of the run where its record has them, else those that were given for it; a reference machine
/// is none of them.
std::vector<topology::HostGroup> found_groups(const Run& run, const topology::ResolvedMachine& given) {
  if (run.cluster) return analysis::cluster_groups(topology::read_cluster_record(*run.cluster, "the record"));
  topology::HostGroups groups;
  if (given.reference == nullptr)
    for (const topology::Host& host : given.topology.hosts)
      groups.add(host, host.name.value_or(given.argument));
  return groups.take();
}

analysis::GpuCluster as_stated(analysis::GpuCluster cluster, const JudgeOptions& options) {
  analysis::join_domains(cluster, options.fabric, "--fabric");
  if (!options.transport.empty())
    cluster.transport = cluster.nic_transport =
        analysis::transport_option(options.transport, cluster.generation);
  return cluster;
}

/// A log's run by the machine that has its GPUs and the NICs of --nics.
Run judged_with_nics(Run run, const std::string& file, const JudgeOptions& options) {
  if (options.lab01.asked)
    throw usage_error("--nics", "the page of Lab 01 shows the links of a machine", "give it with --topology");
  analysis::StatedNics stated = options.nics;
  stated.machine = options.topology;
  const analysis::GpuCluster cluster =
      as_stated(analysis::cluster_with_nics(run, stated, file, options.own_floor), options);
  const std::string machine = analysis::words(cluster, stated);
  if (run.log->topology && run.log->topology->value != options.topology) {
    run.log->notes.push_back(
        fmt::format("imported with --topology {}, judged against {}", run.log->topology->value, machine));
  }
  run.log->topology.reset();
  run = analysis::judged_on_gpus(std::move(run), cluster);
  if (analysis::is_judged(run)) run.yardstick = Yardstick{YardstickKind::named, machine, {}};
  return run;
}

/// A run on GPUs by the machine that was given for it or stands in its log, and several launches in one by
/// that in their record; any other as it is.
Run judged(const RunOfFile& read, const JudgeOptions& options) {
  const Run& run = read.run;
  if (options.nics.nics > 0) return judged_with_nics(run, read.file, options);
  const std::string topology =
      options.topology.empty() && run.log && run.log->topology ? run.log->topology->value : options.topology;
  if (topology.empty()) {
    if (options.transport.empty() && options.fabric == analysis::Fabric{} && !options.own_floor)
      return options.files.size() > 1 && run.repeated && !run.log
                 ? judged_by_own_machine(run)
                 : analysis::unclear_without_machine(
                       analysis::judged_whichever_fits(run, read.file).value_or(run));
    throw usage_error("--topology", "there is no machine to judge the run by",
                      "give the name of a reference machine or a file that describes a node");
  }
  const topology::ResolvedMachine found =
      analysis::with_gpus_of_log(topology::resolve_machine(topology), run);
  const int nodes = node_count(run.ranks);
  const analysis::SoundMachine sound = analysis::sound_machine(found, nodes);
  const auto cluster_on = [&](const topology::ResolvedMachine& machine) {
    return as_stated(analysis::cluster_of_run(run, machine, read.file, options.own_floor), options);
  };
  Run result = analysis::judged_on_gpus(run, cluster_on(sound.machine));
  if (!analysis::is_judged(result)) return result;
  result.yardstick = sound.yardstick;
  const bool is_detected = sound.yardstick.kind == YardstickKind::detected;
  const bool is_slow = is_bad(machine_word(result));
  if (!is_slow && !is_detected) return result;
  const std::string findings = analysis::findings_on_the_path(
      found_groups(run, found), nodes,
      {sound.machine.first_host(), {is_detected ? sound.yardstick.machine : topology}},
      sound.machine.reference != nullptr);
  if (!is_slow) {
    if (!findings.empty())
      result.environment_notes.push_back("these rates do not show what was found on the machine. " +
                                         findings);
    return result;
  }
  analysis::explain_bad(result, findings);
  if (sound.yardstick.kind != YardstickKind::named && found.topology.hosts.size() == 1) {
    try {
      analysis::explain_bad(result, analysis::explained_loss(result, cluster_on(found)));
    } catch (const Error&) {
      return result;  // what was found cannot run the job at all, as with no port up: the findings say it
    }
  }
  return result;
}

/// A record holds one run, and so do a page and a picture.
bool holds_one_run(const std::vector<OutputDocument>& documents) {
  return std::ranges::any_of(documents, [](const OutputDocument& each) {
    return each.format == "json" || each.format == "html" || each.format == "junit" || is_picture(each);
  });
}

/// `apart`: the documents can hold several runs; `says_which`: and say of what is in them which run it is of.
std::vector<RunOfFile> judged_runs(const JudgeOptions& options, bool apart, bool says_which) {
  const bool joined = options.files.size() > 1 && !(apart && options.apart);
  std::vector<RunOfFile> runs;
  for (const std::string& file : options.files) {
    std::vector<RunOfFile> more = runs_from_file(options, file, apart && !joined && says_which);
    std::move(more.begin(), more.end(), std::back_inserter(runs));
  }
  if (joined) {
    const RunOfFile all = analysis::join_runs(std::move(runs));
    return {{all.file, judged(all, options)}};
  }
  for (RunOfFile& each : runs) each.run = judged(each, options);
  return runs;
}

/// The verdict in a few words.
std::string outcome_of(const RunOfFile& judged) {
  const bool unknown = !(judged.run.log && judged.run.log->topology) && !analysis::is_judged(judged.run);
  return fmt::format("{}: {}", judged.file,
                     !unknown || has_wrong_data(judged.run) ? analysis::verdict_summary(judged.run)
                     : is_machine_unknown(judged.run)       ? "UNCLEAR: no --topology"
                                                            : "no --topology, so no verdict");
}

/// A record, or what nccl-tests wrote with -J: no log.
bool is_json(const std::string& file) {
  std::ifstream input(file);
  std::string line;
  std::getline(input >> std::ws, line);
  // "[1,3]<stdout>", "[rank3]:" and a time in brackets begin lines of logs.
  const std::string_view first = trim(std::string_view(line).substr(line.starts_with('[') ? 1 : 0));
  return (first.empty() || first.starts_with('{')) && !line_in_json(line);
}

/// What `collbench doctor` finds in each of the files, of the pages with a finding; of a file that no check
/// can use, nothing.
std::vector<analysis::DoctorPage> log_findings(const std::vector<std::string>& files) {
  std::vector<analysis::DoctorPage> pages;
  for (const std::string& file : files) {
    if (file == "-" || is_json(file)) continue;
    try {
      for (analysis::DoctorPage& page : analysis::doctor_pages(topology::read_evidence(file), file))
        if (!page.diagnosis.findings.empty()) pages.push_back(std::move(page));
    } catch (const Error&) {
      continue;
    }
  }
  return pages;
}

/// What breaks jobs, in the log of one job, leaves none of its rows' machine SOUND. Of several jobs in a file
/// it may be of another one.
void note_what_breaks_jobs(std::vector<RunOfFile>& runs, const std::vector<analysis::DoctorPage>& pages) {
  for (const analysis::DoctorPage& page : pages) {
    std::vector<std::string_view> codes;
    for (const topology::DoctorFinding& each : page.diagnosis.findings)
      if (each.check.severity == topology::DoctorSeverity::broken) codes.push_back(each.check.code);
    if (codes.empty() || page.is_job) continue;
    for (RunOfFile& each : runs) {
      const bool is_of_it = each.file == page.machine || each.file.starts_with(page.machine + ", run ");
      if (!each.run.log || each.run.incident || !is_of_it) continue;
      each.run.incident.emplace();
      each.run.incident->sentence =
          fmt::format("the log shows what breaks jobs: {} (collbench doctor)", fmt::join(codes, ", "));
    }
  }
}

/// That, below what else is said of the logs: as text for a person, else as notes. `accept`: no machine whose
/// log shows what breaks jobs is one to keep.
void append_log_findings(std::vector<analysis::DoctorPage> pages, bool accept, CommandResult& result) {
  for (analysis::DoctorPage& page : pages) {
    for (const topology::DoctorFinding& each : page.diagnosis.findings) {
      const bool fails = accept && each.check.severity == topology::DoctorSeverity::broken;
      if (fails) result.status = worse(result.status, ExitStatus::low);
      if (fails || !result.is_for_a_person)
        result.notes.push_back(fmt::format("{}{}: {} ({}): {}", fails ? "failed: " : "", page.machine,
                                           each.check.code, doctor_severity_name(each.check.severity),
                                           each.check.reason));
    }
    if (!result.is_for_a_person) continue;
    page.machine = "collbench doctor, of " + page.machine;
    result.text += "\n" + analysis::findings_text(page, {});
  }
}

/// Why a log has nothing to judge may stand in the log.
Error with_log_findings(const Error& error, const std::vector<std::string>& files) {
  std::string what = error.what();
  const std::vector<analysis::DoctorPage> pages = log_findings(files);
  std::set<std::string_view> said;
  for (const analysis::DoctorPage& page : pages) {
    for (const topology::DoctorFinding& each : page.diagnosis.findings) {
      if (!said.insert(each.check.code).second) continue;  // by another file
      std::string_view reason = each.check.reason;
      if (reason.ends_with('.')) reason.remove_suffix(1);
      what += fmt::format("{} {} ({}{}): {}", said.size() == 1 ? ". The log shows" : ";", each.check.code,
                          doctor_severity_name(each.check.severity),
                          files.size() > 1 ? ", " + page.machine : "", reason);
    }
  }
  if (pages.empty()) return error;
  return {error.status(), error.where(), what,
          fmt::format("see collbench doctor {}; for a verdict {}", fmt::join(files, " "), error.next_step())};
}

/// The runs, and where a document shows them one below the other, the worst first.
std::vector<RunOfFile> judged_files(const JudgeOptions& options, bool apart, bool says_which) {
  try {
    std::vector<RunOfFile> runs = judged_runs(options, apart, says_which);
    if (!apart || !says_which) return runs;
    const auto is_worse = [](const RunOfFile& a, const RunOfFile& b) {
      const auto badness = [](const RunOfFile& each) {
        return std::pair(has_wrong_data(each.run), machine_word(each.run));
      };
      return badness(a) > badness(b);
    };
    // Each before the first that is better; equal ones stay as they are in the file.
    for (auto each = runs.begin(); each != runs.end(); ++each)
      std::rotate(std::upper_bound(runs.begin(), each, *each, is_worse), each, each + 1);
    return runs;
  } catch (const Error& error) {
    throw with_log_findings(error, options.files);
  }
}

/// Writes what is asked for of all files; status low when a run is BELOW or a FAULT. Throws Error (usage) for
/// a file that cannot be read as a run, for a topology that does not fit it, for runs of different machines,
/// and for files.
CommandResult judge(const JudgeOptions& options) {
  const auto documents = writable_documents(options.output, options.lab01.asked ? kLab01Page : "");
  const bool says_which = std::ranges::none_of(
      documents, [](const OutputDocument& each) { return each.format == "csv" || each.format == "prom"; });
  std::vector<RunOfFile> runs = judged_files(options, !holds_one_run(documents), says_which);
  const auto is_log = [](const RunOfFile& each) { return each.run.log.has_value(); };
  const bool has_unread_log = std::ranges::count(options.files, "-") > 0 && std::ranges::any_of(runs, is_log);
  if (has_unread_log && options.criteria.criteria.accept)
    throw usage_error("--accept", "the doctor reads the log, too, and standard input can be read once",
                      "give it as a file");
  std::vector<analysis::DoctorPage> pages = log_findings(options.files);
  note_what_breaks_jobs(runs, pages);
  const analysis::TextOptions wanted{.percentiles = options.percentiles,
                                     .criteria = options.criteria.criteria};
  CommandResult result;
  result.text = write_documents(documents, [&](const OutputDocument& document) {
    std::string text;
    for (const RunOfFile& each : runs)
      text += run_document(each.run, document, options.lab01, options.color, wanted);
    return text;
  });
  result.is_for_a_person = prints_text(documents);
  std::vector<std::string> outcomes;
  for (const RunOfFile& each : runs) outcomes.push_back(outcome_of(each));
  result.notes = written_notes(documents, fmt::format("{}", fmt::join(outcomes, "; ")));
  for (const RunOfFile& each : runs) {
    const bool says_nothing =
        !each.run.log && measures_gpus(each.run.backend) && !analysis::is_judged(each.run);
    if (says_nothing && result.notes.empty()) result.notes.push_back(outcome_of(each));
    const CriteriaOutcome outcome = criteria_outcome(each.run, options.criteria);
    result.status = worse(result.status, outcome.status);
    for (const std::string& note : outcome.notes)
      result.notes.push_back(runs.size() > 1 ? fmt::format("{}: {}", each.file, note) : note);
  }
  append_log_findings(std::move(pages), options.criteria.criteria.accept, result);
  return result;
}

void add_log_options(CLI::App& command, JudgeOptions& options) {
  const auto add = [&command](const std::string& names, const std::string& value, const std::string& help,
                              const std::function<void(const std::string&)>& take) {
    return add_option(command, "Of a log that does not say it", names, value, help, take);
  };
  constexpr int kMax = 1'000'000;
  add("--nodes", "N", "nodes of the job", number_into(options.log.job.nodes, "--nodes", 1, kMax));
  add("--ranks-per-node", "N", "ranks per node",
      number_into(options.log.job.ranks_per_node, "--ranks-per-node", 1, kMax));
  add("--operation", "NAME", "what was measured",
      [&options](const std::string& text) { options.log.operation = parse_operation(text, "--operation"); });
  add("--run", "N", "which run of a log that holds several", number_into(options.log.run, "--run", 1, kMax));
  add("--date", "UTC", "when the job began: 2026-11-20 or 2026-11-20T02:00:00Z",
      [&options](const std::string& text) {
        const auto time = analysis::utc_time(text);
        if (!time) {
          throw usage_error("--date", fmt::format("'{}' is no time", text),
                            "write 2026-11-20 or 2026-11-20T02:00:00Z, in UTC");
        }
        options.log.started = *time;
      });
  add("--host", "LIST", "the hosts of the job, one for each node",
      [&options](const std::string& text) { options.log.hosts = parse_hosts(text, "--host"); });
  constexpr int kMaxNics = 64;
  constexpr double kMaxGigabits = 10'000;
  CLI::Option* const nics = add("--nics", "N", "NICs of each node, where they are no reference machine's",
                                number_into(options.nics.nics, "--nics", 1, kMaxNics));
  CLI::Option* const rate =
      add("--nic-rate", "GBIT_S", "line rate of each of them, in Gb/s",
          number_into(options.nics.gigabits_per_second, "--nic-rate", 1.0, kMaxGigabits, "Gb/s"));
  nics->needs(rate);
  rate->needs(nics);
}

void add_judge(CLI::App& command, CommandFunction& chosen) {
  const auto options = std::make_shared<JudgeOptions>();
  command
      .add_option("files", options->files,
                  "of one machine: what nccl-tests (text, -J), osu_* or IMB-MPI1 wrote, or records; - for "
                  "stdin; a row of several is of so many launches")
      ->required()
      ->option_text("FILE...");
  const std::string theme = "Options";
  add_option(command, theme, "--topology,--expect", "NAME|FILE",
             "a reference machine, or a file that describes a node (as the record has it)",
             into(options->topology));
  add_option(
      command, theme, "--fabric", "WORDS",
      "what joins the nodes, as fat-tree,leaf=32,oversubscription=2 (docs/model.md)",
      [options](const std::string& text) { options->fabric = analysis::parse_fabric(text, "--fabric"); });
  add_option(command, theme, "--transport", "NAME",
             "what carried the bytes, where the log does not say: ib, roce, efa, tcpx, tcpxo, plugin, staged "
             "or sockets",
             into(options->transport));
  add_flag(command, theme, "--own-floor", options->own_floor,
           "take the latency from the run's own quickest row of at most 1 KiB");
  command.add_flag("--apart", options->apart)->group("");  // for what import did
  add_log_options(command, *options);
  add_output_options(command, theme, options->output, analysis::format_names(&analysis::ReportFormat::run),
                     "the judged run's record (JSON)");
  add_label_option(command, theme, options->label);
  add_percentiles_option(command, theme, options->percentiles);
  add_criteria_options(command, theme, options->criteria);
  add_plot_options(command, theme, options->output, analysis::run_chart_kinds());
  add_color_option(command, theme, options->color);
  add_lab01_options(command, theme, options->lab01);
  command.callback([options, &chosen] {
    options->lab01.topology = options->topology;
    chosen = [options] { return judge(*options); };
  });
}

}  // namespace

Subcommand judge_subcommand() {
  return {"judge", "a log of nccl-tests, OSU or IMB, or a record, against what its machine should give",
          "collbench judge all_reduce.log --topology hgx-h100   the verdict, and why", add_judge};
}

}  // namespace collbench::program
