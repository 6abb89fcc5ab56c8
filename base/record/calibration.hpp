#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/record/data_type.hpp"
#include "base/record/fields.hpp"
#include "base/record/machine_probe.hpp"

namespace collbench {

/// What a calibration measurement times. All ranks that take part do so at once, and every hop of one shift
/// is of the same tier: a shift over mixed hops would show their average (docs/model.md).
enum class CalibrationKind {
  send_recv_intra,  ///< MPI_Sendrecv, a ring shift among the ranks of each host, on all hosts at once; the
                    ///< same two buffers in each iteration
  forward_intra,  ///< the same shift, where each iteration sends the buffer that the last one received into,
                  ///< as rings and trees do: such data lies in another core's cache
  send_recv_inter,  ///< MPI_Sendrecv, a ring shift over the hosts by their local rank 0: one flow leaves each
                    ///< host
  send_recv_inter_all,  ///< MPI_Sendrecv, every rank to its counterpart (same local rank) on the next host;
                        ///< with unequal hosts only local ranks that every host has
  burst_intra,          ///< kBurstMessages at once over the hops of send_recv_intra: MPI_Irecv and MPI_Isend
                        ///< of all, then MPI_Waitall
  burst_inter,          ///< the same over the hops of send_recv_inter
  reduce_local,         ///< MPI_Reduce_local, on all ranks
  copy,                 ///< memcpy, on all ranks
  page_fault,           ///< of memory that is mapped, touched and given back, on all ranks
  exchange_inter,  ///< MPI_Sendrecv between local ranks 0 of two hosts, back to back: kExchanges in a row
};

inline constexpr int kBurstMessages = 16;

/// Exchanges in a row, of which ranks that come together at the first need not do so at the next.
inline constexpr int kExchanges = 5;

/// As written in records: "send_recv_intra", …
template <>
inline constexpr std::array<std::string_view, 10> kWords<CalibrationKind>{
    "send_recv_intra", "forward_intra", "send_recv_inter", "send_recv_inter_all",
    "burst_intra",     "burst_inter",   "reduce_local",    "copy",
    "page_fault",      "exchange_inter"};

/// One calibration measurement: `bytes` took `seconds` (the slowest rank's median; 0 in simulated time for
/// what SimGrid does not simulate).
struct CalibrationPoint {
  CalibrationKind kind = CalibrationKind::copy;
  std::uint64_t bytes = 0;         ///< of one message, of one operand, of one copy; the page of one fault
  double seconds = 0;              ///< of one of them; of a burst, of all its messages; of exchanges, of one
  std::optional<DataType> type{};  ///< of reduce_local; none else
  std::optional<Reduction> reduction{};  ///< of reduce_local; none else

  bool operator==(const CalibrationPoint&) const = default;
};

/// A tier of links: time of one message = alpha + bytes / bandwidth.
struct Tier {
  double alpha_seconds = 0;
  double bytes_per_second = 0;  ///< one direction, one rank's flow
  double gap_seconds = 0;       ///< a rank's next message follows after this at the soonest, however small

  /// Messages above this many bytes wait for their receiver (rendezvous); up to it they are eager. 0: the
  /// library does not say.
  std::uint64_t eager_limit_bytes = 0;

  bool operator==(const Tier&) const = default;
};

/// γ: seconds per byte of one operand of MPI_Reduce_local.
struct ReductionCost {
  DataType type = DataType::float32;
  Reduction reduction = Reduction::sum;
  double seconds_per_byte = 0;

  bool operator==(const ReductionCost&) const = default;
};

/// What the host-memory models are fed with. Measured on all ranks at once before the sweep (docs/model.md).
struct Calibration {
  std::optional<Tier> intra;  ///< within a host; none when every host has one rank
  std::optional<Tier> inter;  ///< across hosts, one flow out of each host at a time; none on one host
  /// What leaves one host in total when its ranks send at once; none on one host.
  std::optional<double> inter_host_bytes_per_second;
  std::vector<ReductionCost> gammas;  ///< one per type and reduction that was calibrated
  double kappa_seconds_per_byte = 0;  ///< memcpy
  double fit_relative_error = 0;      ///< largest |fit/point − 1| over the points that a tier was fitted to
  std::vector<CalibrationPoint> points;
  std::vector<MachineProbe> probes{};  ///< behind points, a share of the time; empty where nobody looked

  bool operator==(const Calibration&) const = default;
};

/// Which of these points the others contradict, by index: those that took more than twice as long as a larger
/// message (copy, reduction) of their kind; those that grew more than four times as fast as their bytes from
/// the next smaller size (eight times: copies and reductions; sixteen: between hosts); bursts above twice as
/// many single messages; exchanges above four times one. On an idle machine (docs/notes/benchmarks.md) what
/// falls out of a cache grows up to 2 times (a message of 4 MiB) and 3.4 times (a copy of 32 KiB) as fast.
[[nodiscard]] std::vector<std::size_t> disturbed_points(std::span<const CalibrationPoint> points);

void each_field(auto& visit, Either<Tier> auto& tier) {
  visit("alpha_seconds", tier.alpha_seconds);
  visit("bytes_per_second", tier.bytes_per_second, kRate);
  visit("gap_seconds", tier.gap_seconds);
  visit("eager_limit_bytes", tier.eager_limit_bytes);
}

void each_field(auto& visit, Either<ReductionCost> auto& gamma) {
  visit("type", gamma.type);
  visit("reduction", gamma.reduction);
  visit("seconds_per_byte", gamma.seconds_per_byte);
}

void each_field(auto& visit, Either<CalibrationPoint> auto& point) {
  visit("kind", point.kind, WordOf{kWords<CalibrationKind>, "a kind of calibration"});
  visit("size_bytes", point.bytes);
  visit("seconds", point.seconds, kSeconds);
  visit("type", point.type);
  visit("reduction", point.reduction);
}

void each_field(auto& visit, Either<Calibration> auto& calibration) {
  visit("intra", calibration.intra);
  visit("inter", calibration.inter);
  visit("inter_host_bytes_per_second", calibration.inter_host_bytes_per_second, kRate);
  visit("gammas", calibration.gammas);
  visit("kappa_seconds_per_byte", calibration.kappa_seconds_per_byte);
  visit("fit_relative_error", calibration.fit_relative_error, NumberOrNull{kQuantity});
  visit("points", calibration.points);
  visit.older("probes", calibration.probes, By{columns_to_json<MachineProbe>, probes_from_json});
}

}  // namespace collbench
