#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

#include "collectives/nccl/cuda_handles.hpp"

namespace collbench::collectives {

/// How far a rank puts work on its stream ahead of the GPU. A stream takes about 1,024 launches; the next one
/// blocks inside the driver until the GPU has come further. Behind a peer that failed or is stuck it never
/// does, and the rank would learn nothing of that. So an event is recorded every 256 launches, and nothing
/// more is put before that of 512 launches back is over: at most 768 are under way.
class LaunchPace {
 public:
  explicit LaunchPace(const CudaLibrary& cuda) : marks_{CudaEvent(cuda), CudaEvent(cuda), CudaEvent(cuda)} {}

  /// The stream is idle: nothing counts that was put on it until now.
  void begin();
  /// `launches` more were put on the stream. Throws as CudaEvent does.
  void add(std::uint64_t launches, const CudaStream& stream);
  /// Whether more may be put. Throws Error (rank_lost) when what was put has failed.
  [[nodiscard]] bool has_room();
  /// A number that grows as the GPU goes on. Throws likewise.
  [[nodiscard]] std::size_t progress();

 private:
  static constexpr std::uint64_t kLaunchesPerMark = 256;

  std::array<CudaEvent, 3> marks_;  // the newest, and those of 256 and 512 launches before it
  std::size_t recorded_ = 0;
  std::size_t over_ = 0;
  std::uint64_t since_mark_ = 0;
};

}  // namespace collbench::collectives
