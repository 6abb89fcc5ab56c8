#include "collectives/mpi/mpi_row.hpp"

#include <algorithm>

#include "collectives/element_reduction.hpp"
#include "collectives/element_type.hpp"
#include "collectives/registry.hpp"
#include "launch/mpi_check.hpp"

namespace collbench {
namespace {

/// The second half of avg: MPI has no such op, so the sum is divided, inside the timed part.
void scale_average(DataType type, std::span<std::byte> result, int ranks) {
  with_element_type(type, [&]<typename Element>(std::type_identity<Element>) {
    auto* const elements = reinterpret_cast<Element*>(result.data());
    const std::size_t count = result.size() / sizeof(Element);
    for (std::size_t i = 0; i < count; ++i) elements[i] = averaged(elements[i], ranks);
  });
}

}  // namespace

MpiRow::MpiRow(const RowKey& key, const MpiArguments& arguments, const MpiRowBuffers& buffers,
               const Clock& clock)
    : key_(key),
      arguments_(arguments),
      buffers_(buffers),
      clock_(clock),
      pattern_(key.type, key.reduction, arguments.rank, arguments.ranks),
      counts_(static_cast<std::size_t>(arguments.ranks), arguments.count) {}

void MpiRow::fill(std::uint64_t iteration) {
  poison(buffers_.output);
  pattern_.fill(buffers_.input, iteration);
}

void MpiRow::fill_to_repeat() {
  // In place the result is the next input: sums would run into infinities and products into slow subnormals.
  if (key_.in_place && key_.reduction) {
    std::fill(buffers_.output.begin(), buffers_.output.end(), std::byte{0});
  } else {
    fill(0);
  }
}

template <typename Work>
auto MpiRow::with_call(const Work& work) const {
  const MpiArguments& a = arguments_;
  switch (key_.operation) {
    case OperationId::all_gather:
      return work([&a] {
        check_mpi(MPI_Allgather(a.send, a.count, a.type, a.receive, a.count, a.type, a.communicator),
                  "MPI_Allgather");
      });
    case OperationId::reduce_scatter:
      return work([&a, this] {
        check_mpi(MPI_Reduce_scatter(a.send, a.receive, counts_.data(), a.type, a.op, a.communicator),
                  "MPI_Reduce_scatter");
      });
    case OperationId::all_to_all:
      return work([&a] {
        check_mpi(MPI_Alltoall(a.send, a.count, a.type, a.receive, a.count, a.type, a.communicator),
                  "MPI_Alltoall");
      });
    case OperationId::send_recv:
      return work([&a, next = (a.rank + 1) % a.ranks, before = (a.rank + a.ranks - 1) % a.ranks] {
        check_mpi(MPI_Sendrecv(a.send, a.count, a.type, next, 0, a.receive, a.count, a.type, before, 0,
                               a.communicator, MPI_STATUS_IGNORE),
                  "MPI_Sendrecv");
      });
    default:
      break;  // the registry runs five; all_reduce is the last of them
  }
  return work([&a] {
    check_mpi(MPI_Allreduce(a.send, a.receive, a.count, a.type, a.op, a.communicator), "MPI_Allreduce");
  });
}

void MpiRow::run(std::uint64_t iterations) { static_cast<void>(time(iterations, iterations)); }

Block MpiRow::time(std::uint64_t iterations, std::uint64_t iterations_per_sample) {
  const auto now = [this] { return clock_.seconds(); };
  return with_call([&](const auto& issue) {
    if (key_.reduction != Reduction::avg) return time_block(now, iterations, iterations_per_sample, issue);
    return time_block(now, iterations, iterations_per_sample, [&] {
      issue();
      scale_average(key_.type, buffers_.result, arguments_.ranks);
    });
  });
}

std::optional<Mismatch> MpiRow::check(std::uint64_t iteration) {
  const Collective& what = collective(key_.operation);
  const std::size_t element_bytes = traits(key_.type).bytes;
  const Layout layout = what.layout(key_.size_bytes, element_bytes, arguments_.ranks);
  return pattern_.check(buffers_.result, what.result(layout, arguments_.rank, arguments_.ranks), iteration);
}

}  // namespace collbench
