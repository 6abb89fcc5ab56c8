#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/document/chart.hpp"
#include "base/record/measurement.hpp"
#include "base/record/run.hpp"

namespace collbench::analysis {

/// What tells the series of one operation from each other, all but the size: "float sum, in place, ring", and
/// of operations that have a root "float, in place, root 1". A choice that was left to the library is not
/// named.
[[nodiscard]] std::string variant_name(const RowKey& key);

/// The same after the operation: "AllReduce float sum, in place, ring".
[[nodiscard]] std::string series_name(const RowKey& key);

struct OperationCharts {
  OperationId operation = OperationId::all_reduce;
  std::vector<Chart> charts;
};

/// Bus bandwidth and time over size, an operation after the other in the order of their first rows: what was
/// measured with its interval, and the models' lines and band. More than six series of an operation (types,
/// reductions, in place, algorithms, roots) are several charts. Rates follow from times
/// (base/record/run.hpp), the interval's ends too. No bus bandwidth where one rank moves nothing; no chart of
/// an operation that was not measured.
[[nodiscard]] std::vector<OperationCharts> run_charts(const Run& run);

/// Those of one operation among them.
[[nodiscard]] std::vector<Chart> charts_of(const std::vector<OperationCharts>& all, OperationId id);

/// The same, one after the other.
[[nodiscard]] std::vector<Chart> all_charts(const Run& run);

[[nodiscard]] std::vector<std::string> run_chart_kinds();
[[nodiscard]] std::vector<std::string> comparison_chart_kinds();

/// What names a chart: "busbw" those of every operation, "busbw-all_reduce" that of one.
[[nodiscard]] std::vector<std::string> chart_names(const std::vector<std::string>& kinds);

/// The charts of that name among `charts`, in their order; of an empty name those of bus bandwidth, or of
/// time where there are none. Throws Error (usage) where there is none of that name.
[[nodiscard]] std::vector<Chart> chosen_charts(const std::vector<Chart>& charts, std::string_view name);

}  // namespace collbench::analysis
