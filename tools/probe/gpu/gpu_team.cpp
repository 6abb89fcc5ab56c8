#include "tools/probe/gpu/gpu_team.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <memory>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "base/deterministic_random.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/text_input.hpp"
#include "base/units.hpp"
#include "tools/probe/gpu/probe_memory.hpp"
#include "topology/graph/cpu_list.hpp"

namespace collbench::collectives {
namespace {

/// A piece is what is waited for at once: long beside an event's resolution (0.5 µs, cudaEventElapsedTime)
/// and a launch, short beside a window.
constexpr double kPieceSeconds = 0.02;
constexpr double kPieceOfWindow = 0.1;
/// Few, for a launch blocks, without a deadline, when the driver's queue is full; how long that is CUDA does
/// not say.
constexpr double kMaxUnitsOfPiece = 256;
constexpr std::uint64_t kDigestBytes = 16 * kMiB;  // on the host at a time

/// A GPU that says nothing any more: what it works on can be neither freed nor waited for.
struct Silent {};

std::atomic<bool>& stuck_gpu() {
  static std::atomic<bool> is_stuck{false};
  return is_stuck;
}

/// The processors near the GPU, as the kernel names them; empty: it does not.
std::vector<int> cpus_near(const CudaLibrary& cuda, int device) {
  std::array<char, 32> address{};
  if (cuda.device_get_pci_bus_id(address.data(), static_cast<int>(address.size()), device) !=
      CudaResult::success)
    return {};
  try {
    return topology::parse_cpu_list(
               trim(read_file(fmt::format("/sys/bus/pci/devices/{}/local_cpulist", lower(address.data())))))
        .value_or(std::vector<int>());
  } catch (const std::exception&) {
    return {};
  }
}

/// Those of them that the calling thread may run on.
cpu_set_t allowed_of(const std::vector<int>& cpus) {
  cpu_set_t allowed;
  cpu_set_t near;
  CPU_ZERO(&near);
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return near;
  for (const int cpu : cpus) {
    if (cpu < CPU_SETSIZE && CPU_ISSET(static_cast<std::size_t>(cpu), &allowed))
      CPU_SET(static_cast<std::size_t>(cpu), &near);
  }
  return near;
}

/// The calling thread runs near the GPU from now on, so that the memory of the host that it pins is near it,
/// too. What the kernel does not say, or does not allow, stays as it is.
void run_near(const CudaLibrary& cuda, int device) {
  const cpu_set_t near = allowed_of(cpus_near(cuda, device));
  if (CPU_COUNT(&near) > 0) (void)sched_setaffinity(0, sizeof near, &near);
}

/// The stream of a GPU that is kept at work, and how long it takes.
class BusyStream {
 public:
  BusyStream(const CudaLibrary& cuda, const Clock& clock, double timeout_seconds, GpuWork work)
      : cuda_(cuda), clock_(clock), timeout_seconds_(timeout_seconds), stream_(cuda), work_(std::move(work)) {
    for (std::size_t i = 0; i < kEvents; ++i) events_.emplace_back(cuda);
    if (work_.result != nullptr) host_.emplace(cuda, kDigestBytes);
  }

  void fill() {
    if (!work_.fill) return;
    work_.fill(stream_);
    events_[0].record(stream_);
    wait_for(events_[0]);
  }

  /// How many units make a piece of `seconds`, by one that is waited for; one before it loads the code.
  void calibrate(double seconds) {
    units_ = 1;
    (void)start_and_time();
    const double unit = start_and_time();
    units_ = unit > 0 ? std::clamp(std::ceil(seconds / unit), 1.0, kMaxUnitsOfPiece) : kMaxUnitsOfPiece;
  }

  /// Puts the first two pieces on the stream.
  void start() {
    events_[0].record(stream_);
    oldest_ = 0;
    put(1);
    put(2);
  }

  /// Waits for the oldest piece, and puts another one on the stream. Seconds that it took, by the GPU.
  double next() {
    const std::size_t end = (oldest_ + 1) % kEvents;
    wait_for(events_[end]);
    const double seconds = events_[end].seconds_since(events_[oldest_]);
    put(oldest_);
    oldest_ = end;
    return seconds;
  }

  /// Waits for all that is on the stream.
  void finish() { wait_for(events_[(oldest_ + 2) % kEvents]); }

  [[nodiscard]] double amount_of_piece() const { return units_ * work_.amount; }

  /// Adds a digest of what the work wrote last, where it says what that is. Nothing is on the stream.
  void add_result(std::vector<std::uint64_t>& results) {
    if (work_.result == nullptr) return;
    const auto* const from = static_cast<const std::byte*>(work_.result->data());
    std::uint64_t digest = 0;
    for (std::uint64_t at = 0; at < work_.result->bytes(); at += kDigestBytes) {
      const std::uint64_t bytes = std::min(kDigestBytes, work_.result->bytes() - at);
      cuda_.check(cuda_.copy_async(host_->data(), from + at, bytes, CudaCopy::device_to_host, stream_.get()),
                  "cudaMemcpyAsync");
      events_[0].record(stream_);
      wait_for(events_[0]);
      for (std::uint64_t word = 0; word * sizeof digest < bytes; ++word) {
        std::uint64_t bits = 0;
        std::memcpy(&bits, host_->data() + word * sizeof digest,
                    std::min<std::uint64_t>(sizeof bits, bytes - word * sizeof digest));
        digest = mixed(digest ^ bits);
      }
    }
    results.push_back(digest);
  }

