#pragma once
#include <optional>
#include <string_view>

#include "analysis/import/log_table.hpp"
#include "base/record/identities.hpp"
#include "base/record/operation.hpp"

namespace collbench::analysis {

/// What the user says of a job whose log does not.
struct JobGiven {
  std::optional<int> nodes;
  std::optional<int> ranks_per_node;
};

/// How many ranks ran on which nodes: by the device list, by NCCL's lines, by what is given, held against
/// busbw / algbw. Writes ranks, nodes, ranks_per_node and hosts of the table's facts; what is not known stays
/// none. Throws Error (usage) where the number of ranks is not known, or where two that say it disagree.
[[nodiscard]] Identities job_location(LogTable& table, const Operation& operation, const JobGiven& given,
                                      std::string_view file);

}  // namespace collbench::analysis
