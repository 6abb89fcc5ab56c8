#include "src/run/outcome.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "analysis/report/sections.hpp"
#include "base/document/text_layout.hpp"
#include "base/text_sinks.hpp"
#include "src/cli/standard_streams.hpp"
#include "src/run/output_files.hpp"

namespace collbench::program {

namespace {

/// The first host whose rank received wrong elements; empty for none.
std::string host_with_wrong_data(const Run& run) {
  for (const Row& row : run.rows)
    if (!row.measurement.wrong.empty()) return row.measurement.wrong.front().host;
  return {};
}

/// The host of the first rank that the probe found late, or of the first of a slow pair; empty for none.
std::string host_of_straggler(const Run& run) {
  if (!run.rank_probe || run.rank_probe->findings.empty()) return {};
  const ProbeFinding& first = run.rank_probe->findings.front();
  if (first.ranks.empty()) return {};
  const auto rank = static_cast<std::size_t>(first.ranks.front());
  return rank < run.ranks.size() ? run.ranks[rank].host : std::string();
}

bool ran_out_of_time(const Run& run) {
  return std::ranges::any_of(run.rows, [](const Row& row) {
    return row.measurement.stopped && row.measurement.stopped->reason == StopReason::out_of_time;
  });
}

std::string on_host(const std::string& host) { return host.empty() ? "" : " on " + host; }

constexpr const char* kMoreTime = "give a longer --time, or smaller sizes";

/// Whether the run writes files beside its stream, which are there already when it is resumed.
bool writes_more_files(const RunOptions& options) {
  return std::ranges::any_of(options.documents,
                             [](const OutputDocument& each) { return !each.path.empty(); });
}

}  // namespace

ExitStatus criteria_status(const Run& run, const CriteriaOptions& criteria) {
  const CriteriaOutcome outcome = criteria_outcome(run, criteria);
  for (const std::string& note : outcome.notes) print_message("collbench: " + one_line(note));
  return outcome.status;
}

std::string kept_file(const RunOptions& options) {
  if (!options.stream_path.empty()) return options.stream_path;
  std::string record = record_file(options.documents);
  if (!record.empty()) return record;
  const auto table = std::ranges::find_if(options.documents, RecordFiles::rewrites);
  return table == options.documents.end() ? "" : table->path;
}

std::string kept_results(const RunOptions& options, bool begun) {
  if (!begun) return "nothing was measured yet: check the hosts and their links";
  if (!options.stream_path.empty()) {
    return fmt::format("run the same command with --resume {} in place of --stream{} to continue",
                       options.stream_path, writes_more_files(options) ? " and with --overwrite" : "");
  }
  const std::string file = kept_file(options);
  return file.empty() ? "next time, add --stream FILE to keep the results"
                      : fmt::format("results so far are saved in {}", file);
}

Error interruption(const RunOptions& options, const std::string& cause) {
  const std::string where = cause.empty() ? "interrupted" : "interrupted " + cause;
  std::vector<std::string> shown;
  std::vector<std::string> files;
  for (const OutputDocument& each : options.documents) {
    if (!each.path.empty()) files.push_back(each.path);
    if (each.path.empty() && shown.empty()) shown.emplace_back("shown above");
  }
  if (!files.empty()) shown.push_back(fmt::format("saved in {}", fmt::join(files, ", ")));
  return {ExitStatus::rank_lost, where, fmt::format("results so far are {}", fmt::join(shown, " and ")),
          files.empty() || !options.stream_path.empty() ? kept_results(options, true) : ""};
}

std::string left_out_line(const RowKey& row, const std::string& why) {
  return fmt::format("collbench: {}: {}; {}", operation(row.operation).name, why, kMoreTime);
}

Error nothing_ran(const std::vector<Measurement>& rows) {
  const Measurement& first = rows.front();
  const std::string what(operation(first.key.operation).name);
  const std::string why = "nothing could be measured: " + first.unavailable;
  if (first.stopped) return {ExitStatus::not_here, what, why, kMoreTime};
  const bool asked = first.key.algorithm != kLibraryChoice;
  return {ExitStatus::not_here, asked ? "--algo " + first.key.algorithm : what, why,
          asked ? "leave --algo out to let the library choose"
                : "give --ops that can run here, or start more ranks"};
}

ExitStatus outcome(const std::vector<Measurement>& rows) {
  if (std::ranges::any_of(rows, [](const Measurement& row) { return has_wrong_data(row); }))
    return ExitStatus::wrong_data;
  const auto none_ran =
      std::ranges::all_of(rows, [](const Measurement& row) { return !row.unavailable.empty(); });
  return none_ran ? ExitStatus::not_here : ExitStatus::ok;
}

std::string next_step(const Run& run, const std::string& record) {
  if (!run.complete || run.simulated || run.gpus_simulated) return {};
  if (const std::string host = host_with_wrong_data(run); !host.empty())
    return fmt::format("collbench doctor on {}, whose ranks received wrong data", host);
  if (is_bad(machine_word(run))) return analysis::next_step_by_verdict(run, nullptr);
  if (run.ranks.size() == 1) return "collbench launch: the command that starts more than one rank";
  // Where packets are lost, the notes say what to look at before any host.
  if (run.rank_probe && !run.rank_probe->findings.empty() && run.network_notes.empty())
    return fmt::format("collbench probe{}: whether its cores or its memory are slow by themselves",
                       on_host(host_of_straggler(run)));
  if (!run.load_notes.empty())
    return "collbench repeat -- THIS COMMAND: the median over launches, since other work disturbed this one";
  if (ran_out_of_time(run)) return "the same command with four times --time: more passes, narrower intervals";
  if (record.empty())
    return "the same command with -J run.json: collbench report, compare and judge read that record";
  return fmt::format("collbench report {} -o page.html: charts of this run; collbench compare {} OTHER.json",
                     record, record);
}

std::string next_step_text(const std::string& step, int columns) {
  if (step.empty()) return {};
  return wrap("next: " + step, std::max(columns, 80), "# ", "#   ");
}

}  // namespace collbench::program
