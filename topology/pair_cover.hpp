#pragma once
#include <vector>

#include "topology/finding.hpp"

namespace collbench {

/// Two seats between which something is otherwise on one host.
template <class What>
struct ChangedPair {
  Twins from;
  Twins to;
  What what;
};

/// One device and the changed pairs that it explains.
template <class What>
struct Explained {
  Twins device;
  std::vector<ChangedPair<What>> pairs;
};

/// The fewest devices that explain all changed pairs, about: always the one next that is part of most. A
/// device that moved changes its pairs with many; those many are not at fault.
template <class What>
[[nodiscard]] std::vector<Explained<What>> explain_pairs(std::vector<ChangedPair<What>> pairs) {
  const auto has = [](const ChangedPair<What>& pair, const Twins& device) {
    return pair.from == device || pair.to == device;
  };
  std::vector<Explained<What>> explained;
  while (!pairs.empty()) {
    Explained<What> most;
    for (const ChangedPair<What>& pair : pairs) {
      for (const Twins& device : {pair.from, pair.to}) {
        std::vector<ChangedPair<What>> of_device;
        for (const ChangedPair<What>& each : pairs) {
          if (has(each, device)) of_device.push_back(each);
        }
        if (of_device.size() > most.pairs.size()) most = {device, std::move(of_device)};
      }
    }
    std::erase_if(pairs, [&](const ChangedPair<What>& pair) { return has(pair, most.device); });
    explained.push_back(std::move(most));
  }
  return explained;
}

}  // namespace collbench
