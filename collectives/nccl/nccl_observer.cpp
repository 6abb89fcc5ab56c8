#include "collectives/nccl/nccl_observer.hpp"

#include <fmt/format.h>

#include <cstdlib>

#include "collectives/nccl/plugin_slot.hpp"

namespace collbench::collectives {
namespace {

/// With a tuner plugin of any kind NCCL no longer looks at this one (v2.28.9-1, src/enqueue.cc,
/// ncclGetAlgoInfo): being there would change what we want to see.
constexpr const char* kHeededWithoutTuner = "NCCL_CTA_POLICY";

NcclSelection told_by(const Observation& seen) {
  NcclSelection told{.algorithm = seen.algorithm.data(),
                     .protocol = seen.protocol.data(),
                     .channels = seen.channels,
                     .expected = {}};
  for (int i = 0; i < seen.costs; ++i) {
    const ObservedCost& cost = seen.cost.at(static_cast<std::size_t>(i));
    told.expected.push_back({cost.algorithm.data(), cost.protocol.data(), cost.microseconds * 1e-6});
  }
  return told;
}

}  // namespace

NcclObserver::NcclObserver(int version) {
  const PluginSearchEnvironment here = plugin_search_environment();
  untold_ = {.use = plugin_slot_conflict(kProfilerPlace, version, here),
             .expectation = plugin_slot_conflict(kTunerPlace, version, here)};
  if (const auto policy = here.setting(kHeededWithoutTuner); policy && untold_.expectation.empty()) {
    untold_.expectation =
        fmt::format("NCCL heeds {}={} only without a tuner plugin", kHeededWithoutTuner, *policy);
  }
  if (!untold_.use.empty() && !untold_.expectation.empty()) return;
  std::string unsupported_reason;
  library_ = ObserverLibrary::find(unsupported_reason);
  const auto enter = [&](const PluginSlot& place, std::string& untold) {
    if (!untold.empty()) return;
    if (library_) {
      ::setenv(place.variable, library_->path.c_str(), 1);
    } else {
      untold = "collbench's observer is not here: " + unsupported_reason;
    }
  };
  enter(kProfilerPlace, untold_.use);
  enter(kTunerPlace, untold_.expectation);
}

NcclObserverStatus NcclObserver::untold() const {
  NcclObserverStatus untold = untold_;
  if (!library_) return untold;
  ObserverLoaded loaded;
  library_->loaded(&loaded);
  const std::string not_taken =
      fmt::format("NCCL did not load {}; NCCL_DEBUG=INFO tells why", library_->path);
  if (untold.use.empty() && loaded.profiler == 0) untold.use = not_taken;
  if (untold.expectation.empty() && loaded.tuner == 0) untold.expectation = not_taken;
  return untold;
}

std::optional<NcclSelection> NcclObserver::watch(const std::function<void()>& work) const {
  if (!library_) {
    work();
    return std::nullopt;
  }
  library_->begin();
  work();
  Observation seen;
  library_->end(&seen);
  if (seen.algorithm.front() == '\0' && seen.costs == 0) return std::nullopt;
  return told_by(seen);
}

}  // namespace collbench::collectives
