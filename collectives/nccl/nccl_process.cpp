#include "collectives/nccl/nccl_process.hpp"

namespace collbench::collectives {

NcclProcess::NcclProcess(const ProcessShape& shape) : shape_(shape), barrier_(shape.gpus) {
  for (int thread = 0; thread < shape.threads; ++thread) issuers_.emplace_back(shape.gpus_per_thread());
}

void NcclProcess::open_log(int version) {
  const std::lock_guard lock(mutex_);
  if (!log_ || !log_->unknown_reason().empty()) log_.emplace(version);
}

const NcclObserver& NcclProcess::observer(int version, const NcclConfigValues& settings) {
  const std::lock_guard lock(mutex_);
  if (!observer_) {
    observer_.emplace(version, settings);
    keep_network_plugin(version);
  }
  return *observer_;
}

std::shared_ptr<ScopedEnvironment> NcclProcess::environment(const AlgorithmOverride& choice) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<ScopedEnvironment> shared = environment_.lock();
  if (!shared) environment_ = shared = std::make_shared<ScopedEnvironment>(choice);
  return shared;
}

}  // namespace collbench::collectives
