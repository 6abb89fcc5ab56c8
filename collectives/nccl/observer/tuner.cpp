// The observer as NCCL's tuner plugin: it reads NCCL's cost table and leaves it as it is. NCCL takes the
// newest of these symbols that it knows (NVIDIA/nccl v2.30.7-1, src/plugin/tuner.cc).
#include "collectives/nccl/observer/observer_state.hpp"
#include "collectives/nccl/observer/plugin_interfaces.hpp"

namespace collbench::collectives {
namespace {

char something = 0;  ///< stands for every context

int begin(int version, void** context) {
  *context = &something;
  loaded_as_tuner(version);
  return 0;
}

template <int version>
int init(std::size_t /*ranks*/, std::size_t /*nodes*/, void* /*log*/, void** context) {
  return begin(version, context);
}

template <int version>
int init_context_first(void** context, std::uint64_t /*communicator_hash*/, std::size_t /*ranks*/,
                       std::size_t /*nodes*/, void* /*log*/, void* /*nvlink_domains*/, void* /*constants*/) {
  return begin(version, context);
}

/// What NCCL's header calls float** is the address of the first of the times (src/enqueue.cc).
const float* first_of(float** costs) { return reinterpret_cast<const float*>(costs); }

int collective_info(void* /*context*/, int /*function*/, std::size_t /*bytes*/, int /*operations*/,
                    float** costs, int algorithms, int protocols, int /*registered*/, int* /*channels*/) {
  record_cost_table(first_of(costs), algorithms, protocols);
  return 0;
}

int collective_info_v3(void* context, int function, std::size_t bytes, int operations, float** costs,
                       int algorithms, int protocols, int* channels) {
  return collective_info(context, function, bytes, operations, costs, algorithms, protocols, 0, channels);
}

int nothing(void* /*context*/) { return 0; }

constexpr const char* kName = "collbench-observer";

}  // namespace
}  // namespace collbench::collectives

// NOLINTBEGIN(readability-identifier-naming): the names are NCCL's.
extern "C" {
using namespace collbench;
using namespace collbench::collectives;
extern const TunerV3 ncclTunerPlugin_v3{kName, init<3>, collective_info_v3, nothing};
extern const TunerV4 ncclTunerPlugin_v4{kName, init<4>, collective_info, nothing};
extern const TunerV5 ncclTunerPlugin_v5{kName, init_context_first<5>, collective_info, nothing};
extern const TunerV6 ncclTunerPlugin_v6{kName, init_context_first<6>, collective_info, nothing, nullptr};
}
// NOLINTEND(readability-identifier-naming)
