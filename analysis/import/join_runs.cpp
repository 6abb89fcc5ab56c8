#include "analysis/import/import_log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "analysis/import/log_readers.hpp"
#include "analysis/report/launches.hpp"
#include "analysis/report/sections.hpp"
#include "analysis/states/machine_states.hpp"
#include "base/error.hpp"
#include "base/statistics.hpp"
#include "base/text_input.hpp"
#include "base/units.hpp"

namespace collbench::analysis {
namespace {

/// What runs that become one have to have in common; empty what a run does not say.
std::array<std::string, 6> machine_facts(const Run& run) {
  return {counted(run.ranks.size(), "rank"),
          run.log && !run.log->nodes ? "" : counted(node_count(run.ranks), "node"),
          std::string(name(run.backend)),
          gpu_model(run),
          run.log && run.log->topology ? run.log->topology->value : "",
          fmt::format("times that are the {} over ranks", name(run.time_reduction))};
}

void require_one_machine(const RunOfFile& first, const RunOfFile& other) {
  const auto expected = machine_facts(first.run);
  const auto found = machine_facts(other.run);
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (expected[i] == found[i] || expected[i].empty() || found[i].empty()) continue;
    throw usage_error(other.file, fmt::format("it is of {}, and {} of {}", found[i], first.file, expected[i]),
                      "give files of one machine and job size; judge others on their own");
  }
}

bool are_launches(const std::vector<RunOfFile>& runs) {
  const std::vector<Row>& rows = runs.front().run.rows;
  return std::ranges::all_of(runs, [&rows](const RunOfFile& each) {
    return !each.run.log &&
           std::equal(rows.begin(), rows.end(), each.run.rows.begin(), each.run.rows.end(),
                      [](const Row& a, const Row& b) { return a.measurement.key == b.measurement.key; });
  });
}

bool was_measured(const Measurement& measured) {
  return measured.unavailable.empty() && measured.seconds > 0;
}

/// The row once more: other launches of it, each with its time alone, which is the value in which they
/// differ.
void add_launches(Row& row, Row& again) {
  if (!was_measured(again.measurement)) return;
  if (!was_measured(row.measurement)) {
    row = std::move(again);
    return;
  }
  Measurement& measured = row.measurement;
  std::vector<double> times = times_of_launches(measured);
  const std::vector<double> more = times_of_launches(again.measurement);
  times.insert(times.end(), more.begin(), more.end());
  measured.launch_passes.assign(times.size(), 1);
  measured.pass_probes.clear();
  measured.seconds = median(times);
  measured.pass_seconds = std::move(times);
  measured.iterations += again.measurement.iterations;
  if (again.measurement.wrong_elements)
    measured.wrong_elements = measured.wrong_elements.value_or(0) + *again.measurement.wrong_elements;
  measured.interval.reset();
  if (const auto interval = median_interval(measured.pass_seconds))
    measured.interval = TimeInterval{interval->low, interval->high, interval->confidence, true};
}

/// What the logs say of one thing, where it is not the same.
template <class Value>
void note_difference(LogFacts& facts, const std::string& file, const char* what, const MaybeLogFact<Value>& a,
                     const MaybeLogFact<Value>& b) {
  if (a && b && a->value != b->value)
    facts.notes.push_back(fmt::format("{} says another {} than the first log", file, what));
}

/// That the launches of a row are of commands that differ in more than amounts.
void note_other_command(LogFacts& facts, const LogFacts& other) {
  const auto measured = [](const LogFacts& of) { return without_amounts(split_words(of.command->value)); };
  if (!facts.command || !other.command || measured(facts) == measured(other)) return;
  std::string note = fmt::format("{} ran another command, and its rows count as launches of the same: {}",
                                 other.file, excerpt(other.command->value));
  if (std::ranges::find(facts.notes, note) == facts.notes.end()) facts.notes.push_back(std::move(note));
}

void join_facts(LogFacts& facts, const LogFacts& other) {
  note_difference(facts, other.file, "version of NCCL", facts.nccl, other.nccl);
  note_difference(facts, other.file, "network", facts.network, other.network);
  note_difference(facts, other.file, "list of hosts", facts.hosts, other.hosts);
  facts.left_out.insert(facts.left_out.end(), other.left_out.begin(), other.left_out.end());
  facts.losses.insert(facts.losses.end(), other.losses.begin(), other.losses.end());
  facts.notes.insert(facts.notes.end(), other.notes.begin(), other.notes.end());
  facts.file += ", " + other.file;
}

void join(Run& joined, Run& other, std::map<RowKey, std::size_t>& rows) {
  for (Row& row : other.rows) {
    const auto [known, is_new] = rows.try_emplace(row.measurement.key, joined.rows.size());
    if (is_new) {
      joined.rows.push_back(std::move(row));
    } else {
      add_launches(joined.rows[known->second], row);
      if (joined.log && other.log) note_other_command(*joined.log, *other.log);
      const auto launches = joined.rows[known->second].measurement.launch_passes.size();
      joined.launches = std::max(joined.launches, static_cast<int>(launches));
    }
  }
  if (joined.log && other.log) join_facts(*joined.log, *other.log);
  joined.complete = joined.complete && other.complete;
  if (!joined.incident) joined.incident = other.incident;
}

}  // namespace

RunOfFile join_runs(std::vector<RunOfFile> runs) {
  RunOfFile joined = runs.front();
  if (runs.size() == 1) return joined;
  for (std::size_t i = 1; i < runs.size(); ++i) {
    require_one_machine(joined, runs[i]);
    joined.file += ", " + runs[i].file;
  }
  if (are_launches(runs)) {
    std::vector<Run> launches;
    for (RunOfFile& each : runs) launches.push_back(std::move(each.run));
    joined.run = merged_launches(launches);
    joined.run.complete = std::ranges::all_of(launches, &Run::complete);
    return joined;
  }
  std::map<RowKey, std::size_t> rows;
  for (std::size_t i = 0; i < joined.run.rows.size(); ++i)
    rows.try_emplace(joined.run.rows[i].measurement.key, i);
  for (std::size_t i = 1; i < runs.size(); ++i) join(joined.run, runs[i].run, rows);
  joined.run.repeated = joined.run.launches > 1;
  return joined;
}

}  // namespace collbench::analysis
