#include "base/child_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <optional>
#include <utility>

#include "base/error.hpp"

namespace collbench {
namespace {

// How long a limit lasts is nothing that is measured, so the clock of measured time has no part in it.
using Deadline = std::chrono::steady_clock::time_point;

Deadline after(double seconds) {
  return std::chrono::steady_clock::now() + std::chrono::milliseconds(static_cast<long long>(seconds * 1e3));
}

Error cannot(std::string_view what, int reason) {
  return {ExitStatus::not_here, std::string(what), std::strerror(reason), "see ulimit -n and ulimit -u"};
}

/// One stream of the child: a pipe, and what came through it.
class Stream {
 public:
  Stream() {
    if (::pipe2(ends_.data(), O_CLOEXEC) != 0) throw cannot("pipe2", errno);
    ::fcntl(ends_[0], F_SETFL, O_NONBLOCK);
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() {
    close(0);
    close(1);
  }

  [[nodiscard]] int read_end() const {
    return ends_[0];
  }  ///< -1 after the end of the stream, which poll skips
  [[nodiscard]] int write_end() const { return ends_[1]; }
  [[nodiscard]] bool ended() const { return ends_[0] < 0; }
  [[nodiscard]] bool cut() const { return cut_; }
  void close_write_end() { close(1); }
  [[nodiscard]] std::string take() { return std::move(text_); }

  /// All that a pipe can hold, and a bounded amount even of what never ends. What is too much to keep is read
  /// all the same, lest the child wait for ever.
  void drain(std::size_t max_bytes) {
    constexpr int kMaxReads = 32;
    std::array<char, 65536> buffer{};  // a pipe's capacity (pipe(7))
    for (int reads = 0; reads < kMaxReads && !ended(); ++reads) {
      const ssize_t count = ::read(ends_[0], buffer.data(), buffer.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0 && errno == EAGAIN) return;
      if (count <= 0) {
        close(0);
        return;
      }
      const std::size_t room = max_bytes - std::min(max_bytes, text_.size());
      const auto came = static_cast<std::size_t>(count);
      text_.append(buffer.data(), std::min(room, came));
      cut_ = cut_ || came > room;
    }
  }

 private:
  void close(std::size_t end) {
    if (ends_[end] >= 0) ::close(ends_[end]);
    ends_[end] = -1;
  }

  std::array<int, 2> ends_{-1, -1};
  std::string text_;
  bool cut_ = false;
};

/// The child's stdin, stdout and stderr; its own process group; no signal blocked or ignored, whatever this
/// process (or the MPI library in it) does with signals.
class SpawnPlan {
 public:
  SpawnPlan(const Stream& out, const Stream& err, bool keeps_stdin) {
    posix_spawn_file_actions_init(&files_);
    if (!keeps_stdin) posix_spawn_file_actions_addopen(&files_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files_, out.write_end(), STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&files_, err.write_end(), STDERR_FILENO);
    posix_spawnattr_init(&attributes_);
    posix_spawnattr_setflags(&attributes_,
                             POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setpgroup(&attributes_, 0);
    sigset_t signals;
    sigemptyset(&signals);
    posix_spawnattr_setsigmask(&attributes_, &signals);
    sigfillset(&signals);
    posix_spawnattr_setsigdefault(&attributes_, &signals);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;
  ~SpawnPlan() {
    posix_spawnattr_destroy(&attributes_);
    posix_spawn_file_actions_destroy(&files_);
  }

  /// 0, or the errno of why the program cannot be run.
  [[nodiscard]] int spawn(const std::vector<std::string>& arguments, pid_t& pid) const {
    std::vector<std::string> words = arguments;
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    return ::posix_spawnp(&pid, argv[0], &files_, &attributes_, argv.data(), environ);
  }

 private:
  posix_spawn_file_actions_t files_{};
  posix_spawnattr_t attributes_{};
};

/// A running process and its group. Neither survives this object, except a process that no signal reaches: a
/// driver that hangs holds its callers in the kernel, and nobody shall wait for them.
class Child {
 public:
  explicit Child(pid_t pid) : pid_(pid) {}
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    // Not reaped yet, the process holds its number: the group is still its own.
    ::kill(-pid_, SIGKILL);
    const Deadline patience = after(1);
    while (::waitpid(pid_, nullptr, WNOHANG) == 0 && std::chrono::steady_clock::now() < patience)
      ::poll(nullptr, 0, 1);
  }

  /// How the process ended, without reaping it; none while it runs.
  [[nodiscard]] std::optional<siginfo_t> ended() const {
    siginfo_t info{};
    if (::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) != 0)
      throw cannot("waitid", errno);
    if (info.si_pid == 0) return std::nullopt;
    return info;
  }

 private:
  pid_t pid_;
};

/// Waits until either stream has something, or ends, or a moment has passed.
void wait_for_output(const Stream& out, const Stream& err) {
  // A process that closed its streams is about to end. One that ended may have left them open to another, so
  // it must be looked at even when nothing comes.
  const int milliseconds = out.ended() && err.ended() ? 1 : 20;
  std::array<pollfd, 2> watched{{{out.read_end(), POLLIN, 0}, {err.read_end(), POLLIN, 0}}};
  ::poll(watched.data(), watched.size(), milliseconds);
}

}  // namespace

ChildResult run_child(const std::vector<std::string>& arguments, const ChildLimits& limits) {
  Stream out;
  Stream err;
  pid_t pid = 0;
  ChildResult result;
  if (arguments.empty()) throw cannot("run_child", EINVAL);
  result.code = SpawnPlan(out, err, limits.keeps_stdin).spawn(arguments, pid);
  if (result.code == EAGAIN || result.code == ENOMEM) throw cannot(arguments[0], result.code);
  if (result.code != 0) return result;
  out.close_write_end();
  err.close_write_end();
  const Child child(pid);
  const Deadline deadline = after(limits.seconds);
  result.end = ChildEnd::timed_out;
  while (std::chrono::steady_clock::now() < deadline) {
    const std::optional<siginfo_t> end = child.ended();  // before the last drain: what it said is all there
    out.drain(limits.max_bytes);
    err.drain(limits.max_bytes);
    if (end) {
      result.end = end->si_code == CLD_EXITED ? ChildEnd::exited : ChildEnd::signalled;
      result.code = end->si_status;
      break;
    }
    if (limits.interrupted && limits.interrupted()) {
      result.end = ChildEnd::interrupted;
      break;
    }
    wait_for_output(out, err);
  }
  result.cut = out.cut() || err.cut();
  result.out = out.take();
  result.err = err.take();
  return result;
}

int replace_process(std::vector<std::string> arguments) {
  std::vector<char*> pointers;
  for (std::string& each : arguments) pointers.push_back(each.data());
  pointers.push_back(nullptr);
  const auto before = std::signal(SIGPIPE, SIG_DFL);
  ::execvp(pointers[0], pointers.data());
  const int why = errno;
  std::signal(SIGPIPE, before);  // who reads what this says may be gone
  return why;
}

std::string describe_end(const ChildResult& result, const ChildLimits& limits) {
  switch (result.end) {
    case ChildEnd::exited:
      return fmt::format("exit status {}", result.code);
    case ChildEnd::signalled:
      return fmt::format("killed by signal {}", result.code);
    case ChildEnd::timed_out:
      return fmt::format("timed out after {:g} s", limits.seconds);
    case ChildEnd::interrupted:
      return "interrupted";
    case ChildEnd::not_started:
      break;
  }
  return std::strerror(result.code);
}

}  // namespace collbench
