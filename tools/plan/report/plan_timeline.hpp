#pragma once
#include <string>

#include "tools/plan/step/plan.hpp"

namespace collbench::analysis {

/// One step of the plan as a picture: a lane for each pipeline stage, time from left to right.
[[nodiscard]] std::string timeline_svg(const TrainingPlan& plan);

/// The same as "Trace Event Format" JSON (object form, complete events "X", times in microseconds), which
/// ui.perfetto.dev and chrome://tracing open: a thread for each stage.
[[nodiscard]] std::string timeline_trace(const TrainingPlan& plan);

}  // namespace collbench::analysis
