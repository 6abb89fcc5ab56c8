#pragma once
#include <cstddef>
#include <cstdint>

namespace collbench::collectives {

/// What every version of NCCL's profiler interface says of an event.
template <class Type, class Collective, class PeerToPeer>
struct ProfilerEvent {
  Type type;
  void* parent;
  int rank;
  union {
    Collective collective;
    PeerToPeer peer_to_peer;
  };
};

/// And which functions a profiler has: ncclProfiler_v1_t and so on.
template <class Event, class Init>
struct Profiler {
  const char* name;
  Init* init;
  int (*start_event)(void* context, void** handle, Event* event);
  int (*stop_event)(void* handle);
  int (*record_event_state)(void* handle, int state, void* arguments);
  int (*finalize)(void* context);
};
using PlainInit = int(void** context, int* event_mask);

/// NCCL's profiler interface, version 1 (NCCL 2.23): what we read of an event's description. Source:
/// NVIDIA/nccl v2.23.4-1, src/include/nccl_profiler.h, ncclProfilerEventDescr_v1_t.
struct CollectiveV1 {
  const char* communicator;
  std::uint64_t communicator_hash;
  std::uint64_t sequence_number;
  std::uint8_t function;
  const void* send;
  void* receive;
  std::size_t count;
  int root;
  std::uint8_t data_type;
  std::uint32_t reduction;
  std::size_t traffic_bytes;
  std::uint8_t channels;  ///< the most that it may take
  std::uint8_t warps;
  std::uint8_t algorithm;  ///< a number of NCCL's
  std::uint8_t protocol;   ///< likewise
  int is_collnet;
  int is_nvls;
};
struct PeerToPeerV1 {
  const char* communicator;
  std::uint64_t communicator_hash;
  std::uint8_t function;
  void* buffer;
  std::uint8_t data_type;
  std::size_t count;
  int peer;
};
using ProfilerEventV1 = ProfilerEvent<std::uint8_t, CollectiveV1, PeerToPeerV1>;
using ProfilerV1 = Profiler<ProfilerEventV1, PlainInit>;

/// NCCL's profiler interface, version 2 (NCCL 2.24): names instead of numbers. Source: NVIDIA/nccl v2.24.3-1,
/// src/include/nccl_profiler.h, ncclProfilerEventDescr_v2_t.
struct CollectiveV2 {
  const char* communicator;
  std::uint64_t communicator_hash;
  std::uint64_t sequence_number;
  const char* function;
  const void* send;
  void* receive;
  std::size_t count;
  int root;
  const char* data_type;
  std::size_t traffic_bytes;
  std::uint8_t channels;  ///< the most that it may take
  std::uint8_t warps;
  const char* algorithm;
  const char* protocol;
};
struct PeerToPeerV2 {
  const char* communicator;
  std::uint64_t communicator_hash;
  const char* function;
  void* buffer;
  const char* data_type;
  std::size_t count;
  int peer;
};
using ProfilerEventV2 = ProfilerEvent<std::uint8_t, CollectiveV2, PeerToPeerV2>;
using ProfilerV2 = Profiler<ProfilerEventV2, PlainInit>;

/// NCCL's profiler interface, version 3 (NCCL 2.26): without the bytes of a collective's traffic. Source:
/// NVIDIA/nccl v2.26.2-1, src/include/plugin/profiler/profiler_v3.h.
struct CollectiveV3 {
  const char* communicator;
  std::uint64_t communicator_hash;
  std::uint64_t sequence_number;
  const char* function;
  const void* send;
  void* receive;
  std::size_t count;
  int root;
  const char* data_type;
  std::uint8_t channels;  ///< the most that it may take
  std::uint8_t warps;
  const char* algorithm;
  const char* protocol;
};
using ProfilerEventV3 = ProfilerEvent<std::uint8_t, CollectiveV3, PeerToPeerV2>;
using ProfilerV3 = Profiler<ProfilerEventV3, PlainInit>;

/// NCCL's profiler interface, version 4 (NCCL 2.27): the communicator is named once, at the beginning, and
/// channels are those that are taken. Source: NVIDIA/nccl v2.27.3-1,
/// src/include/plugin/profiler/profiler_v4.h.
struct CollectiveV4 {
  std::uint64_t sequence_number;
  const char* function;
  const void* send;
  void* receive;
  std::size_t count;
  int root;
  const char* data_type;
  std::uint8_t channels;
  std::uint8_t warps;
  const char* algorithm;
  const char* protocol;
};
struct PeerToPeerV4 {
  const char* function;
  void* buffer;
  const char* data_type;
  std::size_t count;
  int peer;
  std::uint8_t channels;
};
using ProfilerEventV4 = ProfilerEvent<std::uint8_t, CollectiveV4, PeerToPeerV4>;
using ProfilerV4 = Profiler<ProfilerEventV4,
                            int(void** context, int* event_mask, const char* communicator,
                                std::uint64_t communicator_hash, int nodes, int ranks, int rank, void* log)>;

/// NCCL's profiler interface, version 5 (NCCL 2.28): types of events take more than 8 bits. What we read of
/// them is as in version 4. Source: NVIDIA/nccl v2.28.3-1, src/include/plugin/profiler/profiler_v5.h.
using ProfilerEventV5 = ProfilerEvent<std::uint64_t, CollectiveV4, PeerToPeerV4>;
using ProfilerV5 =
    Profiler<ProfilerEventV5, int(void** context, std::uint64_t communicator_hash, int* event_mask,
                                  const char* communicator, int nodes, int ranks, int rank, void* log)>;

/// NCCL's profiler interface, version 6 (NCCL 2.29): events of copy engines, which we do not ask for; what we
/// read of the others is as in version 5. Source: NVIDIA/nccl v2.29.2-1,
/// src/include/plugin/profiler/profiler_v6.h.
using ProfilerEventV6 = ProfilerEventV5;
using ProfilerV6 = ProfilerV5;

/// NCCL's tuner interface, version 3 (NCCL 2.22), the first that is given NCCL's cost table: `algorithms`
/// rows of `protocols` times in µs, negative for what there is not. Source: NVIDIA/nccl v2.22.3-1,
/// src/include/nccl_tuner.h, ncclTuner_v3_t.
struct TunerV3 {
  const char* name;
  int (*init)(std::size_t ranks, std::size_t nodes, void* log, void** context);
  int (*collective_info)(void* context, int function, std::size_t bytes, int operations, float** costs,
                         int algorithms, int protocols, int* channels);
  int (*destroy)(void* context);
};

/// NCCL's tuner interface, version 4 (NCCL 2.24): is also told whether buffers are registered. Source:
/// NVIDIA/nccl v2.24.3-1, src/include/nccl_tuner.h, ncclTuner_v4_t.
struct TunerV4 {
  const char* name;
  int (*init)(std::size_t ranks, std::size_t nodes, void* log, void** context);
  int (*collective_info)(void* context, int function, std::size_t bytes, int operations, float** costs,
                         int algorithms, int protocols, int registered, int* channels);
  int (*destroy)(void* context);
};

/// NCCL's tuner interface, version 5 (NCCL 2.28): is given the constants of NCCL's model, which we leave as
/// they are. Source: NVIDIA/nccl v2.28.3-1, src/include/plugin/tuner/tuner_v5.h.
struct TunerV5 {
  const char* name;
  int (*init)(void** context, std::uint64_t communicator_hash, std::size_t ranks, std::size_t nodes,
              void* log, void* nvlink_domains, void* constants);
  int (*collective_info)(void* context, int function, std::size_t bytes, int operations, float** costs,
                         int algorithms, int protocols, int registered, int* channels);
  int (*finalize)(void* context);
};

/// NCCL's tuner interface, version 6 (NCCL 2.30): may choose the size of chunks, which we leave to NCCL
/// (null). Source: NVIDIA/nccl v2.30.3-1, src/include/plugin/tuner/tuner_v6.h.
struct TunerV6 {
  const char* name;
  int (*init)(void** context, std::uint64_t communicator_hash, std::size_t ranks, std::size_t nodes,
              void* log, void* nvlink_domains, void* constants);
  int (*collective_info)(void* context, int function, std::size_t bytes, int operations, float** costs,
                         int algorithms, int protocols, int registered, int* channels);
  int (*finalize)(void* context);
  int (*chunk_size)(void* context, int function, std::size_t bytes, int algorithm, int protocol, int channels,
                    std::size_t* chunk_bytes);
};

}  // namespace collbench::collectives
