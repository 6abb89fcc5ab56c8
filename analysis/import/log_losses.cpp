// losses_in_log() of log_readers.hpp: what NCCL and nccl-tests say of one host and not of the others.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/import/log_readers.hpp"
#include "base/units.hpp"
#include "base/word_list.hpp"

namespace collbench::analysis {
namespace {

constexpr std::size_t kMaxNamedHosts = 3;

using Hosts = std::map<std::string, LogHost>;

/// GPUs of more than one model: the slowest makes the others wait, and no reference machine has such.
void add_other_gpus(const LogTable& table, std::vector<std::string>& losses) {
  std::map<std::string, std::vector<const LogDevice*>> models;
  for (const LogDevice& device : table.devices)
    if (!device.gpu.empty()) models[device.gpu].push_back(&device);
  const auto most = std::ranges::max_element(
      models, [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
  for (const auto& [model, devices] : models) {
    if (model == most->first) continue;
    losses.push_back(fmt::format("another GPU, {}, of rank {} on {} (line {}) than of {} of the ranks ({})",
                                 model, devices.front()->rank, devices.front()->host, devices.front()->line,
                                 most->second.size(), most->first));
  }
}

void add_fewer_nics(const Hosts& hosts, std::vector<std::string>& losses) {
  const std::string* most_host = nullptr;
  const LogFact<std::vector<std::string>>* most = nullptr;
  for (const auto& [name, host] : hosts) {
    if (!host.facts.nics || !host.facts.link_layer) continue;  // interfaces of sockets have none
    if (most != nullptr && host.facts.nics->value.size() <= most->value.size()) continue;
    most_host = &name;
    most = &*host.facts.nics;
  }
  for (const auto& [name, host] : hosts) {
    if (!host.facts.nics || !host.facts.link_layer || host.facts.nics->value.size() == most->value.size())
      continue;
    losses.push_back(fmt::format("{} on {} (line {}), {} on {} (line {})",
                                 counted(host.facts.nics->value.size(), "NIC"), name, host.facts.nics->line,
                                 most->value.size(), *most_host, most->line));
  }
}

/// A NIC that is slower than the one of its name on another host; one that is slower everywhere, as for
/// storage, is none.
void add_slower_nics(const Hosts& hosts, std::vector<std::string>& losses) {
  std::map<std::string, double> fastest;
  for (const auto& [name, host] : hosts)
    for (const auto& [nic, rate] : host.nic_megabits) fastest[nic] = std::max(fastest[nic], rate.value);
  for (const auto& [name, host] : hosts)
    for (const auto& [nic, rate] : host.nic_megabits)
      if (rate.value < fastest[nic])
        losses.push_back(fmt::format("{} of {} at {:g} Gb/s (line {}), on other hosts at {:g}", nic, name,
                                     rate.value / 1e3, rate.line, fastest[nic] / 1e3));
}

bool is_network(const LogConnections& each) { return each.via.starts_with("NET/"); }
bool is_socket(const LogConnections& each) { return each.via == "NET/Socket"; }

/// "1 of 16 network connections …", where some are so and others are not.
template <class IsCounted, class IsWorse>
void add_worse_connections(const LogTable& table, std::string_view what, IsCounted is_counted,
                           IsWorse is_worse, std::vector<std::string>& losses) {
  std::uint64_t all = 0;
  std::uint64_t worse = 0;
  int line = 0;
  for (const LogConnections& each : table.facts.connections) {
    if (!is_counted(each)) continue;
    all += each.count;
    if (!is_worse(each)) continue;
    worse += each.count;
    if (line == 0) line = each.line;
  }
  if (worse == 0 || worse == all) return;
  std::vector<std::string> where;
  for (const auto& [name, host] : table.hosts)
    if (std::ranges::any_of(host.facts.connections,
                            [&](const LogConnections& each) { return is_counted(each) && is_worse(each); }))
      where.push_back(name);
  losses.push_back(fmt::format("{} of {} network connections {} (line {}{})", worse, all, what, line,
                               where.empty() ? "" : ", on " + join_first(where, kMaxNamedHosts)));
}

}  // namespace

std::vector<std::string> losses_in_log(const LogTable& table) {
  std::vector<std::string> losses;
  add_other_gpus(table, losses);
  add_fewer_nics(table.hosts, losses);
  add_slower_nics(table.hosts, losses);
  add_worse_connections(table, "over sockets", is_network, is_socket, losses);
  add_worse_connections(
      table, "without GPUDirect RDMA",
      [](const LogConnections& each) { return is_network(each) && !is_socket(each); },
      [](const LogConnections& each) { return !each.gpu_direct; }, losses);
  constexpr std::size_t kMaxLosses = 20;
  if (losses.size() > kMaxLosses) {
    const std::size_t more = losses.size() - kMaxLosses;
    losses.resize(kMaxLosses);
    losses.push_back(fmt::format("and {} more of such", more));
  }
  return losses;
}

}  // namespace collbench::analysis
