#include "collectives/mpi/mpi_row.hpp"

#include <algorithm>

#include "collectives/buffer_layout.hpp"
#include "collectives/data/element_types.hpp"
#include "collectives/mpi/open_mpi/message_rings.hpp"
#include "collectives/operations.hpp"
#include "launch/mpi/mpi_session.hpp"
#include "launch/real_machine.hpp"

namespace collbench::collectives {
namespace {

/// The second half of avg: MPI has no such op, so the sum is divided, inside the timed part.
void scale_average(DataType type, std::span<std::byte> result, int ranks) {
  with_element_type(type, [&]<typename Element>(std::type_identity<Element>) {
    auto* const elements = reinterpret_cast<Element*>(result.data());
    const std::size_t count = result.size() / sizeof(Element);
    for (std::size_t i = 0; i < count; ++i) elements[i] = averaged(elements[i], ranks);
  });
}

std::vector<int> as_ints(const std::vector<std::uint64_t>& values) {
  return {values.begin(), values.end()};  // the plan has seen that they fit
}

std::vector<int> reduce_scatter_counts(const RowKey& key, int ranks) {
  if (key.operation != OperationId::reduce_scatter) return {};
  return std::vector<int>(static_cast<std::size_t>(ranks), static_cast<int>(key.count));
}

VectorArguments vector_arguments(const RowKey& key, const CallContext& call) {
  if (key.operation != OperationId::all_to_all_v) return {};
  const Exchanges all = exchanges(key.count, call);
  return {.sent = as_ints(all.sent),
          .sent_from = as_ints(all.sent_from),
          .received = as_ints(all.received),
          .received_at = as_ints(all.received_at)};
}

}  // namespace

MpiRow::MpiRow(const RowKey& key, const RowLayout& layout, const MpiArguments& arguments,
               const MpiRowBuffers& buffers, const DataPattern& pattern, const Clock& clock,
               launch::CallCounters counters)
    : key_(key),
      layout_(layout),
      arguments_(arguments),
      buffers_(buffers),
      clock_(clock),
      counters_(counters),
      pattern_(pattern),
      counts_(reduce_scatter_counts(key, layout.call.ranks)),
      vector_(vector_arguments(key, layout.call)) {}

void MpiRow::fill(std::uint64_t iteration) {
  poison(buffers_.output);
  pattern_.fill(buffers_.input, iteration);
}

void MpiRow::fill_to_repeat() {
  // In place the result is the next input: sums would run into infinities and products into slow subnormals.
  if (key_.in_place && key_.reduction) {
    std::ranges::fill(buffers_.output, std::byte{0});
  } else {
    fill(0);
  }
}

template <typename Work>
auto MpiRow::with_call(const Work& work) const {
  const MpiArguments& a = arguments_;
  const int rank = layout_.call.rank;
  const int ranks = layout_.call.ranks;
  const int root = layout_.call.root;
  switch (key_.operation) {
    case OperationId::step:  // its AllReduce: StepRow adds the compute
    case OperationId::all_reduce:
      return work([&a] {
        launch::check_mpi(MPI_Allreduce(a.send, a.receive, a.count, a.type, a.op, a.communicator),
                          "MPI_Allreduce");
      });
    case OperationId::all_gather:
      return work([&a] {
        launch::check_mpi(MPI_Allgather(a.send, a.count, a.type, a.receive, a.count, a.type, a.communicator),
                          "MPI_Allgather");
      });
    case OperationId::reduce_scatter:
      return work([&a, this] {
        launch::check_mpi(MPI_Reduce_scatter(a.send, a.receive, counts_.data(), a.type, a.op, a.communicator),
                          "MPI_Reduce_scatter");
      });
    case OperationId::all_to_all:
      return work([&a] {
        launch::check_mpi(MPI_Alltoall(a.send, a.count, a.type, a.receive, a.count, a.type, a.communicator),
                          "MPI_Alltoall");
      });
    case OperationId::all_to_all_v:
      return work([&a, &v = vector_] {
        launch::check_mpi(MPI_Alltoallv(a.send, v.sent.data(), v.sent_from.data(), a.type, a.receive,
                                        v.received.data(), v.received_at.data(), a.type, a.communicator),
                          "MPI_Alltoallv");
      });
    case OperationId::send_recv:
      return work([&a, next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks] {
        launch::check_mpi(MPI_Sendrecv(a.send, a.count, a.type, next, 0, a.receive, a.count, a.type, before,
                                       0, a.communicator, MPI_STATUS_IGNORE),
                          "MPI_Sendrecv");
      });
    case OperationId::ping_pong:
      return work([&a, peer = ping_pong_peer(rank, ranks), first = rank == 0] {
        if (!peer) return;
        const auto send = [&] {
          launch::check_mpi(MPI_Send(a.send, a.count, a.type, *peer, 0, a.communicator), "MPI_Send");
        };
        if (first) send();
        launch::check_mpi(MPI_Recv(a.receive, a.count, a.type, *peer, 0, a.communicator, MPI_STATUS_IGNORE),
                          "MPI_Recv");
        if (!first) send();
      });
    case OperationId::broadcast:
      return work([&a, root, data = static_cast<void*>(buffers_.result.data())] {
        launch::check_mpi(MPI_Bcast(data, a.count, a.type, root, a.communicator), "MPI_Bcast");
      });
    case OperationId::reduce:
      return work([&a, root] {
        launch::check_mpi(MPI_Reduce(a.send, a.receive, a.count, a.type, a.op, root, a.communicator),
                          "MPI_Reduce");
      });
    case OperationId::gather:
      return work([&a, root] {
        launch::check_mpi(
            MPI_Gather(a.send, a.count, a.type, a.receive, a.count, a.type, root, a.communicator),
            "MPI_Gather");
      });
    case OperationId::scatter:
      return work([&a, root] {
        launch::check_mpi(
            MPI_Scatter(a.send, a.count, a.type, a.receive, a.count, a.type, root, a.communicator),
            "MPI_Scatter");
      });
    case OperationId::hypercube:
      break;
  }
  throw not_measurable(key_.operation);
}

void MpiRow::run(std::uint64_t iterations) { static_cast<void>(timed(iterations, iterations, {})); }

Block MpiRow::timed(std::uint64_t iterations, std::uint64_t iterations_per_sample,
                    const GoesOn& goes_on) const {
  const auto now = [this] { return clock_.seconds(); };
  return with_call([&](const auto& issue) {
    const auto counted = [&] {
      counters_.calls.enter();
      issue();
      counters_.calls.leave();
    };
    if (key_.reduction != Reduction::avg)
      return time_block(now, iterations, iterations_per_sample, counted, goes_on);
    const auto averaged = [&] {
      counted();
      scale_average(key_.type, buffers_.result, layout_.call.ranks);
    };
    return time_block(now, iterations, iterations_per_sample, averaged, goes_on);
  });
}

Block MpiRow::time(std::uint64_t iterations, std::uint64_t iterations_per_sample, const GoesOn& goes_on) {
  if (is_worth_aligning(iterations, layout_.call.ranks)) {
    const launch::CountedCall waiting(counters_.exchanges);
    align_message_rings(arguments_.communicator);
  }
  const auto core_before = launch::view_core_seconds();  // its own page faults are not the operation's
  const auto faults_before = launch::view_page_faults();
  Block block = timed(iterations, iterations_per_sample, goes_on);
  if (faults_before) block.page_faults = *launch::view_page_faults() - *faults_before;
  const auto core_after = launch::view_core_seconds();
  if (core_before && core_after) block.core_wait_seconds = core_after->waited - core_before->waited;
  if (key_.operation == OperationId::ping_pong) share_half(block);
  return block;
}

/// PingPong's time is half a round trip on rank 0, as OSU and IMB take it: also for the ranks that look on,
/// whose own times say nothing.
void MpiRow::share_half(Block& round_trips) const {
  const launch::CountedCall waiting(counters_.exchanges);
  const auto share = [&](double* values, std::size_t count) {
    std::for_each_n(values, count, [](double& seconds) { seconds /= 2; });
    launch::check_mpi(MPI_Bcast(values, static_cast<int>(count), MPI_DOUBLE, 0, arguments_.communicator),
                      "MPI_Bcast");
  };
  if (round_trips.page_faults) *round_trips.page_faults /= 2;
  if (round_trips.core_wait_seconds) *round_trips.core_wait_seconds /= 2;
  share(&round_trips.elapsed_seconds, 1);
  share(round_trips.samples.data(), round_trips.samples.size());
}

std::optional<Mismatch> MpiRow::check(std::uint64_t iteration) {
  return pattern_.check(buffers_.result, collective(key_.operation).result(layout_.elements, layout_.call),
                        iteration);
}

}  // namespace collbench::collectives
