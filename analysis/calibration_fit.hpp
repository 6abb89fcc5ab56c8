#pragma once
#include <cstdint>
#include <vector>

#include "base/record/calibration.hpp"
#include "base/record/identities.hpp"

namespace collbench {

/// What the calibration's points say: α, B and gap of each tier that was measured, what a host sends in
/// total, γ for each type and reduction, κ. The limits are the largest messages in bytes that are sent
/// without waiting for the receiver. Points of no time at all (a simulator that does not simulate work) give
/// γ = κ = 0. Throws Error (not_here) when messages cannot be fitted.
[[nodiscard]] Calibration fit_calibration(std::vector<CalibrationPoint> points, const Identities& identities,
                                          std::uint64_t eager_within_host_bytes,
                                          std::uint64_t eager_across_hosts_bytes);

}  // namespace collbench
