#include "src/run/outcome.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace collbench::program {

std::string what_was_kept(const RunOptions& options) {
  if (!options.stream_path.empty()) {
    return fmt::format("the same command with --resume {} goes on from there", options.stream_path);
  }
  return options.record_path.empty()
             ? "next time, --stream FILE keeps what was measured"
             : fmt::format("{} has what was measured until then", options.record_path);
}

Error interruption(const RunOptions& options) {
  return {ExitStatus::rank_lost, "interrupted", "the rows hold what they had until then",
          what_was_kept(options)};
}

Error nothing_ran(const std::vector<Measurement>& rows) {
  const Measurement& first = rows.front();
  const bool asked = first.key.algorithm != kLibraryChoice;
  return {ExitStatus::not_here,
          asked ? "--algo " + first.key.algorithm : std::string(operation(first.key.operation).name),
          "nothing could be measured: " + first.unavailable,
          asked ? "leave --algo out, and the library chooses among what it has here"
                : "give --ops that can run here, or start more ranks"};
}

ExitStatus outcome(const std::vector<Measurement>& rows) {
  const auto any_wrong = std::any_of(
      rows.begin(), rows.end(), [](const Measurement& row) { return row.wrong_elements.value_or(0) > 0; });
  if (any_wrong) return ExitStatus::wrong_data;
  const auto none_ran =
      std::all_of(rows.begin(), rows.end(), [](const Measurement& row) { return !row.unavailable.empty(); });
  return none_ran ? ExitStatus::not_here : ExitStatus::ok;
}

}  // namespace collbench::program
