#pragma once
#include <string>
#include <string_view>

namespace collbench::topology {

enum class LogLevel {
  none,     ///< of the program, or of nothing that is known
  info,     ///< NCCL INFO
  warning,  ///< NCCL WARN, an error of PyTorch's process group or of SHARP, or what a framework quotes of
            ///< them
  other_program,  ///< an error of another program: a launcher, a container's runtime, MPI, UCX, the last line
                  ///< of a traceback
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

/// "RuntimeError: …", "torch.OutOfMemoryError: …": what a traceback of Python ends with.
[[nodiscard]] bool is_exception(std::string_view text);

/// Where an error begins that has a form of its own: of a launcher, a container's runtime, MPI, UCX, a
/// module's loader, or the last line of a traceback; npos for any other line. A job's log has others' errors,
/// too, but is not known by them.
[[nodiscard]] std::size_t own_error(std::string_view line);

/// Where an error begins that is known by the form of its head, as Slurm's daemons log it
/// ("[2026-05-27T07:00:00.123] [8.0] error: …") or what uses klog and glog ("E0116 15:56:51.763612  1363
/// driver.c:196] …", also behind "kubelet[7]: "). npos for any other line.
[[nodiscard]] std::size_t error_of_a_daemon(std::string_view line);

/// `before` is the line before it: what follows "Last error:" is the text of a warning.
[[nodiscard]] LogLine log_line(std::string_view line, std::string_view before = {});

/// "… comm 0x1 rank 0 nranks 2 cudaDev 0 nvmlDev 0 busId 901000 commId 0x47 - Init START": the hash of the
/// communicator, which all of its ranks write; empty in another line. A split communicator has its parent's
/// ranks, and in some versions no hash of its own.
[[nodiscard]] std::string_view communicator_of(std::string_view line);

/// Whether a process says so for the first time: once in each (bootstrapNetInit, NCCL 2.18 to 2.31).
[[nodiscard]] bool begins_process(std::string_view line);

/// What stays the same of a message when it is written again: numbers, addresses and file names are masked.
/// Numbers of at most three digits behind "error", "failure" or "status" stay, since they say what happened.
[[nodiscard]] std::string message_kind(std::string_view message);

}  // namespace collbench::topology
