#pragma once
#include <string>
#include <string_view>

// Pieces of what monitoring and pipelines read: Prometheus' text and JUnit's XML.

namespace collbench::analysis {

/// Inside the quotes of a label's value.
[[nodiscard]] std::string label_value(std::string_view text);

/// HELP and TYPE of a gauge.
[[nodiscard]] std::string metric_head(std::string_view metric, std::string_view help);

/// A gauge with one series; `labels` without braces, or empty.
[[nodiscard]] std::string one_metric(std::string_view metric, std::string_view help,
                                     const std::string& labels, double value);

/// A test case of the class collbench.`group`; without `seconds` where they are 0.
[[nodiscard]] std::string junit_case(const std::string& group, const std::string& name, double seconds,
                                     const std::string& content);

}  // namespace collbench::analysis
