#include "collectives/registry.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "collectives/all_gather.hpp"
#include "collectives/all_reduce.hpp"
#include "collectives/all_to_all.hpp"
#include "collectives/all_to_all_v.hpp"
#include "collectives/broadcast.hpp"
#include "collectives/gather.hpp"
#include "collectives/ping_pong.hpp"
#include "collectives/reduce.hpp"
#include "collectives/reduce_scatter.hpp"
#include "collectives/scatter.hpp"
#include "collectives/send_recv.hpp"

namespace collbench {

const std::vector<const Collective*>& collectives() {
  static const std::vector<const Collective*> all{&kAllReduce, &kAllGather, &kReduceScatter, &kAllToAll,
                                                  &kSendRecv,  &kPingPong,  &kBroadcast,     &kReduce,
                                                  &kGather,    &kScatter,   &kAllToAllv};
  return all;
}

std::vector<OperationId> usual_operations() {
  constexpr std::ptrdiff_t kUsual = 5;
  std::vector<OperationId> usual;
  std::transform(collectives().begin(), collectives().begin() + kUsual, std::back_inserter(usual),
                 [](const Collective* each) { return each->id; });
  return usual;
}

const Collective& collective(OperationId id) {
  const auto& all = collectives();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Collective* each) { return each->id == id; });
  if (found != all.end()) return **found;
  throw Error(ExitStatus::not_here, std::string(operation(id).name), "cannot be measured, only imported",
              "leave it out; --ops all is every operation that can");
}

}  // namespace collbench
