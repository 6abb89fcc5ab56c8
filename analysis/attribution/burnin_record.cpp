#include "analysis/attribution/burnin_record.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "analysis/attribution/blame_words.hpp"
#include "analysis/attribution/failure_verdicts.hpp"
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

/// A node is good only if its fastest pair on each rail makes 95 % of what was expected. A rail on which
/// nobody does, while somebody does on others, is the rail's own fault and no node's.
void judge_expected(const BurninRecord& record, Attribution& found) {
  if (record.expected <= 0) return;
  constexpr double kShare = 0.95;
  std::map<int, std::map<int, double>> best;  // by rail, then node
  for (const RailTime& time : record.table.times) {
    if (time.seconds <= 0) continue;
    for (const int node : {time.from, time.to}) {
      double& rate = best[time.rail][node];
      rate = std::max(rate, record.bytes / time.seconds);
    }
  }
  const auto fastest = [](const std::map<int, double>& rates) {
    return std::max_element(rates.begin(), rates.end(),
                            [](const auto& a, const auto& b) { return a.second < b.second; })
        ->second;
  };
  const double needed = kShare * record.expected;
  const bool some_rail_is_fine =
      std::any_of(best.begin(), best.end(), [&](const auto& rail) { return fastest(rail.second) >= needed; });
  for (const auto& [rail, rates] : best) {
    const double most = fastest(rates);
    if (most < needed && some_rail_is_fine) {
      const bool is_named = std::any_of(found.blames.begin(), found.blames.end(), [&](const Blame& blame) {
        return blame.kind == BlameKind::rail && blame.rail == rail;
      });
      if (is_named) continue;
      found.blames.push_back(
          {.kind = BlameKind::rail,
           .rail = rail,
           .times_slower = record.expected / most,
           .line = 1 / kShare,
           .against_expected = true,
           .evidence = fmt::format("the fastest pair of rail {} makes {:.4g} of the expected "
                                   "{:.4g} GB/s, and other rails make it",
                                   rail, most / kGigabyte, record.expected / kGigabyte),
           .next = technician_step(BlameKind::rail, "", rail)});
      continue;
    }
    for (const auto& [node, rate] : rates) {
      NodeVerdict& verdict = found.nodes[slot_of(node)];
      if (rate >= needed || verdict.bucket != Bucket::good) continue;
      verdict = {node, Bucket::suspect,
                 fmt::format("its fastest pair on rail {} makes {:.4g} of the expected {:.4g} GB/s", rail,
                             rate / kGigabyte, record.expected / kGigabyte)};
    }
  }
}

/// Why nobody's all-clear is one: the log of time that passes unseen is more than kMaxBlind. Empty: it is
/// not.
std::string blind_words(double blind_below) {
  if (blind_below <= kMaxBlind) return {};
  if (!std::isfinite(blind_below)) {
    return "not known: too few pairs gave times to tell what passes unseen; measure those that failed or "
           "were left out";
  }
  return fmt::format(
      "not known: what costs less than {} passes unseen, by the scatter of these times; measure again with "
      "nothing else running",
      percent_slower(blind_below));
}

/// What the times, the failures and `expected` say, however much the times scatter.
Attribution burnin_findings(const BurninRecord& record) {
  Attribution found = attribute(record.table);
  judge_failures(record, found);
  judge_expected(record, found);
  return found;
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

/// A line for each node that is not good, one for all whom the scatter holds back, and what is not known.
std::vector<std::string> node_lines(const BurninRecord& record, const Attribution& found) {
  const std::string blind = blind_words(found.blind_below);
  std::vector<std::string> lines;
  std::vector<std::string> held_back;
  for (const NodeVerdict& node : found.nodes) {
    const std::string& host = record.table.nodes[slot_of(node.node)];
    if (node.bucket == Bucket::good) continue;
    if (node.why == blind)
      held_back.push_back(host);
    else
      lines.push_back(fmt::format("{} {}: {}", host, name(node.bucket), node.why));
  }
  if (!found.doubt.empty()) lines.push_back("not known: " + found.doubt);
  if (!held_back.empty()) {
    lines.push_back(fmt::format("{} {}: {}", fmt::join(held_back, ", "), name(Bucket::suspect), blind));
  } else if (std::isfinite(found.blind_below)) {
    lines.push_back(!blind.empty()
                        ? blind
                        : fmt::format("what costs less than {} passes unseen, by the scatter of these times",
                                      percent_slower(found.blind_below)));
  }
  return lines;
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
  Attribution found = burnin_findings(record);
  const std::string blind = blind_words(found.blind_below);
  for (NodeVerdict& node : found.nodes) {
    if (!blind.empty() && node.bucket == Bucket::good) node = {node.node, Bucket::suspect, blind};
  }
  return found;
}

std::vector<std::pair<PairRound, int>> retests_of(const BurninRecord& record) {
  const Attribution found = burnin_findings(record);  // scatter is no reason against a partner
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
  for (const std::string& line : node_lines(record, found)) add(line);
  if (record.expected <= 0)
    add("compared with the median of these nodes only; with --expected also with a known rate");
  if (!found.blames.empty()) text += '\n';
  for (const Blame& blame : found.blames) {
    add(fmt::format("{}, {:.2f} times the time of {} (line {:.2f}), {}: {}", name(blame.kind),
                    blame.times_slower, blame.against_expected ? "what is expected" : "its like", blame.line,
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
  if (record.retests_left_out > 0) {
    add(
        fmt::format("{} of whoever failed or is suspected left out for want of time; --resume without --time "
                    "makes up for them",
                    counted(static_cast<std::size_t>(record.retests_left_out), "retest")));
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
    failures.push_back({{"a", failure.a},
                        {"b", failure.b},
                        {"rail", failure.rail},
                        {"why", failure.why},
                        {"alone", failure.alone}});
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
                            {"unseen_below_times", std::exp(found.blind_below)},
                            {"planned", record.planned},
                            {"left_out", record.left_out},
                            {"retests_left_out", record.retests_left_out},
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
    if (const auto alone = failure.find("alone")) record.failures.back().alone = alone->boolean();
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
