#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace collbench::launch {

/// How long the batch job of this process may still run.
struct JobTime {
  std::optional<double> seconds_left;  ///< none: no job, no limit, or not known
  std::string obstacle;                ///< why it is not known, inside a job; else empty
};

/// "4:30" or "1-02:03:04" in seconds (squeue(1), %L); none for a word (UNLIMITED) and for anything else.
[[nodiscard]] std::optional<double> slurm_seconds(std::string_view text);

/// Asks squeue, for at most 5 s; where that does not answer, SLURM_JOB_END_TIME (Slurm 23.02 and later),
/// which is the end that the job began with. Outside of Slurm nothing is known.
[[nodiscard]] JobTime view_job_time();

/// Of the seconds left, those that a run may use: a twentieth stays for its last words, at least 10 s and at
/// most 60 s, but no more than half of them.
[[nodiscard]] double usable_seconds(double seconds_left);

}  // namespace collbench::launch
