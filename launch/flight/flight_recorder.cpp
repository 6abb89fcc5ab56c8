#include "launch/flight/flight_recorder.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files.hpp"
#include "launch/flight/flight_folder.hpp"
#include "launch/flight/process_stat.hpp"

namespace collbench::launch {
namespace {

template <std::size_t Size>
void store_text(std::array<char, Size>& to, std::string_view text) {
  to.fill('\0');
  text.copy(to.data(), to.size());
}

void write_identity(FlightPage& page, const FlightIdentity& identity) {
  page.rank = identity.rank;
  page.ranks = identity.ranks;
  page.local_ranks = identity.local_ranks;
  page.pid = ::getpid();
  const auto stat = process_stat(first_line("/proc/self/stat"));
  if (stat) page.started_ticks = stat->start_ticks;
  struct stat space{};
  if (::stat("/proc/self/ns/pid", &space) == 0) page.pid_namespace = space.st_ino;
  store_text(page.boot, first_line("/proc/sys/kernel/random/boot_id"));
  store_text(page.host, identity.host);
  store_text(page.gpu, identity.gpu);
  page.progressed_ns.store(flight_clock_ns(), std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
  page.magic = FlightPage::kMagic;
}

/// A page in a new file of that name; null where it cannot be made. What a dead rank of an equally named job
/// left goes away, with what ended it; a living one's file stays.
FlightPage* map_new_file(const std::filesystem::path& file) {
  const auto create = [&] {
    return ::open(file.c_str(), O_CREAT | O_EXCL | O_RDWR | O_NOFOLLOW | O_CLOEXEC, 0600);
  };
  int opened = create();
  if (opened < 0 && errno == EEXIST) {
    try {
      if (read_flight_file(file).process != ProcessState::gone) return nullptr;
    } catch (const Error&) {
      return nullptr;
    }
    ::unlink(file.c_str());
    forget_incident(file.parent_path());
    opened = create();
  }
  if (opened < 0) return nullptr;
  const FileDescriptor descriptor(opened);
  // Allocated now: a full /dev/shm would end the process later, at a store (SIGBUS).
  if (::posix_fallocate(descriptor.get(), 0, sizeof(FlightPage)) != 0) {
    ::unlink(file.c_str());
    return nullptr;
  }
  void* const memory =
      ::mmap(nullptr, sizeof(FlightPage), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor.get(), 0);
  if (memory == MAP_FAILED) {
    ::unlink(file.c_str());
    return nullptr;
  }
  return new (memory) FlightPage;
}

}  // namespace

FlightRecorder::FlightRecorder(const FlightIdentity& identity, const std::filesystem::path& folder) {
  if (!folder.empty()) {
    file_ = folder / flight_file_name(identity.rank);
    page_ = map_new_file(file_);
  }
  if (page_ == nullptr) {
    file_.clear();
    private_page_ = std::make_unique<FlightPage>();
    page_ = private_page_.get();
  } else {
    folder_ = folder;
  }
  write_identity(*page_, identity);
}

FlightRecorder::~FlightRecorder() { withdraw(); }

void FlightRecorder::begin(std::string_view name, bool has_limit) {
  page().step_has_limit.store(has_limit ? 1 : 0, std::memory_order_relaxed);
  write_step(page(), name);
}

void FlightRecorder::pass(int number) { page().pass.store(number, std::memory_order_relaxed); }

void FlightRecorder::device(std::string_view name) { write_device(page(), name); }

void FlightRecorder::finish() { page().is_over.store(1, std::memory_order_relaxed); }

void FlightRecorder::withdraw() {
  finish();
  if (private_page_) return;
  ::unlink(file_.c_str());
  // Before the ranks have met, one that is yet to come may ask what ended the others.
  if (progress() > 1 && ranks_of(folder_).empty()) forget_incident(folder_);
  ::rmdir(folder_.c_str());  // stays while other ranks' files are in it
}

std::uint64_t FlightRecorder::progress() const {
  return page().steps.load(std::memory_order_relaxed) + page().calls.entered.load(std::memory_order_relaxed) +
         page().calls.left.load(std::memory_order_relaxed);
}

std::string FlightRecorder::step_name() const { return read_step(page()).name; }

RankActivity FlightRecorder::activity() const { return rank_activity(page()); }

void FlightRecorder::mark_progress() {
  page().progressed_ns.store(flight_clock_ns(), std::memory_order_relaxed);
  mark_unacknowledged({});
}

void FlightRecorder::mark_unacknowledged(Unacknowledged bytes) {
  page().unacknowledged.store(bytes, std::memory_order_relaxed);
}

void FlightRecorder::mark_heard() {
  page().heard.store(page().heard.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

}  // namespace collbench::launch
