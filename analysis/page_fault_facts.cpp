#include "analysis/page_fault_facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "analysis/row_words.hpp"
#include "base/units.hpp"

namespace collbench {
namespace {

/// What one fault takes and brings; none where the calibration did not measure it.
const CalibrationPoint* page_fault_point(const Run& run) {
  if (!run.calibration) return nullptr;
  const auto& points = run.calibration->points;
  const auto found = std::find_if(points.begin(), points.end(), [](const CalibrationPoint& point) {
    return point.kind == CalibrationKind::page_fault;
  });
  return found == points.end() ? nullptr : &*found;
}

double most_page_faults(const Measurement& measured) {
  double most = 0;
  for (const RankTimes& rank : measured.ranks) most = std::max(most, rank.page_faults);
  return most;
}

/// The rows of one operation.
struct Faulting {
  std::set<std::uint64_t> sizes_bytes;
  double least_share = 1;
  double most_share = 0;
  double least_bytes = INFINITY;  ///< that a call takes anew
  double most_bytes = 0;
};

void add(Faulting& all, const Row& row, double share, double bytes) {
  all.sizes_bytes.insert(row.measurement.key.size_bytes);
  all.least_share = std::min(all.least_share, share);
  all.most_share = std::max(all.most_share, share);
  all.least_bytes = std::min(all.least_bytes, bytes);
  all.most_bytes = std::max(all.most_bytes, bytes);
}

std::string megabytes(double bytes) { return format_significant(bytes / 1e6, 2, 7); }

}  // namespace

double page_fault_share(const Run& run, const Row& row) {
  const CalibrationPoint* const point = page_fault_point(run);
  if (point == nullptr || row.measurement.seconds <= 0) return 0;
  return most_page_faults(row.measurement) * point->seconds / row.measurement.seconds;
}

ReportFacts page_fault_facts(const Run& run) {
  std::map<OperationId, Faulting> operations;
  for (const Row& row : run.rows) {
    const double share = page_fault_share(run, row);
    if (share < kPageFaultShareSaid) continue;
    add(operations[row.measurement.key.operation], row, share,
        most_page_faults(row.measurement) * static_cast<double>(page_fault_point(run)->bytes));
  }
  ReportFacts facts;
  for (const auto& [id, all] : operations) {
    facts.push_back({fmt::format(
        "{}, {}: page faults take about {} of the time, which no expectation holds: in each call the library "
        "takes {} MB anew from the operating system",
        operation(id).name, sizes_in_words(all.sizes_bytes),
        span_in_words(fmt::format("{:.2f}", all.least_share), fmt::format("{:.2f}", all.most_share)),
        span_in_words(megabytes(all.least_bytes), megabytes(all.most_bytes)))});
  }
  if (!facts.empty()) {
    facts.back().text +=
        "; with mpirun -x GLIBC_TUNABLES=glibc.malloc.mmap_threshold=4294967296:"
        "glibc.malloc.trim_threshold=4294967296 it keeps it";
  }
  return facts;
}

}  // namespace collbench
