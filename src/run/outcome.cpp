#include "src/run/outcome.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace collbench::program {

std::string kept_results(const RunOptions& options, bool begun) {
  if (!begun) return "nothing was measured yet: check the hosts and their links";
  if (!options.stream_path.empty()) {
    return fmt::format("run the same command with --resume {} to continue", options.stream_path);
  }
  const std::string record = record_file(options.documents);
  return record.empty() ? "next time, add --stream FILE to keep the results"
                        : fmt::format("results so far are saved in {}", record);
}

Error interruption(const RunOptions& options, const std::string& cause) {
  const std::string where = cause.empty() ? "interrupted" : "interrupted " + cause;
  const std::string shown = "results so far are shown above";
  const std::string record = record_file(options.documents);
  if (record.empty()) return {ExitStatus::rank_lost, where, shown, kept_results(options, true)};
  return {ExitStatus::rank_lost, where, fmt::format("{} and saved in {}", shown, record),
          options.stream_path.empty() ? "" : kept_results(options, true)};
}

Error nothing_ran(const std::vector<Measurement>& rows) {
  const Measurement& first = rows.front();
  const bool asked = first.key.algorithm != kLibraryChoice;
  return {ExitStatus::not_here,
          asked ? "--algo " + first.key.algorithm : std::string(operation(first.key.operation).name),
          "nothing could be measured: " + first.unavailable,
          asked ? "leave --algo out to let the library choose"
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
