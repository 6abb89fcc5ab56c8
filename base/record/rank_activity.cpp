#include "base/record/rank_activity.hpp"

namespace collbench {
namespace {

CallCounts counts_from_json(const JsonReader& json) {
  return {.entered = json.at("entered").integer<std::uint64_t>(),
          .left = json.at("left").integer<std::uint64_t>()};
}

}  // namespace

Json rank_activity_to_json(const RankActivity& activity) {
  const auto counts = [](const CallCounts& calls) {
    return Json{{"entered", calls.entered}, {"left", calls.left}};
  };
  return {{"rank", activity.rank},
          {"ranks", activity.ranks},
          {"host", activity.host},
          {"gpu", activity.gpu},
          {"device", activity.device},
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

RankActivity rank_activity_from_json(const JsonReader& json) {
  RankActivity activity{.rank = json.at("rank").integer<int>(),
                        .ranks = json.at("ranks").integer<int>(),
                        .host = rank_host_from_json(json.at("host")),
                        .gpu = json.at("gpu").text(),
                        .device = json.at("device").text(),
                        .pid = json.at("pid").integer<int>(),
                        .process = word_from_json<ProcessState>(json.at("process"), kProcessStateNames,
                                                                "the state of a process"),
                        .step = json.at("step").text(),
                        .steps = json.at("steps").integer<std::uint64_t>(),
                        .pass = json.at("pass").integer<int>(),
                        .calls = counts_from_json(json.at("calls")),
                        .exchanges = counts_from_json(json.at("exchanges")),
                        .is_over = json.at("is_over").boolean(),
                        .idle_seconds = optional_number(json, "idle_seconds", kQuantity)};
  const auto call = json.at("call_of_step").integer<std::uint64_t>();
  if (call > activity.calls.entered) throw json.at("call_of_step").expected("at most the calls entered");
  activity.calls_before_step = activity.calls.entered - call;
  return activity;
}

}  // namespace collbench
