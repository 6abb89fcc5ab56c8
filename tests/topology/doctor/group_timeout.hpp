#pragma once
#include <fmt/format.h>

#include <string>

namespace collbench {

/// Where `rank`, the `number`-th of a group for tensor parallelism, stands: call 9, which has not ended.
inline std::string group_stands_at_nine(int rank, int number) {
  return fmt::format(
      "[rank{0}]:[E105 06:24:44.9 ProcessGroupNCCL.cpp:2268] [PG ID 2 PG GUID 12(tp) Rank {1}]  failure "
      "detected by watchdog at work sequence id: 9 PG status: last enqueued work: 9, last completed work: "
      "8\n",
      rank, number);
}

/// That it waits there: PyTorch 2.6 and newer.
inline std::string group_timed_out_in_nine(int rank, int number) {
  return fmt::format(
             "[rank{0}]:[E105 06:24:44.9 ProcessGroupNCCL.cpp:632] [Rank {1}] Watchdog caught collective "
             "operation timeout: WorkNCCL(SeqNum=9, OpType=ALLREDUCE, NumelIn=7, NumelOut=7, "
             "Timeout(ms)=600000) ran for 600020 milliseconds before timing out.\n",
             rank, number) +
         group_stands_at_nine(rank, number);
}

}  // namespace collbench
