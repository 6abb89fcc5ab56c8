#include "base/record/run_process.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/units.hpp"

namespace collbench {

std::optional<ProcessShape> process_of(const Run& run) {
  if (!run.log) return run.process;
  const auto& gpus = run.log->gpus_per_process;
  const auto& threads = run.log->threads_per_process;
  if (!gpus) return std::nullopt;
  return ProcessShape{.gpus = gpus->value, .threads = threads ? threads->value : 1};
}

std::string words(const ProcessShape& shape) {
  return fmt::format("{} of each process, {}", counted(static_cast<std::size_t>(shape.gpus), "GPU"),
                     counted(static_cast<std::size_t>(shape.threads), "thread"));
}

}  // namespace collbench
