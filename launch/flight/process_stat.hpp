#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "base/record/rank_activity.hpp"
#include "launch/flight/flight_page.hpp"

namespace collbench::launch {

/// What the kernel says of a process in /proc/PID/stat (proc_pid_stat(5)).
struct ProcessStat {
  std::string name;  ///< of its program, cut after 15 bytes
  char state = 'R';  ///< 'R' runs, 'S' sleeps, 'T' and 't' are stopped, 'Z' and 'X' are gone, …
  int parent = 0;    ///< the PID of the process that started it
  std::uint64_t start_ticks =
      0;  ///< since the host's start: with the PID it names one process and no later one
};

/// From the line of that file: "PID (name) state parent …", where the name may hold blanks and brackets. None
/// when a field is missing.
[[nodiscard]] std::optional<ProcessStat> process_stat(const std::string& line);

/// The same of a process by its PID, as it is now; none where there is none, or it cannot be seen.
[[nodiscard]] std::optional<ProcessStat> process_stat(int pid);

/// Whether the process of this PID that began then runs, is stopped, or is gone; unknown where it is there
/// and cannot be looked at, as by a process that has no descriptor left.
[[nodiscard]] ProcessState process_state(int pid, std::uint64_t start_ticks);

/// Of all established TCP connections of this process to other hosts, by tcp_info (RFC 4898; since
/// Linux 4.19).
struct TcpBytes {
  std::uint64_t sent = 0;    ///< those sent again among them
  std::uint64_t resent = 0;  ///< sent again: lost, or taken for lost
};
[[nodiscard]] TcpBytes view_tcp_bytes();

/// What this process sent and sends again by a timeout of TCP, so not only because the other end does not
/// read: of its connections the one with the most such timeouts in a row.
[[nodiscard]] Unacknowledged view_unacknowledged();

}  // namespace collbench::launch
