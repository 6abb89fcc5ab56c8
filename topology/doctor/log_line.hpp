#pragma once
#include <string>
#include <string_view>

namespace collbench::topology {

enum class LogLevel {
  none,     ///< of the program, or of nothing that is known
  info,     ///< NCCL INFO
  warning,  ///< NCCL WARN, an error of PyTorch's process group or of SHARP, or what a framework quotes of
            ///< them
};

/// A line of a job's log, in its parts.
struct LogLine {
  LogLevel level = LogLevel::none;
  std::string_view head;     ///< before the message: time, host, process, source file
  std::string_view message;  ///< the whole line where it has no level

  /// "14:09:34" of the head; empty where it has no time, as before NCCL 2.26.
  [[nodiscard]] std::string_view time() const;
  /// "HOST:PID" of NCCL's prefix; empty where there is none.
  [[nodiscard]] std::string_view process() const;
  /// The rank that the line itself names: "[rank3]:" of PyTorch, "[1,3]<stdout>" of Open MPI; empty where
  /// none.
  [[nodiscard]] std::string_view rank() const;
};

/// `before` is the line before it: what follows "Last error:" is the text of a warning.
[[nodiscard]] LogLine log_line(std::string_view line, std::string_view before = {});

/// What stays the same of a message when it is written again: numbers, addresses and file names are masked.
/// Numbers of at most three digits behind "error", "failure" or "status" stay, since they say what happened.
[[nodiscard]] std::string message_kind(std::string_view message);

}  // namespace collbench::topology
