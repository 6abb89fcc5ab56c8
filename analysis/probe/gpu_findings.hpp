#pragma once
#include <optional>
#include <string>
#include <vector>

#include "analysis/probe/siblings.hpp"
#include "base/record/probe.hpp"

namespace collbench::analysis {

/// Below this share of what is published of its model a GPU is suspect, whatever its siblings do. What is
/// published is the best shape that others found, in a search, at another power limit perhaps: no line that a
/// healthy GPU's mean over windows has to reach. DCGM's targeted power test is content with the same share.
inline constexpr double kPublishedShare = 0.75;

/// The parts of a measurement on GPUs as rates: each GPU; or each pair, and each GPU as the sender and as the
/// receiver of all its pairs.
[[nodiscard]] std::vector<ProbeRate> gpu_rates(const ProbeRecord& record,
                                               const ProbeMeasurement& measurement);

/// What others measured of the same work on the same model, per second; none where nobody did. Products of
/// 8,192³ and more in BF16 and FP8, copies within the GPU's memory.
[[nodiscard]] std::optional<double> published_rate(const ProbeMeasurement& measurement,
                                                   const std::string& model);

/// GPUs that failed (bad), that heat or a power brake slowed (suspect), or that are far below what is
/// published (suspect). `slow` are those that are known already: what stands there is not said twice.
[[nodiscard]] std::vector<SlowPart> gpu_findings(const ProbeRecord& record,
                                                 const std::vector<SlowPart>& slow);

/// Products of the same numbers by the same cuBLASLt, whose results are the same to the bit on GPUs of one
/// model (cuBLAS documentation, "Results Reproducibility"): whose first and last differ, and whose are not
/// those of more than half of them, is suspect. Without such a half nobody knows which is wrong.
void judge_results(const std::vector<ProbeRecord>& records, ProbeVerdict& verdict);

/// "8 × NVIDIA H100 80GB HBM3", several kinds with a plus between them; empty of none.
[[nodiscard]] std::string gpu_inventory(const std::vector<std::string>& models);

/// The same of a record, with what else makes GPUs alike: "…, power limit 700 W, driver 550.54.15".
[[nodiscard]] std::string gpu_title(const ProbeRecord& record);

}  // namespace collbench::analysis
