#pragma once
#include <mpi.h>

#include <optional>
#include <span>
#include <vector>

#include "collectives/engine/backend.hpp"
#include "launch/flight/flight_page.hpp"

namespace collbench::collectives {

/// Everything one MPI call needs.
struct MpiArguments {
  MPI_Comm communicator = MPI_COMM_NULL;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Op op = MPI_OP_NULL;  ///< of operations that reduce
  int count = 0;
  const void* send = nullptr;  ///< MPI_IN_PLACE in place
  void* receive = nullptr;     ///< MPI_IN_PLACE on the root of a Scatter in place
};

/// What MPI_Alltoallv takes, by rank.
struct VectorArguments {
  std::vector<int> sent;
  std::vector<int> sent_from;
  std::vector<int> received;
  std::vector<int> received_at;
};

/// The bytes of the pass's buffers that one row uses. In place, `input` lies within `output`. On the root of
/// a Broadcast `result` is `input`, since MPI_Bcast has one buffer.
struct MpiRowBuffers {
  std::span<std::byte> input;   ///< where the operation reads
  std::span<std::byte> output;  ///< all that it may write
  std::span<std::byte> result;  ///< what must hold the result
};

class MpiRow : public PreparedRow {
 public:
  /// `pattern` is that of this rank and the row's type and reduction.
  MpiRow(const RowKey& key, const RowLayout& layout, const MpiArguments& arguments,
         const MpiRowBuffers& buffers, const DataPattern& pattern, const Clock& clock,
         launch::CallCounters counters);

  void fill(std::uint64_t iteration) override;
  void fill_to_repeat() override;
  void run(std::uint64_t iterations) override;
  [[nodiscard]] Block time(std::uint64_t iterations, std::uint64_t iterations_per_sample,
                           const GoesOn& goes_on) override;
  [[nodiscard]] std::optional<Mismatch> check(std::uint64_t iteration) override;

 private:
  /// Calls `work` with a function that issues the operation once.
  template <typename Work>
  auto with_call(const Work& work) const;

  [[nodiscard]] Block timed(std::uint64_t iterations, std::uint64_t iterations_per_sample,
                            const GoesOn& goes_on) const;
  void share_half(Block& round_trips) const;

  RowKey key_;
  RowLayout layout_;
  MpiArguments arguments_;
  MpiRowBuffers buffers_;
  const Clock& clock_;
  launch::CallCounters counters_;
  DataPattern pattern_;
  std::vector<int> counts_;  // of MPI_Reduce_scatter: the same for every rank
  VectorArguments vector_;   // of MPI_Alltoallv
};

}  // namespace collbench::collectives
