// What we declare of NCCL's plugin interfaces in our own words, against NCCL's own headers of each version,
// which are in its sources and not in its packages. Compiled only where they are found (CMakeLists.txt says
// where); every comparison is made by the compiler.
#include <gtest/gtest.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

// What those headers expect to be declared before them; all of it goes into a call as these do.
using ncclResult_t = int;
using ncclFunc_t = int;
using ncclDebugLogger_t = void (*)(int, unsigned long, const char*, int, const char*, ...);
using ncclPid_t = pid_t;
using ncclProfilerEventState_v1_t = int;
using ncclProfilerEventState_v2_t = int;
using ncclProfilerEventState_v3_t = int;
using ncclProfilerEventState_v4_t = int;
using ncclProfilerEventState_v5_t = int;
using ncclProfilerEventState_v6_t = int;
// clang-format off
#include <profiler/profiler_v1.h>
#include <profiler/profiler_v2.h>
#include <profiler/profiler_v3.h>
#include <profiler/profiler_v4.h>
#include <profiler/profiler_v5.h>
#include <profiler/profiler_v6.h>
#include <tuner/tuner_v3.h>
#include <tuner/tuner_v4.h>
#include <tuner/tuner_v5.h>
#include <tuner/tuner_v6.h>
// clang-format on

#include "collectives/nccl/observer/plugin_interfaces.hpp"

