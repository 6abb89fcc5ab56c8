#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "tools/inspector/inspector_log.hpp"

namespace collbench::analysis {

/// A line of Prometheus' text format.
struct MetricSample {
  std::string name;
  std::map<std::string, std::string, std::less<>> labels;
  double value = 0;
  std::int64_t second = 0;  ///< when, since 1970; 0: the line does not say

  /// Empty where it is missing or "unknown". A scrape renames a label that its target has as well.
  [[nodiscard]] std::string label(std::string_view key) const;
};

/// NAME{LABEL="VALUE",...} VALUE [TIME] (prometheus.io/docs/instrumenting/exposition_formats), and as
/// `promtool tsdb dump` has it: {__name__="NAME", ...}. TIME: milliseconds, or OpenMetrics' seconds. None for
/// another line.
[[nodiscard]] std::optional<MetricSample> metric_sample(std::string_view line);

/// Adds what it says of the job's collectives. Empty: it was taken; else why it is left out.
[[nodiscard]] std::string take_sample(const MetricSample& sample, InspectedJob& job);

}  // namespace collbench::analysis
