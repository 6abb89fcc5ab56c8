#pragma once
#include <atomic>
#include <cstdint>
#include <string>

namespace collbench::launch {

// That a run should end comes as a signal: from a terminal, from a launcher, or from a batch system.

/// Lets SIGINT, SIGTERM, SIGHUP, SIGUSR1 and SIGUSR2 be noticed instead of ending this process; what was
/// ignored stays ignored (nohup). A second SIGINT ends it at once, a second SIGTERM or SIGHUP when it comes
/// 0.3 s or more after the first: Slurm sends SIGTERM twice in a row when a job's time is over. mpirun passes
/// Ctrl-C on to its ranks as SIGTERM, and kills them a second later.
void notice_interruption();

/// From now on each of them also sets `mark` to 1, at once; null: nothing. It has to exist until the next
/// call.
void mark_interruption(std::atomic<std::uint8_t>* mark);

/// Whether an order (SIGINT, SIGTERM, SIGHUP) that comes so long after the first one is still that one.
[[nodiscard]] bool is_same_order(int signal, std::int64_t milliseconds_after);

[[nodiscard]] bool interrupted();

/// The first that came: "SIGTERM"; empty before it.
[[nodiscard]] std::string interrupting_signal();

}  // namespace collbench::launch
