#include "base/record/rank_activity.hpp"

#include "base/record/fields.hpp"

namespace collbench {
static void each_field(auto& visit, Either<CallCounts> auto& calls) {
  visit("entered", calls.entered);
  visit("left", calls.left);
}

/// `call` is RankActivity::call_of_step.
static void each_field(auto& visit, Either<RankActivity> auto& activity, auto& call) {
  visit("rank", activity.rank);
  visit("ranks", activity.ranks);
  visit("host", activity.host, RankHost{});
  visit("gpu", activity.gpu);
  visit("device", activity.device);
  visit("pid", activity.pid);
  visit("process", activity.process, WordOf{kWords<ProcessState>, "the state of a process"});
  visit("step", activity.step);
  visit("steps", activity.steps);
  visit("pass", activity.pass);
  visit("calls", activity.calls);
  visit("call_of_step", call);
  visit("exchanges", activity.exchanges);
  visit("is_over", activity.is_over);
  visit("idle_seconds", activity.idle_seconds);
  visit.where_given("resent_to", activity.resent_to);
  visit.where_given("resent_times", activity.resent_times);
}

Json rank_activity_to_json(const RankActivity& activity) {
  Json json = Json::object();
  FieldWriter visit(json);
  const std::uint64_t call = activity.call_of_step();
  each_field(visit, activity, call);
  return json;
}

RankActivity rank_activity_from_json(const JsonReader& json) {
  RankActivity activity;
  std::uint64_t call = 0;
  FieldReader visit(json);
  each_field(visit, activity, call);
  if (call > activity.calls.entered) throw json.at("call_of_step").expected("at most the calls entered");
  activity.calls_before_step = activity.calls.entered - call;
  // It stands in a command that a message advises.
  if (activity.resent_to.find_first_not_of("0123456789.") != std::string::npos)
    throw json.at("resent_to").expected("an IPv4 address");
  return activity;
}

}  // namespace collbench
