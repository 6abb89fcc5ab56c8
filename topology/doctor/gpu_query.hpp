#pragma once
#include <string>
#include <vector>

#include "topology/doctor/evidence.hpp"

namespace collbench::topology {

/// A line "KEY : VALUE" of `nvidia-smi -q`, or <key>VALUE</key> of its XML, below the last line without a
/// value.
struct QueryLine {
  std::string gpu;      ///< "GPU 00000000:51:00.0"
  std::string section;  ///< "Fabric", "Volatile"
  std::string key;
  std::string value;
  const EvidenceLine* line = nullptr;
};
[[nodiscard]] std::vector<QueryLine> query_lines(const Evidence& evidence);

}  // namespace collbench::topology
