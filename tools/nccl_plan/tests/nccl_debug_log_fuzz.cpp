#include "tools/nccl_plan/plan/nccl_debug_log.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "base/error.hpp"
#include "tools/nccl_plan/report/report.hpp"

/// What the reader of NCCL's own log owes for any bytes: an Error with a message, or a plan that can be
/// written. The bytes are the logs of two ranks of a node, cut at the first zero.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace collbench;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t cut = std::min(text.find('\0'), size);
  try {
    const std::vector<analysis::NcclRankLog> logs{analysis::read_nccl_rank_log(text.substr(0, cut)),
                                                  analysis::read_nccl_rank_log(text.substr(cut))};
    const NcclPlan plan = analysis::nccl_plan_of(logs, 1);
    if (analysis::nccl_plan_document({plan, {}, {}}, "text", 80).empty()) std::abort();
    if (analysis::nccl_plan_json({plan, {}, {}}).empty()) std::abort();
  } catch (const Error& error) {
    if (describe(error).empty()) std::abort();
  }
  return 0;
}
