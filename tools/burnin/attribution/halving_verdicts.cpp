#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "base/units.hpp"
#include "tools/burnin/attribution/blame_words.hpp"
#include "tools/burnin/attribution/halving.hpp"
#include "tools/burnin/attribution/pairs/pair_elimination.hpp"

// What halving says of nodes and paths, and what it took.

namespace collbench::analysis {
namespace {

BlameKind kind_of(const BurninRecord& record, const HalvingSuspect& suspect) {
  if (suspect.over_nvlink) return suspect.over_network ? BlameKind::host : BlameKind::nvlink;
  const int rails = record.table.rails;
  // Slow with all of them at once, and on none by itself, is what they have in common.
  if (rails > 1 &&
      (std::cmp_equal(suspect.rails.size(), rails) || std::cmp_equal(suspect.working_rails.size(), rails)))
    return BlameKind::host;
  return suspect.rails.empty() ? BlameKind::node : BlameKind::nic;
}

void judge_suspect(const BurninRecord& record, const HalvingSuspect& suspect, Attribution& found) {
  NodeVerdict& verdict = found.nodes[slot_of(suspect.node)];
  const std::string& host = record.table.nodes[slot_of(suspect.node)];
  if (!suspect.why.empty() && !suspect.works_alone && suspect.working_rails.empty()) {
    verdict = {suspect.node, Bucket::not_tested, suspect.why};
    return;
  }
  const bool is_inside = std::ranges::any_of(found.blames, [&](const Blame& blame) {
    return blame.nodes == std::vector{suspect.node} &&
           (blame.kind == BlameKind::inside || blame.kind == BlameKind::gpu);
  });
  if (is_inside) return;  // what it lacks by itself, its groups lack too
  const bool is_confirmed = suspect.swapped && suspect.excluded;
  const BlameKind kind = kind_of(record, suspect);
  const Blame blame{.kind = kind,
                    .nodes = {suspect.node},
                    .against_expected = suspect.line <= 0,
                    .measure = !suspect.why.empty() ? "gives no result" : "",
                    .confirmed = is_confirmed,
                    .by_exclusion = true,
                    .evidence = fmt::format("{}: {}", host, suspect.evidence)};
  std::vector<Blame> blames(kind == BlameKind::nic ? suspect.rails.size() : 1, blame);
  for (std::size_t i = 0; i < blames.size(); ++i) {
    if (kind == BlameKind::nic) blames[i].rail = suspect.rails[i];
    add_finding(found.blames, std::move(blames[i]), suspect.log_time, suspect.line, host);
  }
  if (verdict.bucket == Bucket::good || verdict.bucket == Bucket::not_tested)
    verdict = {suspect.node, is_confirmed ? Bucket::bad : Bucket::suspect, blame.evidence};
}

std::string cost_words(const HalvingCost& cost) {
  return fmt::format("{} one after the other, {} in all, {}", counted(cost.rounds, "round"),
                     counted(cost.launches, "launch"), format_seconds(cost.seconds));
}

/// Of a node that pairs say nothing of.
NodeVerdict verdict_of(const BurninRecord& record, const Halving& halving, int node) {
  const bool is_well = std::ranges::all_of(
      halving.well, [node](const auto& well) { return std::ranges::binary_search(well, node); });
  if (!works_somewhere(record, BurninPhase::halving))
    return {node, Bucket::not_tested, "no launch of phase halving worked"};
  if (halving.unclear.contains(node))
    return {node, Bucket::not_tested,
            "this design cannot tell: fewer than four groups are alike, or their rates scatter too much, and "
            "no well host is there to be put beside it"};
  if (is_well) return {node, Bucket::good, ""};
  return {node, Bucket::not_tested, "phase halving ended before it was told from its group"};
}

void add_doubt(const std::string& words, Attribution& found) {
  found.doubt += found.doubt.empty() ? words : "; " + words;
}

void judge_path(const BurninRecord& record, const HalvingPath& path, Attribution& found) {
  if (!path.confirmed) {
    add_doubt(fmt::format("whether a path is slow, or other traffic slowed it: {}; alone it was not slower "
                          "each time than groups like it",
                          path.evidence),
              found);
    return;
  }
  add_finding(
      found.blames,
      {.kind = path.across              ? BlameKind::trunk
               : path.nodes.size() == 2 ? BlameKind::path
                                        : BlameKind::group,
       .nodes = path.nodes,
       .against_expected = path.line <= 0,
       .confirmed = true,
       .evidence = fmt::format("{}{}, again each time with nothing beside it, and each part of it is well",
                               path.over_nvlink ? "over NVLink: " : "", path.evidence)},
      path.log_time, path.line, fmt::format("{}", fmt::join(names_of(record, path.nodes), ", ")));
}

}  // namespace

bool was_halved(const BurninRecord& record) {
  const auto is_halving = [](const auto& each) { return each.launch.phase == BurninPhase::halving; };
  return std::ranges::any_of(record.groups, is_halving) ||
         std::ranges::any_of(record.group_failures, is_halving);
}

void judge_halving(const BurninRecord& record, Attribution& found) {
  if (!was_halved(record)) return;
  const Halving halving = halving_of(record);
  if (record.table.times.empty() && record.failures.empty()) {
    found.blind_below = std::max(kMatters, halving.blind_below);
    for (NodeVerdict& verdict : found.nodes)
      if (verdict.bucket == Bucket::good || verdict.bucket == Bucket::not_tested)
        verdict = verdict_of(record, halving, verdict.node);
  }
  for (const HalvingSuspect& suspect : halving.suspects) judge_suspect(record, suspect, found);
  if (halving.across_unclear)
    add_doubt("whether a path between domains is slow, for groups of two domains scatter too much", found);
  for (const HalvingPath& path : halving.paths) judge_path(record, path, found);
}

std::string prediction_words(const BurninRecord& record) {
  const std::string least =
      record.halving_least.rounds == 0 || record.halving_least == record.halving_predicted
          ? ""
          : fmt::format("; if what was slow is not slow again {}", cost_words(record.halving_least));
  return fmt::format(
      "predicted after the first launches, which took up to {} to start: {}{}; each group that is slow "
      "though its parts are well takes 1 to {} launches more, with nothing beside, and if it stays slow up "
      "to 4 for each time that it is halved",
      format_seconds(record.start_seconds), cost_words(record.halving_predicted), least, 2 * kPathRepeats);
}

std::string halving_words(const BurninRecord& record) {
  if (record.halving.rounds == 0) return {};
  return fmt::format("halving took {}{}", cost_words(record.halving),
                     record.halving_predicted.rounds == 0 ? "" : "; " + prediction_words(record));
}

}  // namespace collbench::analysis
