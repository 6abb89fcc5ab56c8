#pragma once
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace collbench {

enum class ChildEnd {
  exited,
  signalled,
  timed_out,    ///< and was killed with its whole process group
  interrupted,  ///< ChildLimits::interrupted said so; likewise killed
  not_started,  ///< there is no such program, or it may not be run
};

/// What became of a child process, and what it said.
struct ChildResult {
  ChildEnd end = ChildEnd::not_started;
  int code = 0;  ///< exit status, signal, or the errno of the start
  std::string out;
  std::string err;
  bool cut = false;  ///< more than ChildLimits::max_bytes came on out or err; the rest is lost

  [[nodiscard]] bool succeeded() const { return end == ChildEnd::exited && code == 0; }
};

struct ChildLimits {
  double seconds = 10;
  std::size_t max_bytes = std::size_t{16} << 20U;  ///< kept of stdout, and of stderr
  /// Asked every few hundredths of a second; true ends the child. None: nothing does.
  std::function<bool()> interrupted = nullptr;
  bool keeps_stdin = false;  ///< it reads what this process would have read; else /dev/null
};

/// Runs a program (looked up on PATH) with its arguments, never through a shell. Returns as soon as the
/// program itself ends: what it leaves behind in its process group is killed and not waited for. Throws Error
/// (not_here) when the system has no pipe or process to give.
[[nodiscard]] ChildResult run_child(const std::vector<std::string>& arguments,
                                    const ChildLimits& limits = {});

/// Replaces this process by a program (looked up on PATH) with its arguments, SIGPIPE as a program is started
/// with. Returns only where that fails: the errno.
[[nodiscard]] int replace_process(std::vector<std::string> arguments);

/// "exit status 9", "killed by signal 11", "no answer within 10 s", "No such file or directory".
[[nodiscard]] std::string describe_end(const ChildResult& result, const ChildLimits& limits = {});

}  // namespace collbench
