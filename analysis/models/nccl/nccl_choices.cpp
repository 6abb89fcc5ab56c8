#include "analysis/models/nccl/nccl_choices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/nccl_version.hpp"
#include "base/record/nccl_algorithm.hpp"
#include "base/text_input.hpp"
#include "base/units.hpp"
#include "topology/machines/reference_machines.hpp"

namespace collbench::analysis {
namespace {

constexpr std::string_view kChoiceTable = "the table of NCCL's choices";
constexpr double kSameRate = 0.1;  // of a NIC: NCCL tries speeds that lie further apart

/// A machine of the table, on one node.
struct TableMachine {
  std::string_view name;
  GpuCluster node;
};

const std::vector<TableMachine>& table_machines() {
  static const std::vector<TableMachine> machines = [] {
    std::vector<TableMachine> found;
    for (const NcclChoiceEntry& entry : nccl_choice_entries()) {
      if (!found.empty() && found.back().name == entry.machine) continue;
      found.push_back({entry.machine, gpu_cluster(*topology::find_reference_machine(entry.machine), 1, 0)});
    }
    return found;
  }();
  return machines;
}

bool same_node(const GpuCluster& cluster, const GpuCluster& node) {
  if (cluster.generation != node.generation || cluster.nvlinks != node.nvlinks) return false;
  if (cluster.ranks_per_node != node.ranks_per_node) return false;
  return node.nvlinks > 0 || cluster.host_path_is_switched == node.host_path_is_switched;
}

bool same_network(const GpuCluster& cluster, const GpuCluster& node) {
  const bool verbs = cluster.transport == Transport::infiniband || cluster.transport == Transport::roce;
  if (!verbs || !cluster.slower_nics.empty() || cluster.max_channels > 0) return false;
  return cluster.nics == node.nics && std::fabs(cluster.nic_line_rate / node.nic_line_rate - 1) <= kSameRate;
}

/// Empty where none is near.
std::string_view near_machine(const GpuCluster& cluster) {
  if (cluster.domains() != cluster.nodes) return {};
  const std::vector<TableMachine>& machines = table_machines();
  const auto found = std::find_if(machines.begin(), machines.end(), [&](const TableMachine& each) {
    return same_node(cluster, each.node) && (cluster.nodes == 1 || same_network(cluster, each.node));
  });
  return found == machines.end() ? std::string_view() : found->name;
}

bool has_word(std::string_view names, std::string_view name) {
  while (!names.empty()) {
    const std::size_t end = std::min(names.find(' '), names.size());
    if (names.substr(0, end) == name) return true;
    names.remove_prefix(std::min(end + 1, names.size()));
  }
  return false;
}

/// The ranges of the newest entry up to `version`; empty where NCCL said nothing.
std::string_view ranges_of(std::string_view machine, int nodes, std::string_view operation, int version) {
  std::string_view ranges;
  for (const NcclChoiceEntry& entry : nccl_choice_entries()) {
    if (entry.machine != machine || entry.nodes != nodes || !has_word(entry.operations, operation)) continue;
    if (entry.from_version <= version) ranges = entry.ranges;
  }
  return ranges;
}

/// "ring/ll128 32M 16-32".
struct ChoiceRange {
  std::string algorithm;
  std::string protocol;
  std::uint64_t up_to_bytes = 0;
  int min_channels = 0;
  int max_channels = 0;
};

int channel_count(const std::string& text) {
  return static_cast<int>(parse_integer(text, 0, 1 << 10).value_or(0));
}

ChoiceRange range_of(const std::string& text) {
  const std::vector<std::string> words = split_words(text);
  const std::vector<std::string> names = split_cells(words[0], '/');
  ChoiceRange range{
      .algorithm = names[0], .protocol = names[1], .up_to_bytes = parse_size(words[1], kChoiceTable)};
  if (words.size() > 2) {
    const std::vector<std::string> counts = split_cells(words[2], '-');
    range.min_channels = channel_count(counts.front());
    range.max_channels = channel_count(counts.back());
  }
  return range;
}

/// The range that the size lies in; sizes beyond the last are as the last.
std::optional<ChoiceRange> range_at(std::string_view ranges, std::uint64_t size_bytes) {
  if (ranges.empty()) return std::nullopt;
  ChoiceRange found;
  for (const std::string& text : split_cells(ranges, ',')) {
    found = range_of(text);
    if (size_bytes <= found.up_to_bytes) break;
  }
  return found;
}

/// The table's versions that speak for the run's: the one next below it; all where it is not known.
std::span<const int> versions_for(int version) {
  const std::span<const int> all = nccl_choice_versions();
  if (version == 0) return all;
  const auto above = std::upper_bound(all.begin(), all.end(), version);
  return above == all.begin() ? std::span<const int>() : std::span<const int>(above - 1, above);
}

}  // namespace

std::optional<NcclTableChoice> nccl_table_choice(OperationId id, std::uint64_t size_bytes,
                                                 const GpuCluster& cluster) {
  const std::string_view machine = cluster.run.settings_choose ? std::string_view() : near_machine(cluster);
  const std::span<const int> versions = versions_for(cluster.run.nccl_version);
  if (machine.empty() || versions.empty()) return std::nullopt;
  std::optional<NcclTableChoice> choice;
  for (const int version : versions) {
    const auto range = range_at(ranges_of(machine, cluster.nodes, operation(id).option, version), size_bytes);
    if (!range) return std::nullopt;
    if (!choice) {
      choice = {range->algorithm,
                range->protocol,
                range->min_channels,
                range->max_channels,
                std::string(machine),
                cluster.nodes,
                version,
                version};
    }
    if (choice->algorithm != range->algorithm || choice->protocol != range->protocol) return std::nullopt;
    if (choice->min_channels == 0 ||
        (range->min_channels > 0 && range->min_channels < choice->min_channels)) {
      choice->min_channels = range->min_channels;
    }
    choice->max_channels = std::max(choice->max_channels, range->max_channels);
    choice->newest_version = version;
  }
  return choice;
}

GpuCluster with_table_choice(GpuCluster cluster, OperationId id, std::uint64_t size_bytes) {
  if (cluster.run.algorithm) return cluster;
  cluster.run.table_choice.reset();
  cluster.run.protocol.reset();
  if (const auto choice = nccl_table_choice(id, size_bytes, cluster)) {
    cluster.run.table_choice = choice->algorithm;
    cluster.run.protocol = choice->protocol;
  }
  return cluster;
}

std::string nccl_versions(const NcclTableChoice& choice) {
  const std::string oldest = "NCCL " + nccl_version_text(choice.oldest_version);
  return choice.oldest_version == choice.newest_version
             ? oldest
             : oldest + " to " + nccl_version_text(choice.newest_version);
}

std::string words(const NcclTableChoice& choice) {
  return fmt::format("{} {} {}/{} here (table: as on {} × {})", nccl_versions(choice),
                     choice.oldest_version == choice.newest_version ? "chooses" : "choose", choice.algorithm,
                     choice.protocol, choice.machine, choice.nodes);
}

double protocol_efficiency(std::string_view protocol) {
  return protocol == name(NcclProtocol::ll) ? 0.5 : protocol == name(NcclProtocol::ll128) ? 0.92 : 1;
}

int nccl_version_code(const std::string& version) {
  const std::vector<std::string> parts = split_cells(version.substr(0, version.find_first_of("+-")), '.');
  if (parts.size() < 2 || parts.size() > 3) return 0;
  const auto part = [&](std::size_t index) {
    return index < parts.size() ? parse_integer(parts[index], 0, 99) : std::optional<std::int64_t>(0);
  };
  if (!part(0) || !part(1) || !part(2)) return 0;
  const auto code = static_cast<int>(10000 * *part(0) + 100 * *part(1) + *part(2));
  return code < 20900 ? 0 : code;
}

}  // namespace collbench::analysis
