#include "launch/job_time.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <ctime>
#include <limits>
#include <utility>
#include <vector>

#include "base/child_process.hpp"
#include "base/environment.hpp"
#include "base/error.hpp"
#include "base/text_input.hpp"
#include "launch/launcher.hpp"

namespace collbench::launch {
namespace {

/// What the job began with, where squeue did not answer.
JobTime view_first_end(std::string obstacle) {
  const auto end =
      parse_integer(variable_value("SLURM_JOB_END_TIME"), 1, std::numeric_limits<std::int64_t>::max());
  if (!end) return {std::nullopt, std::move(obstacle)};
  return {std::max(0.0, std::difftime(static_cast<std::time_t>(*end), std::time(nullptr))), ""};
}

}  // namespace

std::optional<double> slurm_seconds(std::string_view text) {
  constexpr std::int64_t kMax = 1'000'000;
  text = trim(text);
  const std::size_t dash = text.find('-');
  const bool has_days = dash != std::string_view::npos;
  std::vector<std::string> fields = split_cells(has_days ? text.substr(dash + 1) : text, ':');
  if (fields.size() > 3 || fields.size() < (has_days ? 3 : 2)) return std::nullopt;
  if (has_days) fields.insert(fields.begin(), std::string(text.substr(0, dash)));
  constexpr std::array<double, 4> kUnits{86400, 3600, 60, 1};
  double seconds = 0;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const auto count = parse_integer(fields[i], 0, kMax);
    if (!count) return std::nullopt;
    seconds += static_cast<double>(*count) * kUnits.at(kUnits.size() - fields.size() + i);
  }
  return seconds;
}

JobTime view_job_time() {
  if (!inside_slurm()) return {};
  const std::string job = std::getenv("SLURM_JOB_ID");
  const ChildLimits limits{.seconds = 5};
  try {
    // An array's last job has the array's number, by which squeue tells of all of them.
    const ChildResult answer =
        run_child({"squeue", "--noheader", "--states=RUNNING", "--jobs", job, "--format=%A %L"}, limits);
    if (!answer.succeeded()) return view_first_end("squeue: " + describe_end(answer, limits));
    for (const Line& line : clean_lines(answer.out)) {
      const std::vector<std::string> words = split_words(line.text);
      if (words.size() != 2 || words[0] != job) continue;
      const auto seconds = slurm_seconds(words[1]);
      if (seconds || words[1] == "UNLIMITED") return {seconds, ""};
    }
    return view_first_end("squeue does not tell of job " + job);
  } catch (const Error& error) {
    return view_first_end(error.where() + ": " + error.what());
  }
}

double usable_seconds(double seconds_left) {
  constexpr double kShare = 0.05;
  constexpr double kMinReserve = 10;
  constexpr double kMaxReserve = 60;
  return seconds_left -
         std::min(seconds_left / 2, std::clamp(kShare * seconds_left, kMinReserve, kMaxReserve));
}

}  // namespace collbench::launch
