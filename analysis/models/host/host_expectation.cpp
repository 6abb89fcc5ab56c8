#include "analysis/models/host/host_expectation.hpp"

#include <algorithm>
#include <bit>

#include "analysis/models/host/algorithms.hpp"

namespace collbench::analysis {

std::span<const HostAlgorithm> host_algorithms(OperationId operation) {
  switch (operation) {
    case OperationId::all_reduce:
      return host_all_reduce_algorithms();
    case OperationId::all_gather:
      return host_all_gather_algorithms();
    case OperationId::reduce_scatter:
      return host_reduce_scatter_algorithms();
    case OperationId::all_to_all:
      return host_all_to_all_algorithms();
    case OperationId::send_recv:
      return host_send_recv_algorithms();
    case OperationId::ping_pong:
      return host_ping_pong_algorithms();
    case OperationId::broadcast:
      return host_broadcast_algorithms();
    case OperationId::reduce:
      return host_reduce_algorithms();
    case OperationId::gather:
      return host_gather_algorithms();
    case OperationId::scatter:
      return host_scatter_algorithms();
    case OperationId::all_to_all_v:
      return host_all_to_all_v_algorithms();
    case OperationId::step:  // its compute is not modeled
    case OperationId::hypercube:
      return {};  // no MPI call is one
  }
  return {};
}

bool any_ranks(int /*ranks*/) { return true; }
bool never_by_choice(int /*ranks*/) { return false; }
bool two_ranks(int ranks) { return ranks == 2; }
bool even_ranks(int ranks) { return ranks % 2 == 0; }
bool power_of_two_ranks(int ranks) { return std::has_single_bit(static_cast<unsigned>(ranks)); }

namespace {

const HostAlgorithm* find(std::span<const HostAlgorithm> algorithms, std::string_view name) {
  const auto found = std::ranges::find(algorithms, name, &HostAlgorithm::name);
  return found == algorithms.end() ? nullptr : &*found;
}

/// The fields of `expectation` that say what ran, or what would be quickest.
void expect_algorithm(Expectation& expectation, const HostCall& call,
                      std::span<const HostAlgorithm> algorithms, std::string_view ran) {
  const bool library_chose = ran == kLibraryChoice || algorithms.size() == 1;
  for (const HostAlgorithm& algorithm : algorithms) {
    if (library_chose ? !algorithm.runs_on(call.ranks()) : algorithm.name != ran) continue;
    const double seconds = algorithm.seconds(call);
    if (expectation.expected_seconds && *expectation.expected_seconds <= seconds) continue;
    expectation.expected_seconds = seconds;
    expectation.expected_by = algorithm.name;
  }
}

}  // namespace

Expectation expect_on_host_memory(const RowKey& key, std::string_view algorithm_ran,
                                  const Calibration& calibration, const Identities& identities,
                                  const TrafficMatrix& traffic) {
  Expectation expectation;
  const std::span<const HostAlgorithm> algorithms = host_algorithms(key.operation);
  if (identities.size() < 2 || algorithms.empty()) return expectation;
  const auto model = host_model(calibration, identities, key.type, key.reduction);
  if (!model) return expectation;

  const HostCall call{.model = *model,
                      .size_bytes = static_cast<double>(key.size_bytes),
                      .in_place = key.in_place,
                      .root = key.root.value_or(0),
                      .traffic = &traffic};
  // One way round the ring in segments is a pipeline; Broadcast and Reduce have both a pipeline and a tree.
  for (const std::string_view name : {"ring", "pipeline"}) {
    if (const HostAlgorithm* ring = find(algorithms, name)) expectation.ring_seconds = ring->seconds(call);
  }
  const bool has_pipeline = find(algorithms, "pipeline") != nullptr;
  if (has_pipeline) expectation.tree_seconds = find(algorithms, "binomial")->seconds(call);
  if (key.operation == OperationId::all_reduce) expectation.tree_seconds = host_tree_all_reduce(call);
  expect_algorithm(expectation, call, algorithms, algorithm_ran);
  return expectation;
}

}  // namespace collbench::analysis
