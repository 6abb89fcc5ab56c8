#pragma once
#include <string_view>
#include <vector>

#include "analysis/hang/communicators.hpp"

namespace collbench::analysis {

/// Whether it is what NCCL's RAS answered (NCCL 2.24 and later; ncclras -v): its text, or its JSON (2.28.7
/// and later).
[[nodiscard]] bool is_nccl_ras(std::string_view text);

/// The communicators of an answer; of a text with the ranks that it lists. Throws Error (usage) that names
/// the file.
[[nodiscard]] std::vector<Communicator> read_nccl_ras(const HangDump& dump);

}  // namespace collbench::analysis