namespace collbench::collectives::plugin_headers_test {
namespace {

/// Whether two calls take their arguments the same way: as many, of the same sizes, pointers as such.
template <typename Ours, typename Theirs>
struct SameCall : std::false_type {};
template <typename... Ours, typename... Theirs>
  requires(sizeof...(Ours) == sizeof...(Theirs))
struct SameCall<int (*)(Ours...), int (*)(Theirs...)>
    : std::bool_constant<(
          (sizeof(Ours) == sizeof(Theirs) && std::is_pointer_v<Ours> == std::is_pointer_v<Theirs>) && ...)> {
};

template <typename Ours, typename Theirs>
constexpr bool same_call(Ours, Theirs) {
  return SameCall<Ours, Theirs>::value;
}

/// Whether the plugins have the same functions in the same places.
template <typename Ours, typename Theirs>
constexpr bool same_profiler() {
  constexpr Ours ours{};
  constexpr Theirs theirs{};
  return sizeof ours == sizeof theirs && same_call(ours.init, theirs.init) &&
         same_call(ours.start_event, theirs.startEvent) && same_call(ours.stop_event, theirs.stopEvent) &&
         same_call(ours.record_event_state, theirs.recordEventState) &&
         same_call(ours.finalize, theirs.finalize) && offsetof(Ours, init) == offsetof(Theirs, init) &&
         offsetof(Ours, start_event) == offsetof(Theirs, startEvent) &&
         offsetof(Ours, stop_event) == offsetof(Theirs, stopEvent) &&
         offsetof(Ours, record_event_state) == offsetof(Theirs, recordEventState) &&
         offsetof(Ours, finalize) == offsetof(Theirs, finalize);
}
static_assert(same_profiler<ProfilerV1, ncclProfiler_v1_t>());
static_assert(same_profiler<ProfilerV2, ncclProfiler_v2_t>());
static_assert(same_profiler<ProfilerV3, ncclProfiler_v3_t>());
static_assert(same_profiler<ProfilerV4, ncclProfiler_v4_t>());
static_assert(same_profiler<ProfilerV5, ncclProfiler_v5_t>());
static_assert(same_profiler<ProfilerV6, ncclProfiler_v6_t>());

/// Whether what we read of a collective's event stands where NCCL writes it.
template <typename Ours, typename Theirs>
constexpr bool same_event() {
  constexpr Ours ours{};
  constexpr Theirs theirs{};
  return sizeof ours.type == sizeof theirs.type && offsetof(Ours, type) == offsetof(Theirs, type) &&
         sizeof ours.collective.algorithm == sizeof theirs.coll.algo &&
         offsetof(Ours, collective.algorithm) == offsetof(Theirs, coll.algo) &&
         offsetof(Ours, collective.protocol) == offsetof(Theirs, coll.proto);
}
static_assert(same_event<ProfilerEventV1, ncclProfilerEventDescr_v1_t>());
static_assert(same_event<ProfilerEventV2, ncclProfilerEventDescr_v2_t>());
static_assert(same_event<ProfilerEventV3, ncclProfilerEventDescr_v3_t>());
static_assert(same_event<ProfilerEventV4, ncclProfilerEventDescr_v4_t>());
static_assert(same_event<ProfilerEventV5, ncclProfilerEventDescr_v5_t>());
static_assert(same_event<ProfilerEventV6, ncclProfilerEventDescr_v6_t>());
static_assert(offsetof(ProfilerEventV1, collective.channels) ==
              offsetof(ncclProfilerEventDescr_v1_t, coll.nMaxChannels));
static_assert(offsetof(ProfilerEventV2, collective.channels) ==
              offsetof(ncclProfilerEventDescr_v2_t, coll.nMaxChannels));
static_assert(offsetof(ProfilerEventV3, collective.channels) ==
              offsetof(ncclProfilerEventDescr_v3_t, coll.nMaxChannels));
static_assert(offsetof(ProfilerEventV4, collective.channels) ==
              offsetof(ncclProfilerEventDescr_v4_t, coll.nChannels));
static_assert(offsetof(ProfilerEventV5, collective.channels) ==
              offsetof(ncclProfilerEventDescr_v5_t, coll.nChannels));
static_assert(offsetof(ProfilerEventV6, collective.channels) ==
              offsetof(ncclProfilerEventDescr_v6_t, coll.nChannels));
static_assert(offsetof(ProfilerEventV4, peer_to_peer.channels) ==
              offsetof(ncclProfilerEventDescr_v4_t, p2p.nChannels));
static_assert(offsetof(ProfilerEventV5, peer_to_peer.channels) ==
              offsetof(ncclProfilerEventDescr_v5_t, p2p.nChannels));
static_assert(offsetof(ProfilerEventV6, peer_to_peer.channels) ==
              offsetof(ncclProfilerEventDescr_v6_t, p2p.nChannels));

template <typename Ours, typename Theirs>
constexpr bool same_tuner() {
  constexpr Ours ours{};
  constexpr Theirs theirs{};
  return sizeof ours == sizeof theirs && same_call(ours.init, theirs.init) &&
         same_call(ours.collective_info, theirs.getCollInfo) &&
         offsetof(Ours, init) == offsetof(Theirs, init) &&
         offsetof(Ours, collective_info) == offsetof(Theirs, getCollInfo);
}
static_assert(same_tuner<TunerV3, ncclTuner_v3_t>());
static_assert(same_tuner<TunerV4, ncclTuner_v4_t>());
static_assert(same_tuner<TunerV5, ncclTuner_v5_t>());
static_assert(same_tuner<TunerV6, ncclTuner_v6_t>());
static_assert(offsetof(TunerV3, destroy) == offsetof(ncclTuner_v3_t, destroy));
static_assert(offsetof(TunerV4, destroy) == offsetof(ncclTuner_v4_t, destroy));
static_assert(offsetof(TunerV5, finalize) == offsetof(ncclTuner_v5_t, finalize));
static_assert(offsetof(TunerV6, finalize) == offsetof(ncclTuner_v6_t, finalize));
static_assert(offsetof(TunerV6, chunk_size) == offsetof(ncclTuner_v6_t, getChunkSize));

TEST(PluginHeaders, NcclsOwnAgreeWithOurs) { SUCCEED() << "the compiler has compared them"; }

}  // namespace
}  // namespace collbench::collectives::plugin_headers_test
