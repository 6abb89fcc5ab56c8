#pragma once
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/child_process.hpp"
#include "base/error.hpp"
#include "base/record/run.hpp"

// What repeat does with one command and with two.

namespace collbench::program {

/// Which rank or host a launch lost, how, and where it was, from what its launcher and its ranks wrote to
/// stderr: "rank 1 on node1 was killed by signal 9 (Killed) inside AllReduce 64 KiB, call 1, pass 25". Of
/// Open MPI's mpirun and Slurm's srun; none where they named none.
[[nodiscard]] std::optional<std::string> lost_rank(std::string_view launch_stderr);

/// Where the records of single launches are: beside the record of all of them, or in a temporary folder that
/// is removed at the end.
class LaunchFolder {
 public:
  /// Throws Error (usage) when the folder cannot be made, is there and may not be replaced, or is a link or
  /// one that others can write in.
  LaunchFolder(const std::string& record_path, bool resume, bool overwrite);
  LaunchFolder(const LaunchFolder&) = delete;
  LaunchFolder& operator=(const LaunchFolder&) = delete;
  ~LaunchFolder();

  /// What an earlier `repeat` measured to the end, in order. Throws Error (usage) for records that cannot be
  /// read, or are not of one measurement.
  [[nodiscard]] std::vector<Run> complete_launches() const;

  /// Of launch `number`, counted from 1.
  [[nodiscard]] std::filesystem::path file(std::size_t number) const;

  /// The folder, with what is in it, stays.
  const std::filesystem::path& keep();

 private:
  std::filesystem::path path_;
  bool is_temporary_;
};

/// Throws Error (usage) when this process was started as a rank, or when `command` has an option that repeat
/// gives to each launch itself. `keeps` says how the user keeps the results.
void require_launchable(const std::vector<std::string>& command, std::string_view keeps);

struct LaunchEnd {
  std::optional<Run> run;      ///< where its record is complete
  std::optional<Error> error;  ///< that ends the series: also of a run with wrong data
  bool has_record = false;     ///< some, complete or not
  bool was_interrupted = false;
};

/// Launches `command` with its record in `record`, a file that is replaced, and waits. `--time 20` is added
/// where the command bounds nothing. `name` stands before what failed ("launch 3"), `next_step` behind it,
/// but behind wrong data, which the record shows.
[[nodiscard]] LaunchEnd supervised_launch(const std::vector<std::string>& command, const std::string& record,
                                          const ChildLimits& limits, const std::string& name,
                                          const std::function<std::string(bool has_record)>& next_step);

}  // namespace collbench::program
