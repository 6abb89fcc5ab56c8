#pragma once
#include <vector>

#include "analysis/hang/communicators.hpp"

namespace collbench::analysis {

/// The process groups of the dumps that PyTorch's flight recorder wrote as JSON, one of each rank; the file's
/// name ends with the rank's number, as PyTorch names it. Throws Error (usage) that names the file.
[[nodiscard]] std::vector<Communicator> read_pytorch_dumps(const std::vector<HangDump>& dumps);

}  // namespace collbench::analysis
