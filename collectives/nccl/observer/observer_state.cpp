#include "collectives/nccl/observer/observer_state.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>

#include "base/record/nccl_algorithm.hpp"
#include "collectives/nccl/observer/observer_interface.hpp"

namespace collbench::collectives {
namespace {

/// Everything there is, once per process: NCCL's callbacks and the program's calls have nothing else in
/// common.
struct ObserverState {
  std::atomic<bool> watching{false};
  std::mutex mutex;  // of what follows
  ObserverLoaded loaded;
  int* event_mask = nullptr;  // NCCL's own variable; it outlives the plugin
  Observation seen;
};

ObserverState& observer_state() {
  static ObserverState all;
  return all;
}

/// NCCL reads it without a lock, in whatever thread it is.
void ask_for_events(int* mask, bool any) {
  if (mask == nullptr) return;
  const int wanted = any ? static_cast<int>(kCollectiveEvent | kPeerToPeerEvent) : 0;
  std::atomic_ref<int>(*mask).store(wanted, std::memory_order_relaxed);
}

template <std::size_t size>
void write(std::array<char, size>& to, std::string_view text) {
  to.fill('\0');
  const auto lower = [](char letter) {
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
  };
  std::transform(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(std::min(text.size(), size - 1)),
                 to.begin(), lower);
}

template <typename Names>
std::string_view name_of(const Names& names, int number) {
  return number >= 0 && number < static_cast<int>(names.size()) ? names[static_cast<std::size_t>(number)]
                                                                : "newer";
}

/// What NCCL does not consider has no time: below 0 (NCCL_ALGO_PROTO_IGNORE), and in 2.32 half of the largest
/// float, as libnccl 2.32.3 gives a tuner for AllGather on 2 × 8 H100.
bool is_time(float microseconds) {
  constexpr float kMaxMicroseconds = 1e12F;  // 12 days
  return microseconds >= 0 && microseconds < kMaxMicroseconds;
}

}  // namespace

std::string_view algorithm_name(int number) { return name_of(kWords<NcclAlgorithm>, number); }
std::string_view protocol_name(int number) { return name_of(kWords<NcclProtocol>, number); }

void loaded_as_profiler(int version, int* event_mask) {
  ObserverState& all = observer_state();
  const std::lock_guard lock(all.mutex);
  all.loaded.profiler = version;
  all.event_mask = event_mask;
  ask_for_events(event_mask, all.watching);
}

void loaded_as_tuner(int version) {
  ObserverState& all = observer_state();
  const std::lock_guard lock(all.mutex);
  all.loaded.tuner = version;
}

bool watching() { return observer_state().watching.load(std::memory_order_relaxed); }

void record_selection(std::string_view algorithm, std::string_view protocol, int channels) {
  if (!watching()) return;
  ObserverState& all = observer_state();
  const std::lock_guard lock(all.mutex);
  write(all.seen.algorithm, algorithm);
  write(all.seen.protocol, protocol);
  // One operation may be many sends and receives.
  all.seen.channels = std::max(all.seen.channels, channels);
}

void record_cost_table(const float* costs, int algorithms, int protocols) {
  if (!watching()) return;
  ObserverState& all = observer_state();
  const std::lock_guard lock(all.mutex);
  all.seen.costs = 0;
  for (int algorithm = 0; algorithm < algorithms; ++algorithm) {
    for (int protocol = 0; protocol < protocols; ++protocol, ++costs) {
      const auto at = static_cast<std::size_t>(all.seen.costs);
      if (!is_time(*costs) || at == all.seen.cost.size()) continue;
      write(all.seen.cost[at].algorithm, algorithm_name(algorithm));
      write(all.seen.cost[at].protocol, protocol_name(protocol));
      all.seen.cost[at].microseconds = static_cast<double>(*costs);
      ++all.seen.costs;
    }
  }
}

}  // namespace collbench::collectives

// What the program finds by name; observer_interface.hpp says what each does.
// NOLINTBEGIN(readability-identifier-naming)
extern "C" {
using namespace collbench::collectives;

int collbench_observer_interface() { return kObserverInterface; }

void collbench_observer_loaded(ObserverLoaded* loaded) {
  ObserverState& all = observer_state();
  const std::lock_guard lock(all.mutex);
  *loaded = all.loaded;
}

void collbench_observer_begin() {
  ObserverState& all = observer_state();
  const std::lock_guard lock(all.mutex);
  all.seen = {};
  all.watching = true;
  ask_for_events(all.event_mask, true);
}

void collbench_observer_end(Observation* seen) {
  ObserverState& all = observer_state();
  const std::lock_guard lock(all.mutex);
  all.watching = false;
  ask_for_events(all.event_mask, false);
  *seen = all.seen;
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming)
