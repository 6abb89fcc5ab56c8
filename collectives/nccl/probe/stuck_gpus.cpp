#include "collectives/nccl/probe/stuck_gpus.hpp"

#include <atomic>

namespace collbench::collectives {
namespace {

std::atomic<bool>& stuck() {
  static std::atomic<bool> is_stuck{false};
  return is_stuck;
}

}  // namespace

void note_stuck_gpu() { stuck() = true; }

bool has_stuck_gpu() { return stuck(); }

}  // namespace collbench::collectives
