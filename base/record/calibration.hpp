#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace collbench {

/// One calibration measurement: `bytes` took `seconds` (the slowest rank's median).
struct CalibrationPoint {
  std::string what;  ///< "send_recv within a host", "send_recv across hosts", "send_recv across hosts, all
                     ///< ranks", "reduce_local", "memcpy"
  std::uint64_t bytes = 0;
  double seconds = 0;
};

/// A tier of links: time of one message = alpha + bytes / bandwidth.
struct Tier {
  double alpha_seconds = 0;
  double bytes_per_second = 0;  ///< one direction, one rank's flow

  /// Messages above this many bytes wait for their receiver (rendezvous); up to it they are eager.
  std::uint64_t eager_limit_bytes = 0;
};

/// What the host-memory models are fed with. Measured on all ranks at once before the sweep (docs/model.md).
struct Calibration {
  std::optional<Tier> intra;  ///< within a host; none when every host has one rank
  std::optional<Tier> inter;  ///< across hosts, one flow out of each host at a time; none on one host
  /// What leaves one host in total when all its ranks send at once; none on one host.
  std::optional<double> inter_host_bytes_per_second;
  double gamma_seconds_per_byte =
      0;  ///< MPI_Reduce_local of the run's type and reduction, per byte of one operand
  double kappa_seconds_per_byte = 0;  ///< memcpy
  double alpha_relative_error = 0;  ///< largest |fit/point − 1| over the points that the tiers were fitted to
  std::vector<CalibrationPoint> points;
};

}  // namespace collbench
