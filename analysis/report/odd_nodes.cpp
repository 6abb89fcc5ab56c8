#include "analysis/report/diff_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/text_sinks.hpp"
#include "topology/catalog/finding_kinds.hpp"

namespace collbench::analysis {
namespace {

using topology::Side;

bool is_fault(const PricedFinding& each) {
  return topology::finding_kind(each.finding.code).severity <= topology::Severity::degraded;
}

bool has_fault(const ComparedHosts& pair, Side side) {
  return std::ranges::any_of(pair.findings, [side](const PricedFinding& each) {
    return is_fault(each) && each.finding.side == side;
  });
}

/// "degraded nic-port-slower mlx5_2 (0000:09:00.0)"
std::string in_words(const PricedFinding& each) {
  const topology::FindingKind& kind = topology::finding_kind(each.finding.code);
  return fmt::format("{} {} {}", topology::severity_name(kind.severity), kind.code, each.finding.device);
}

std::vector<std::string> faults_in_words(const ComparedHosts& pair, Side side) {
  std::vector<std::string> words;
  for (const PricedFinding& each : pair.findings) {
    if (is_fault(each) && each.finding.side == side) words.push_back(in_words(each));
  }
  return words;
}

bool is_other_machine(const ComparedHosts& pair) { return DiffReport{{pair}}.has_other_machine(); }

bool disagrees(const ComparedHosts& pair) { return DiffReport{{pair}}.has_disagreement(); }

/// Faults of the machine that `pair` is compared with are faults to list where that is no more usual than the
/// other, and nobody said that it is as it should be.
bool lists_both_sides(const DiffReport& report) {
  return !report.usual.empty() && (!report.by_majority || !has_majority(report));
}

/// What stands at an odd node without a fault of its own: whose fault it is, or what is different.
std::vector<std::string> words_of_odd(const DiffReport& report, const ComparedHosts& pair) {
  const std::vector<std::string> faults = faults_in_words(pair, Side::a);
  if (!faults.empty())
    return {fmt::format("no fault; the majority ({} of {}) has: {}", report.usual.size(), report.nodes,
                        fmt::join(faults, "; "))};
  std::vector<std::string> words;
  for (const PricedFinding& each : pair.findings) words.push_back(in_words(each));
  return words;
}

/// The faults of the usual kind, each once, whichever pairs show them.
std::vector<std::string> faults_of_usual(const DiffReport& report) {
  std::vector<std::string> faults;
  for (const ComparedHosts& pair : report.pairs) {
    for (std::string& fault : faults_in_words(pair, Side::a)) {
      if (std::ranges::find(faults, fault) == faults.end()) faults.push_back(std::move(fault));
    }
  }
  return faults;
}

/// The nodes with a fault of their own, whether machines are two or many.
std::vector<OddNode> nodes_with_fault(const DiffReport& report) {
  std::vector<OddNode> nodes;
  for (const ComparedHosts& pair : report.pairs) {
    if (!has_fault(pair, Side::b)) continue;
    for (const std::string& host : pair.hosts) nodes.push_back({host, faults_in_words(pair, Side::b), true});
  }
  if (!lists_both_sides(report)) return nodes;
  const std::vector<std::string> faults = faults_of_usual(report);
  if (faults.empty()) return nodes;
  for (const std::string& host : report.usual) nodes.push_back({host, faults, true});
  return nodes;
}

void sort_by_host(std::vector<OddNode>& nodes) { std::ranges::sort(nodes, {}, &OddNode::host); }

/// A host's name without the number at its end, and that number with its leading zeros.
std::pair<std::string, std::string> split_number(const std::string& host) {
  const std::size_t last = host.find_last_not_of("0123456789");
  const std::size_t at = last == std::string::npos ? 0 : last + 1;
  constexpr std::size_t kMaxDigits = 9;
  return host.size() - at > kMaxDigits ? std::pair(host, std::string())
                                       : std::pair(host.substr(0, at), host.substr(at));
}

}  // namespace

bool has_majority(const DiffReport& report) { return 2 * report.usual.size() > report.nodes; }

std::vector<OddNode> odd_nodes(const DiffReport& report) {
  if (report.nodes == 0) return {};
  std::vector<OddNode> nodes = nodes_with_fault(report);
  for (const ComparedHosts& pair : report.pairs) {
    if (pair.findings.empty() || has_fault(pair, Side::b)) continue;
    if (!report.by_majority && !is_other_machine(pair) && !disagrees(pair)) continue;
    // Without a majority the faults stand at the nodes that have them.
    if (!has_majority(report) && has_fault(pair, Side::a)) continue;
    for (const std::string& host : pair.hosts) nodes.push_back({host, words_of_odd(report, pair), false});
  }
  sort_by_host(nodes);
  return nodes;
}

std::vector<std::string> faulty_nodes(const DiffReport& report) {
  std::vector<OddNode> nodes = nodes_with_fault(report);
  sort_by_host(nodes);
  std::vector<std::string> names;
  for (const OddNode& node : nodes) names.push_back(node.host);
  return names;
}

std::vector<std::string> unlisted_nodes(const DiffReport& report) {
  constexpr std::size_t kMaxListed = 6;
  const auto some = [](const std::vector<std::string>& names) {
    return topology::join_words(names, kMaxListed);
  };
  std::vector<std::string> lines;
  for (const OddNode& node : nodes_with_fault(report)) {
    if (!is_host_name(node.host))
      lines.push_back(fmt::format("not listed: {}: not the name of a host", node.host));
  }
  const bool both_sides = lists_both_sides(report);
  for (const ComparedHosts& pair : report.pairs) {
    const std::vector<std::string> faults = faults_in_words(pair, Side::a);
    if (!faults.empty() && !both_sides) {
      const std::string who = report.by_majority
                                  ? fmt::format("{} of {} machines", report.usual.size(), report.nodes)
                                  : some(pair.a);
      lines.push_back(
          fmt::format("not listed: {}: {}, which {} does not have: compare with a reference (collbench topo "
                      "diff REFERENCE MACHINE...)",
                      who, fmt::join(faults, "; "), some(pair.hosts)));
    } else if (!report.by_majority && is_other_machine(pair) && !has_fault(pair, Side::b)) {
      lines.push_back(fmt::format("not listed: {}: a different machine, without a fault", some(pair.hosts)));
    } else if (!report.by_majority && disagrees(pair) && !has_fault(pair, Side::b)) {
      lines.push_back(fmt::format("not listed: {}: its files disagree", some(pair.hosts)));
    } else if (report.by_majority && faults.empty() && !has_fault(pair, Side::b)) {
      lines.push_back(
          fmt::format("not listed: {}: different without a degraded or broken finding", some(pair.hosts)));
    }
  }
  return lines;
}

std::string slurm_node_list(std::vector<std::string> hosts) {
  std::erase_if(hosts, [](const std::string& host) { return !is_host_name(host); });
  std::ranges::sort(hosts);
  hosts.erase(std::unique(hosts.begin(), hosts.end()), hosts.end());
  std::map<std::pair<std::string, std::size_t>, std::vector<int>> numbers;  // by prefix and width
  std::vector<std::string> words;
  for (const std::string& host : hosts) {
    const auto [prefix, digits] = split_number(host);
    if (digits.empty()) {
      words.push_back(host);
    } else {
      numbers[{prefix, digits.size()}].push_back(std::stoi(digits));
    }
  }
  std::vector<std::string> lists;
  for (const auto& [key, all] : numbers) {
    const auto& [prefix, width] = key;
    std::vector<std::string> ranges;
    for (std::size_t i = 0; i < all.size();) {
      std::size_t last = i;
      while (last + 1 < all.size() && all[last + 1] == all[last] + 1) ++last;
      ranges.push_back(last == i ? fmt::format("{:0{}}", all[i], width)
                                 : fmt::format("{:0{}}-{:0{}}", all[i], width, all[last], width));
      i = last + 1;
    }
    const bool one = all.size() == 1;
    lists.push_back(one ? prefix + ranges.front() : fmt::format("{}[{}]", prefix, fmt::join(ranges, ",")));
  }
  lists.insert(lists.end(), words.begin(), words.end());
  return fmt::format("{}", fmt::join(lists, ","));
}

std::string no_slurm_list(const DiffReport& report) {
  return faulty_nodes(report).empty() ? "none: no node is known to have a fault"
                                      : "none: no node has the name of a host";
}

std::string report_hostfile(const DiffReport& report) {
  std::string text;
  for (const std::string& name : faulty_nodes(report)) {
    if (is_host_name(name)) text += name + "\n";
  }
  return text;
}

std::string report_slurm(const DiffReport& report) {
  const std::string list = slurm_node_list(faulty_nodes(report));
  return list.empty() ? list : list + "\n";
}

}  // namespace collbench::analysis
