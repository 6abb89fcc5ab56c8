#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "analysis/import/log_readers.hpp"
#include "base/error.hpp"
#include "base/text_input.hpp"
#include "base/text_sinks.hpp"

namespace collbench::analysis {
namespace {

struct FactorRange {
  double least = 0;
  double most = 2;
};

/// busbw / algbw between what the printed digits allow, narrowed by one row's half.
void narrow(FactorRange& range, const LogHalf& half) {
  const PrintedNumber bus = half.bus_bandwidth;
  const PrintedNumber algorithm = half.algorithm_bandwidth;
  // A factor is known to be at most 2, so what is printed as 0.00 says nothing.
  if (!std::isfinite(bus.half_unit) || algorithm.value <= algorithm.half_unit) return;
  range.least = std::max(range.least, (bus.value - bus.half_unit) / (algorithm.value + algorithm.half_unit));
  range.most = std::min(range.most, (bus.value + bus.half_unit) / (algorithm.value - algorithm.half_unit));
}

/// The p for which others(p) = (p − 1)/p lies in the range.
std::optional<RankRange> ranks_of(double min_others, double max_others) {
  constexpr double kRounding = 1e-9;
  RankRange ranks;
  if (max_others < 0 || min_others >= 1) return std::nullopt;
  if (min_others > 0) {
    const double least = std::ceil(1 / (1 - min_others) - kRounding);
    if (least > RankRange::kMaxRanks) return std::nullopt;
    ranks.least = static_cast<int>(least);
  }
  if (max_others < 1) {
    const double most = std::floor(1 / (1 - max_others) + kRounding);
    if (most < RankRange::kMaxRanks) ranks.most = static_cast<int>(most);
  }
  if (ranks.least > ranks.most) return std::nullopt;
  return ranks;
}

/// As nccl-tests prints it, also of HyperCube.
bool size_is_total(const Operation& operation) {
  return operation.size_meaning == SizeMeaning::total || operation.id == OperationId::hypercube;
}

constexpr std::string_view kGiveBoth = "give --nodes N --ranks-per-node N";

/// Two ranks on one GPU of one host, as the list reads: hosts that share a name (containers, or names that
/// somebody replaced), or ranks that do share it. Null where no two are.
const LogDevice* device_of_two_ranks(const LogTable& table) {
  std::set<std::pair<std::string, std::string>> slots;
  for (const LogDevice& device : table.devices) {
    if (!device.slot.empty() && !slots.emplace(device.host, device.slot).second) return &device;
  }
  return nullptr;
}

/// The first that is on what cannot be the name of a host; null where none is.
const LogDevice* device_of_no_host(const LogTable& table) {
  const auto found = std::ranges::find_if(table.devices, [](const LogDevice& device) {
    return !device.host.empty() && !is_host_name(device.host);
  });
  return found == table.devices.end() ? nullptr : &*found;
}

/// The hosts of the device list by rank; empty where a rank or its host is missing, so that none is placed by
/// guess.
std::vector<std::string> hosts_by_rank(const LogTable& table) {
  std::map<int, std::string> hosts;
  for (const LogDevice& device : table.devices) {
    if (device.host.empty()) return {};
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
                     "check the log, or give --nodes N --ranks-per-node N as it ran");
}

/// Of rows that fit no number of ranks: why.
Error rows_fit_nothing(const LogTable& table, const Operation& operation, std::string_view file) {
  const std::string where = location(file, table.rows.front().line);
  if (const std::vector<int> others = lines_of_other_jobs(operation, table.rows); !others.empty())
    return rows_of_several_jobs(where, others);
  std::vector<std::string_view> fitting;
  for (const Operation& other : operations())
    if (other.has_bandwidth && ranks_by_rates(other, table.rows)) fitting.push_back(other.option);
  return usage_error(
      where,
      fmt::format("the rows are not from {}: busbw/algbw and size/count fit no number of ranks",
                  operation.name),
      fitting.empty() ? "give the right --operation, or check the log"
                      : fmt::format("they fit --operation {}; or check the log", fmt::join(fitting, " or ")));
}

/// The number of ranks, from whoever says it first, checked against the rates.
int count_ranks(const LogTable& table, const Operation& operation, const JobGiven& given, std::size_t listed,
                std::string_view file) {
  const auto range = ranks_by_rates(operation, table.rows);
  if (!range) throw rows_fit_nothing(table, operation, file);
  const auto checked = [&](int ranks, std::string where, std::string_view who) {
    if (!range->contains(ranks)) throw contradiction(std::move(where), ranks, who, *range);
    return ranks;
  };
  if (given.nodes && given.ranks_per_node) {
    constexpr int kMaxCount = RankRange::kMaxRanks;
    if (*given.nodes > kMaxCount / *given.ranks_per_node) {
      throw usage_error("--nodes", fmt::format("more than {} ranks", kMaxCount), "give fewer");
    }
    return checked(*given.nodes * *given.ranks_per_node, "--nodes", "--nodes × --ranks-per-node");
  }
  if (std::ranges::any_of(table.devices, [](const LogDevice& each) { return each.group > 0; }))
    throw usage_error(
        location(file, table.devices.front().line),
        fmt::format(
            "the {} ranks ran as several groups at once, each a communicator of its own (NCCL_TESTS_SPLIT; "
            "the column Group of its list), and no model knows what they take from each other",
            listed),
        "run it without NCCL_TESTS_SPLIT");
  if (listed > 0 && range->contains(static_cast<int>(listed))) return static_cast<int>(listed);
  if (table.facts.ranks) {
    return checked(table.facts.ranks->value, location(file, table.facts.ranks->line), "the log's own line");
  }
  // A list that was cut short is told by the rates; one that is too long is a contradiction.
  if (range->least == range->most && std::cmp_less(listed, range->least)) return range->least;
  // One without its start ends with the last rank, where the rates exclude that twice as many ran.
  const int beyond_last = table.devices.empty() ? 0 : table.devices.back().rank + 1;
  if (listed == 0 && range->contains(beyond_last) && range->most < 2 * beyond_last) return beyond_last;
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
  const auto& of_process = facts.gpus_per_process;
  const bool is_one_process = of_process && of_process->value == ranks;
  if (!facts.nodes && !facts.ranks_per_node && is_one_process) facts.nodes = {1, of_process->line};
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

/// What the list says of its hosts goes into the facts.
Identities on_listed_hosts(LogTable& table, const JobGiven& given, const std::vector<std::string>& hosts,
                           std::string_view file) {
  LogFacts& facts = table.facts;
  Identities identities = on_hosts(hosts);
  const int line = table.devices.front().line;
  facts.ranks = {static_cast<int>(hosts.size()), line};
  std::vector<std::string> names;
  for (const Identity& each : identities)
    if (std::cmp_equal(each.node, names.size())) names.push_back(each.host);
  if (const LogDevice* const nameless = device_of_no_host(table)) {
    facts.notes.push_back(
        fmt::format("line {}: '{}' is not the name of a host: the ranks of each host are known, and not what "
                    "the hosts are called",
                    nameless->line, excerpt(nameless->host)));
    for (Identity& each : identities) each.host.clear();
  } else {
    facts.hosts = {names, line};
  }
  facts.nodes = {static_cast<int>(names.size()), line};
  const std::vector<int> locals = ranks_per_node(identities);
  facts.ranks_per_node.reset();
  if (std::set<int>(locals.begin(), locals.end()).size() == 1) facts.ranks_per_node = {locals.front(), line};
  if ((given.nodes && *given.nodes != facts.nodes->value) ||
      (given.ranks_per_node &&
       (!facts.ranks_per_node || *given.ranks_per_node != facts.ranks_per_node->value))) {
    throw usage_error(
        location(file, line),
        fmt::format("the device list has {} ranks on {} hosts, which contradicts what was given",
                    hosts.size(), names.size()),
        "leave out --nodes and --ranks-per-node");
  }
  return identities;
}

}  // namespace

std::optional<RankRange> ranks_by_rates(const Operation& operation, std::span<const LogRow> rows) {
  const bool is_total = size_is_total(operation);
  const bool is_of_one_buffer = !is_total && (operation.size_meaning == SizeMeaning::buffer ||
                                              operation.size_meaning == SizeMeaning::message);
  FactorRange factor;
  RankRange by_size;
  for (const LogRow& row : rows) {
    narrow(factor, row.out_of_place);
    if (row.in_place) narrow(factor, *row.in_place);
    const std::uint64_t bytes = row.count * traits(row.type).bytes;
    if (bytes == 0 || row.size_bytes % bytes != 0) return std::nullopt;
    const std::uint64_t times = row.size_bytes / bytes;
    if (is_of_one_buffer && times != 1) return std::nullopt;
    if (!is_total) continue;
    if (times > RankRange::kMaxRanks) return std::nullopt;
    by_size.least = std::max(by_size.least, static_cast<int>(times));
    by_size.most = std::min(by_size.most, static_cast<int>(times));
  }
  if (factor.least > factor.most) return std::nullopt;
  const double scale = operation.bus_factor == BusFactor::twice_others ? 2 : 1;
  std::optional<RankRange> ranks = RankRange{};
  if (operation.bus_factor == BusFactor::one && !is_total) {
    if (factor.least > 1 || factor.most < 1) return std::nullopt;
  } else {
    ranks = ranks_of(factor.least / scale, factor.most / scale);
  }
  if (!ranks) return std::nullopt;
  ranks->least = std::max(ranks->least, by_size.least);
  ranks->most = std::min(ranks->most, by_size.most);
  if (ranks->least > ranks->most) return std::nullopt;
  return ranks;
}

std::vector<int> lines_of_other_jobs(const Operation& operation, std::span<const LogRow> rows) {
  std::vector<int> lines;
  std::size_t first = 0;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    if (ranks_by_rates(operation, rows.subspan(first, row + 1 - first))) continue;
    if (row == first || !ranks_by_rates(operation, rows.subspan(row, 1))) return {};
    first = row;
    lines.push_back(rows[row].line);
  }
  return lines;
}

Error rows_of_several_jobs(std::string where, const std::vector<int>& lines) {
  constexpr std::size_t kMaxNamed = 6;
  const bool all = lines.size() <= kMaxNamed;
  const std::vector<int> named(
      lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(std::min(lines.size(), kMaxNamed)));
  return usage_error(
      std::move(where),
      fmt::format("the rows are of jobs of different numbers of ranks: another begins on line {}{}",
                  fmt::join(named, ", "), all ? "" : " and so on"),
      "put the rows of each job into a file of their own");
}

Identities job_location(LogTable& table, const Operation& operation, const JobGiven& given,
                        std::string_view file) {
  std::vector<std::string> hosts = hosts_by_rank(table);
  const int ranks = count_ranks(table, operation, given, hosts.size(), file);
  LogFacts& facts = table.facts;
  if (const LogDevice* const twice = device_of_two_ranks(table)) {
    facts.notes.push_back(
        fmt::format("two ranks are on device {} of {} (line {}): several hosts of one name, or ranks that "
                    "share a GPU; by this list it is not known which ran where",
                    excerpt(twice->slot), excerpt(twice->host), twice->line));
    hosts.clear();
  }
  if (std::cmp_equal(hosts.size(), ranks)) return on_listed_hosts(table, given, hosts, file);
  const bool is_given = given.nodes && given.ranks_per_node;
  if (!facts.ranks || facts.ranks->value != ranks)
    facts.ranks = {ranks, is_given ? 0 : table.rows.front().line};
  settle_nodes(table, given, ranks, file);
  return in_blocks(ranks, facts.ranks_per_node ? facts.ranks_per_node->value : ranks);
}

}  // namespace collbench::analysis
