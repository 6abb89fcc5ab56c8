#pragma once
#include <algorithm>
#include <stdexcept>
#include <string>
#include <string_view>

#include "analysis/models/host/algorithms.hpp"
#include "tests/analysis/models/host/host_model_fixture.hpp"

namespace collbench::analysis {

/// Seconds of one algorithm of one operation.
inline double seconds_of(OperationId operation, std::string_view name, const HostModel& model, double size,
                         bool in_place = false) {
  const auto algorithms = host_algorithms(operation);
  const auto found = std::find_if(algorithms.begin(), algorithms.end(),
                                  [name](const HostAlgorithm& candidate) { return candidate.name == name; });
  if (found == algorithms.end()) throw std::invalid_argument(std::string(name));
  return found->seconds({.model = model, .size_bytes = size, .in_place = in_place});
}

/// A model with γ and κ in seconds per byte.
inline HostModel with_work(const Identities& identities, double gamma, double kappa) {
  Calibration calibration = two_tier_calibration();
  calibration.gammas[0].seconds_per_byte = gamma;
  calibration.kappa_seconds_per_byte = kappa;
  return model_of(identities, calibration);
}

/// Copying takes `1` per byte within a working set of `cache_bytes`, and twice that beyond it: the time of a
/// copy tells whether the operation's working set is larger.
inline HostModel with_cache(const Identities& identities, double cache_bytes) {
  HostModel model = model_of(identities);
  model.copy = TimeCurve({{.bytes = 0, .seconds = 0},
                          {.bytes = cache_bytes / 2, .seconds = cache_bytes / 2},
                          {.bytes = cache_bytes / 2 + 1, .seconds = cache_bytes + 2},
                          {.bytes = 2e9, .seconds = 4e9}});
  return model;
}

inline constexpr double kRelativeTolerance = 1e-9;
#define EXPECT_SECONDS(actual, expected) EXPECT_NEAR((actual) / (expected), 1, kRelativeTolerance)

}  // namespace collbench::analysis