 private:
  static constexpr std::size_t kEvents = 3;  // the end of the last piece that was timed, and of two in flight

  double start_and_time() {
    events_[0].record(stream_);
    put(1);
    wait_for(events_[1]);
    return events_[1].seconds_since(events_[0]);
  }

  void put(std::size_t event) {
    for (double unit = 0; unit < units_; ++unit) work_.put(stream_);
    events_[event].record(stream_);
  }

  /// Throws Error for work that failed, Silent for a GPU that does not end it.
  void wait_for(const CudaEvent& event) {
    constexpr std::chrono::microseconds kPause{100};
    const double begin = clock_.seconds();
    while (!event.is_over()) {
      if (clock_.seconds() - begin > timeout_seconds_) throw Silent{};
      std::this_thread::sleep_for(kPause);
    }
  }

  const CudaLibrary& cuda_;
  const Clock& clock_;
  double timeout_seconds_;
  CudaStream stream_;
  GpuWork work_;
  std::optional<PinnedBuffer> host_;  // of a digest; pinned, so that a GPU that is silent can be waited for
  std::vector<CudaEvent> events_;
  double units_ = 1;
  std::size_t oldest_ = 0;
};

/// Windows are of the GPU's own time: all that it did in them is counted, and nothing else.
void time_windows(BusyStream& busy, const Clock& clock, const GpuTiming& timing, GpuRates& rates) {
  for (double warm = 0; warm < timing.warm_up_seconds;) warm += busy.next();
  for (int window = 0; window < timing.windows; ++window) {
    WindowSpan span{clock.seconds(), 0};
    double seconds = 0;
    double done = 0;
    do {
      seconds += busy.next();
      done += busy.amount_of_piece();
    } while (seconds < timing.window_seconds);
    span.end = clock.seconds();
    rates.windows.push_back(done / seconds);
    rates.spans.push_back(span);
  }
  busy.finish();
}

}  // namespace

bool has_stuck_gpu() { return stuck_gpu(); }

bool is_kept_far(const CudaLibrary& cuda, int device) {
  const std::vector<int> cpus = cpus_near(cuda, device);
  const cpu_set_t near = allowed_of(cpus);
  return !cpus.empty() && CPU_COUNT(&near) == 0;
}

std::vector<GpuRates> run_on_gpus(const GpuLibraries& libraries, const std::vector<int>& devices,
                                  const Clock& clock, const GpuTiming& timing,
                                  const std::function<GpuWork(std::size_t index)>& make_work) {
  std::vector<GpuRates> rates(devices.size());
  std::barrier start(static_cast<std::ptrdiff_t>(devices.size()));
  const auto run = [&](std::size_t index) {
    GpuRates& mine = rates[index];
    std::unique_ptr<BusyStream> busy;
    const auto guarded = [&](const auto& step) {
      try {
        step();
      } catch (const GpuRefusal& refusal) {
        mine.refused = refusal.why;
      } catch (const Error& error) {
        mine.failure = error.what();
      } catch (const std::exception& error) {
        mine.refused = error.what();
      } catch (const Silent&) {
        stuck_gpu() = true;
        mine.timed_out = true;
        mine.failure = fmt::format("it made no progress for {:g} s", timing.timeout_seconds);
        (void)busy.release();  // freeing what it works on would wait for it forever
      }
    };
    guarded([&] {
      run_near(libraries.cuda, devices[index]);
      libraries.cuda.check(libraries.cuda.set_device(devices[index]), "cudaSetDevice");
      KernelLibrary::check_result(libraries.cuda, libraries.kernels.set_device(devices[index]),
                                  "cudaSetDevice");
      busy = std::make_unique<BusyStream>(libraries.cuda, clock, timing.timeout_seconds, make_work(index));
      busy->fill();
      busy->calibrate(std::min(kPieceSeconds, kPieceOfWindow * timing.window_seconds));
      busy->add_result(mine.results);
    });
    const bool is_ready = busy && mine.refused.empty() && mine.failure.empty();
    start.arrive_and_wait();
    if (!is_ready) return;
    guarded([&] {
      busy->start();
      time_windows(*busy, clock, timing, mine);
      busy->add_result(mine.results);
    });
    if (!mine.failure.empty()) mine.windows.clear();
  };
  std::vector<std::jthread> threads;
  threads.reserve(devices.size());
  try {
    while (threads.size() < devices.size()) threads.emplace_back(run, threads.size());
  } catch (const std::system_error& none) {
    for (std::size_t index = threads.size(); index < devices.size(); ++index) {
      rates[index].refused = fmt::format("no thread for it: {}", none.code().message());
      start.arrive_and_drop();
    }
  }
  threads.clear();  // waits for them
  return rates;
}

}  // namespace collbench::collectives
