#include "topology/cluster/placement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/text_input.hpp"
#include "topology/graph/lookup.hpp"
#include "topology/graph/path.hpp"
#include "topology/graph/pci.hpp"

namespace collbench::topology {

bool is_gpu_index(std::string_view entry) { return parse_integer(entry, 0, 9999).has_value(); }

std::optional<std::vector<std::string>> visible_gpus(const char* cuda_visible_devices) {
  if (cuda_visible_devices == nullptr) return std::nullopt;
  std::vector<std::string> visible;
  for (const std::string& entry : split_cells(cuda_visible_devices, ',')) {
    if (!is_gpu_index(entry) && entry.substr(0, 4) != "GPU-" && entry.substr(0, 4) != "MIG-") break;
    visible.push_back(entry);
  }
  return visible;
}

namespace {

/// The only GPU for which `fits` holds.
template <class Fits>
std::optional<int> only_gpu(const Host& host, Fits fits) {
  std::optional<int> found;
  for (int i = 0; i < static_cast<int>(host.gpus.size()); ++i) {
    if (!fits(host.gpus[static_cast<std::size_t>(i)])) continue;
    if (found) return std::nullopt;
    found = i;
  }
  return found;
}

/// The GPU of a UUID, of the start of one (as CUDA_VISIBLE_DEVICES takes it), or of the form of MIG devices
/// up to driver 470, "MIG-GPU-<uuid>/<gi>/<ci>", which names its GPU.
std::optional<int> gpu_of_uuid(const Host& host, std::string uuid) {
  if (uuid.substr(0, 8) == "MIG-GPU-") uuid = uuid.substr(4, uuid.find('/') - 4);
  return only_gpu(host,
                  [&uuid](const Gpu& gpu) { return gpu.uuid.value_or("").substr(0, uuid.size()) == uuid; });
}

/// nvidia-smi's index: its own, else by PCI address.
std::optional<int> gpu_of_index(const Host& host, int index) {
  const auto own = only_gpu(host, [index](const Gpu& gpu) { return gpu.index.value == index; });
  if (own) return own;
  std::vector<std::pair<std::string, int>> by_address;
  for (int i = 0; i < static_cast<int>(host.gpus.size()); ++i) {
    by_address.emplace_back(host.gpus[static_cast<std::size_t>(i)].pci_address.value_or(""), i);
  }
  std::ranges::sort(by_address);
  if (std::cmp_greater_equal(index, by_address.size())) return std::nullopt;
  return by_address[static_cast<std::size_t>(index)].second;
}

void find_gpu(const Host& host, const std::string& entry, RankPlacement& placed) {
  if (is_gpu_index(entry)) {
    placed.gpu = gpu_of_index(host, static_cast<int>(*parse_integer(entry, 0, 9999)));
    placed.guess = placed.gpu.has_value();
    if (!placed.gpu)
      placed.note = fmt::format("GPU {} is not among the {} of its host", entry, host.gpus.size());
  } else if (const auto address = canonical_pci_address(entry)) {
    placed.gpu = only_gpu(host, [&address](const Gpu& gpu) { return gpu.pci_address.value == *address; });
    if (!placed.gpu) placed.note = fmt::format("no known GPU has the address {}", *address);
  } else {
    placed.gpu = gpu_of_uuid(host, entry);
    if (!placed.gpu) {
      placed.note = fmt::format("{} {}", entry,
                                entry.substr(0, 4) == "MIG-" ? "does not tell which GPU it belongs to"
                                                             : "is not among the GPUs of its host");
    }
  }
}

/// Of the NICs that are nearest to the GPU and equally near, the one that is its turn among the GPUs to which
/// the same ones are nearest: two GPUs and two NICs on a switch make two pairs.
std::optional<int> nearest_nic(const Host& host, int gpu) {
  const auto nearest = [&host](int index) {
    std::vector<int> nics;
    std::optional<PathType> type;
    for (const Device& nic : nics_by_nearness(host, {DeviceKind::gpu, index})) {
      const auto path = path_between(host, {DeviceKind::gpu, index}, nic);
      if (!path || (type && path->type != *type)) break;
      type = path->type;
      nics.push_back(nic.index);
    }
    return nics;
  };
  const std::vector<int> mine = nearest(gpu);
  if (mine.empty()) return std::nullopt;
  std::size_t turn = 0;
  for (int other = 0; other < gpu; ++other) turn += nearest(other) == mine ? 1 : 0;
  return mine[turn % mine.size()];
}

std::vector<std::string> all_indices(const Host& host) {
  std::vector<std::string> indices;
  for (std::size_t i = 0; i < host.gpus.size(); ++i) indices.push_back(std::to_string(i));
  return indices;
}

/// Several ranks on one GPU share its rate; of MIG devices it is the purpose.
void note_sharing(const std::vector<RankHostView>& ranks, std::vector<RankPlacement>& placed) {
  std::map<std::pair<int, int>, std::vector<std::size_t>> users;
  for (std::size_t i = 0; i < placed.size(); ++i) {
    if (placed[i].gpu) users[{ranks[i].identity.node, *placed[i].gpu}].push_back(i);
  }
  for (const auto& [gpu, positions] : users) {
    if (positions.size() < 2) continue;
    for (const std::size_t i : positions)
      placed[i].note = fmt::format("{} ranks share this GPU", positions.size());
  }
}

}  // namespace

std::vector<RankPlacement> placement(const std::vector<Host>& hosts, const std::vector<RankHostView>& ranks) {
  std::vector<RankPlacement> placed;
  std::map<std::pair<int, std::vector<std::string>>, std::size_t> turn;  // by node and what is visible there
  for (const RankHostView& rank : ranks) {
    const Host& host = hosts.at(static_cast<std::size_t>(rank.identity.node));
    RankPlacement& mine = placed.emplace_back();
    mine.rank = rank.identity.rank;
    const std::vector<std::string> visible = rank.gpus.value_or(all_indices(host));
    if (visible.empty()) {
      if (!host.gpus.empty()) mine.note = "no GPU of its host is visible to this rank";
      continue;
    }
    find_gpu(host, visible[turn[{rank.identity.node, visible}]++ % visible.size()], mine);
    if (!mine.gpu) continue;
    mine.nic = nearest_nic(host, *mine.gpu);
    mine.numa_node = numa_node_of(host, {DeviceKind::gpu, *mine.gpu});
  }
  note_sharing(ranks, placed);
  return placed;
}

PlacedRank placement_record(const RankPlacement& placement, const Host& host) {
  PlacedRank record{.rank = placement.rank,
                    .gpu = "",
                    .gpu_address = "",
                    .nic = "",
                    .numa_node = placement.numa_node,
                    .guess = placement.guess,
                    .note = placement.note};
  if (placement.gpu) {
    const Device gpu{DeviceKind::gpu, *placement.gpu};
    record.gpu = device_label(host, gpu);
    record.gpu_address = pci_address_of(host, gpu).value_or("");
  }
  if (placement.nic) record.nic = device_label(host, {DeviceKind::nic, *placement.nic});
  return record;
}

}  // namespace collbench::topology
