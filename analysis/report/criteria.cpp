#include "analysis/report/criteria.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "analysis/probe/siblings.hpp"
#include "analysis/report/diff_report.hpp"
#include "analysis/report/sections.hpp"
#include "analysis/stragglers/straggler_analysis.hpp"
#include "analysis/verdict/verdict.hpp"
#include "base/units.hpp"
#include "base/word_list.hpp"

namespace collbench::analysis {
namespace {

/// Something that fails, of no row or of those that are named.
void fail(RunCheck& check, std::string text, std::vector<std::size_t> rows = {}) {
  check.failures.push_back({.rows = std::move(rows), .text = std::move(text)});
}

/// What is wrong with the machine, and with no row of it.
void fail_machine(RunCheck& check, std::string text) {
  check.failures.push_back({.rows = {}, .text = std::move(text), .is_verdict = true});
}

/// Sizes are rounded down to whole elements on every rank: the row of 1 GB on 6 ranks is some bytes smaller.
constexpr double kRoundedDown = 0.001;

bool is_of_size(std::uint64_t size_bytes, const MinBusbw& minimum) {
  if (!minimum.size_bytes) return size_bytes >= kLargeSize;
  const auto wanted = static_cast<double>(*minimum.size_bytes);
  const auto size = static_cast<double>(size_bytes);
  return size <= wanted && wanted - size <= wanted * kRoundedDown;
}

std::string minimum_words(const MinBusbw& minimum) {
  return fmt::format("{} {}", operation(minimum.operation).name,
                     minimum.mean         ? "on average"
                     : minimum.size_bytes ? format_bytes(*minimum.size_bytes)
                                          : "of 64 MiB and more");
}

/// "nearest are 512 MiB and 2 GiB": which of `sizes` lie next to the one that was asked for.
std::string nearest_words(const std::set<std::uint64_t>& sizes, const MinBusbw& minimum) {
  if (sizes.empty()) return "no row of this operation has one";
  if (!minimum.size_bytes) return fmt::format("the largest is {}", format_bytes(*sizes.rbegin()));
  const auto above = sizes.lower_bound(*minimum.size_bytes);
  std::vector<std::string> nearest;
  if (above != sizes.begin()) nearest.push_back(format_bytes(*std::prev(above)));
  if (above != sizes.end()) nearest.push_back(format_bytes(*above));
  return fmt::format("nearest {} {}", nearest.size() == 1 ? "is" : "are", fmt::join(nearest, " and "));
}

void check_mean(const Run& run, const MinBusbw& minimum, RunCheck& check) {
  const std::optional<double> mean = mean_busbw(run, minimum.operation);
  if (mean && *mean >= minimum.bytes_per_second) return;
  fail(check, fmt::format("{}: {}, and the minimum is {}", minimum_words(minimum),
                          mean ? format_rate(*mean) : "no row has a bus bandwidth",
                          format_rate(minimum.bytes_per_second)));
}

void check_minimum(const Run& run, const MinBusbw& minimum, RunCheck& check) {
  if (run.gpus_simulated) {
    fail(check, fmt::format("{}: no minimum can be met: {}", minimum_words(minimum), kSimulatedGpus));
    return;
  }
  if (minimum.mean) return check_mean(run, minimum, check);
  bool any = false;
  std::set<std::uint64_t> sizes;
  for (std::size_t i = 0; i < run.rows.size(); ++i) {
    const RowKey& key = run.rows[i].measurement.key;
    if (key.operation != minimum.operation) continue;
    const auto busbw = rates(run.rows[i], static_cast<int>(run.ranks.size())).bus_bandwidth;
    if (!busbw) continue;
    sizes.insert(key.size_bytes);
    if (!is_of_size(key.size_bytes, minimum)) continue;
    any = true;
    if (*busbw >= minimum.bytes_per_second) continue;
    const double below = (1 - *busbw / minimum.bytes_per_second) * 100;
    fail(check,
         fmt::format("{}: busbw {} is {} % below the minimum of {}", format_row(key), format_rate(*busbw),
                     format_significant(below, 3, 6), format_rate(minimum.bytes_per_second)),
         {i});
  }
  if (any) return;
  fail(check, fmt::format("{}: a minimum of {} was asked for, and the run has no bus bandwidth of it: {}",
                          minimum_words(minimum), format_rate(minimum.bytes_per_second),
                          nearest_words(sizes, minimum)));
}

void check_data(const Run& run, RunCheck& check) {
  if (std::string words = wrong_beyond_rows_words(run); !words.empty())
    check.failures.push_back({.rows = {}, .text = std::move(words), .is_wrong_data = true});
  const auto add = [&check](const Measurement& measured, std::vector<std::size_t> rows,
                            const std::string& whose = "") {
    if (!has_wrong_data(measured)) return;
    std::vector<std::string> ranks;
    for (const WrongElements& each : measured.wrong)
      ranks.push_back(fmt::format("rank {} on {}", each.rank, each.host));
    check.failures.push_back(
        {.rows = std::move(rows),
         .text = fmt::format("{}{}{}", whose, wrong_data_words(measured),
                             ranks.empty() ? "" : fmt::format(" ({})", fmt::join(ranks, ", "))),
         .is_wrong_data = true});
  };
  for (const NodeGroup& group : run.node_groups) add(group.row.measurement, {}, name(group) + ": ");
  for (std::size_t i = 0; i < run.rows.size(); ++i) add(run.rows[i].measurement, {i});
  if (run.sustained) add(run.sustained->measurement, {}, "sustained: ");
}

void check_verdicts(const Run& run, bool fails_below, bool fails_unclear, RunCheck& check) {
  const auto fails = [&](VerdictWord word) {
    return is_bad(word) ? fails_below : fails_unclear && word == VerdictWord::unclear;
  };
  bool any_verdict = false;
  for (const SizeSeries& series : verdict_series_of(run.rows)) {
    const Row& last = *series.back();
    any_verdict = any_verdict || last.verdict.word != VerdictWord::none;
    if (!fails(last.verdict.word)) continue;
    RunFailure failure;
    for (std::size_t i = 0; i < run.rows.size(); ++i)
      if (in_series(run.rows[i], series)) failure.rows.push_back(i);
    failure.is_verdict = true;
    failure.text = fmt::format("{}: {}: {}", format_row(last.measurement.key), name(last.verdict.word),
                               last.verdict.explanation);
    check.failures.push_back(std::move(failure));
  }
  std::size_t nodes = 0;
  std::size_t unknown = 0;
  for (const NodeGroup& group : run.node_groups) {
    if (group.hosts.size() != 1) continue;  // pairs say whose a loss of the rows is, and fail nothing
    const Verdict& verdict = group.row.verdict;
    nodes += 1;
    unknown += verdict.word == VerdictWord::none;
    if (fails(verdict.word))
      fail_machine(check, fmt::format("{}: {}: {}", name(group), name(verdict.word), verdict.explanation));
  }
  if (run.sustained && fails(run.sustained->verdict.word))
    fail_machine(check, fmt::format("sustained {}: {}: {}", format_row(run.sustained->measurement.key),
                                    name(run.sustained->verdict.word), run.sustained->verdict.explanation));
  if (unknown > 0)
    check.not_known.push_back(fmt::format("below: {} of {} alone", unknown, counted(nodes, "node")));
  if (fails_unclear && check.failures.empty() && machine_word(run) == VerdictWord::unclear)
    fail(check,
         fmt::format("UNCLEAR: {}", is_machine_unknown(run) ? "the machine is unknown" : why_not_sound(run)));
  if (any_verdict) return;
  check.not_known.emplace_back(measures_gpus(run.backend)
                                   ? "below: no row has a verdict (collbench judge RECORD --topology NAME)"
                                   : "below: there is no verdict on host memory (--min-busbw gives a limit)");
}

bool has_sound(const Run& run, OperationId id) {
  return std::ranges::any_of(run.rows, [id](const Row& row) {
    return row.measurement.key.operation == id && row.verdict.word == VerdictWord::sound;
  });
}

/// What no operation between these ranks can show is not known; what one more operation would show fails.
void check_resources(const Run& run, RunCheck& check) {
  const bool has_best = has_sound(run, OperationId::all_gather) && has_sound(run, OperationId::send_recv);
  const std::vector<ResourceTest> tests = resource_tests(run);
  if (tests.empty()) check.not_known.emplace_back("untested: no operation is SOUND, so none tests a link");
  for (const ResourceTest& test : tests) {
    if (!test.is_untested()) continue;
    if (has_best) {
      check.not_known.push_back(
          fmt::format("untested: no operation between these ranks shows {}", test.hidden.text));
    } else {
      fail_machine(check,
                   fmt::format("not tested: these operations do not show {}; AllGather and SendRecv may",
                               test.hidden.text));
    }
  }
  if (node_count(run.ranks) == 1)
    check.not_known.emplace_back("untested: NICs and their PCIe links, which one node does not use");
}

/// How many ranks of each host have a GPU that made no product alone, and did not fail; a rank has one.
std::map<std::string, std::size_t> gpus_without_products(const Run& run) {
  std::map<std::string, std::size_t> missing;
  for (const ProbeRecord& probe : run.gpu_probes) {
    std::set<std::string> known = gpus_measured(probe, GpuWork::products);
    for (const ProbeFailure& failure : probe.failures) known.insert(failure.part);
    // "n1#0" is a node of host n1 that --node-map made.
    const auto ranks = static_cast<std::size_t>(std::ranges::count_if(run.ranks, [&](const Identity& rank) {
      return rank.host.substr(0, rank.host.find('#')) == probe.host;
    }));
    if (ranks > known.size()) missing[probe.host] = ranks - known.size();
  }
  return missing;
}

/// Of runs that collbench measured: logs say nothing of a GPU alone.
void check_gpus_alone(const Run& run, RunCheck& check) {
  if (run.log || run.simulated || run.gpus_simulated || !measures_gpus(run.backend)) return;
  if (run.gpu_probes.empty())
    check.not_known.emplace_back("each GPU alone (collbench probe --only gpu on each node)");
  for (GpuAlone& each : gpus_found_alone(run)) fail_machine(check, std::move(each.words));
  for (const auto& [host, missing] : gpus_without_products(run))
    check.not_known.push_back(
        fmt::format("each GPU alone: no products of {} of {}", counted(missing, "GPU"), host));
  if (const auto open = judge_probes(run.gpu_probes).not_judged; !open.empty())
    check.not_known.push_back("each GPU alone: not compared: " + join_first(open, 1, "; "));
  if (!run.sustained) check.not_known.emplace_back("sustained load: no operation was repeated alone");
}

/// What only who accepts a machine asks for.
void check_acceptance(const Run& run, RunCheck& check) {
  if (run.yardstick && run.yardstick->kind == YardstickKind::own)
    fail_machine(check,
                 "UNCLEAR: no reference machine is like this one, and a fault that every node shares would "
                 "not show; --expect or --topology names one");
  const auto is_checked_row = [](const Row& row) {
    return row.verdict.word == VerdictWord::none || row.measurement.wrong_elements.has_value();
  };
  const bool is_checked =
      std::ranges::all_of(run.rows, is_checked_row) &&
      std::ranges::all_of(run.node_groups, [&](const NodeGroup& group) { return is_checked_row(group.row); });
  for (const LogSkipped& each : run.log ? run.log->left_out : std::vector<LogSkipped>())
    if (each.what != kRowsOfNoBytes)
      fail_machine(check, fmt::format("the log has what was not judged: {}: {}, the first on line {}",
                                      each.what, each.count, each.line));
  for (const std::string& loss : run.log ? run.log->losses : std::vector<std::string>())
    fail_machine(check, "the log shows a loss: " + loss);
  if (!is_checked) fail_machine(check, "the data of some rows was not checked (-c 1)");
  check_gpus_alone(run, check);
}

void check_stragglers(const Run& run, RunCheck& check) {
  if (!run.rank_probe || run.rank_probe->repetitions == 0) {
    check.not_known.emplace_back("late: nobody probed this run for stragglers");
    return;
  }
  for (const ProbeFinding& finding : run.rank_probe->findings) fail(check, finding.text);
  for (const Row& row : run.rows) {
    if (!row.step) continue;
    for (const StepFinding& finding : row.step->findings)
      if (finding.cause != StepCause::link) fail(check, finding.text);
  }
  if (run.rank_probe->findings.empty() && run.rank_probe->repetitions < kProbesToClear) {
    check.not_known.push_back(fmt::format("late: {} of {} probes, too few to rule out a straggler",
                                          run.rank_probe->repetitions, kProbesToClear));
  }
}

void check_nodes(const Run& run, RunCheck& check) {
  if (!run.cluster) {
    check.not_known.emplace_back("degraded: the record does not know its machines");
    return;
  }
  const topology::ClusterTopology cluster = topology::read_cluster_record(*run.cluster, "the record");
  if (cluster.nodes.size() < 2) {
    check.not_known.emplace_back(
        "degraded: one node has no other to be compared with (collbench topo diff, --expect)");
    return;
  }
  const DiffReport found = cluster_findings(cluster, std::nullopt, false);
  const std::vector<std::string> faulty = faulty_nodes(found);
  std::vector<std::string> named;
  for (const OddNode& node : odd_nodes(found)) {
    if (!node.has_fault) continue;
    named.push_back(node.host);
    fail(check, fmt::format("{}: {}", node.host, fmt::join(node.findings, "; ")));
  }
  for (const std::string& host : faulty) {
    if (std::ranges::find(named, host) == named.end())
      fail(check, fmt::format("{}: degraded or broken (collbench topo diff says how)", host));
  }
}

void check_throttling(const Run& run, RunCheck& check) {
  const auto add = [&check](const Measurement& measured, std::vector<std::size_t> rows, const char* how) {
    if (measured.marks.empty()) return;
    std::vector<std::string> gpus;
    for (const RowMark& mark : measured.marks)
      gpus.push_back(fmt::format("{} of {}: {}", mark.gpu, mark.host, name(mark.trouble)));
    fail(check, fmt::format("{}{}: {}", how, format_row(measured.key), fmt::join(gpus, "; ")),
         std::move(rows));
  };
  for (std::size_t i = 0; i < run.rows.size(); ++i) add(run.rows[i].measurement, {i}, "");
  if (run.sustained) add(run.sustained->measurement, {}, "sustained ");
  if (!run.telemetry) check.not_known.emplace_back("throttled: the record has no telemetry of GPUs");
}

}  // namespace

std::optional<double> mean_busbw(const Run& run, OperationId operation) {
  double sum = 0;
  int rows = 0;
  for (const Row& row : run.rows) {
    if (row.measurement.key.operation != operation) continue;
    const auto busbw = rates(row, static_cast<int>(run.ranks.size())).bus_bandwidth;
    if (busbw) sum += *busbw, ++rows;
  }
  return rows > 0 ? std::optional(sum / rows) : std::nullopt;
}

bool Criteria::wants(FailureKind kind) const {
  return accept || std::ranges::find(fail_on, kind) != fail_on.end();
}

RunCheck check_run(const Run& run, const Criteria& criteria) {
  RunCheck check;
  check_data(run, check);
  for (const MinBusbw& minimum : criteria.min_busbw) check_minimum(run, minimum, check);
  if (criteria.wants(FailureKind::below) || criteria.wants(FailureKind::unclear))
    check_verdicts(run, criteria.wants(FailureKind::below),
                   criteria.wants(FailureKind::unclear) && !(criteria.accept && is_machine_unknown(run)),
                   check);
  if (criteria.wants(FailureKind::untested)) check_resources(run, check);
  if (criteria.wants(FailureKind::late)) check_stragglers(run, check);
  if (criteria.wants(FailureKind::degraded)) check_nodes(run, check);
  if (criteria.wants(FailureKind::throttled)) check_throttling(run, check);
  if (criteria.accept) check_acceptance(run, check);
  return check;
}

}  // namespace collbench::analysis
