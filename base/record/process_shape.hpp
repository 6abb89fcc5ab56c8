#pragma once

namespace collbench {

/// How the ranks of a run are processes, in the words of nccl-tests' -t and -g: each process has so many
/// GPUs, a rank for each, and so many threads, each of which issues the calls of as many of them. 1 and 1:
/// each rank is a process.
struct ProcessShape {
  int gpus = 1;
  int threads = 1;  ///< divides `gpus`

  [[nodiscard]] int gpus_per_thread() const { return gpus / threads; }
  /// Whether a rank of the run is the first of its process.
  [[nodiscard]] bool is_first(int rank) const { return rank % gpus == 0; }
  bool operator==(const ProcessShape&) const = default;
};

}  // namespace collbench
