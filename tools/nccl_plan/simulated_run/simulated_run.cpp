#include "tools/nccl_plan/simulated_run/simulated_run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <memory>
#include <thread>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/json_reader.hpp"
#include "base/text_search.hpp"
#include "base/units.hpp"
#include "launch/available_memory.hpp"
#include "tools/nccl_plan/simulated_run/simulated_rank.hpp"

namespace collbench::collectives {
namespace {

using namespace std::chrono_literals;
// How long a run may take is nothing that is measured, so the clock of measured time has no part in it.
using SteadyClock = std::chrono::steady_clock;

// More than what 32 ranks of NCCL 2.28.9 took on 4 nodes of hgx-h100: 1.3 GiB in all (docs/gpu.md).
constexpr std::uint64_t kHostBytes = 512 * kMiB;
constexpr std::uint64_t kRankBytes = 128 * kMiB;
// Of each pair of ranks in a domain of several nodes, where each rank gathers the topologies of all: 32 ranks
// on 8 trays of gb200-nvl72 took 6.0 GB, 16 took 1.0 (NCCL 2.28.9).
constexpr std::uint64_t kDomainPairBytes = 6 * kMiB;

Error cannot(const std::string& what) {
  return {ExitStatus::not_here, what, std::strerror(errno), "see ulimit -n and ulimit -u, and free"};
}

/// A file that only exists as long as a process has it open.
std::unique_ptr<FileDescriptor> memory_file(const char* name, std::string_view text = {}) {
  auto file = std::make_unique<FileDescriptor>(::memfd_create(name, 0));
  if (file->get() < 0) throw cannot("memfd_create");
  write_all(file->get(), text, name);
  return file;
}

std::string text_of(const FileDescriptor& file) {
  return read_file(fmt::format("/proc/self/fd/{}", file.get()));
}

/// Memory that this process and those that it starts see alike.
class SharedMeeting {
 public:
  SharedMeeting() {
    void* const memory =
        ::mmap(nullptr, sizeof(SimulatedMeeting), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw cannot("mmap");
    meeting_ = new (memory) SimulatedMeeting;
  }
  SharedMeeting(const SharedMeeting&) = delete;
  SharedMeeting& operator=(const SharedMeeting&) = delete;
  SharedMeeting(SharedMeeting&&) = delete;
  SharedMeeting& operator=(SharedMeeting&&) = delete;
  ~SharedMeeting() { ::munmap(meeting_, sizeof(SimulatedMeeting)); }

  [[nodiscard]] SimulatedMeeting& operator*() const { return *meeting_; }

 private:
  SimulatedMeeting* meeting_;
};

/// The files of a run: the topologies, and of each rank its log and its report.
struct RunFiles {
  std::vector<std::unique_ptr<FileDescriptor>> nodes, logs, reports;
  std::unique_ptr<FileDescriptor> host_report;

  explicit RunFiles(const SimulatedJob& job) : host_report(memory_file("report")) {
    for (const std::string& xml : job.node_xml) nodes.push_back(memory_file("topology", xml));
    const std::size_t ranks = job.node_xml.size() * static_cast<std::size_t>(job.ranks_per_node);
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      logs.push_back(memory_file("log"));
      reports.push_back(memory_file("report"));
    }
  }

  [[nodiscard]] std::vector<int> node_files() const {
    std::vector<int> files;
    for (const auto& file : nodes) files.push_back(file->get());
    return files;
  }
};

/// A new process that is killed when the one that started it ends. 0: in the new one.
pid_t start_process() {
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) throw cannot("fork");
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(1);  // it ended before
  }
  return child;
}

/// In words, how a rank's process ended; empty for a good end.
std::string bad_end(int status) {
  if (WIFSIGNALED(status))
    return fmt::format("ended with signal {} ({})", WTERMSIG(status), ::strsignal(WTERMSIG(status)));
  if (WEXITSTATUS(status) != 0) return fmt::format("ended with exit status {}", WEXITSTATUS(status));
  return "";
}

