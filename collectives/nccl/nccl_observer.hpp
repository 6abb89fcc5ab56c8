#pragma once
#include <functional>
#include <optional>
#include <string>

#include "base/record/nccl_selection.hpp"
#include "collectives/nccl/loader/observer_library.hpp"

namespace collbench::collectives {

/// What NCCL tells of its choices: a library of ours stands in its places for a tuner and a profiler plugin
/// (docs/gpu.md). It only looks, and only while we watch.
class NcclObserver {
 public:
  /// Names our library in NCCL's environment, where NCCL of `version` has a place for it that no user has
  /// taken. Before NCCL's first call.
  explicit NcclObserver(int version);

  /// Why NCCL does not tell. After the first communicator.
  [[nodiscard]] NcclObserverStatus untold() const;

  /// Calls `work`, which runs an operation to its end, and returns what NCCL told of it. None when it told
  /// nothing.
  [[nodiscard]] std::optional<NcclSelection> watch(const std::function<void()>& work) const;

 private:
  std::optional<ObserverLibrary> library_;
  NcclObserverStatus untold_;
};

}  // namespace collbench::collectives
