#pragma once
#include <optional>
#include <string>

#include "base/record/run.hpp"

namespace collbench {

/// How the ranks of a run are processes; of a log as far as it says so: none, where it does not.
[[nodiscard]] std::optional<ProcessShape> process_of(const Run& run);

/// "8 GPUs of each process, 2 threads"
[[nodiscard]] std::string words(const ProcessShape& shape);

}  // namespace collbench
