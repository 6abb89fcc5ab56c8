#include "topology/diff/finding.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "base/word_list.hpp"
#include "topology/catalog/finding_kinds.hpp"
#include "topology/graph/lookup.hpp"

namespace collbench::topology {

std::string join_words(const std::vector<std::string>& words) {
  if (words.size() < 2) return words.empty() ? std::string() : words.front();
  return fmt::format("{} and {}", fmt::join(words.begin(), words.end() - 1, ", "), words.back());
}

std::string join_words(const std::vector<std::string>& words, std::size_t most) {
  return words.size() > most ? join_first(words, most) : join_words(words);
}

std::string finding_device(const Host& host, const Device& device) {
  std::string label = device_label(host, device);
  const auto address = pci_address_of(host, device);
  if (!address || label.find(*address) != std::string::npos) return label;
  return fmt::format("{} ({})", label, *address);
}

std::string finding_devices(const HostPair& pair, Side side, const std::vector<DevicePair>& devices) {
  std::vector<std::string> words;
  for (const DevicePair& each : devices) {
    const Side shown = each.of(side) ? side : other(side);
    if (each.of(shown)) words.push_back(finding_device(pair.of(shown), *each.of(shown)));
  }
  return join_words(words);
}

void FindingList::add(std::string_view code, Side side, std::vector<DevicePair> devices, std::string what) {
  for (Finding& finding : findings_) {
    if (finding.code != code || finding.side != side || finding.what != what || finding.devices.empty())
      continue;
    for (const DevicePair& each : devices) {
      if (std::ranges::find(finding.devices, each) == finding.devices.end()) finding.devices.push_back(each);
    }
    finding.device = finding_devices(pair_, side, finding.devices);
    return;
  }
  std::string device = finding_devices(pair_, side, devices);
  findings_.push_back({code, side, std::move(devices), std::move(device), std::move(what)});
}

void FindingList::add_named(std::string_view code, Side side, std::string device,
                            std::vector<DevicePair> devices, std::string what) {
  findings_.push_back({code, side, std::move(devices), std::move(device), std::move(what)});
}

std::vector<Finding> FindingList::take() {
  std::vector<Finding> sorted;
  for (const Severity severity :
       {Severity::broken, Severity::degraded, Severity::differs, Severity::cosmetic}) {
    for (Finding& finding : findings_) {
      if (finding_kind(finding.code).severity == severity) sorted.push_back(std::move(finding));
    }
  }
  findings_.clear();
  return sorted;
}

}  // namespace collbench::topology
