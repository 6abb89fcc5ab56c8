// start_ranks_of_process() of start.hpp.
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <random>
#include <string_view>

#include "base/error.hpp"
#include "base/files.hpp"
#include "collectives/mpi/mpi_library.hpp"
#include "launch/hosts/launch_address.hpp"
#include "launch/launcher.hpp"
#include "launch/ranks.hpp"
#include "src/run/start.hpp"

namespace collbench::program {
namespace {

/// One that nobody has now; rank 0's listener takes it in a moment.
std::uint16_t free_port() {
  const FileDescriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{.sin_family = AF_INET, .sin_port = 0, .sin_addr = {htonl(INADDR_ANY)}, .sin_zero = {}};
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  socklen_t size = sizeof address;
  if (socket.get() < 0 || ::bind(socket.get(), any, size) != 0 ||
      ::getsockname(socket.get(), any, &size) != 0)
    throw Error(ExitStatus::not_here, "-g",
                fmt::format("no port for the ranks to meet at: {}", std::strerror(errno)),
                "launch a process for each GPU, with -g 1");
  return ntohs(address.sin_port);
}

/// Never on a command line, which others of the host see.
std::string random_secret() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}{:08x}{:08x}", random(), random(), random(), random());
}

/// What all launched processes agree on.
struct Meeting {
  int process = 0;
  int processes = 1;
  std::string address;  ///< HOST:PORT of rank 0
  std::string secret;
};

Meeting agree_on_meeting() {
  launch::CallCounter exchanges;
  int argc = 0;
  char** argv = nullptr;
  const auto session = collectives::mpi_library().functions->start(&argc, &argv, exchanges);
  launch::Ranks& ranks = session->ranks();
  Meeting meeting{.process = ranks.rank(), .processes = ranks.size(), .address = {}, .secret = {}};
  if (ranks.is_root()) {
    const std::string host = launch::launch_address().value_or("127.0.0.1");
    const bool is_ipv6 = host.find(':') != std::string::npos;
    meeting.address = fmt::format("{}{}{}:{}", is_ipv6 ? "[" : "", host, is_ipv6 ? "]" : "", free_port());
    meeting.secret = random_secret();
  }
  meeting.address = launch::broadcast_text(ranks, meeting.address);
  meeting.secret = launch::broadcast_text(ranks, meeting.secret);
  return meeting;
}

/// Without what says that MPI's launcher started this process: it did not start the ranks.
std::vector<std::string> environment_of(const Meeting& meeting, int rank, int ranks) {
  std::vector<std::string> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view line(*entry);
    const bool is_own = line.starts_with("COLLBENCH_R");  // of a rendezvous
    if (!is_own && !launch::is_of_mpi_launcher(line.substr(0, line.find('='))))
      environment.emplace_back(line);
  }
  environment.push_back(fmt::format("COLLBENCH_RENDEZVOUS={}", meeting.address));
  environment.push_back(fmt::format("COLLBENCH_RANK={}", meeting.process * ranks + rank));
  environment.push_back(fmt::format("COLLBENCH_RANKS={}", meeting.processes * ranks));
  environment.push_back(fmt::format("COLLBENCH_LOCAL_RANKS={}", ranks));
  environment.push_back(fmt::format("COLLBENCH_SECRET={}", meeting.secret));
  return environment;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

/// Throws Error (not_here).
pid_t start(std::vector<std::string> words, std::vector<std::string> environment) {
  const std::vector<char*> arguments = pointers_to(words);
  const std::vector<char*> variables = pointers_to(environment);
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0)
    throw Error(ExitStatus::not_here, "-g", fmt::format("a rank cannot be started: {}", std::strerror(errno)),
                "raise the limit of processes (ulimit -u)");
  if (child > 0) return child;
  // Whom the launcher kills takes its ranks along.
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(static_cast<int>(ExitStatus::rank_lost));
  ::signal(SIGINT, SIG_DFL);
  ::signal(SIGTERM, SIG_DFL);
  ::execve("/proc/self/exe", arguments.data(), variables.data());
  ::_exit(static_cast<int>(ExitStatus::internal));
}

/// Of a rank that a signal ended: the others say which.
int status_of(int ended) {
  return WIFEXITED(ended) ? WEXITSTATUS(ended) : static_cast<int>(ExitStatus::rank_lost);
}

}  // namespace

int start_ranks_of_process(int ranks, const std::vector<std::string>& words) {
  const Meeting meeting = agree_on_meeting();
  // The launcher sends them to the whole process group: the ranks end by themselves, and this one waits for
  // them.
  ::signal(SIGINT, SIG_IGN);
  ::signal(SIGTERM, SIG_IGN);
  std::vector<pid_t> children;
  for (int rank = 0; rank < ranks; ++rank)
    children.push_back(start(words, environment_of(meeting, rank, ranks)));
  int status = 0;
  for (const pid_t child : children) {
    int ended = 0;
    while (::waitpid(child, &ended, 0) < 0 && errno == EINTR) {
    }
    status = std::max(status, status_of(ended));
  }
  return status;
}

}  // namespace collbench::program
