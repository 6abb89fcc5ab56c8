// The observer as NCCL's profiler plugin. NCCL takes the newest of these symbols that it knows (NVIDIA/nccl
// v2.30.7-1, src/plugin/profiler.cc). We ask for two kinds of events only: those of proxies, kernels and the
// network cost time, and have ended programs (NVIDIA/nccl issues 2112 and 1992).
#include <string_view>

#include "collectives/nccl/observer/observer_state.hpp"
#include "collectives/nccl/observer/plugin_interfaces.hpp"

namespace collbench::collectives {
namespace {

/// Stands for every context and event. NCCL makes no events below one without a handle.
char something = 0;

std::string_view algorithm_in(std::uint8_t number) { return algorithm_name(number); }
std::string_view protocol_in(std::uint8_t number) { return protocol_name(number); }
std::string_view algorithm_in(const char* name) { return name == nullptr ? "" : name; }
std::string_view protocol_in(const char* name) { return name == nullptr ? "" : name; }

template <typename PeerToPeer>
int channels_of(const PeerToPeer& sent) {
  if constexpr (requires { sent.channels; }) {
    return sent.channels;
  } else {
    return 0;
  }
}

template <typename Event>
int start_event(void* /*context*/, void** handle, Event* event) {
  *handle = &something;
  if (event->type == kCollectiveEvent) {
    const auto& used = event->collective;
    record_selection(algorithm_in(used.algorithm), protocol_in(used.protocol), used.channels);
  } else if (event->type == kPeerToPeerEvent) {
    record_selection("p2p", "", channels_of(event->peer_to_peer));
  }
  return 0;
}

int begin(int version, void** context, int* event_mask) {
  *context = &something;
  loaded_as_profiler(version, event_mask);
  return 0;
}

template <int version>
int init(void** context, int* event_mask) {
  return begin(version, context, event_mask);
}

int init_v4(void** context, int* event_mask, const char* /*communicator*/,
            std::uint64_t /*communicator_hash*/, int /*nodes*/, int /*ranks*/, int /*rank*/, void* /*log*/) {
  return begin(4, context, event_mask);
}

template <int version>
int init_hash_first(void** context, std::uint64_t /*communicator_hash*/, int* event_mask,
                    const char* /*communicator*/, int /*nodes*/, int /*ranks*/, int /*rank*/, void* /*log*/) {
  return begin(version, context, event_mask);
}

int nothing(void* /*handle_or_context*/) { return 0; }
int no_state(void* /*handle*/, int /*state*/, void* /*arguments*/) { return 0; }

constexpr const char* kName = "collbench-observer";

}  // namespace
}  // namespace collbench::collectives

// NOLINTBEGIN(readability-identifier-naming): the names are NCCL's.
extern "C" {
using namespace collbench;
using namespace collbench::collectives;
extern const ProfilerV1 ncclProfiler_v1{kName, init<1>, start_event, nothing, no_state, nothing};
extern const ProfilerV2 ncclProfiler_v2{kName, init<2>, start_event, nothing, no_state, nothing};
extern const ProfilerV3 ncclProfiler_v3{kName, init<3>, start_event, nothing, no_state, nothing};
extern const ProfilerV4 ncclProfiler_v4{kName, init_v4, start_event, nothing, no_state, nothing};
extern const ProfilerV5 ncclProfiler_v5{kName, init_hash_first<5>, start_event, nothing, no_state, nothing};
extern const ProfilerV6 ncclProfiler_v6{kName, init_hash_first<6>, start_event, nothing, no_state, nothing};
}
// NOLINTEND(readability-identifier-naming)
