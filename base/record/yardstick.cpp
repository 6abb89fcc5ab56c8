#include "base/record/yardstick.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace collbench {

Json yardstick_to_json(const Yardstick& yardstick) {
  return {{"kind", kYardstickKindNames.at(static_cast<std::size_t>(yardstick.kind))},
          {"machine", yardstick.machine},
          {"differences", yardstick.differences}};
}

Yardstick yardstick_from_json(const JsonReader& json) {
  const std::string kinds = fmt::format("\"{}\"", fmt::join(kYardstickKindNames, "\" or \""));
  return {.kind = word_from_json<YardstickKind>(json.at("kind"), kYardstickKindNames, kinds),
          .machine = json.at("machine").text(),
          .differences = texts_from_json(json.at("differences"))};
}

}  // namespace collbench
