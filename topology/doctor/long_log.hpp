#pragma once
#include <filesystem>
#include <vector>

#include "topology/doctor/evidence.hpp"

namespace collbench::topology {

/// The lines of a job's log of any length that checks can use: of those that differ in numbers only the first
/// ones and the last, with how many lie between. What a program writes besides NCCL is left out, but for
/// tables of nccl-tests. Takes a few dozen MB, however long the log is. Throws Error (usage) when the file
/// cannot be read.
[[nodiscard]] std::vector<EvidenceLine> read_long_log(const std::filesystem::path& path);

}  // namespace collbench::topology
