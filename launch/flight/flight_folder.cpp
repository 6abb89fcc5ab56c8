#include "launch/flight/flight_folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <system_error>

#include "base/environment.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "launch/flight/process_stat.hpp"

namespace collbench::launch {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFilePrefix = "rank-";
constexpr const char* kIncidentFile = "incident";
constexpr std::size_t kKeptDeadRuns = 8;

/// Where files are memory.
fs::path base_folder() {
  if (::access("/dev/shm", W_OK | X_OK) == 0) return "/dev/shm";
  std::error_code failure;
  const fs::path temporary = fs::temp_directory_path(failure);
  return failure ? fs::path("/tmp") : temporary;
}

std::string user_prefix() { return fmt::format("collbench-flight-{}-", ::geteuid()); }

/// What the launcher calls the job, in characters for a file name: the same on all ranks of a host, another
/// one for each job that runs at the time. Without a name, its process: that of the ranks' parent.
std::string job_name(const std::string& meeting) {
  std::string name = meeting.empty() ? variable_value("PMIX_NAMESPACE") : "meeting-" + meeting;
  if (name.empty() && !variable_value("SLURM_STEP_ID").empty())
    name = variable_value("SLURM_JOB_ID") + "." + variable_value("SLURM_STEP_ID");
  if (name.empty()) name = fmt::format("parent-{}", ::getppid());
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '.' && c != '-') c = '_';
  }
  return name.substr(0, 100);
}

/// Whether it is a folder, and nobody else's to write in.
bool is_own_folder(const fs::path& folder) {
  struct stat about{};
  return ::lstat(folder.c_str(), &about) == 0 && S_ISDIR(about.st_mode) && about.st_uid == ::geteuid() &&
         (about.st_mode & 077) == 0;
}

std::vector<fs::path> recorder_files(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code failure;
  for (fs::path& entry : entries_of(folder, failure))
    if (entry.filename().string().starts_with(kFilePrefix)) files.push_back(std::move(entry));
  if (failure) throw file_error(folder, "read", failure.value());
  return files;
}

bool is_dead(const fs::path& folder) {
  try {
    const std::vector<RankActivity> ranks = read_flight_folder(folder);
    return std::ranges::all_of(ranks,
                               [](const RankActivity& rank) { return rank.process == ProcessState::gone; });
  } catch (const Error&) {
    return false;
  }
}

