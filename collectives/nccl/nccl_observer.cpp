#include "collectives/nccl/nccl_observer.hpp"

#include <fmt/format.h>

#include "base/environment.hpp"
#include "collectives/nccl/plugin_slot.hpp"

namespace collbench::collectives {
namespace {

/// With a tuner plugin of any kind NCCL no longer looks at this one (v2.28.9-1, src/enqueue.cc,
/// ncclGetAlgoInfo): being there would change what we want to see.
constexpr const char* kHonoredWithoutTuner = "NCCL_CTA_POLICY";

NcclSelection selection_from(const Observation& observation) {
  NcclSelection selection{.algorithm = observation.algorithm.data(),
                          .protocol = observation.protocol.data(),
                          .channels = observation.channels,
                          .expected = {}};
  for (int i = 0; i < observation.costs; ++i) {
    const ObservedCost& cost = observation.cost.at(static_cast<std::size_t>(i));
    selection.expected.push_back({cost.algorithm.data(), cost.protocol.data(), cost.microseconds * 1e-6});
  }
  return selection;
}

}  // namespace

NcclObserver::NcclObserver(int version, const NcclConfigValues& settings) {
  const PluginSearchEnvironment here = plugin_search_environment();
  status_ = {.use = plugin_slot_conflict(kProfilerSlot, version, here),
             .expectation = plugin_slot_conflict(kTunerSlot, version, here)};
  if (const auto policy = here.setting(kHonoredWithoutTuner); policy && status_.expectation.empty()) {
    status_.expectation =
        fmt::format("NCCL honors {}={} only without a tuner plugin", kHonoredWithoutTuner, *policy);
  }
  if (const auto policy = settings.find("CTAPolicy"); policy != settings.end() && status_.expectation.empty())
    status_.expectation = fmt::format("NCCL honors CTAPolicy={} only without a tuner plugin", policy->second);
  if (!status_.use.empty() && !status_.expectation.empty()) return;
  std::string unsupported_reason;
  library_ = ObserverLibrary::find(unsupported_reason);
  const auto enter = [&](const PluginSlot& slot, std::string& status) {
    if (!status.empty()) return;
    if (library_) {
      change_variable(slot.variable, library_->path);
    } else {
      status = "collbench's observer library cannot be used: " + unsupported_reason;
    }
  };
  enter(kProfilerSlot, status_.use);
  enter(kTunerSlot, status_.expectation);
}

NcclObserverStatus NcclObserver::status() const {
  NcclObserverStatus status = status_;
  if (!library_) return status;
  ObserverLoaded loaded;
  library_->loaded(&loaded);
  const std::string not_taken =
      fmt::format("NCCL did not load {}; NCCL_DEBUG=INFO shows why", library_->path);
  if (status.use.empty() && loaded.profiler == 0) status.use = not_taken;
  if (status.expectation.empty() && loaded.tuner == 0) status.expectation = not_taken;
  return status;
}

std::optional<NcclSelection> NcclObserver::watch(const std::function<void()>& work) const {
  if (!library_) {
    work();
    return std::nullopt;
  }
  library_->begin();
  work();
  Observation observation;
  library_->end(&observation);
  if (observation.algorithm.front() == '\0' && observation.costs == 0) return std::nullopt;
  return selection_from(observation);
}

}  // namespace collbench::collectives
