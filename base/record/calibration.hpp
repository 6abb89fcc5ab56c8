#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/json_reader.hpp"
#include "base/record/data_type.hpp"
#include "base/record/json_fields.hpp"
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

/// Messages of a burst, from one rank to the next.
inline constexpr int kBurstMessages = 16;

/// Exchanges in a row, of which ranks that come together at the first need not do so at the next.
inline constexpr int kExchanges = 5;

/// As written in records: "send_recv_intra", …
[[nodiscard]] std::string_view name(CalibrationKind kind);

[[nodiscard]] std::span<const CalibrationKind> calibration_kinds();
[[nodiscard]] const CalibrationKind* find_calibration_kind(std::string_view name);

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

/// The calibration of a run record (docs/formats.md), in SI units.
[[nodiscard]] Json calibration_to_json(const Calibration& calibration);

/// Throws Error (usage) that names the place in the file.
[[nodiscard]] Calibration calibration_from_json(const JsonReader& json);

}  // namespace collbench
