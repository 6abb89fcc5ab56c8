#pragma once
#include <string_view>

#include "tools/plan/job/job.hpp"

namespace collbench::analysis {

/// How far the plans of published steps of one kind are from what was measured; parts of the measured time,
/// absolute. In-sample: the constants were corrected with these steps in view.
struct PublishedError {
  std::string_view kind;
  int steps;
  double median;
  double p90;  ///< nine of ten are within it
};

/// Of the steps like this one; none where no such step was compared. `gpu` is a TrainingGpu's name. Those
/// with experts were planned with the stack of each told: none where it is not (`stack_given`). The figures
/// are those of docs/notes/plan-accuracy.md, "By kind"; scripts/plan-accuracy says where they differ.
[[nodiscard]] const PublishedError* published_error(const TrainingJob& job, std::string_view gpu,
                                                    bool stack_given);

}  // namespace collbench::analysis
