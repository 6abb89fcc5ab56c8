#pragma once
#include <functional>
#include <optional>

#include "base/record/nccl_selection.hpp"
#include "collectives/nccl/loader/own_libraries.hpp"
#include "collectives/nccl/nccl_config.hpp"

namespace collbench::collectives {

/// What NCCL reports of its choices: a library of ours takes its slots for a tuner and a profiler plugin
/// (docs/gpu.md). It only looks, and only while we watch.
class NcclObserver {
 public:
  /// Names our library in NCCL's environment, where NCCL of `version` has a slot for it that no user has
  /// taken. Before NCCL's first call.
  NcclObserver(int version, const NcclConfigValues& settings);

  /// Why NCCL does not report them. After the first communicator.
  [[nodiscard]] NcclObserverStatus status() const;

  /// Calls `work`, which runs an operation to its end, and returns what NCCL reported of it. None when it
  /// reported nothing.
  [[nodiscard]] std::optional<NcclSelection> watch(const std::function<void()>& work) const;

 private:
  std::optional<ObserverLibrary> library_;
  NcclObserverStatus status_;
};

}  // namespace collbench::collectives