/// The process that loads the libraries once and starts the ranks from there, so that they share what was
/// loaded. Ends itself and, by that, all ranks when the first of them fails.
[[noreturn]] void host_process(const SimulatedJob& job, const RunFiles& files, SimulatedMeeting& meeting) {
  int status = 0;
  try {
    const std::string simulated_cuda = load_simulated_libraries(job.library);
    std::vector<pid_t> ranks;
    for (std::size_t rank = 0; rank < files.logs.size(); ++rank) {
      const SimulatedRank own{.rank = static_cast<int>(rank),
                              .node = static_cast<int>(rank) / job.ranks_per_node,
                              .log_file = files.logs[rank]->get(),
                              .report_file = files.reports[rank]->get()};
      const pid_t process = start_process();
      if (process == 0) ::_exit(run_simulated_rank(job, simulated_cuda, own, files.node_files(), meeting));
      ranks.push_back(process);
    }
    for (std::size_t left = ranks.size(); left > 0; --left) {
      int end = 0;
      const pid_t process = ::wait(&end);
      const std::string words = bad_end(end);
      if (process < 0 || words.empty()) continue;
      const auto rank = std::ranges::find(ranks, process) - ranks.begin();
      int none = -1;
      // A rank that reported its failure has said more than how it ended.
      if (meeting.first_failed.compare_exchange_strong(none, static_cast<int>(rank))) {
        throw Error(ExitStatus::not_here, fmt::format("rank {}", rank), words, "");
      }
      status = 1;
      break;
    }
  } catch (const Error& error) {
    const Json report{{"where", error.where()}, {"error", error.what()}, {"next_step", error.next_step()}};
    write_all(files.host_report->get(), json_line(report), "report");
    status = 1;
  } catch (const std::exception& failure) {
    write_all(files.host_report->get(), json_line({{"error", failure.what()}}), "report");
    status = 1;
  }
  ::_exit(status);
}

/// The first line that NCCL wrote as a warning, of any rank; empty without.
std::string first_warning(const RunFiles& files) {
  for (const auto& file : files.logs) {
    const std::string log = text_of(*file);
    if (const auto warning = text_behind(log, " NCCL WARN ", "\n")) return std::string(*warning);
  }
  return "";
}

std::string member_of(const std::string& text, const char* key) {
  if (text.empty()) return "";
  const nlohmann::json document = parse_json(text, "report");
  const auto value = JsonReader(document, "report").find(key);
  return value ? value->text() : "";
}

/// "NCCL_ALGO=ring, NCCL_NTHREADS=64".
std::string settings_text(const std::vector<std::pair<std::string, std::string>>& settings) {
  std::vector<std::string> texts;
  for (const auto& [name, value] : settings) texts.push_back(fmt::format("{}={}", name, value));
  return fmt::format("{}", fmt::join(texts, ", "));
}

/// Why there is no result: what the first rank that failed said, NCCL's own warning, or how the process
/// ended, which is `end`.
[[noreturn]] void throw_failure(const SimulatedJob& job, const RunFiles& files,
                                const SimulatedMeeting& meeting, const std::string& end) {
  const std::string warning = first_warning(files);
  const int failed = meeting.first_failed;
  if (failed >= 0) {
    const std::string words = member_of(text_of(*files.reports[static_cast<std::size_t>(failed)]), "error");
    if (!words.empty()) {
      throw Error(
          ExitStatus::usage, "nccl-plan",
          warning.empty() || words.find(warning) != std::string::npos ? words : words + ": " + warning,
          job.settings.empty()
              ? "NCCL refuses this machine; try another topology, or --library"
              : fmt::format(
                    "NCCL refuses this machine or a setting; check {}, or try another topology or --library",
                    settings_text(job.settings)));
    }
  }
  const std::string host = text_of(*files.host_report);
  const std::string where = member_of(host, "where");
  std::string words = member_of(host, "error");
  if (words.empty()) words = "the process that loads it " + end;
  if (!warning.empty()) words += "; NCCL: " + warning;
  std::string next = member_of(host, "next_step");
  if (next.empty()) next = "try another libnccl with --library";
  throw Error(ExitStatus::not_here, where.empty() ? job.library : where, words, next);
}

