#include "base/record/yardstick.hpp"

#include "base/record/fields.hpp"

namespace collbench {

static void each_field(auto& visit, Either<Yardstick> auto& yardstick) {
  visit("kind", yardstick.kind, WordOf{kYardstickKindNames});
  visit("machine", yardstick.machine);
  visit("differences", yardstick.differences);
}

Json yardstick_to_json(const Yardstick& yardstick) { return record_to_json(yardstick); }

Yardstick yardstick_from_json(const JsonReader& json) { return record_from_json<Yardstick>(json); }

}  // namespace collbench
