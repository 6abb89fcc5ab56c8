#include "base/record/rank_activity.hpp"

namespace collbench {

Json rank_activity_to_json(const RankActivity& activity) {
  const auto counts = [](const CallCounts& calls) {
    return Json{{"entered", calls.entered}, {"left", calls.left}};
  };
  return {{"rank", activity.rank},
          {"ranks", activity.ranks},
          {"host", activity.host},
          {"gpu", activity.gpu},
          {"pid", activity.pid},
          {"process", name(activity.process)},
          {"step", activity.step},
          {"steps", activity.steps},
          {"pass", activity.pass},
          {"calls", counts(activity.calls)},
          {"call_of_step", activity.call_of_step()},
          {"exchanges", counts(activity.exchanges)},
          {"is_over", activity.is_over},
          {"idle_seconds", or_null(activity.idle_seconds)}};
}

}  // namespace collbench
