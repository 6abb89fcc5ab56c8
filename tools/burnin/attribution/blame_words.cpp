#include "tools/burnin/attribution/blame_words.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "tools/burnin/attribution/pairs/pair_design.hpp"

namespace collbench::analysis {

BlameKind nic_kind(int rails, bool sends, bool receives) {
  return rails == 1          ? BlameKind::node
         : sends && receives ? BlameKind::nic
         : sends             ? BlameKind::nic_transmit
                             : BlameKind::nic_receive;
}

std::string technician_step(BlameKind kind, const std::string& who, std::optional<int> rail) {
  const std::string nic = fmt::format("NIC {} of {}", rail.value_or(0), who);
  switch (kind) {
    case BlameKind::nic_transmit:
    case BlameKind::nic_receive:
    case BlameKind::nic:
      return fmt::format(
          "on {}: mlxlink -d mlx5_{} -c -e, and lspci -vv for LnkSta; swap the cable of {}, then test again",
          who, rail.value_or(0), nic);
    case BlameKind::host:
    case BlameKind::node:
      return fmt::format(
          "measure {0} alone with two good hosts, and these with each other; if it is slow again, on {0}: "
          "collbench doctor, nvidia-smi -q -d PERFORMANCE, lspci -vv for LnkSta of all NICs, dmesg",
          who);
    case BlameKind::inside:
      return fmt::format(
          "on {}: collbench doctor and collbench probe; nvidia-smi -q -d PERFORMANCE,ECC and nvidia-smi "
          "nvlink -s where it has GPUs; what else runs there",
          who);
    case BlameKind::gpu:
      return fmt::format(
          "on {}: nvidia-smi -q -d PERFORMANCE,ECC,CLOCK,POWER, dmesg for Xids, fans and inlet temperature; "
          "reset or reseat the GPU and probe it again (collbench probe --only gpu) before it is sent back",
          who);
    case BlameKind::nvlink:
      return fmt::format(
          "on {}: nvidia-smi nvlink -s and -e, and Fabric in nvidia-smi -q; then the NVLink switches and "
          "cables of its domain",
          who);
    case BlameKind::busy:
      return fmt::format(
          "on {}: top, or ps -eo pcpu,pid,args --sort=-pcpu | head; end what keeps its cores busy and test "
          "it again",
          who);
    case BlameKind::group:
      return fmt::format(
          "measure halves of {}, and these crosswise; only then the uplinks and switches between them", who);
    case BlameKind::leaf:
    case BlameKind::rail:
      return fmt::format("look at the switch of rail {}: its ports' rate, error counters and uplinks",
                         rail.value_or(0));
    case BlameKind::trunk:
      return "look at the uplinks of both leaf switches: how many are up, and their error counters";
    case BlameKind::path:
      return fmt::format("ibtracert between {} names the links of a static route; measure the pair again",
                         who);
  }
  return {};
}

std::string measure_words(const Blame& blame) {
  if (!blame.measure.empty()) return blame.measure;
  return fmt::format("{:.2f} times the time of {}", blame.times_slower,
                     blame.against_expected ? "what is expected" : "its like");
}

void add_finding(std::vector<Blame>& blames, Blame blame, double log_time, double line,
                 const std::string& who) {
  blame.times_slower = std::exp(log_time);
  blame.line = std::exp(line);
  blame.next = technician_step(blame.kind, who, blame.rail);
  blames.push_back(std::move(blame));
}

std::string blame_words(const Blame& blame) {
  const std::string line = blame.measure.empty() ? fmt::format(" (line {:.2f})", blame.line) : "";
  const std::string measure = measure_words(blame) + line;
  // Who keeps a host busy does so whatever runs beside it.
  // A GPU is probed without others' links at any time.
  const bool is_seen_anyhow = blame.kind == BlameKind::busy || blame.kind == BlameKind::gpu;
  const std::string confirmed = is_seen_anyhow
                                    ? ""
                                    : fmt::format(", {}confirmed {}", blame.confirmed ? "" : "not ",
                                                  blame.by_exclusion ? "by exclusion and swap" : "alone");
  return fmt::format("{}, {}{}: {}", name(blame.kind), measure, confirmed, blame.evidence);
}

std::string name(Bucket bucket) {
  constexpr std::array<const char*, 4> kNames{"good", "suspect", "bad", "not tested"};
  return kNames.at(static_cast<std::size_t>(bucket));
}

std::string result_of(Bucket bucket) {
  constexpr std::array<const char*, 4> kResults{"PASSED", "INCOMPLETE", "FAILED", "INCOMPLETE"};
  return kResults.at(static_cast<std::size_t>(bucket));
}

std::string name(BlameKind kind) {
  constexpr std::array<const char*, 14> kNames{"NIC, transmit",
                                               "NIC, receive",
                                               "NIC",
                                               "host",
                                               "NIC or host",
                                               "leaf switch",
                                               "rail",
                                               "between leaves",
                                               "path",
                                               "host by itself",
                                               "busy host",
                                               "GPU",
                                               "NVLink between hosts",
                                               "between nodes of a group"};
  return kNames.at(static_cast<std::size_t>(kind));
}

bool is_path_not_alone(const Blame& blame) {
  return blame.kind == BlameKind::path && blame.alone_launches == 0 && blame.rail && blame.nodes.size() == 2;
}

std::vector<Blame> paths_that_were_not_alone(const Attribution& found) {
  std::vector<Blame> paths;
  std::ranges::copy_if(found.blames, std::back_inserter(paths), is_path_not_alone);
  return paths;
}

std::vector<Blame> with_such_paths_last(const Attribution& found) {
  std::vector<Blame> blames;
  std::vector<Blame> paths;
  std::partition_copy(found.blames.begin(), found.blames.end(), std::back_inserter(paths),
                      std::back_inserter(blames), is_path_not_alone);
  blames.insert(blames.end(), paths.begin(), paths.end());
  return blames;
}

std::string many_paths(const std::vector<Blame>& paths, const PairTable& table) {
  const std::vector<std::set<int>> met = partners_of(table);
  std::map<int, std::size_t> slow;
  for (const Blame& path : paths)
    for (const int node : path.nodes) ++slow[node];
  std::vector<std::string> with_most;
  for (const auto& [node, count] : slow)
    if (2 * count > met[slot_of(node)].size())
      with_most.push_back(
          fmt::format("{} with {} of {}", table.nodes[slot_of(node)], count, met[slot_of(node)].size()));
  constexpr std::size_t kNamed = 12;
  std::vector<std::string> named;
  for (std::size_t i = 0; i < std::min(kNamed, paths.size()); ++i) {
    const Blame& path = paths[i];
    named.push_back(fmt::format("{} and {}{} {}", table.nodes[slot_of(path.nodes[0])],
                                table.nodes[slot_of(path.nodes[1])],
                                table.rails > 1 ? fmt::format(" rail {}", *path.rail) : "",
                                percent_slower(std::log(path.times_slower))));
  }
  if (paths.size() > kNamed) named.push_back(fmt::format("{} more in --format json", paths.size() - kNamed));
  return fmt::format(
      "{} paths, none of them measured alone (line {}): {}. {}. Other traffic, or pairs that ran at the same "
      "time, slow pairs as well: which of these paths are slow by themselves is not known",
      paths.size(), percent_slower(std::log(paths.front().line)), fmt::join(named, "; "),
      with_most.empty() ? "Their nodes are not slow with most others"
                        : fmt::format("Slow with most others: {}", fmt::join(with_most, ", ")));
}

std::string blind_words(double blind_below) {
  if (blind_below <= kMaxBlind) return {};
  if (!std::isfinite(blind_below)) {
    return "not known: too few pairs gave times to tell what passes unseen; measure those that failed or "
           "were left out";
  }
  if (blind_below > kTooWide)
    return "not known: these times scatter too widely; measure again with nothing else running";
  return fmt::format(
      "not known: what takes less than {} passes unseen, by the scatter of these times; measure again with "
      "nothing else running",
      time_words(blind_below));
}

ReportLines said_once(const std::vector<Said>& all) {
  std::vector<std::pair<Said, std::vector<std::string>>> alike;
  for (const Said& said : all) {
    auto same =
        std::ranges::find_if(alike, [&said](const auto& each) { return each.first.what == said.what; });
    if (same == alike.end()) same = alike.insert(alike.end(), {said, {}});
    std::vector<std::string>& names = same->second;
    if (std::ranges::find(names, said.who) == names.end()) names.push_back(said.who);
  }
  ReportLines lines;
  for (const auto& [said, names] : alike) add(lines, said.tone, "{} {}", fmt::join(names, ", "), said.what);
  return lines;
}

}  // namespace collbench::analysis
