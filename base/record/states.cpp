#include "base/record/states.hpp"

#include <charconv>

#include "base/record/fields.hpp"
#include "base/units.hpp"

namespace collbench {
std::string format_stop(const Stop& stop) {
  switch (stop.reason) {
    case StopReason::precision_reached:
      return "precision reached";
    case StopReason::pass_limit:
      return counted(stop.limit, "pass");
    case StopReason::launch_limit:
      return counted(stop.limit, "launch");
    case StopReason::out_of_time:
      return "out of time";
    case StopReason::interrupted:
      return "interrupted";
  }
  return {};
}

std::optional<Stop> parse_stop(std::string_view text) {
  for (const StopReason reason :
       {StopReason::precision_reached, StopReason::out_of_time, StopReason::interrupted}) {
    if (text == format_stop({.reason = reason})) return Stop{.reason = reason};
  }
  Stop stop;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), stop.limit);
  if (failure != std::errc() || stop.limit < 0) return std::nullopt;
  for (const StopReason reason : {StopReason::pass_limit, StopReason::launch_limit}) {
    stop.reason = reason;
    if (text == format_stop(stop)) return stop;
  }
  return std::nullopt;
}

BackendId backend_from_json(const JsonReader& json) {
  if (json.text() == "other")  // written until 0.2.0
    throw json.expected(
        "\"mpi\" or \"nccl\": tests of other programs (nvbandwidth, Google Benchmark) are no longer read");
  BackendId backend{};
  field_from_json(json, backend, kQuantity);
  return backend;
}

std::optional<Stop> stop_from_json(const JsonReader& json) {
  const std::string text = json.text();
  if (text.empty()) return std::nullopt;
  const std::optional<Stop> stop = parse_stop(text);
  if (!stop) throw json.expected("why measuring stopped, such as \"64 passes\"");
  return stop;
}

}  // namespace collbench
