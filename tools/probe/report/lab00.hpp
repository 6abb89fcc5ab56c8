#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/document/chart.hpp"
#include "base/record/probe.hpp"

namespace collbench::analysis {

/// What bounds a machine: arithmetic, or memory.
struct Roofline {
  std::string name;  ///< "this host, FP64", "H100 SXM, BF16"
  double flops = 0;  ///< flop/s
  double bytes = 0;  ///< B/s
  double bytes_per_number = 8;

  /// In flop/B: below it memory bounds the rate, above it arithmetic.
  [[nodiscard]] double ridge() const { return flops / bytes; }
  /// flop/s at `intensity` flop/B.
  [[nodiscard]] double bound(double intensity) const;
};

/// Of an n × n × n product each of whose three matrices crosses to memory once: 2n³ flop over 3n² numbers.
[[nodiscard]] double matmul_intensity(double n, double bytes_per_number);

/// The smallest n whose product is bounded by arithmetic.
[[nodiscard]] double matmul_at_ridge(const Roofline& roof);

/// Of the processors of a record, in FP64: the fastest arithmetic and the fastest memory that were measured.
/// None where one of them was not.
[[nodiscard]] std::optional<Roofline> host_roofline(const ProbeRecord& record);

/// What others measured on A100 and H100 SXM, and the GPUs of the record that have both figures.
[[nodiscard]] std::vector<Roofline> gpu_rooflines(const ProbeRecord& record);

/// Roofs as lines, the measured products as points.
[[nodiscard]] Chart roofline_chart(const ProbeRecord& record);

/// What makes the figures less than the machine's best: others at work on the cores, slow parts. Empty where
/// nothing is known of any.
[[nodiscard]] std::string lab00_caveat(const ProbeRecord& record);

struct Lab00Price {
  std::optional<double> per_hour;  ///< of this host
  std::string currency;
};

/// The page as Markdown: what bounds the machine in one sentence, with lab00_caveat; then peak, bandwidth,
/// ridge point, where products of each size land, the cost of the hour. `picture`: the file of the chart,
/// relative to the page; empty: none. Throws Error (usage) for a record without the figures of a roofline.
[[nodiscard]] std::string lab00_page(const ProbeRecord& record, const Lab00Price& price,
                                     const std::string& picture);

}  // namespace collbench::analysis
