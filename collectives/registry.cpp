#include "collectives/registry.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "collectives/all_gather.hpp"
#include "collectives/all_reduce.hpp"
#include "collectives/all_to_all.hpp"
#include "collectives/reduce_scatter.hpp"
#include "collectives/send_recv.hpp"

namespace collbench {

const std::vector<const Collective*>& collectives() {
  static const std::vector<const Collective*> all{&kAllReduce, &kAllGather, &kReduceScatter, &kAllToAll,
                                                  &kSendRecv};
  return all;
}

const Collective& collective(OperationId id) {
  const auto& all = collectives();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Collective* each) { return each->id == id; });
  if (found != all.end()) return **found;
  throw Error(ExitStatus::not_here, std::string(operation(id).name), "cannot be measured, only imported",
              "choose among AllReduce, AllGather, ReduceScatter, AllToAll and SendRecv");
}

}  // namespace collbench