/// How far the ranks are, for somebody who waits.
std::string progress_words(const SimulatedJob& job, const RunFiles& files, const SimulatedMeeting& meeting) {
  const std::size_t ranks = files.logs.size();
  const int connected = meeting.connected;
  if (static_cast<std::size_t>(connected) < ranks)
    return fmt::format("NCCL starts: {} of {} ranks are there", connected, ranks);
  return fmt::format("NCCL chooses: {} of {} calls", meeting.calls.load(), job.calls.size());
}

/// Waits for the process; kills it at the end of the time. Returns how it ended, in words.
std::string wait_for(pid_t process, const SimulatedJob& job, const RunFiles& files,
                     const SimulatedMeeting& meeting) {
  const auto end = SteadyClock::now() + std::chrono::duration<double>(job.limit_seconds);
  int status = 0;
  while (true) {
    for (int i = 0; i < 10; ++i) {
      if (::waitpid(process, &status, WNOHANG) != 0) return bad_end(status);
      std::this_thread::sleep_for(10ms);
    }
    job.progress(progress_words(job, files, meeting));
    if (SteadyClock::now() < end) continue;
    ::kill(process, SIGKILL);
    ::waitpid(process, &status, 0);
    throw Error(ExitStatus::not_here, "nccl-plan",
                fmt::format("{} after {:.0f} s", progress_words(job, files, meeting), job.limit_seconds),
                "give fewer nodes");
  }
}

SimulatedRun results(const RunFiles& files) {
  SimulatedRun run;
  for (const auto& file : files.logs) run.logs.push_back(text_of(*file));
  const std::string text = text_of(*files.reports.front());
  const nlohmann::json document = parse_json(text, "report");
  const JsonReader report(document, "report");
  run.library = report.at("library").text();
  run.version = report.at("version").integer<int>();
  std::size_t from = 0;
  for (const JsonReader& call : report.at("calls").items()) {
    const std::size_t to = std::min(call.at("log_bytes").integer<std::size_t>(), run.logs.front().size());
    const std::size_t begin = std::min(from, to);
    run.calls.push_back({.selection = {}, .log = run.logs.front().substr(begin, to - begin)});
    FieldReader visit(call);
    visit("nccl", run.calls.back().selection);
    from = to;
  }
  return run;
}

}  // namespace

void require_simulated_memory(std::size_t ranks, std::size_t domain_ranks) {
  const std::uint64_t needed = kHostBytes + ranks * (kRankBytes + domain_ranks * kDomainPairBytes);
  const std::uint64_t available = launch::available_memory_bytes();
  if (available == 0 || needed <= available) return;
  throw usage_error("nccl-plan",
                    fmt::format("{} ranks need about {} of memory, and {} are free", ranks,
                                format_bytes(needed), format_bytes(available)),
                    "give fewer --nodes or --ranks-per-node");
}

SimulatedRun run_simulated(const SimulatedJob& job) {
  const auto per_node = static_cast<std::size_t>(job.ranks_per_node);
  const std::size_t in_domain = std::min(static_cast<std::size_t>(job.nodes_per_domain), job.node_xml.size());
  require_simulated_memory(job.node_xml.size() * per_node, in_domain > 1 ? in_domain * per_node : 0);
  const RunFiles files(job);
  const SharedMeeting meeting;
  const pid_t process = start_process();
  if (process == 0) host_process(job, files, *meeting);
  const std::string end = wait_for(process, job, files, *meeting);
  if (!end.empty()) throw_failure(job, files, *meeting, end);
  return results(files);
}

}  // namespace collbench::collectives