/// Of another rank, or of a copy of its file.
class MappedPage {
 public:
  explicit MappedPage(const fs::path& file) {
    const FileDescriptor descriptor(::open(file.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (descriptor.get() < 0) throw file_error(file, "read", errno);
    struct stat about{};
    if (::fstat(descriptor.get(), &about) != 0) throw file_error(file, "read", errno);
    if (!S_ISREG(about.st_mode) || about.st_size != sizeof(FlightPage)) throw none(file);
    memory_ = ::mmap(nullptr, sizeof(FlightPage), PROT_READ, MAP_SHARED, descriptor.get(), 0);
    if (memory_ == MAP_FAILED) throw file_error(file, "read", errno);
    if (get().magic != FlightPage::kMagic) {
      ::munmap(memory_, sizeof(FlightPage));
      throw none(file);
    }
  }
  MappedPage(const MappedPage&) = delete;
  MappedPage& operator=(const MappedPage&) = delete;
  ~MappedPage() { ::munmap(memory_, sizeof(FlightPage)); }

  [[nodiscard]] const FlightPage& get() const { return *static_cast<const FlightPage*>(memory_); }

 private:
  static Error none(const fs::path& file) {
    return usage_error(file.string(), "not a flight recorder of this version of collbench",
                       "give the folder of a run, its process ID, or a file rank-N of that folder");
  }

  void* memory_ = nullptr;
};

template <std::size_t Size>
std::string text_of(const std::array<char, Size>& text) {
  return {text.data(), strnlen(text.data(), Size)};
}

std::uint64_t ticks_ns(std::uint64_t ticks) {
  return ticks * (1'000'000'000 / static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK)));
}

std::uint64_t clock_ns(clockid_t clock) {
  struct timespec now{};
  ::clock_gettime(clock, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

/// "10.93.1.2"; empty for 0.
std::string address_text(std::uint32_t address) {
  if (address == 0) return {};
  return fmt::format("{}.{}.{}.{}", address >> 24U, address >> 16U & 0xFFU, address >> 8U & 0xFFU,
                     address & 0xFFU);
}

CallCounts counts(const CallCounter& counter) {
  // In this order: a call that is made meanwhile is not left before it is entered.
  const std::uint64_t left = counter.left.load(std::memory_order_acquire);
  return {.entered = counter.entered.load(std::memory_order_acquire), .left = left};
}

}  // namespace

std::uint64_t flight_clock_ns() { return clock_ns(CLOCK_BOOTTIME); }

fs::path make_flight_folder(const std::string& meeting) {
  const fs::path folder = base_folder() / (user_prefix() + job_name(meeting));
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) return {};
  return is_own_folder(folder) ? folder : fs::path();
}

std::vector<fs::path> flight_folders() {
  std::vector<std::pair<fs::file_time_type, fs::path>> found;
  std::error_code failure;
  for (const fs::path& entry : entries_of(base_folder(), failure)) {
    if (!entry.filename().string().starts_with(user_prefix()) || !is_own_folder(entry)) continue;
    std::error_code gone;
    const auto changed = fs::last_write_time(entry, gone);
    if (!gone) found.emplace_back(changed, entry);
  }
  std::sort(found.rbegin(), found.rend());
  std::vector<fs::path> folders;
  for (auto& [changed, folder] : found) folders.push_back(std::move(folder));
  return folders;
}

void remove_old_flights() {
  std::size_t dead = 0;
  for (const fs::path& folder : flight_folders()) {
    if (!is_dead(folder) || ++dead <= kKeptDeadRuns) continue;
    std::error_code ignored;
    fs::remove_all(folder, ignored);
  }
}

std::uint64_t launch_ns() {
  // Another user's launcher may be hidden (mount option hidepid): then what is before this process counts.
  for (const pid_t pid : {::getppid(), ::getpid()}) {
    if (const auto stat = process_stat(pid)) return ticks_ns(stat->start_ticks);
  }
  return 0;
}

void forget_earlier_job(const fs::path& folder, std::uint64_t launched_ns) {
  std::error_code ignored;
  for (const fs::path& entry : entries_of(folder, ignored)) {
    try {
      const MappedPage page(entry);
      if (process_state(page.get()) == ProcessState::gone && ticks_ns(page.get().started_ticks) < launched_ns)
        ::unlink(entry.c_str());
    } catch (const Error&) {  // no recorder
      continue;
    }
  }
  struct stat about{};
  if (::stat((folder / kIncidentFile).c_str(), &about) != 0) return;
  // Its time is of another clock.
  const std::uint64_t left_ns = static_cast<std::uint64_t>(about.st_mtim.tv_sec) * 1'000'000'000 +
                                static_cast<std::uint64_t>(about.st_mtim.tv_nsec);
  if (left_ns + flight_clock_ns() < launched_ns + clock_ns(CLOCK_REALTIME)) forget_incident(folder);
}

ProcessState process_state(const FlightPage& page) {
  struct stat space{};
  if (::stat("/proc/self/ns/pid", &space) != 0 || space.st_ino != page.pid_namespace ||
      text_of(page.boot) != first_line("/proc/sys/kernel/random/boot_id")) {
    return ProcessState::unknown;
  }
  return process_state(page.pid, page.started_ticks);
}

RankActivity rank_activity(const FlightPage& page) {
  const FlightStep step = read_step(page);
  const std::uint64_t progressed = page.progressed_ns.load(std::memory_order_relaxed);
  const std::uint64_t now = flight_clock_ns();
  const Unacknowledged bytes = page.unacknowledged.load(std::memory_order_relaxed);
  RankActivity rank{.rank = page.rank,
                    .ranks = page.ranks,
                    .host = text_of(page.host),
                    .gpu = text_of(page.gpu),
                    .device = step.device,
                    .pid = page.pid,
                    .process = process_state(page),
                    .step = step.name,
                    .steps = page.steps.load(std::memory_order_relaxed),
                    .pass = step.pass,
                    .calls = counts(page.calls),
                    .calls_before_step = step.calls_before,
                    .exchanges = counts(page.exchanges),
                    .is_over = page.is_over.load(std::memory_order_relaxed) != 0,
                    .idle_seconds = {},
                    .resent_to = address_text(bytes.address),
                    .resent_times = bytes.times,
                    .heard = page.heard.load(std::memory_order_relaxed)};
  rank.calls_before_step = std::min(rank.calls_before_step, rank.calls.entered);
  const bool is_this_boot = rank.process != ProcessState::unknown;
  if (is_this_boot && now >= progressed) rank.idle_seconds = static_cast<double>(now - progressed) * 1e-9;
  return rank;
}

std::string flight_file_name(int rank) { return fmt::format("{}{}", kFilePrefix, rank); }

RankActivity read_flight_file(const fs::path& file) { return rank_activity(MappedPage(file).get()); }

std::vector<RankActivity> read_flight_folder(const fs::path& folder) {
  std::vector<RankActivity> ranks;
  for (const fs::path& file : recorder_files(folder)) {
    try {
      ranks.push_back(read_flight_file(file));
    } catch (const Error&) {  // a rank that ends takes its file away meanwhile
      continue;
    }
  }
  std::ranges::sort(ranks, {}, &RankActivity::rank);
  return ranks;
}

std::vector<RankActivity> ranks_of(const fs::path& folder) {
  try {
    return folder.empty() ? std::vector<RankActivity>{} : read_flight_folder(folder);
  } catch (const Error&) {
    return {};
  }
}

bool leave_incident(const fs::path& folder, std::string_view text) {
  if (folder.empty()) return true;
  // Whole under its name or not at all: a link, unlike a rename, is refused where another rank was first.
  const fs::path own = folder / fmt::format("{}.{}", kIncidentFile, ::getpid());
  const FileDescriptor file(::open(own.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (file.get() < 0) return errno != EEXIST;  // this process was first already
  bool is_first = true;
  try {
    write_all(file.get(), text, own);
    is_first = ::link(own.c_str(), (folder / kIncidentFile).c_str()) == 0 || errno != EEXIST;
  } catch (const Error&) {  // a full /dev/shm: nobody hears of it
    is_first = true;
  }
  ::unlink(own.c_str());
  return is_first;
}

std::string left_incident(const fs::path& folder) {
  return folder.empty() ? std::string() : first_line(folder / kIncidentFile);
}

void forget_incident(const fs::path& folder) { ::unlink((folder / kIncidentFile).c_str()); }

}  // namespace collbench::launch
