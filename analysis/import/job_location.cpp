#include "analysis/import/job_location.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "analysis/import/rank_count.hpp"
#include "base/error.hpp"
#include "base/text_input.hpp"

namespace collbench::analysis {
namespace {

constexpr std::string_view kGiveBoth = "give --nodes N --ranks-per-node N";

/// The hosts of the device list by rank; empty where a rank is missing, so that none is placed by guess.
std::vector<std::string> hosts_by_rank(const LogTable& table) {
  std::map<int, std::string> hosts;
  for (const LogDevice& device : table.devices) {
    hosts.emplace(device.rank, device.host);
    // A process lists its first device only; the others follow it on the same host.
    const int more = table.devices_per_process ? table.facts.gpus_per_process->value : 1;
    for (int next = 1; next < more; ++next) hosts.emplace(device.rank + next, device.host);
  }
  std::vector<std::string> result;
  for (const auto& [rank, host] : hosts) {
    if (std::cmp_not_equal(rank, result.size())) return {};
    result.push_back(host);
  }
  return result;
}

Identities on_hosts(const std::vector<std::string>& hosts) {
  Identities identities;
  std::map<std::string, int> nodes;
  std::map<std::string, int> locals;
  for (const std::string& host : hosts) {
    const int node = nodes.emplace(host, static_cast<int>(nodes.size())).first->second;
    identities.push_back({static_cast<int>(identities.size()), host, node, locals[host]++});
  }
  return identities;
}

Identities in_blocks(int ranks, int ranks_per_node) {
  Identities identities;
  for (int rank = 0; rank < ranks; ++rank) {
    identities.push_back({rank, "", rank / ranks_per_node, rank % ranks_per_node});
  }
  return identities;
}

Error contradiction(std::string where, int ranks, std::string_view who, const RankRange& range) {
  const std::string fits = range.least == range.most ? fmt::format("{}", range.least)
                                                     : fmt::format("{} to {}", range.least, range.most);
  return usage_error(std::move(where),
                     fmt::format("{} ranks by {}, but the table's busbw/algbw fits {}", ranks, who, fits),
                     "check the log, or give --nodes N --ranks-per-node N as they were");
}

/// The number of ranks, from whoever says it first, checked against the rates.
int count_ranks(const LogTable& table, const Operation& operation, const JobGiven& given, std::size_t listed,
                std::string_view file) {
  const int first_row = table.rows.front().line;
  const auto range = ranks_by_rates(operation, table.rows);
  if (!range) {
    throw usage_error(location(file, first_row),
                      fmt::format("the rows are not of {}: busbw/algbw and size/count fit no number of ranks",
                                  operation.name),
                      "give the right --operation, or check the log");
  }
  const auto checked = [&](int ranks, std::string where, std::string_view who) {
    if (!range->holds(ranks)) throw contradiction(std::move(where), ranks, who, *range);
    return ranks;
  };
  if (given.nodes && given.ranks_per_node) {
    constexpr int kMaxCount = RankRange::kMaxRanks;
    if (*given.nodes > kMaxCount / *given.ranks_per_node) {
      throw usage_error("--nodes", fmt::format("more than {} ranks", kMaxCount), "give fewer");
    }
    return checked(*given.nodes * *given.ranks_per_node, "--nodes", "--nodes × --ranks-per-node");
  }
  if (listed > 0 && range->holds(static_cast<int>(listed))) return static_cast<int>(listed);
  if (table.facts.ranks) {
    return checked(table.facts.ranks->value, location(file, table.facts.ranks->line), "NCCL's own line");
  }
  // A list that was cut short is told by the rates; one that is too long is a contradiction.
  if (range->least == range->most && std::cmp_less(listed, range->least)) return range->least;
  if (listed > 0) {
    throw contradiction(location(file, table.devices.front().line), static_cast<int>(listed),
                        "the device list", *range);
  }
  throw usage_error(std::string(file), "the log does not say how many ranks ran", std::string(kGiveBoth));
}

/// Nodes and ranks per node of ranks whose hosts are not listed.
void settle_nodes(LogTable& table, const JobGiven& given, int ranks, std::string_view file) {
  LogFacts& facts = table.facts;
  if (given.nodes) facts.nodes = {*given.nodes, 0};
  if (given.ranks_per_node) facts.ranks_per_node = {*given.ranks_per_node, 0};
  if (!facts.nodes && facts.ranks_per_node && ranks % facts.ranks_per_node->value == 0) {
    facts.nodes = {ranks / facts.ranks_per_node->value, facts.ranks_per_node->line};
  }
  if (!facts.nodes) return;
  const bool divides = ranks % facts.nodes->value == 0;
  if (!divides && (given.nodes || given.ranks_per_node)) {
    throw usage_error("--nodes",
                      fmt::format("{} ranks (as {} says) are not spread evenly over {} nodes", ranks,
                                  excerpt(file), facts.nodes->value),
                      "give the number of nodes that ran");
  }
  if (divides && (!facts.ranks_per_node || facts.ranks_per_node->value * facts.nodes->value != ranks)) {
    if (given.ranks_per_node) {
      throw usage_error("--ranks-per-node",
                        fmt::format("{} nodes × {} ranks are not the {} ranks of the log", facts.nodes->value,
                                    *given.ranks_per_node, ranks),
                        "give the numbers that ran");
    }
    facts.ranks_per_node = {ranks / facts.nodes->value, facts.nodes->line};
  }
  if (!divides) facts.ranks_per_node.reset();
}

}  // namespace

Identities job_location(LogTable& table, const Operation& operation, const JobGiven& given,
                        std::string_view file) {
  const std::vector<std::string> hosts = hosts_by_rank(table);
  const int ranks = count_ranks(table, operation, given, hosts.size(), file);
  LogFacts& facts = table.facts;
  const bool is_given = given.nodes && given.ranks_per_node;
  if (std::cmp_equal(hosts.size(), ranks)) {
    const Identities identities = on_hosts(hosts);
    const int line = table.devices.front().line;
    facts.ranks = {ranks, line};
    std::vector<std::string> names;
    for (const Identity& each : identities) {
      if (std::cmp_equal(each.node, names.size())) names.push_back(each.host);
    }
    facts.hosts = {names, line};
    facts.nodes = {static_cast<int>(names.size()), line};
    const std::vector<int> locals = ranks_per_node(identities);
    facts.ranks_per_node.reset();
    if (std::set<int>(locals.begin(), locals.end()).size() == 1)
      facts.ranks_per_node = {locals.front(), line};
    if ((given.nodes && *given.nodes != facts.nodes->value) ||
        (given.ranks_per_node &&
         (!facts.ranks_per_node || *given.ranks_per_node != facts.ranks_per_node->value))) {
      throw usage_error(location(file, line),
                        fmt::format("the device list has {} ranks on {} hosts, other than what was given",
                                    ranks, names.size()),
                        "leave out --nodes and --ranks-per-node");
    }
    return identities;
  }
  if (!facts.ranks || facts.ranks->value != ranks)
    facts.ranks = {ranks, is_given ? 0 : table.rows.front().line};
  settle_nodes(table, given, ranks, file);
  return in_blocks(ranks, facts.ranks_per_node ? facts.ranks_per_node->value : ranks);
}

}  // namespace collbench::analysis
