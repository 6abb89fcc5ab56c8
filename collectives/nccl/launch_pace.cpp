#include "collectives/nccl/launch_pace.hpp"

namespace collbench::collectives {

void LaunchPace::begin() {
  recorded_ = 0;
  over_ = 0;
  since_mark_ = 0;
}

void LaunchPace::add(std::uint64_t launches, const CudaStream& stream) {
  since_mark_ += launches;
  if (since_mark_ < kLaunchesPerMark) return;
  since_mark_ = 0;
  marks_.at(recorded_ % marks_.size()).record(stream);
  ++recorded_;
}

bool LaunchPace::has_room() {
  return recorded_ - over_ < marks_.size() || recorded_ - progress() < marks_.size();
}

std::size_t LaunchPace::progress() {
  // One that was not recorded counts as over for CUDA.
  while (over_ < recorded_ && marks_.at(over_ % marks_.size()).is_over()) ++over_;
  return over_;
}

}  // namespace collbench::collectives
