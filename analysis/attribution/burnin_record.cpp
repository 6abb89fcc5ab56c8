#include "analysis/attribution/burnin_record.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "analysis/report/text_layout.hpp"
#include "base/json_reader.hpp"
#include "base/statistics.hpp"
#include "base/units.hpp"

namespace collbench::analysis {
namespace {

using BurninJson = nlohmann::json;

double gigabytes_per_second(const BurninRecord& record, const RailTime& time) {
  return record.bytes / time.seconds / kGigabyte;
}

/// "host2 (…), host3 (…)": why the pairs of a node failed, the first of them.
const PairFailure* failure_of(const BurninRecord& record, int node) {
  const auto found =
      std::find_if(record.failures.begin(), record.failures.end(),
                   [node](const PairFailure& failure) { return failure.a == node || failure.b == node; });
  return found == record.failures.end() ? nullptr : &*found;
}

std::vector<std::string> names_of(const BurninRecord& record, const Attribution& found, Bucket bucket) {
  std::vector<std::string> names;
  for (const NodeVerdict& node : found.nodes) {
    if (node.bucket == bucket) names.push_back(record.table.nodes[slot_of(node.node)]);
  }
  return names;
}

/// "rail 0: median 11.9 GB/s, slowest 5.9 (host2 to host0)".
std::string rail_line(const BurninRecord& record, int rail) {
  std::vector<double> rates;
  const RailTime* slowest = nullptr;
  for (const RailTime& time : record.table.times) {
    if (time.rail != rail || time.seconds <= 0) continue;
    rates.push_back(gigabytes_per_second(record, time));
    if (slowest == nullptr || time.seconds > slowest->seconds) slowest = &time;
  }
  if (rates.empty()) return fmt::format("rail {}: nothing measured", rail);
  return fmt::format("rail {}: {} directions, median {:.4g} GB/s, slowest {:.4g} ({} to {})", rail,
                     rates.size(), median(rates), gigabytes_per_second(record, *slowest),
                     record.table.nodes[slot_of(slowest->from)], record.table.nodes[slot_of(slowest->to)]);
}

/// Whom a node met with a time, by node and rail.
using PartnersByRail = std::map<std::pair<int, int>, std::set<int>>;

PartnersByRail partners_met(const BurninRecord& record) {
  PartnersByRail met;
  for (const RailTime& time : record.table.times) {
    if (time.seconds <= 0) continue;
    met[{time.from, time.rail}].insert(time.to);
    met[{time.to, time.rail}].insert(time.from);
  }
  return met;
}

/// A node most of whose pairs on a rail fail, where the rail works for others, is bad; of a failure that
/// neither end explains so, both are suspect. A node that answers on no rail stays not tested.
void judge_failures(const BurninRecord& record, Attribution& found) {
  const PartnersByRail met = partners_met(record);
  PartnersByRail failed;
  std::set<int> answers;
  std::set<int> rails;
  for (const auto& [key, partners] : met) {
    answers.insert(key.first);
    rails.insert(key.second);
  }
  for (const PairFailure& failure : record.failures) {
    failed[{failure.a, failure.rail}].insert(failure.b);
    failed[{failure.b, failure.rail}].insert(failure.a);
  }
  const auto times = [&](int node, int rail) {
    const auto at = met.find({node, rail});
    return at == met.end() ? 0 : at->second.size();
  };
  const auto explains = [&](int node, int rail) {
    return failed.at({node, rail}).size() > times(node, rail);
  };
  for (const PairFailure& failure : record.failures) {
    for (const int node : {failure.a, failure.b}) {
      NodeVerdict& verdict = found.nodes[slot_of(node)];
      const std::size_t gone = failed.at({node, failure.rail}).size();
      const std::string why = fmt::format("{} of {} pairs on rail {} gave no time: {}", gone,
                                          gone + times(node, failure.rail), failure.rail, failure.why);
      if (!answers.contains(node)) {
        verdict = {node, Bucket::not_tested, failure.why};
      } else if (!rails.contains(failure.rail)) {
        if (verdict.bucket != Bucket::bad) verdict = {node, Bucket::not_tested, why};
      } else if (explains(node, failure.rail)) {
        if (verdict.bucket != Bucket::bad) verdict = {node, Bucket::bad, why};
      } else if (!explains(node == failure.a ? failure.b : failure.a, failure.rail) &&
                 verdict.bucket == Bucket::good) {
        verdict = {node, Bucket::suspect, why};
      }
    }
  }
}

/// A node is good only if its fastest pair on each rail makes 95 % of what was expected.
void judge_expected(const BurninRecord& record, Attribution& found) {
  if (record.expected <= 0) return;
  constexpr double kShare = 0.95;
  std::map<std::pair<int, int>, double> best;
  for (const RailTime& time : record.table.times) {
    if (time.seconds <= 0) continue;
    for (const int node : {time.from, time.to}) {
      double& rate = best[{node, time.rail}];
      rate = std::max(rate, record.bytes / time.seconds);
    }
  }
  for (const auto& [key, rate] : best) {
    NodeVerdict& verdict = found.nodes[slot_of(key.first)];
    if (rate >= kShare * record.expected || verdict.bucket != Bucket::good) continue;
    verdict = {key.first, Bucket::suspect,
               fmt::format("its fastest pair on rail {} makes {:.4g} of the expected {:.4g} GB/s", key.second,
                           rate / kGigabyte, record.expected / kGigabyte)};
  }
}

/// Pairs of good nodes, two below one leaf switch and two across: what others' times alone are compared with.
PairRound reference_pairs(const PairTable& table, const std::vector<int>& good) {
  constexpr std::size_t kOfAClass = 2;
  std::array<PairRound, 2> classes;
  for (std::size_t i = 0; i < good.size(); ++i) {
    for (std::size_t k = i + 1; k < good.size(); ++k) {
      const bool is_across = !table.leaf_of_node.empty() &&
                             table.leaf_of_node[slot_of(good[i])] != table.leaf_of_node[slot_of(good[k])];
      PairRound& round = classes.at(is_across ? 1 : 0);
      if (round.size() < kOfAClass) round.emplace_back(good[i], good[k]);
    }
  }
  classes[0].insert(classes[0].end(), classes[1].begin(), classes[1].end());
  return classes[0];
}

BurninJson blame_json(const BurninRecord& record, const Blame& blame) {
  BurninJson nodes = BurninJson::array();
  for (const int node : blame.nodes) nodes.push_back(record.table.nodes[slot_of(node)]);
  return {{"kind", name(blame.kind)},
          {"nodes", nodes},
          {"rail", blame.rail ? BurninJson(*blame.rail) : BurninJson()},
          {"times_slower", blame.times_slower},
          {"line", blame.line},
          {"confirmed", blame.confirmed},
          {"evidence", blame.evidence},
          {"next", blame.next}};
}

}  // namespace

Attribution attribute(const BurninRecord& record) {
  Attribution found = attribute(record.table);
  judge_failures(record, found);
  judge_expected(record, found);
  return found;
}

bool lost_a_host(const BurninRecord& record, const Attribution& found) {
  return std::any_of(found.nodes.begin(), found.nodes.end(), [&](const NodeVerdict& node) {
    const bool has_time =
        std::any_of(record.table.times.begin(), record.table.times.end(), [&](const RailTime& time) {
          return time.seconds > 0 && (time.from == node.node || time.to == node.node);
        });
    return !has_time && failure_of(record, node.node) != nullptr;
  });
}

std::vector<PairFailure> failures_to_retry(const BurninRecord& record) {
  const PartnersByRail met = partners_met(record);
  std::vector<PairFailure> again;
  for (const PairFailure& failure : record.failures) {
    const bool both_answer =
        met.contains({failure.a, failure.rail}) && met.contains({failure.b, failure.rail});
    if (both_answer && again.size() < record.table.nodes.size()) again.push_back(failure);
  }
  return again;
}

std::vector<std::pair<PairRound, int>> retests_of(const BurninRecord& record) {
  const Attribution found = attribute(record);
  std::vector<int> good;
  for (const NodeVerdict& node : found.nodes) {
    if (node.bucket == Bucket::good) good.push_back(node.node);
  }
  std::vector<std::pair<PairRound, int>> rounds;
  std::set<int> rails;
  for (const Blame& blame : found.blames) {
    if (blame.confirmed || blame.nodes.empty() || blame.nodes.size() > 2 || blame.kind == BlameKind::leaf)
      continue;
    const bool is_path = blame.nodes.size() == 2;
    const auto planned = retest_rounds(
        is_path ? std::vector<int>{} : blame.nodes,
        is_path ? std::vector{std::pair(blame.nodes[0], blame.nodes[1])} : std::vector<std::pair<int, int>>{},
        good);
    for (const PairRound& round : planned) {
      for (int rail = 0; rail < record.table.rails; ++rail) {
        if (blame.rail && *blame.rail != rail) continue;
        rounds.emplace_back(round, rail);
        rails.insert(rail);
      }
    }
  }
  for (const int rail : rails) {
    for (const auto& pair : reference_pairs(record.table, good)) rounds.push_back({{pair}, rail});
  }
  return rounds;
}

std::string burnin_text(const BurninRecord& record, int width) {
  const Attribution found = attribute(record);
  std::string text;
  const auto add = [&](std::string_view line, std::string_view first = "", std::string_view rest = "  ") {
    text += wrap(line, width, first, rest);
    if (!text.ends_with('\n')) text += '\n';
  };
  constexpr std::array<Bucket, 4> kBuckets{Bucket::good, Bucket::suspect, Bucket::bad, Bucket::not_tested};
  std::vector<std::string> counts;
  for (const Bucket bucket : kBuckets)
    counts.push_back(fmt::format("{} {}", names_of(record, found, bucket).size(), name(bucket)));
  add(fmt::format("{}: {}", counted(record.table.nodes.size(), "node"), fmt::join(counts, ", ")));
  for (int rail = 0; rail < record.table.rails; ++rail) add(rail_line(record, rail));
  for (const NodeVerdict& node : found.nodes) {
    if (node.bucket == Bucket::good) continue;
    add(fmt::format("{} {}: {}", record.table.nodes[slot_of(node.node)], name(node.bucket), node.why));
  }
  if (!found.doubt.empty()) add("not known: " + found.doubt);
  if (record.expected <= 0)
    add("compared with the median of these nodes only; with --expected also with a known rate");
  if (!found.blames.empty()) text += '\n';
  for (const Blame& blame : found.blames) {
    add(fmt::format("{}, {:.2f} times the time of its like (line {:.2f}), {}: {}", name(blame.kind),
                    blame.times_slower, blame.line,
                    blame.confirmed ? "confirmed alone" : "not confirmed alone", blame.evidence));
    add("next: " + blame.next, "  ", "  ");
  }
  std::vector<std::string> drained = names_of(record, found, Bucket::bad);
  if (!drained.empty()) {
    add(
        fmt::format("to drain them (printed, not run): scontrol update NodeName={} State=DRAIN "
                    "Reason=collbench-burnin",
                    fmt::join(drained, ",")));
  }
  if (record.left_out > 0) {
    add(fmt::format("{} of {} pairs and rails were left out for want of time", record.left_out,
                    record.planned));
  }
  if (!record.failures.empty()) add(counted(record.failures.size(), "pair") + " gave no time:");
  constexpr std::size_t kShown = 8;
  for (std::size_t i = 0; i < std::min(kShown, record.failures.size()); ++i)
    add(fmt::format("rail {}: {}", record.failures[i].rail, record.failures[i].why), "  ", "    ");
  if (record.failures.size() > kShown)
    add(fmt::format("and {} more, in --format json", record.failures.size() - kShown), "  ");
  return text;
}

std::string burnin_json(const BurninRecord& record) {
  const Attribution found = attribute(record);
  BurninJson times = BurninJson::array();
  for (const RailTime& time : record.table.times)
    times.push_back({time.from, time.to, time.rail, time.seconds, time.alone});
  BurninJson failures = BurninJson::array();
  for (const PairFailure& failure : record.failures)
    failures.push_back({{"a", failure.a}, {"b", failure.b}, {"rail", failure.rail}, {"why", failure.why}});
  BurninJson findings = BurninJson::array();
  for (const Blame& blame : found.blames) findings.push_back(blame_json(record, blame));
  BurninJson buckets = BurninJson::array();
  for (const NodeVerdict& node : found.nodes) {
    buckets.push_back(
        {{"node", record.table.nodes[slot_of(node.node)]}, {"bucket", name(node.bucket)}, {"why", node.why}});
  }
  const BurninJson document{{"record", "collbench burn-in"},
                            {"nodes", record.table.nodes},
                            {"rails", record.table.rails},
                            {"leaf_of_node", record.table.leaf_of_node},
                            {"adaptive_routing", record.table.adaptive_routing},
                            {"bytes", record.bytes},
                            {"expected_bytes_per_second", record.expected},
                            {"doubt", found.doubt},
                            {"planned", record.planned},
                            {"left_out", record.left_out},
                            {"times", times},
                            {"failures", failures},
                            {"findings", findings},
                            {"buckets", buckets}};
  // What a launch said need not be UTF-8.
  return document.dump(2, ' ', false, BurninJson::error_handler_t::replace) + "\n";
}

BurninRecord burnin_from_json(std::string_view text, const std::string& file) {
  const BurninJson document = parse_json(text, file);
  const JsonReader root(document, file);
  if (root.at("record").text() != "collbench burn-in")
    throw root.at("record").expected("\"collbench burn-in\"");
  BurninRecord record;
  for (const JsonReader& node : root.at("nodes").items()) record.table.nodes.push_back(node.text());
  record.table.rails = root.at("rails").integer<int>(1);
  for (const JsonReader& leaf : root.at("leaf_of_node").items())
    record.table.leaf_of_node.push_back(leaf.integer<int>());
  record.table.adaptive_routing = root.at("adaptive_routing").boolean();
  record.bytes = root.at("bytes").number();
  if (const auto expected = root.find("expected_bytes_per_second")) record.expected = expected->number();
  record.planned = root.at("planned").integer<int>();
  record.left_out = root.at("left_out").integer<int>();
  const int nodes = static_cast<int>(record.table.nodes.size());
  const auto below = [](const JsonReader& value, int bound) {
    const int found = value.integer<int>();
    if (found >= bound) throw value.expected(fmt::format("a number below {}", bound));
    return found;
  };
  if (!record.table.leaf_of_node.empty() && std::cmp_not_equal(record.table.leaf_of_node.size(), nodes))
    throw root.at("leaf_of_node").expected("a leaf for each node");
  for (const JsonReader& time : root.at("times").items()) {
    const std::vector<JsonReader> cells = time.items();
    if (cells.size() != 5) throw time.expected("from, to, rail, seconds, alone");
    record.table.times.push_back({below(cells[0], nodes), below(cells[1], nodes),
                                  below(cells[2], record.table.rails), cells[3].number(),
                                  cells[4].boolean()});
  }
  for (const JsonReader& failure : root.at("failures").items()) {
    record.failures.push_back({below(failure.at("a"), nodes), below(failure.at("b"), nodes),
                               below(failure.at("rail"), record.table.rails), failure.at("why").text()});
  }
  return record;
}

std::string burnin_csv(const BurninRecord& record) {
  std::string text = "from,to,rail,gigabytes_per_second,alone\n";
  for (const RailTime& time : record.table.times) {
    text += fmt::format("{},{},{},{:.6g},{}\n", record.table.nodes[slot_of(time.from)],
                        record.table.nodes[slot_of(time.to)], time.rail,
                        time.seconds > 0 ? gigabytes_per_second(record, time) : 0, time.alone ? 1 : 0);
  }
  return text;
}

std::string good_nodes(const BurninRecord& record, std::string_view separator) {
  return fmt::format("{}\n", fmt::join(names_of(record, attribute(record), Bucket::good), separator));
}

}  // namespace collbench::analysis
