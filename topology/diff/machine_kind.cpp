// different_gpus(), different_nics() and without_gpus_and_fabric() of parts.hpp: whether it is another
// machine, not a worse one.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/units.hpp"
#include "topology/catalog/gpus.hpp"
#include "topology/diff/parts.hpp"
#include "topology/graph/lookup.hpp"
#include "topology/readers/readers.hpp"

namespace collbench::topology {
namespace {

constexpr double kFabricGigabits = 100;  // slower NICs are for management

/// The catalog's name, else what the sources say; "compute capability 9.0" where they name no model.
std::string model_name(const Host& host, const Gpu& gpu) {
  const GpuModel* model = find_gpu_model(host, gpu);
  return model != nullptr ? std::string(model->name) : gpu.model.value_or("");
}

struct GpuKinds {
  std::map<std::string, int> models;  ///< how many of each
  std::map<int, int> sms;             ///< the same by compute capability
};

/// None where the model, resp. the compute capability, of one GPU is not known.
GpuKinds gpu_kinds(const Host& host) {
  GpuKinds kinds;
  bool named = true;
  bool rated = true;
  for (const Gpu& gpu : host.gpus) {
    const std::string name = model_name(host, gpu);
    const auto sm = sm_of(host, gpu);
    named = named && !name.empty();
    rated = rated && sm.has_value();
    ++kinds.models[name];
    ++kinds.sms[sm.value_or(0)];
  }
  if (!named) kinds.models.clear();
  if (!rated) kinds.sms.clear();
  return kinds;
}

template <class Key>
bool disjoint(const std::map<Key, int>& a, const std::map<Key, int>& b) {
  return !a.empty() && !b.empty() &&
         std::ranges::none_of(a, [&b](const auto& each) { return b.contains(each.first); });
}

std::string listed(const std::map<std::string, int>& models) {
  std::vector<std::string> words;
  for (const auto& [name, count] : models) words.push_back(fmt::format("{} × {}", count, name));
  return join_words(words);
}

std::string listed(const std::map<int, int>& sms) {
  std::vector<std::string> words;
  for (const auto& [sm, count] : sms)
    words.push_back(fmt::format("{} of compute capability {}.{}", count, sm / 10, sm % 10));
  return join_words(words);
}

struct Network {
  int nics = 0;
  double gigabits = 0;
};

Network network(const Host& host) {
  Network fast;
  for (const Nic& nic : host.nics) {
    double gigabits = 0;
    for (const NicPort& port : nic.ports) gigabits = std::max(gigabits, port.gigabits_per_second.value_or(0));
    if (gigabits < kFabricGigabits) continue;
    ++fast.nics;
    fast.gigabits = std::max(fast.gigabits, gigabits);
  }
  return fast;
}

/// Whether the NIC may be one of a fabric: its rate says so, or is not known of an RDMA device or of a card
/// that no interface of the kernel names.
bool may_be_fabric(const Nic& nic) {
  return std::ranges::any_of(
             nic.ports,
             [](const NicPort& port) { return port.gigabits_per_second.value_or(0) >= kFabricGigabits; }) ||
         (std::ranges::none_of(nic.ports,
                               [](const NicPort& port) { return port.gigabits_per_second.known(); }) &&
          (nic.name.known() || !nic.interfaces.known()));
}

}  // namespace

std::string different_gpus(const Host& a, const Host& b) {
  const GpuKinds in_a = gpu_kinds(a);
  const GpuKinds in_b = gpu_kinds(b);
  if (!in_a.models.empty() && !in_b.models.empty()) {
    if (!disjoint(in_a.models, in_b.models)) return {};
    return fmt::format("{} instead of {}", listed(in_b.models), listed(in_a.models));
  }
  if (!disjoint(in_a.sms, in_b.sms)) return {};
  return fmt::format("{} instead of {}", listed(in_b.sms), listed(in_a.sms));
}

std::string without_gpus_and_fabric(const Host& a, const Host& b) {
  const Network fabric = network(a);
  const GpuKinds in_a = gpu_kinds(a);
  if (fabric.nics == 0 || in_a.models.empty() || !b.gpus.empty()) return {};
  if (!lists_all(b, DeviceKind::gpu) || !lists_all(b, DeviceKind::nic)) return {};
  if (std::ranges::any_of(b.nics, may_be_fabric)) return {};
  return fmt::format("no GPU and no fast NIC instead of {} and {} of {} Gb/s", listed(in_a.models),
                     counted(fabric.nics, "NIC"), fabric.gigabits);
}

std::string different_nics(const Host& a, const Host& b) {
  const Network in_a = network(a);
  const Network in_b = network(b);
  const auto [fewer, more] = std::minmax(in_a.nics, in_b.nics);
  if (fewer == 0 || 2 * fewer > more || in_a.gigabits == in_b.gigabits) return {};
  return fmt::format("{} of {} Gb/s instead of {} of {}", counted(in_b.nics, "NIC"), in_b.gigabits, in_a.nics,
                     in_a.gigabits);
}

}  // namespace collbench::topology
