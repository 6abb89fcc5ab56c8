#include "launch/ranks.hpp"

#include <cstring>
#include <utility>

namespace collbench::launch {

std::vector<double> all_gather_values(Ranks& ranks, double value) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  std::vector<double> values;
  for (const std::string& theirs : ranks.all_gather(bytes)) {
    std::memcpy(&values.emplace_back(), theirs.data(), sizeof value);
  }
  return values;
}

}  // namespace collbench::launch
